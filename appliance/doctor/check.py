"""A check and its run: each has its own time limit, and one that breaks or hangs ends nothing."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from appliance.clock import Clock, within
from appliance.doctor.finding import Finding, as_sentence, cannot_tell
from appliance.errors import ApplianceError, UsageError

_LOG = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True)
class Check:
    """One concept that is looked at. A quick one is silent, takes seconds at most and asks nobody outside.

    ``name`` is "group.concept".
    """

    name: str
    work: Callable[[], Awaitable[Finding]]
    is_quick: bool = True
    longest_seconds: float = 6.0


async def in_thread(work: Callable[[], T]) -> T:
    """The result of ``work``, done on a thread of its own, which nobody waits for when it hangs."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def deliver(value: T | None, error: Exception | None) -> None:
        if result.done():
            return  # nobody waits any more
        if error is not None:
            result.set_exception(error)
        else:
            result.set_result(value)  # type: ignore[arg-type]

    def run() -> None:
        value, failure = None, None
        try:
            value = work()
        except Exception as error:
            failure = error
        with suppress(RuntimeError):  # the loop has ended, and needs to know nothing
            loop.call_soon_threadsafe(deliver, value, failure)

    threading.Thread(target=run, name="doctor", daemon=True).start()
    return await result


def chosen(checks: Sequence[Check], names: Iterable[str], *, only_quick: bool) -> list[Check]:
    """The checks of these groups or names, all without any. Raises ``UsageError`` for a name that is none."""
    wanted = list(names)
    for name in wanted:
        if not any(_is_meant(check, name) for check in checks):
            groups = ", ".join(dict.fromkeys(check.name.partition(".")[0] for check in checks))
            raise UsageError(f"there is no check {name!r}; the groups are: {groups}")
    named = [check for check in checks if not wanted or any(_is_meant(check, name) for name in wanted)]
    return [check for check in named if check.is_quick or not only_quick]


async def run_checks(checks: Iterable[Check], clock: Clock, on_finding: Callable[[Finding], None]) -> list[Finding]:
    """Do one after another; each finding is told as it comes. Raises nothing of a check."""
    findings = []
    for check in checks:
        finding = replace(await _examine(check, clock), check=check.name)
        on_finding(finding)
        findings.append(finding)
    return findings


async def _examine(check: Check, clock: Clock) -> Finding:
    try:
        return await within(clock, check.longest_seconds, _started(check))
    except TimeoutError as error:
        return cannot_tell(as_sentence(str(error) or "it took too long"))
    except ApplianceError as error:
        return cannot_tell(as_sentence(str(error)))
    except Exception as error:
        _LOG.debug("the check %s broke", check.name, exc_info=error)
        return cannot_tell(f"The check itself broke ({type(error).__name__}: {error}).")


async def _started(check: Check) -> Finding:
    """So that a check which raises before it is awaited counts like any other."""
    return await check.work()


def _is_meant(check: Check, name: str) -> bool:
    return name in (check.name, check.name.partition(".")[0])
