"""What is wrong with the box, found out now and said in the two sentences that matter most."""

from __future__ import annotations

from typing import Protocol

from appliance.catalogue import Catalogue
from appliance.device.box_tool import Arguments, BoxTool
from appliance.tools.tool import CallContext

#: Of the ten that a tool of the box has, some are for the answer.
_EXAMINATION_SECONDS = 8.0
_MOST_SPOKEN = 2
_MOST_WRITTEN = 6


class Examination(Protocol):
    """Who can look at the box."""

    async def worst(self, seconds: float) -> list[str]:
        """Names of the checks that find something wrong, the worst first, in about so many seconds."""
        ...


def doctor_tools(doctor: Examination, catalogue: Catalogue) -> list[BoxTool]:
    """``box_doctor``."""
    teller = _Teller(doctor, catalogue)
    return [
        BoxTool(
            name="box_doctor",
            description="Examine this box now: why it hears badly, what is wrong with it, and what to do about it.",
            work=teller.tell,
            catalogue=catalogue,
        )
    ]


class _Teller:
    def __init__(self, doctor: Examination, catalogue: Catalogue) -> None:
        self._doctor = doctor
        self._catalogue = catalogue

    async def tell(self, arguments: Arguments, context: CallContext) -> str:
        """The worst that was found, and what to do about it."""
        worst = await self._doctor.worst(_EXAMINATION_SECONDS)
        if not worst:
            return self._catalogue.say("doctor.nothing")
        told = worst[: _MOST_SPOKEN if context.channel == "voice" else _MOST_WRITTEN]
        sentences = [self._sentence(check) for check in told]
        if len(worst) > len(told):
            sentences.append(self._catalogue.say("doctor.more"))
        return " ".join(sentences)

    def _sentence(self, check: str) -> str:
        key = f"doctor.{check.replace('.', '_')}"
        return self._catalogue.say(
            key if key in self._catalogue.keys else "doctor.other", check=check.replace(".", " ")
        )
