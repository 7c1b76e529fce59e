"""What people say while the box waits for the button: a no counts, a yes does not, and the rest is not heard of."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.adapters.fakes.tool import FakeTool
from appliance.events import ApprovalDecided, EndReason
from appliance.listen.earcons import Earcon
from appliance.tools.tool import Risk
from tests.assistant.conftest import MakeRig
from tests.assistant.rig import WAKE_WORD, Rig


class Backup:
    """A box with a button that was asked, aloud, to run the backup."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.tool = FakeTool("run_backup", risk=Risk.EXEC, origin="plugin:backup", clock=rig.clock, seconds=2.0)
        rig.adds(self.tool)

    async def is_asked_for(self) -> None:
        """Until the question was said, and whoever answers is heard."""
        await self.rig.hears(WAKE_WORD, "Run the backup.")
        await self.is_asked_about()

    async def is_asked_about(self) -> None:
        """The same for a question that is under way."""
        rig = self.rig
        await rig.until(lambda: rig.box.asker.asked is not None and rig.is_ear_open)
        await rig.runs(1.2)

    @property
    def is_open(self) -> bool:
        """Whether the question still waits."""
        return self.rig.box.asker.asked is not None

    @property
    def decisions(self) -> list[str]:
        return [fact.decision for fact in self.rig.told(ApprovalDecided) if fact.tool == "run_backup"]

    async def approvers(self) -> list[tuple[str, str]]:
        """Who decided what, as the trail has it."""
        lines = [line for line in await self.rig.audit() if line["kind"] == "decision"]
        return [(line["verdict"], line["approver"]) for line in lines]


async def asked(make_rig: MakeRig, *, rounds: int = 1, **parts: Any) -> Backup:
    """A box that waits for the button."""
    answers = [answer for _ in range(rounds) for answer in (calls(("run_backup", {})), says("That is all."))]
    backup = Backup(await make_rig(has_button=True, model=FakeModelEndpoint(*answers), **parts))
    await backup.is_asked_for()
    return backup


# ---------------------------------------------------------------------------------------------------- a no


@pytest.mark.parametrize(
    "said",
    [
        *("No.", "Nope.", "No, thanks.", "No no no!", "Please don't.", "Do not do that.", "Cancel.", "Never mind."),
        *("Leave it.", "Okay Nabu, no."),
    ],
)
async def test_a_spoken_no_is_a_no(make_rig: MakeRig, said: str) -> None:
    backup = await asked(make_rig)
    rig = backup.rig
    assert rig.said[-1] == "For no, hold it, or just say so."

    await rig.hears(said)
    await rig.rests()

    assert backup.tool.calls == []
    assert await backup.approvers() == [("declined", "voice")]
    refusal, reply = rig.said[-2:]
    assert refusal in rig.sentences("approve.declined")
    assert (reply, rig.endings) == ("That is all.", [EndReason.ANSWERED])
    assert rig.model is not None
    assert "said NO" in str(rig.model.requests[-1].items)


async def test_stop_is_a_no_and_ends_the_turn(make_rig: MakeRig) -> None:
    backup = await asked(make_rig)
    rig = backup.rig
    said = list(rig.said)

    await rig.hears("Stop.")
    await rig.rests()

    assert backup.tool.calls == []
    assert await backup.approvers() == [("declined", "voice")]
    assert rig.endings == [EndReason.STOPPED]
    assert rig.said == said
    assert rig.last_tone is Earcon.CLOSED
    assert rig.model is not None
    assert len(rig.model.requests) == 1


async def test_a_no_to_the_second_question_about_what_cannot_be_undone(make_rig: MakeRig) -> None:
    backup = await asked(make_rig, settings={"approval.two_step": "plugin:backup"})
    rig = backup.rig
    await rig.presses()
    await rig.until(lambda: "Press again for yes." in rig.said)
    await backup.is_asked_about()

    await rig.hears("No.")
    await rig.rests()

    assert (backup.tool.calls, await backup.approvers()) == ([], [("declined", "voice")])


