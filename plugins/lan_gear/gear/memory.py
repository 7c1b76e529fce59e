"""What was seen before, in the plugin's own store: since when a thing is known, and where it was last."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from plugins.lan_gear.gear.thing import Thing

_DAY_SECONDS = 86400.0
#: Things that have not been seen for longest are forgotten first.
_MOST_THINGS = 500
_KEYS = ("mac", "host_name", "address")
_lock = threading.Lock()


class Store(Protocol):
    """What we need of the plugin's key-value store."""

    def get(self, key: str, default: Any = None) -> Any: ...

    def save(self, key: str, value: Any) -> None: ...


@dataclass(frozen=True)
class News:
    """What a look brought. Times are seconds since 1970.

    ``new`` came in the last day, or since the look before it when that is longer ago; ``since`` says which. ``since``
    is None at the very first look, when everything is new and so nothing is.
    """

    new: tuple[Thing, ...]
    since: float | None
    first_seen: Mapping[str, float]


def remember(store: Store, things: Iterable[Thing], now: float) -> News:
    """Write down the look, and tell what is new. ``first_seen`` is by address."""
    with _lock:
        first_look, last_look = _time(store, "first_look"), _time(store, "last_look")
        records = _records(store)
        index = {(key, record[key]): record for record in records for key in _KEYS if record.get(key)}
        first_seen: dict[str, float] = {}
        new: list[Thing] = []
        since = max(now - _DAY_SECONDS, first_look or now)
        for thing in things:
            record = _find(index, thing)
            if record is None:
                record = {"first_seen": now, "not_before": last_look or now}
                records.append(record)
            record.update({key: getattr(thing, key) or record.get(key, "") for key in _KEYS})
            record.update(name=thing.name or record.get("name", ""), kind=thing.kind, also=[*thing.also], last_seen=now)
            first_seen[thing.address] = record["first_seen"]
            if first_look is not None and record["first_seen"] > max(first_look, now - _DAY_SECONDS):
                new.append(thing)
                since = min(since, record["not_before"])
        records.sort(key=lambda record: record["last_seen"], reverse=True)
        store.save("things", records[:_MOST_THINGS])
        store.save("first_look", first_look or now)
        store.save("last_look", now)
    return News(tuple(new), None if first_look is None else since, first_seen)


def recall(store: Store) -> list[Mapping[str, Any]]:
    """Every thing ever seen, the latest first: name, kind, also, address, first_seen, last_seen."""
    with _lock:
        return [dict(record) for record in _records(store)]


def _records(store: Store) -> list[dict[str, Any]]:
    """The store is a file that an owner may edit: what is no record of ours is left out."""
    kept = store.get("things")
    return [dict(record) for record in (kept if isinstance(kept, list) else []) if _is_record(record)]


def _is_record(record: Any) -> bool:
    if not isinstance(record, dict):
        return False
    times = all(isinstance(record.get(key), (int, float)) for key in ("first_seen", "last_seen", "not_before"))
    return times and all(isinstance(record.get(key), str) for key in (*_KEYS, "name", "kind"))


def _time(store: Store, key: str) -> float | None:
    value = store.get(key)
    return value if isinstance(value, (int, float)) else None


def _find(index: Mapping[tuple[str, str], dict[str, Any]], thing: Thing) -> dict[str, Any] | None:
    """The record of the thing: by hardware, else by host name, else by an address that nobody else had."""
    for key in _KEYS:
        record = index.get((key, getattr(thing, key)))
        if record is not None and not _contradicts(record, thing, key):
            return record
    return None


def _contradicts(record: Mapping[str, Any], thing: Thing, found_by: str) -> bool:
    """An address goes from one host to the next, a host name to a new machine: the stronger sign decides."""
    stronger = _KEYS[: _KEYS.index(found_by)]
    return any(record.get(key) and getattr(thing, key) and record[key] != getattr(thing, key) for key in stronger)
