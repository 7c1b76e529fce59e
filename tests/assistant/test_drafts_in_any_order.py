"""Whatever a person, a model and a button do, and in whatever order: only what was meant has any effect."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.adapters.fakes.tool import FakeTool
from appliance.adapters.sentence_matcher import HassilMatcher
from appliance.clock import FakeClock
from appliance.errors import BrainBusyError, BrainStreamError
from appliance.events import (
    DraftBegun,
    DraftEnded,
    EndReason,
    PlaybackStarted,
    ReplySentenceSpoken,
    SpeechEnded,
    Transcribed,
    TurnEnded,
)
from appliance.ports_think import ModelEvent, ModelRequest, TextDelta
from tests.assistant.rig import WAKE_WORD, E, Rig

NAMES = [
    f"{first}{second}." for first in ("Al", "Be", "Ca", "Do", "Em", "Fi", "Gu") for second in ("bo", "da", "ka", "mi")
]
#: What the model does with one request after the other.
KINDS = st.lists(st.sampled_from(["says", "tool", "slow", "tool", "away", "cut"]), min_size=1, max_size=8)
#: What happens while the ear is open; numbers are seconds. Silences are too short for the end of the utterance.
SPEAKS = st.tuples(st.just("speaks"), st.sampled_from([0.3, 0.5, 0.8]))
IS_SILENT = st.tuples(st.just("is silent"), st.sampled_from([0.1, 0.25, 0.35, 0.5]))
ELSE = st.tuples(st.sampled_from(["stops", "presses", "gets a tool"]), st.just(0.05))
SPOKEN = st.lists(st.tuples(SPEAKS, IS_SILENT), min_size=1, max_size=4).map(lambda pairs: [*itertools.chain(*pairs)])
TURNS = st.lists(st.one_of(SPOKEN, st.lists(st.one_of(SPEAKS, IS_SILENT, ELSE), max_size=8)), min_size=1, max_size=3)


class AnyModel(FakeModelEndpoint):
    """Answers each request with a name of its own, or a call that carries its number, or not at all."""

    def __init__(self, kinds: list[str], clock: FakeClock) -> None:
        super().__init__()
        self._kinds = kinds
        self._clock = clock
        #: What the person said, for each request.
        self.texts: list[str] = []

    async def respond(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        number = len(self.texts)
        said = [item for item in request.items if item.get("role") == "user"]
        self.texts.append(said[-1]["content"][0]["text"])
        kind, name = self._kinds[number % len(self._kinds)], NAMES[number]
        if kind == "away":
            raise BrainBusyError("busy")
        self.open_answers += 1
        try:
            if kind == "slow":
                await self._clock.sleep(0.3)
            is_behind_call = request.items[-1].get("type") == "function_call_output"
            steps = calls(("lamp", {"request": number})) if kind == "tool" and not is_behind_call else says(name)
            for step in steps:
                assert isinstance(step, ModelEvent)
                yield step
                if kind == "cut" and isinstance(step, TextDelta):
                    raise BrainStreamError("cut")
        finally:
            self.open_answers -= 1


async def happen(rig: Rig, turns: list[list[tuple[str, float]]]) -> None:
    rig.ears.will_hear(*(f"This is part {number} of it" for number in range(40)))
    for turn in turns:
        await rig.hears(WAKE_WORD)
        for what, seconds in turn:
            if what == "speaks":
                rig.speaks(seconds)
            elif what == "stops":
                rig.box.assistant.stop()
            elif what == "presses":
                rig.box.assistant.press()
            elif what == "gets a tool":
                rig.box.registry.add(FakeTool(f"tool_{len(rig.box.registry.tools)}"))
            await rig.runs(seconds)
        await rig.rests()


def check_turn(rig: Rig, model: AnyModel, lamp: FakeTool, ended: TurnEnded) -> None:
    def of_turn(kind: type[E]) -> list[E]:
        return [fact for fact in rig.told(kind) if fact.turn_id == ended.turn_id]

    heard = [fact.text for fact in of_turn(Transcribed)]
    own = [number for number, text in enumerate(model.texts) if text in heard]
    ran = [arguments["request"] for arguments, context in lamp.calls if context.turn_id == ended.turn_id]
    assert set(ran) <= set(own) and len(ran) == len(set(ran)), "a tool ran for words that were not meant, or twice"
    sounds = [fact.at_seconds for fact in of_turn(PlaybackStarted) if fact.lane == "speech"]
    assert not sounds or min(sounds) >= of_turn(SpeechEnded)[0].at_seconds, "it spoke before the turn was meant"
    answers = [fact.text for fact in of_turn(ReplySentenceSpoken) if fact.text in NAMES]
    assert set(answers) <= {NAMES[number] for number in own}, "it said what was not the answer"
    assert len(answers) == 1 or ended.reason is not EndReason.ANSWERED, "each turn has one answer"
    assert len(of_turn(DraftBegun)) == len(of_turn(DraftEnded)) <= 3


@settings(max_examples=40, deadline=None)
@given(KINDS, TURNS)
def test_only_what_was_meant_has_any_effect(
    matcher: HassilMatcher, kinds: list[str], turns: list[list[tuple[str, float]]]
) -> None:
    async def whole_story(folder: Path) -> None:
        clock = FakeClock()
        model, lamp = AnyModel(kinds, clock), FakeTool("lamp")
        rig = await Rig(folder, matcher, model=model, clock=clock).start()
        rig.adds(lamp)
        await happen(rig, turns)
        for ended in rig.told(TurnEnded):
            check_turn(rig, model, lamp, ended)
        records = await rig.history()
        assert {record.user_text for record in records} <= {fact.text for fact in rig.told(Transcribed)}
        assert model.open_answers == 0
        await rig.close()
        rig.disk.unplug()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(whole_story(Path(folder)))
