"""What a press does in the house when it answers no question."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from appliance.adapters.fakes.box import FakeControls
from appliance.adapters.fakes.button import FakeButton
from appliance.adapters.fakes.documents import FakeDocuments
from appliance.adapters.fakes.power import FakePower
from appliance.approve.button_rules import ButtonRules
from appliance.approve.button_watch import ButtonWatch
from appliance.catalogue import Catalogue
from appliance.clock import FakeClock
from appliance.device.settings import BoxSettings
from appliance.errors import AudioError
from appliance.events import ErrorRaised, Event
from appliance.home import shipped
from appliance.listen.earcons import Earcon
from appliance.ports import Priority
from appliance.pressing import Pressing


class Assistant:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.is_busy = False

    def press(self, *, is_held: bool = False) -> None:
        self.told.append("hold to talk" if is_held else "press")

    def let_go(self) -> None:
        self.told.append("let go")

    def silence(self) -> None:
        self.told.append("silence")

    def stop(self) -> bool:
        self.told.append("stop")
        return self.is_busy


class Speaker:
    """Notes what it says; ``withdrawn`` is what it was not to say after all."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.noticed: list[str] = []
        self.withdrawn: list[str] = []
        #: Whether what is said comes to its end only when told so.
        self.is_slow = False
        self._end = asyncio.Event()

    def comes_to_its_end(self) -> None:
        """What is being said has been heard."""
        self._end.set()

    def say(self, text: str, priority: Priority = Priority.REPLY) -> Any:
        self.said.append(text)
        speaker = self

        class Saying:
            def withdraw(self) -> None:
                speaker.withdrawn.append(text)

            async def finished(self) -> str:
                if speaker.is_slow:
                    await speaker._end.wait()
                return text

        return Saying()

    def notice(self, key: str, text: str) -> None:
        self.noticed.append(f"{key}: {text}")

    def stop(self) -> None:
        """Silence."""


class Controls(FakeControls):
    """Whose sound card may be gone."""

    is_broken = False

    async def mute(self, muted: bool) -> None:
        if self.is_broken:
            raise AudioError("the card is gone")
        await super().mute(muted)


class House:
    """A button joined to a house that notes what happens."""

    def __init__(self, *, hold_to_talk: bool = False, may_shut_down: bool = False) -> None:
        self.clock = FakeClock()
        self.button = FakeButton(self.clock)
        self.is_ringing = False
        self.watch = ButtonWatch(
            self.button,
            self.clock,
            rules=ButtonRules.of(hold_to_talk=hold_to_talk),
            is_ringing=lambda: self.is_ringing,
        )
        self.assistant = Assistant()
        self.controls = Controls(has_button=True)
        self.speaker = Speaker()
        self.documents = FakeDocuments()
        self.facts: list[Event] = []
        self.sounds: list[Earcon] = []
        self.power = FakePower()
        parts: Any = (self.assistant, self.controls, self.speaker)
        Pressing(
            *parts,
            settings=BoxSettings(self.documents),
            catalogue=Catalogue.load(shipped("soul"), "en"),
            clock=self.clock,
            publish=self.facts.append,
            sound=self.sounds.append,
            hold_to_talk=hold_to_talk,
            power=self.power if may_shut_down else None,
        ).join(self.watch)
        self.life = asyncio.get_running_loop().create_task(self.watch.run())

    async def press(self, seconds: float = 0.15) -> None:
        self.button.press()
        await self.clock.advance(seconds)
        self.button.release()
        await self.clock.advance(0.1)

    async def end(self) -> None:
        self.life.cancel()
        await asyncio.gather(self.life, return_exceptions=True)


@pytest.fixture
async def house(request: pytest.FixtureRequest) -> AsyncIterator[House]:
    house = House(**getattr(request, "param", {}))
    await house.clock.advance(0.5)
    yield house
    await house.end()


async def test_a_press_is_the_assistants_to_understand(house: House) -> None:
    await house.press()
    assert house.assistant.told == ["press"]


async def test_a_press_silences_what_rings_and_nothing_else(house: House) -> None:
    house.is_ringing = True
    await house.clock.advance(0.5)
    await house.press()
    assert house.assistant.told == ["silence"]


async def test_a_hold_stops_everything_and_says_so_with_a_sound(house: House) -> None:
    await house.press(1.5)
    assert house.assistant.told == ["stop"]
    assert house.sounds == [Earcon.CLOSED]


async def test_a_double_press_closes_the_microphone_for_good_and_opens_it_again(house: House) -> None:
    await house.press()
    await house.press()
    assert house.assistant.told == ["press", "stop"], "what the first press began is over"
    assert house.controls.is_muted
    assert (await BoxSettings(house.documents).load()).is_muted, "over a restart too"
    await house.clock.advance(1.0)
    await house.press()
    await house.press()
    assert not house.controls.is_muted
    assert not (await BoxSettings(house.documents).load()).is_muted


async def test_one_press_does_not_open_a_closed_microphone_it_says_how(house: House) -> None:
    await house.controls.mute(True)
    await house.press()
    assert house.controls.is_muted
    assert house.assistant.told == ["stop"]
    assert house.speaker.said == ["My microphone is closed. Press the button twice to open it."]


