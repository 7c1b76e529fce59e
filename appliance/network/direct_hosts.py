"""Direct hosts: what is in the house although its name does not look it, listed by the owner or told by plugins.

A plugin registers a function that names its hosts. That is a stranger's code: it may fail, give rubbish or never
return, so it runs in a thread of its own that is waited for only a moment. Hosts that cannot be had are outside:
requests to them take the proxy rather than pass it by.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from appliance.clock import Clock
from appliance.network.host_list import normal_entry

Provider = Callable[[], object]

#: How long what a provider said holds.
_KEPT_SECONDS = 5.0
#: More than any house has: a provider that never stops is stopped here.
_MOST_HOSTS = 1_000

_log = logging.getLogger(__name__)
_this_thread = threading.local()


class DirectHosts:
    """The owner's direct hosts and the plugins'. Any thread.

    ``configured`` are names, addresses and ranges. A plugin's are names and single addresses: with a range it could
    take everything past the proxy. ``tell(whose, problem)`` hears of each registration that fails, once; it is called
    in any thread. ``patience_seconds`` is real time, for it waits for threads.
    """

    def __init__(
        self,
        clock: Clock,
        configured: Iterable[str] = (),
        *,
        tell: Callable[[str, str], None] | None = None,
        patience_seconds: float = 1.0,
    ) -> None:
        self._clock = clock
        self._tell = tell or _log_problem
        self._patience_seconds = patience_seconds
        self._configured = self._checked(configured)
        self._union = self._configured
        self._registrations: dict[str, _Registration] = {}
        self._changed = threading.Condition()

    def register(self, provider: Provider, owner: str) -> None:
        """Ask ``provider`` for ``owner``'s hosts from now on, and not what that owner registered before.

        It is first called when hosts are needed, again after 5 s, and never twice at a time.
        """
        with self._changed:
            self._registrations[owner] = _Registration(owner, provider)
            self._unite()

    def unregister(self, owner: str) -> None:
        """Forget an owner's hosts at once."""
        with self._changed:
            self._registrations.pop(owner, None)
            self._unite()

    def hosts(self) -> frozenset[str]:
        """All of them, at most 5 s old; spelled as in ``lane.Destination``, ranges as 100.64.0.0/10.

        It may wait a moment for a provider: not for an event loop. A provider that sends requests itself comes here
        too, and gets what is known so far.
        """
        late: list[_Registration] = []
        with self._changed:
            self._ask_again()
            is_provider = getattr(_this_thread, "is_provider", False)
            if not is_provider and not self._changed.wait_for(self._is_complete, self._patience_seconds):
                late = self._give_up()
            union = self._union
        for registration in late:
            self._tell_once(registration, f"did not answer within {self._patience_seconds:g} s")
        return union

    def known_hosts(self) -> frozenset[str]:
        """All of them as last known, without waiting; the providers are asked again meanwhile when it is time."""
        with self._changed:
            self._ask_again()
            return self._union

    def _ask_again(self) -> None:
        now = self._clock.monotonic_seconds()
        for registration in self._registrations.values():
            if registration.is_asked or now - registration.answered_at < _KEPT_SECONDS:
                continue
            registration.is_asked = True
            name = f"direct-hosts:{registration.owner}"
            threading.Thread(target=self._ask, args=(registration,), name=name, daemon=True).start()

    def _ask(self, registration: _Registration) -> None:
        _this_thread.is_provider = True
        hosts: frozenset[str] = frozenset()
        try:
            hosts = _read(registration.provider())
        except BaseException as error:  # a plugin's SystemExit is no better
            # Only its kind: its text may hold a secret of the plugin's.
            self._tell_once(registration, f"failed ({type(error).__name__})")
        finally:
            with self._changed:
                registration.hosts = hosts
                registration.answered_at = self._clock.monotonic_seconds()
                registration.is_asked = registration.is_late = False
                self._unite()

    def _is_complete(self) -> bool:
        return not any(each.is_asked and not each.is_late for each in self._registrations.values())

    def _give_up(self) -> list[_Registration]:
        """Go on without those that have not answered, and do not wait for them again before they do."""
        late = [each for each in self._registrations.values() if each.is_asked and not each.is_late]
        for registration in late:
            registration.is_late = True
            registration.hosts = frozenset()
        self._unite()
        return late

    def _unite(self) -> None:
        union = self._configured.union(*(each.hosts for each in self._registrations.values()))
        if union != self._union:  # the same object says that nothing has changed
            self._union = union
        self._changed.notify_all()

    def _tell_once(self, registration: _Registration, problem: str) -> None:
        with self._changed:
            is_told, registration.is_told = registration.is_told, True
        if not is_told:
            self._tell(registration.owner, f"what it registered to name its direct hosts {problem}")

    def _checked(self, configured: Iterable[str]) -> frozenset[str]:
        hosts = set()
        for entry in configured:
            host = normal_entry(entry)
            if host:
                hosts.add(host)
            else:
                problem = f"{entry!r} is no host; write a name or addresses (ha.example.net, 100.64.0.0/10)"
                self._tell("network.direct_hosts", problem)
        return frozenset(hosts)


@dataclass(eq=False)
class _Registration:
    """One owner's provider and what it last said; the lock of ``DirectHosts`` guards it."""

    owner: str
    provider: Provider
    hosts: frozenset[str] = frozenset()
    answered_at: float = float("-inf")
    #: It runs now.
    is_asked: bool = False
    #: It runs, and nobody waits for it any more.
    is_late: bool = False
    is_told: bool = False


def _read(answer: object) -> frozenset[str]:
    """The hosts in what a provider gave; runs in its thread, for reading its answer may run its code."""
    if isinstance(answer, str):
        answer = (answer,)
    if not isinstance(answer, Iterable):
        raise TypeError("not an iterable of host names")
    hosts = (normal_entry(each) for each in itertools.islice(answer, _MOST_HOSTS) if isinstance(each, str))
    return frozenset(host for host in hosts if host and "/" not in host)


def _log_problem(whose: str, problem: str) -> None:
    _log.warning("%s: %s", whose, problem)
