"""The belt: what of the environment leads plain ``requests`` callers through the proxy.

A plugin that does not use our door reads these variables in its own way. It is the floor, not the lane: it covers
what understands them, in this process and in those it starts.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, MutableMapping

#: The house by itself, as ``requests`` understands it.
_HOUSE = (
    "localhost",
    "127.0.0.1",
    "::1",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "169.254.0.0/16",
    ".local",
    ".lan",
    ".home.arpa",
)
_EXEMPT = ("NO_PROXY", "no_proxy")
_PROXIED = ("ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")


class Belt:
    """Writes the variables into ``environment`` (``os.environ``), and takes them out again. Any thread."""

    def __init__(self, environment: MutableMapping[str, str]) -> None:
        self._environment = environment
        self._lock = threading.Lock()
        #: What stood there before; None while the belt is off.
        self._before: dict[str, str | None] | None = None

    def put_on(self, proxy_url: str, direct_hosts: Iterable[str] = ()) -> None:
        """Lead everything but the house and ``direct_hosts`` through the proxy, also when it is on already."""
        with self._lock:
            if self._before is None:
                self._before = {name: self._environment.get(name) for name in (*_EXEMPT, *_PROXIED)}
            exempt = ",".join(dict.fromkeys((*_HOUSE, *sorted(direct_hosts), *self._exempt_before())))
            # First: no request to the house may meet a proxy without its exemption.
            for name in _EXEMPT:
                self._environment[name] = exempt
            for name in _PROXIED:
                self._environment[name] = proxy_url

    def take_off(self) -> None:
        """Put back what stood there before; the exemptions last."""
        with self._lock:
            before, self._before = self._before, None
            for name in (*_PROXIED, *_EXEMPT) if before is not None else ():
                value = (before or {}).get(name)
                if value is None:
                    self._environment.pop(name, None)
                else:
                    self._environment[name] = value

    def environment_before(self) -> dict[str, str]:
        """The environment without the belt: where the owner's own proxy variables are read."""
        with self._lock:
            before = self._before or {}
            own = {name: value for name, value in self._environment.items() if name not in before}
            return own | {name: value for name, value in before.items() if value is not None}

    def _exempt_before(self) -> list[str]:
        entries = [(self._before or {}).get(name) or "" for name in _EXEMPT]
        # "*" would take the belt off for everyone.
        return [host for entry in entries for host in entry.replace(" ", "").split(",") if host not in ("", "*")]
