"""A box with its own tools, on a fake clock and a fake disk."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any

from appliance.adapters.fakes.box import (
    FakeControls,
    FakeExamination,
    FakeHealth,
    FakePrivateTalk,
    FakeTimes,
    FakeTrail,
    FakeTurnMemory,
)
from appliance.adapters.fakes.documents import FakeDocuments
from appliance.adapters.fakes.traffic_log import FakeTrafficLog
from appliance.catalogue import Catalogue
from appliance.clock import FakeClock
from appliance.device.box import BoxParts, box_tools
from appliance.device.doctor_tool import doctor_tools
from appliance.device.entry import Due, RingEnding
from appliance.device.entry_words import EntryWords
from appliance.device.ringer import RingAnswer, Ringer, RingPorts
from appliance.device.schedule import Schedule
from appliance.device.settings import BoxSettings
from appliance.home import shipped
from appliance.network.seen import Seen
from appliance.tools.tool import CallContext, ToolResult
from appliance.turn import Turn

#: Monday, seven minutes past three in the afternoon.
MONDAY_AFTERNOON = datetime(2026, 5, 4, 15, 7, tzinfo=UTC)


class House:
    """Everything of ``device``; ``restart`` plays a power cut or a restart of the program."""

    def __init__(
        self, start: datetime = MONDAY_AFTERNOON, *, zone: tzinfo = UTC, trusted: bool = True, has_button: bool = False
    ) -> None:
        self.clock = FakeClock(start, trusted=trusted)
        self.zone = zone
        self.documents = FakeDocuments()
        self.catalogue = Catalogue.load(shipped("soul"), "en")
        self.controls = FakeControls(has_button=has_button)
        self.memory = FakeTurnMemory()
        self.health = FakeHealth()
        self.trail = FakeTrail()
        self.traffic = FakeTrafficLog()
        self.times = FakeTimes()
        self.private = FakePrivateTalk()
        self.doctor = FakeExamination()
        self.start()

    def start(self, boot_id: str = "boot-1") -> None:
        """A fresh program on what the disk holds."""
        self.rung: list[Due] = []
        self.heard: list[str] = []
        self.told: list[str] = []
        self.gaps = 0
        self.answers: list[RingAnswer | None] = []
        self.schedule = Schedule(documents=self.documents, clock=self.clock, zone=self.zone, boot_id=boot_id)
        self.words = EntryWords(self.catalogue, self.clock, self.zone)
        self.ringer = Ringer(
            RingPorts(
                play=lambda chunk: self.clock.sleep(chunk.duration_seconds),
                say=self._say,
                gap=self._gap,
                tell=lambda _key, text: self.told.append(text),
                words=self.words.ring,
                ended=self.schedule.finish,
            ),
            self.clock,
        )
        parts = BoxParts(
            clock=self.clock,
            zone=self.zone,
            catalogue=self.catalogue,
            schedule=self.schedule,
            words=self.words,
            ringing=self.ringer,
            controls=self.controls,
            memory=self.memory,
            health=self.health,
            settings=BoxSettings(self.documents),
            snooze_seconds=540.0,
            trail=self.trail,
            traffic=Seen(self.traffic, self.clock),
            times=self.times,
            private=self.private,
        )
        tools = [*box_tools(parts), *doctor_tools(self.doctor, self.catalogue)]
        self.tools = {tool.name: tool for tool in tools}

    def power_cut(self, off_seconds: float, *, boot_id: str = "boot-2", trusted: bool = True) -> None:
        """The machine is off for so long; its monotonic time begins anew."""
        wall = self.clock.now().timestamp() + off_seconds
        self.clock = FakeClock(datetime.fromtimestamp(wall, UTC), trusted=trusted)
        self.start(boot_id)

    async def run(self, name: str, arguments: Mapping[str, Any] | None = None, *, channel: str = "voice") -> ToolResult:
        """One call of a tool."""
        turn = Turn("voice")
        context = CallContext(call_id="call-1", turn_id=turn.turn_id, chat="chat-1", channel=channel, gate=turn)
        return await self.tools[name].invoke(arguments or {}, context)

    async def say(self, name: str, arguments: Mapping[str, Any] | None = None, *, channel: str = "voice") -> str:
        """What a tool says."""
        return (await self.run(name, arguments, channel=channel)).text

    async def ended(self, due: Due, ending: RingEnding, snooze_seconds: float = 0.0) -> None:
        """Finish a ring without a ringer."""
        await self.schedule.finish(due, ending, snooze_seconds)

    async def _say(self, text: str) -> None:
        self.heard.append(text)
        await self.clock.sleep(2.0)

    async def _gap(self, seconds: float) -> RingAnswer | None:
        self.gaps += 1
        await self.clock.sleep(seconds)
        return self.answers.pop(0) if self.answers else None