# --------------------------------------------------------------------------------------------------- a yes


@pytest.mark.parametrize("said", ["Yes.", "Okay.", "Yes, do it.", "I pressed it.", "I already pressed the button."])
async def test_a_spoken_yes_runs_nothing_and_is_told_once_what_it_takes(make_rig: MakeRig, said: str) -> None:
    backup = await asked(make_rig)
    rig = backup.rig

    await rig.hears(said)
    await rig.until(lambda: rig.is_ear_open)
    await rig.hears(said)
    await rig.runs(3.0)

    assert backup.is_open
    assert backup.tool.calls == []
    assert rig.said.count("I need the button for that.") == 1
    await rig.presses()
    await rig.rests()
    assert len(backup.tool.calls) == 1
    assert await backup.approvers() == [("approved", "button")]


async def test_behind_a_yes_a_no_still_counts(make_rig: MakeRig) -> None:
    backup = await asked(make_rig)
    rig = backup.rig
    await rig.hears("Yes.")
    await rig.until(lambda: rig.is_ear_open)

    await rig.hears("No.")
    await rig.rests()

    assert (backup.tool.calls, await backup.approvers()) == ([], [("declined", "voice")])


# ------------------------------------------------------------------------------------------- everything else


async def test_other_talk_is_nobodys_business(make_rig: MakeRig) -> None:
    backup = await asked(make_rig)
    rig = backup.rig
    said, facts = list(rig.said), len(rig.facts)

    for text in ("And then she said no to him.", "What time is it?", "I don't know.", ""):
        await rig.hears(text)
    await rig.runs(2.0)

    assert backup.is_open
    assert (rig.said, rig.facts[facts:]) == (said, [])
    await rig.presses()
    await rig.rests()
    assert len(backup.tool.calls) == 1
    assert rig.model is not None
    assert len(rig.model.requests) == 2
    assert "she said" not in str(rig.model.requests) + rig.disk.text


async def test_talk_that_is_too_long_for_an_answer_is_not_even_transcribed(make_rig: MakeRig) -> None:
    backup = await asked(make_rig)
    rig = backup.rig
    heard = len(rig.ears.heard)

    await rig.hears_noise(6.0)

    assert len(rig.ears.heard) == heard
    assert backup.is_open


async def test_talk_does_not_make_the_wait_longer(make_rig: MakeRig) -> None:
    backup = await asked(make_rig)
    rig = backup.rig
    began = rig.clock.monotonic_seconds()

    while backup.is_open:
        await rig.hears("Well, yes.")
        assert rig.clock.monotonic_seconds() - began < 61.0

    await rig.rests()
    assert backup.decisions == ["unanswered"]
    assert rig.said[-2] in rig.sentences("approve.unanswered")


async def test_the_wait_is_as_long_as_the_owner_wants(make_rig: MakeRig) -> None:
    backup = await asked(make_rig, settings={"approval.voice_window_seconds": "20"})
    waited = await backup.rig.until(lambda: not backup.is_open)
    assert waited < 20.0
    await backup.rig.rests()
    assert backup.decisions == ["unanswered"]


async def test_a_transcriber_that_fails_leaves_the_button(make_rig: MakeRig) -> None:
    backup = await asked(make_rig)
    rig = backup.rig
    rig.ears.fail()
    await rig.hears_noise()
    assert backup.is_open
    await rig.hears("No.")
    await rig.rests()
    assert await backup.approvers() == [("declined", "voice")]


async def test_the_wake_word_takes_the_turn_as_everywhere(make_rig: MakeRig) -> None:
    backup = await asked(make_rig)
    rig = backup.rig

    await rig.hears(WAKE_WORD, "Is that all?")
    await rig.rests()

    assert (backup.tool.calls, await backup.approvers()) == ([], [("dismissed", "stop")])
    assert rig.said[-1] == "That is all."
    assert rig.endings == [EndReason.BARGED_IN, EndReason.ANSWERED]


