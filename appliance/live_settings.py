"""Which settings a running device takes at once, and how its parts get them; all others hold from its next start."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from appliance.assistant_parts import Windows
from appliance.config import Config, Origin
from appliance.control import Caller, Handler
from appliance.controls import Controls
from appliance.device.config import DeviceConfig
from appliance.device.quiet_hours import QuietHours
from appliance.device.settings import BoxSettings
from appliance.errors import ConfigError, UsageError
from appliance.face.config import FaceConfig
from appliance.listen.config import ListenConfig
from appliance.listen.corrections import Corrections
from appliance.listen.ear import Ear
from appliance.memory import Memory
from appliance.ports import Json
from appliance.store.retention import Retention

#: What ``config.changed`` answers for a setting; anything else is a sentence that says why it has no effect.
NOW, RESTART = "now", "restart"

#: Takes the value that holds from now on.
Taker = Callable[[Any], None]

#: Of ``[listen]`` what the ear reads each time that it opens.
_OF_THE_EAR = (
    "wake_check",
    "speech_threshold",
    "minimum_speech_seconds",
    "soft_end_seconds",
    "patience",
    "words",
    "duplex",
    "silence_seconds",
    "longest_utterance_seconds",
    "earcons",
    "earcon_volume_percent",
)


@dataclass
class Knobs:
    """Settings that parts read anew each time, because the owner may change them while the box runs."""

    listen: ListenConfig
    corrections: Corrections
    windows: Windows
    face: FaceConfig
    quiet_hours: QuietHours

    @classmethod
    def of(cls, config: Config) -> Knobs:
        """As they are at the start. Raises ``ConfigError``."""
        listen = config.of(ListenConfig)
        windows = Windows(listen.no_speech_seconds, listen.follow_up_seconds)
        quiet_hours = QuietHours.parse(config.of(DeviceConfig).quiet_hours)
        return cls(listen, Corrections.parse(listen.corrections), windows, config.of(FaceConfig), quiet_hours)


@dataclass(frozen=True)
class LiveParts:
    """Who takes settings while the box runs."""

    knobs: Knobs
    ear: Ear
    controls: Controls
    settings: BoxSettings
    memory: Memory
    retention: Retention


class LiveSettings:
    """Brings what the owner has written into config.toml to the parts of a running box.

    ``start`` is what the box was started with; ``read`` reads the settings anew, as the next start would, and blocks.
    """

    def __init__(self, start: Config, read: Callable[[], Config], parts: LiveParts) -> None:
        self._start = _origins(start)
        self._read = read
        self._takers = takers(parts)

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Method name to handler."""
        return {"config.changed": self.changed}

    async def changed(self, params: Mapping[str, Json], _caller: Caller) -> Json:
        """Take the settings ``{"keys"}`` from the file: key to "now", "restart", or why it has no effect."""
        keys = params.get("keys")
        if not isinstance(keys, list) or not all(isinstance(key, str) and key in self._start for key in keys):
            raise UsageError("which settings? appliance config lists their names")
        fresh = _origins(await asyncio.to_thread(self._read))
        return {key: self._take(key, fresh[key]) for key in keys}

    def _take(self, key: str, fresh: Origin) -> str:
        start = self._start[key]
        if start.source == "command line":
            return f"the running device was started with --set {key}, which comes first"
        if key not in self._takers:
            return NOW if fresh.value == start.value else RESTART
        try:
            self._takers[key](fresh.value)
        except ConfigError as error:
            return str(error)
        return NOW


def takers(parts: LiveParts) -> Mapping[str, Taker]:
    """Every setting that holds at once, with who takes it."""
    return {
        **{f"listen.{name}": partial(_tune_ear, parts, name) for name in _OF_THE_EAR},
        "listen.corrections": partial(_set_corrections, parts),
        "listen.no_speech_seconds": partial(setattr, parts.knobs.windows, "addressed_seconds"),
        "listen.follow_up_seconds": partial(setattr, parts.knobs.windows, "follow_up_seconds"),
        "speak.volume_percent": partial(_set_volume, parts),
        "speak.speed": partial(_set_speed, parts),
        "device.quiet_hours": partial(_set_quiet_hours, parts),
        "face.quiet_percent": partial(_set_quiet_percent, parts),
        "chats.rest_minutes": parts.memory.rest_after,
        "chats.keep_chats_days": parts.retention.change,
    }


def _tune_ear(parts: LiveParts, name: str, value: Any) -> None:
    parts.knobs.listen = replace(parts.knobs.listen, **{name: value})
    parts.ear.change(parts.knobs.listen)


def _set_corrections(parts: LiveParts, entries: Sequence[str]) -> None:
    parts.knobs.corrections = Corrections.parse(entries)


def _set_volume(parts: LiveParts, percent: int) -> None:
    """What was asked for by voice before is over."""
    parts.controls.set_volume(percent)
    parts.settings.usual = replace(parts.settings.usual, volume_percent=percent)


def _set_speed(parts: LiveParts, speed: float) -> None:
    parts.controls.set_speed(speed)
    parts.settings.usual = replace(parts.settings.usual, speed=speed)


def _set_quiet_hours(parts: LiveParts, text: str) -> None:
    parts.knobs.quiet_hours = QuietHours.parse(text)


def _set_quiet_percent(parts: LiveParts, percent: float) -> None:
    parts.knobs.face = replace(parts.knobs.face, quiet_percent=percent)


def _origins(config: Config) -> dict[str, Origin]:
    return {f"{origin.section}.{origin.key}": origin for origin in config.origins}
