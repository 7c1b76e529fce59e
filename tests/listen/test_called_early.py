"""Somebody calls while the box is still loading what answers."""

from __future__ import annotations

from appliance.clock import settle
from tests.listen.rig import a_room, of, quiet, tone


async def test_who_calls_before_anybody_waits_is_told_at_once_and_answered_later() -> None:
    async with a_room() as room:
        told: list[str] = []
        room.ear.when_called_early = lambda: told.append("early")
        await room.say_wake_word()
        assert told == ["early"]
        assert (await of(room.ear.wake())).result() == "okay nabu"


async def test_what_they_say_meanwhile_is_whole() -> None:
    async with a_room() as room:
        await room.say_wake_word(and_then=tone(1.0, 8002))
        await room.sound(quiet(2.0))
        assert await room.ear.wake() == "okay nabu"
        listening = room.listen(after_wake_word=True)
        await settle()
        await room.sound(quiet(0.1))
        utterance = await listening
        assert utterance is not None
        assert (utterance.audio.samples == 8002).sum() == 16_000


async def test_it_is_answered_once() -> None:
    async with a_room() as room:
        await room.say_wake_word()
        assert (await of(room.ear.wake())).done()
        assert not (await of(room.ear.wake())).done()


async def test_a_call_from_long_ago_is_no_call() -> None:
    async with a_room() as room:
        await room.say_wake_word()
        for _ in range(16):
            await room.sound(quiet(1.0))
        assert not (await of(room.ear.wake())).done()


async def test_muting_takes_the_call_back() -> None:
    async with a_room() as room:
        await room.say_wake_word()
        await room.ear.mute(True)
        await room.ear.mute(False)
        assert not (await of(room.ear.wake())).done()


async def test_once_somebody_has_waited_a_call_that_nobody_takes_is_not_kept() -> None:
    async with a_room() as room:
        waiting = await of(room.ear.wake())
        waiting.cancel()
        await settle()
        await room.say_wake_word()
        assert not (await of(room.ear.wake())).done()
