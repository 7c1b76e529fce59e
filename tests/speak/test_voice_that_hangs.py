"""A voice that gives no sound any more: it is given up soon, once in a turn, and tried again in the next."""

from __future__ import annotations

import asyncio
from pathlib import Path

from appliance.events import ErrorRaised
from appliance.ports import Synthesizer
from appliance.speak.line_cache import LineCache
from appliance.speak.line_voice import LOADING_SECONDS, SPARE_SECONDS
from tests.speak.rig import Rig


async def _made_at(rig: Rig, seconds: float, text: str) -> None:
    """Have ``text`` said by a voice that takes so long for it."""
    rig.voice.block()
    rig.speaker.say(text)
    await rig.clock.advance(seconds)
    rig.voice.release()
    await rig.play(2.0)


async def test_a_voice_whose_pace_is_known_is_given_up_sooner() -> None:
    rig = Rig()
    rig.speaker.say("One two three.")
    await rig.play(1.0)
    rig.voice.block()
    playback = rig.speaker.say("Four five six.")
    done = asyncio.ensure_future(playback.finished())
    await rig.clock.advance(SPARE_SECONDS - 0.1)
    assert not done.done()
    await rig.clock.advance(0.2)
    assert await done == ""
    assert [error.where for error in rig.told(ErrorRaised)] == ["voice"]


async def test_a_slow_board_is_not_taken_for_one_that_hangs() -> None:
    rig = Rig()
    await _made_at(rig, 1.0, "Forty characters that take a whole second.")
    await _made_at(rig, 12.0, "This one waits behind a long one of another.")
    assert rig.heard == ["Forty characters that take a whole second.", "This one waits behind a long one of another."]
    assert rig.told(ErrorRaised) == []


async def test_a_voice_that_hung_is_asked_once_in_a_reply_and_again_in_the_next_turn() -> None:
    rig = Rig()
    rig.speaker.say("One two three.", turn_id="turn-1")
    await rig.play(1.0)
    rig.voice.block()
    said = [rig.speaker.say(f"Sentence number {number}.", turn_id="turn-2") for number in range(4)]
    done = asyncio.gather(*(playback.finished() for playback in said))
    await rig.clock.advance(SPARE_SECONDS + 0.1)
    assert done.done() and await done == ["", "", "", ""]
    assert [error.turn_id for error in rig.told(ErrorRaised)] == ["turn-2"]
    assert len(rig.voice.asked) == 3, "the first sentence, and the one behind it that was begun with it"
    assert rig.voice.times_started_over == 0
    rig.voice.release()
    rig.speaker.say("Four five six. Seven eight.", turn_id="turn-3")
    await rig.play(2.0)
    assert rig.heard == ["One two three.", "Four five six.", "Seven eight."]
    assert rig.voice.times_started_over == 1


async def test_kept_lines_are_said_although_the_voice_hangs(tmp_path: Path) -> None:
    caches: list[LineCache] = []

    def kept(voice: Synthesizer) -> LineCache:
        caches.append(LineCache(tmp_path, voice, 10.0))
        return caches[0]

    rig = Rig(cache=kept)
    assert await caches[0].prepare(["Kept line."])
    rig.voice.block()
    lost = asyncio.ensure_future(rig.speaker.say("This one is lost.", turn_id="turn-2").finished())
    # Reading the kept line is another thread's work, so it is waited for and not stepped to.
    kept_line = asyncio.ensure_future(rig.speaker.say("Kept line.", turn_id="turn-2").finished())
    for _ in range(100):
        await rig.play(LOADING_SECONDS / 50)
        if kept_line.done():
            break
    assert (await lost, await kept_line) == ("", "Kept line.")
    assert rig.heard == ["Kept line."]