async def test_the_wake_word_takes_the_turn_while_the_question_is_said(make_rig: MakeRig) -> None:
    backup = Backup(await make_rig(has_button=True, model=FakeModelEndpoint(calls(("run_backup", {})))))
    rig = backup.rig
    await rig.hears(WAKE_WORD, "Run the backup.")
    await rig.until(lambda: rig.box.speaker.now_saying.startswith("Press my button"))

    await rig.hears(WAKE_WORD, "Stop.")
    await rig.rests()

    assert (backup.tool.calls, backup.decisions) == ([], ["dismissed"])


# --------------------------------------------------------------------------------------------- its own voice


async def test_its_own_question_answers_nothing(make_rig: MakeRig) -> None:
    """The room gives back all that it says, and whisper may make a no of any piece of it."""
    backup = Backup(await make_rig(has_button=True, model=FakeModelEndpoint(calls(("run_backup", {})))))
    rig = backup.rig
    await rig.hears(WAKE_WORD, "Run the backup.")
    await rig.until(lambda: rig.box.speaker.now_saying.startswith("May I use the tool"))
    heard = len(rig.ears.heard)
    rig.ears.will_hear(*["No."] * 5)

    while rig.box.speaker.is_speaking:
        rig.falls_silent()
        rig.speaks(0.2)
        await rig.runs(0.05)
    await rig.runs(3.0)

    assert len(rig.ears.heard) == heard
    assert backup.is_open


async def test_a_late_echo_of_its_last_word_answers_nothing(make_rig: MakeRig) -> None:
    backup = await asked(make_rig)
    rig = backup.rig

    saying = rig.box.speaker.say("My answer is no.")
    await rig.until(lambda: saying.is_over)
    await rig.runs(0.3)
    await rig.hears("No.")
    assert backup.is_open

    await rig.runs(1.0)
    await rig.hears("No.")
    assert not backup.is_open


async def test_what_is_said_over_a_sentence_of_its_own_is_not_heard(make_rig: MakeRig) -> None:
    backup = await asked(make_rig)
    rig = backup.rig
    rig.speaks(1.0)
    await rig.runs(0.3)

    rig.box.speaker.say("Somebody says this from a shell.")
    await rig.runs(0.2)

    assert not rig.is_ear_open
    await rig.until(lambda: rig.is_ear_open)
    assert backup.is_open


# --------------------------------------------------------------------------------------------- the house


async def test_whoever_looks_sees_that_it_asks(make_rig: MakeRig) -> None:
    backup = await asked(make_rig)
    rig = backup.rig
    assert (await rig.control.call("status"))["state"] == "asking"

    await rig.presses()
    await rig.until(lambda: backup.tool.calls)

    assert (await rig.control.call("status"))["state"] == "running"
    await rig.rests()
    assert (await rig.control.call("status"))["state"] == "idle"


async def test_a_typed_turn_asks_on_the_screen_and_opens_no_ear(make_rig: MakeRig) -> None:
    rig = await make_rig(has_button=True, model=FakeModelEndpoint(calls(("run_backup", {})), says("Done.")))
    backup = Backup(rig)
    typing = asyncio.create_task(rig.control.call("ask", {"text": "Run the backup."}))
    await rig.until(lambda: backup.is_open)
    await rig.runs(2.0)

    assert rig.box.assistant.state == "asking"
    assert not rig.is_ear_open
    await rig.presses()
    await rig.until(typing.done)
    assert len(backup.tool.calls) == 1


async def test_muted_nothing_is_opened_and_no_spoken_no_is_promised(make_rig: MakeRig) -> None:
    rig = await make_rig(has_button=True, model=FakeModelEndpoint(calls(("run_backup", {})), says("Done.")))
    backup = Backup(rig)
    await rig.box.controls.mute(True)
    typing = asyncio.create_task(rig.control.call("ask", {"text": "Run the backup.", "voice": True}))
    await rig.until(lambda: "Hold it for no." in rig.said)
    await rig.runs(3.0)

    assert not rig.is_ear_open
    assert backup.is_open
    await rig.presses(1.4)
    await rig.until(typing.done)
    assert await backup.approvers() == [("declined", "button")]