async def test_muted_and_speaking_a_press_stops_the_speech(house: House) -> None:
    await house.controls.mute(True)
    house.assistant.is_busy = True
    await house.press()
    assert house.assistant.told == ["stop"]
    assert house.speaker.said == []


async def test_a_microphone_that_cannot_be_opened_does_not_break_the_button(house: House) -> None:
    house.controls.is_broken = True
    await house.press()
    await house.press()
    await house.clock.advance(1.0)
    await house.press()
    assert house.assistant.told == ["press", "stop", "press"]


_MAY_SHUT_DOWN = pytest.mark.parametrize("house", [{"may_shut_down": True}], indirect=True)


@_MAY_SHUT_DOWN
async def test_the_countdown_is_spoken_and_letting_go_takes_it_back(house: House) -> None:
    house.button.press()
    await house.clock.advance(8.2)
    assert house.speaker.said == ["I shut down in 5 seconds. Let go of the button to stay on."]
    house.button.release()
    await house.clock.advance(6.0)
    assert house.speaker.withdrawn == house.speaker.said[:1]
    assert "stay on" in house.speaker.said[1]
    assert house.power.offs == 0


async def test_a_box_that_may_not_switch_the_machine_off_counts_nothing_down_and_says_what_to_do(house: House) -> None:
    await house.press(13.2)
    (said,) = house.speaker.said
    assert "I may not switch this machine off" in said
    assert "the entry named shuts down can allow it" in said
    assert house.power.offs == 0


@_MAY_SHUT_DOWN
async def test_held_to_the_end_the_machine_is_switched_off_once_and_when_that_was_heard(house: House) -> None:
    house.speaker.is_slow = True
    house.button.press()
    await house.clock.advance(14.0)
    assert house.speaker.said[-1] == "I am shutting down."
    assert house.power.offs == 0, "it is still being said"
    house.speaker.comes_to_its_end()
    await house.clock.advance(20.0)
    assert house.power.offs == 1


@_MAY_SHUT_DOWN
async def test_a_speaker_that_never_comes_to_its_end_does_not_keep_the_machine_on(house: House) -> None:
    house.speaker.is_slow = True
    await house.press(13.2)
    await house.clock.advance(9.0)
    assert house.power.offs == 0
    await house.clock.advance(2.0)
    assert house.power.offs == 1


@_MAY_SHUT_DOWN
async def test_a_machine_that_stays_on_is_said_and_the_box_goes_on(house: House) -> None:
    house.power.problem = "systemctl poweroff did not work: access denied"
    await house.press(13.5)
    assert house.speaker.said[-1].startswith("I could not switch the machine off, so I stay on.")
    assert [fact.where for fact in house.facts if isinstance(fact, ErrorRaised)] == ["power"]
    await house.press()
    assert house.assistant.told[-1] == "press"


async def test_a_hold_that_refuses_is_told_in_words_and_one_that_stops_is_not(house: House) -> None:
    house.watch.begin("r1")
    await house.press(1.3)
    assert house.assistant.told == ["stop"]
    assert len(house.speaker.said) == 1
    assert house.speaker.said[0] in ("All right, I did not do it.", "Okay, I left it.")
    await house.clock.advance(2.0)
    await house.press(1.3)
    assert len(house.speaker.said) == 1


async def test_who_presses_twice_for_a_yes_is_told_once_how_to_get_there(house: House) -> None:
    house.watch.begin("r1")
    house.watch.arm("r1")
    await house.clock.advance(1.2)
    for _ in range(2):
        await house.press()
        await house.press()
        await house.clock.advance(1.0)
    assert house.speaker.said == ["Please wait for a moment, and then press once."]


@pytest.mark.parametrize("house", [{"hold_to_talk": True}], indirect=True)
async def test_hold_to_talk_opens_the_ear_and_closes_it(house: House) -> None:
    house.button.press()
    await house.clock.advance(0.2)
    assert house.assistant.told == ["hold to talk"]
    await house.clock.advance(9.0)
    house.button.release()
    await house.clock.advance(0.2)
    assert house.assistant.told == ["hold to talk", "let go"]


@pytest.mark.parametrize("house", [{"hold_to_talk": True}], indirect=True)
async def test_with_hold_to_talk_a_double_press_stops_everything(house: House) -> None:
    await house.press()
    await house.press()
    assert house.assistant.told[-1] == "stop"
    assert not house.controls.is_muted


async def test_a_fault_is_said_once_in_words(house: House) -> None:
    for _ in range(2):
        house.button.is_present = False
        await house.clock.advance(0.5)
        house.button.is_present = True
        await house.clock.advance(4.0)
    assert house.speaker.noticed == ["button-dead: " + _DEAD] * 2, "the notices say one key once"
    assert [fact.where for fact in house.facts if isinstance(fact, ErrorRaised)] == ["button"] * 2


_DEAD = "I can't reach my button. Until I can, I refuse everything that needs your hand. My log says why."
