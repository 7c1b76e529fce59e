"""The doctor of one box: does the checks that are asked for, and answers clients and the spoken question."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence

from appliance.control import Caller, Handler
from appliance.doctor.all_checks import all_checks
from appliance.doctor.check import Check, chosen, run_checks
from appliance.doctor.examined import Examined
from appliance.doctor.finding import Finding, worst_first
from appliance.errors import UsageError
from appliance.ports import Json


def _as_it_is(text: str) -> str:
    return text


class Doctor:
    """Makes what is ``examined`` anew for each examination. ``redact`` masks secrets in what is told."""

    def __init__(self, examined: Callable[[], Examined], redact: Callable[[str], str] = _as_it_is) -> None:
        self._examined = examined
        self._redact = redact

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Method name to handler."""
        return {"doctor": self.doctor}

    async def examine(
        self,
        names: Iterable[str] = (),
        *,
        only_quick: bool = False,
        on_finding: Callable[[Finding], None] = lambda _finding: None,
    ) -> list[Finding]:
        """Do the checks of these groups or names, all without any. Raises ``UsageError`` for one that is none."""
        examined = self._examined()
        checks = chosen(all_checks(examined), names, only_quick=only_quick)
        findings: list[Finding] = []

        def keep(finding: Finding) -> None:
            clean = Finding(
                finding.verdict, self._redact(finding.sentence), self._redact(finding.advice), finding.check
            )
            findings.append(clean)
            on_finding(clean)

        await run_checks(checks, examined.clock, keep)
        return findings

    async def worst(self, seconds: float) -> list[str]:
        """Names of the quick checks that find something wrong, the worst first, in about so many seconds.

        They run side by side; one that has no answer by then counts as one that cannot tell.
        """
        examined = self._examined()
        checks = chosen(all_checks(examined), (), only_quick=True)
        hurried = [
            Check(check.name, check.work, longest_seconds=min(check.longest_seconds, seconds)) for check in checks
        ]
        found = await asyncio.gather(*(run_checks([check], examined.clock, lambda _found: None) for check in hurried))
        return [finding.check for finding in worst_first(finding for (finding,) in found)]

    async def doctor(self, params: Mapping[str, Json], caller: Caller) -> Json:
        """Do ``{"checks", "quick"}``; emits ``{"finding"}`` as they come, and gives ``{"findings"}``."""
        findings = await self.examine(
            _names(params),
            only_quick=bool(params.get("quick")),
            on_finding=lambda finding: caller.emit({"finding": finding.to_json()}),
        )
        return {"findings": [finding.to_json() for finding in findings]}


def _names(params: Mapping[str, Json]) -> Sequence[str]:
    names = params.get("checks", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UsageError("checks is a list of names")
    return names