async def test_muting_while_it_waits_closes_the_ear_and_unmuting_opens_it(make_rig: MakeRig) -> None:
    backup = await asked(make_rig)
    rig = backup.rig

    await rig.box.controls.mute(True)
    await rig.runs(1.0)
    assert not rig.is_ear_open
    await rig.box.controls.mute(False)
    await rig.runs(1.0)

    await rig.hears("No.")
    await rig.rests()
    assert await backup.approvers() == [("declined", "voice")]


async def test_while_something_rings_a_no_is_about_that(make_rig: MakeRig) -> None:
    backup = await asked(make_rig)
    rig = backup.rig
    await rig.sets_timer(1.0)
    await rig.until(lambda: rig.said[-1] in rig.sentences("ring.timer"))
    await rig.until(lambda: rig.is_ear_open)
    await rig.runs(0.4)

    await rig.hears("No.")

    assert rig.box.ringer.ringing == ()
    assert backup.is_open
    await rig.until(lambda: rig.is_ear_open)
    await rig.runs(1.2)
    await rig.hears("No.")
    await rig.rests()
    assert await backup.approvers() == [("declined", "voice")]


async def test_a_bell_does_not_wait_for_a_turn_that_waits_for_a_person(make_rig: MakeRig) -> None:
    backup = await asked(make_rig)
    rig = backup.rig
    await rig.sets_timer(1.0)
    waited = await rig.until(lambda: rig.mixer.has_sound())
    assert waited < 3.0
    assert backup.is_open


# ------------------------------------------------------------------------------------ two of them, and trouble


async def test_two_requests_one_after_another_each_want_a_press_of_their_own(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(calls(("run_backup", {"to": "one"}), ("run_backup", {"to": "two"})), says("Both done."))
    backup = Backup(await make_rig(has_button=True, model=model))
    rig = backup.rig
    await backup.is_asked_for()

    await rig.presses()
    await rig.until(lambda: len(backup.tool.calls) == 1)
    await backup.is_asked_about()
    assert [arguments for arguments, _context in backup.tool.calls] == [{"to": "one"}]

    await rig.hears("No.")
    await rig.rests()

    assert len(backup.tool.calls) == 1
    assert await backup.approvers() == [("approved", "button"), ("declined", "voice")]
    assert rig.said[-1] == "Both done."


async def test_a_no_is_for_the_request_that_is_asked_about(make_rig: MakeRig) -> None:
    model = FakeModelEndpoint(calls(("run_backup", {"to": "one"}), ("run_backup", {"to": "two"})), says("Done."))
    backup = Backup(await make_rig(has_button=True, model=model))
    rig = backup.rig
    await backup.is_asked_for()

    await rig.hears("No.")
    await backup.is_asked_about()
    await rig.presses()
    await rig.rests()

    assert [arguments for arguments, _context in backup.tool.calls] == [{"to": "two"}]
    assert await backup.approvers() == [("declined", "voice"), ("approved", "button")]


async def test_a_disk_that_fills_up_while_the_person_thinks(make_rig: MakeRig) -> None:
    backup = await asked(make_rig)
    rig = backup.rig
    rig.disk.is_full = True

    await rig.presses()
    await rig.until(lambda: not backup.is_open)
    await rig.until(lambda: "so I did nothing" in " ".join(rig.said))

    assert backup.tool.calls == []
    rig.disk.is_full = False
    await rig.rests()


async def test_a_spoken_no_on_a_full_disk_is_a_no(make_rig: MakeRig) -> None:
    backup = await asked(make_rig)
    rig = backup.rig
    rig.disk.is_full = True

    await rig.hears("No.")
    await rig.until(lambda: set(rig.said) & set(rig.sentences("approve.declined")))

    assert backup.tool.calls == []
    rig.disk.is_full = False
    await rig.rests()
