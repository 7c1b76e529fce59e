"""The run of the checks: nothing ends it, each has its time, the worst is told first."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from appliance.adapters.fakes.machine import FakeMachine
from appliance.adapters.fakes.sound_card import FakeSoundCard
from appliance.adapters.fakes.synthesizer import FakeSynthesizer
from appliance.adapters.fakes.transcriber import FakeTranscriber
from appliance.adapters.fakes.voice_activity import LoudnessVoiceActivity
from appliance.adapters.fakes.wake_word import FakeWakeWords
from appliance.catalogue import Catalogue
from appliance.clock import FakeClock, settle
from appliance.config import load
from appliance.control import Caller, Peer
from appliance.doctor.all_checks import all_checks
from appliance.doctor.check import Check, chosen, in_thread, run_checks
from appliance.doctor.doctor import Doctor
from appliance.doctor.examined import Examined, Outside
from appliance.doctor.finding import (
    GRAVEST_FIRST,
    Finding,
    Verdict,
    as_sentence,
    cannot_tell,
    failed,
    fine,
    some_of,
    summary,
    worst_first,
    wrong,
)
from appliance.doctor.sound_trial import SoundTrial
from appliance.errors import AudioError, ConfigError, UsageError
from appliance.home import Home, shipped
from appliance.network.house_network import HouseNetwork
from appliance.ports import Json
from appliance.speak.mixer import Mixer
from tests.device.house import House


async def good() -> Finding:
    return fine("All is well.")


async def broken() -> Finding:
    raise ZeroDivisionError("division by zero")


async def lost() -> Finding:
    raise AudioError("the sound system does not answer")


async def hanging() -> Finding:
    await asyncio.Event().wait()
    raise AssertionError


async def test_a_check_that_breaks_cannot_tell_and_the_next_one_is_done() -> None:
    told: list[Finding] = []
    checks = [Check("a.broken", broken), Check("a.lost", lost), Check("a.good", good)]
    findings = await run_checks(checks, FakeClock(), told.append)
    assert [finding.verdict for finding in findings] == [Verdict.CANNOT_TELL, Verdict.CANNOT_TELL, Verdict.FINE]
    assert "ZeroDivisionError" in findings[0].sentence
    assert findings[1].sentence == "The sound system does not answer."
    assert told == findings and [finding.check for finding in told] == ["a.broken", "a.lost", "a.good"]


async def test_a_check_that_hangs_is_given_up_after_its_own_time() -> None:
    clock = FakeClock()
    checks = [Check("a.hanging", hanging, longest_seconds=7.0), Check("a.good", good)]
    work = asyncio.ensure_future(run_checks(checks, clock, lambda _finding: None))
    await clock.advance(6.9)
    assert not work.done()
    await clock.advance(0.2)
    findings = await work
    assert findings[0].verdict is Verdict.CANNOT_TELL and "7 s" in findings[0].sentence
    assert findings[1].verdict is Verdict.FINE


async def test_a_thread_that_hangs_holds_up_nobody() -> None:
    clock, door = FakeClock(), threading.Event()

    def stuck() -> Finding:
        door.wait(60.0)
        return fine("Too late.")

    check = Check("a.stuck", lambda: in_thread(stuck), longest_seconds=3.0)
    work = asyncio.ensure_future(run_checks([check], clock, lambda _finding: None))
    await clock.advance(3.1)
    (finding,) = await work
    assert finding.verdict is Verdict.CANNOT_TELL
    door.set()
    await settle()


async def test_what_breaks_on_the_thread_reaches_the_check() -> None:
    def work() -> None:
        raise OSError(5, "Input/output error")

    with pytest.raises(OSError, match="Input/output"):
        await in_thread(work)


def test_groups_and_names_choose_checks() -> None:
    checks = [Check("sound.level", good), Check("sound.echo", good, is_quick=False), Check("machine.disk", good)]

    def names(*wanted: str, only_quick: bool = False) -> list[str]:
        return [check.name for check in chosen(checks, wanted, only_quick=only_quick)]

    assert names() == ["sound.level", "sound.echo", "machine.disk"]
    assert names(only_quick=True) == ["sound.level", "machine.disk"]
    assert names("sound") == ["sound.level", "sound.echo"]
    assert names("machine.disk", "sound.echo") == ["sound.echo", "machine.disk"]
    with pytest.raises(UsageError, match="no check 'sond'; the groups are: sound, machine"):
        names("sond")


def test_whatever_is_wrong_has_one_thing_to_do() -> None:
    with pytest.raises(ValueError, match="nothing is said of what to do"):
        wrong("It is broken.", "")
    assert failed(AudioError("it is broken; buy a new one")) == wrong("It is broken.", "Buy a new one.")
    assert failed(AudioError("it is broken")).advice


def test_a_deaf_box_is_worse_than_a_worn_card() -> None:
    def one(check: str) -> Finding:
        return Finding(Verdict.WRONG, f"{check} is wrong.", "Mend it.", check)

    found = [one("machine.swap"), fine("All is well."), one("a.stranger"), one("sound.level")]
    assert [finding.check for finding in worst_first(found)] == ["sound.level", "machine.swap", "a.stranger"]
    assert summary(found).endswith("The worst: sound.level is wrong. Mend it.")
    assert summary([fine("x"), cannot_tell("y")]) == "2 checks, and nothing is wrong; 1 could not tell."


def test_findings_survive_the_way_to_a_client() -> None:
    finding = Finding(Verdict.CANNOT_TELL, "Who knows?", "Ask.", "a.b")
    assert Finding.from_json(finding.to_json()) == finding
    assert finding.to_json()["verdict"] == "cannot_tell"
    assert (as_sentence(" two  words"), as_sentence("Why?"), as_sentence("")) == ("Two words.", "Why?", ".")
    assert some_of(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"


# ------------------------------------------------------------------------------------------------ all checks


class Patient:
    """A box of fakes whose sound, speech and machine are fine, apart from what a test changes."""

    def __init__(self, folder: Path) -> None:
        self.clock = FakeClock()
        self.machine = FakeMachine()
        self.machine.files |= {
            str(folder / "a"): "",
            "/proc/meminfo": "MemTotal: 2000000 kB\nMemAvailable: 1000000 kB",
            "/proc/swaps": "Filename",
        }
        self.card = FakeSoundCard()
        self.folder = folder
        self.secret = "sesame-open"

    def examined(self) -> Examined:
        trial = SoundTrial(self.card, Mixer(16_000), self.clock)

        async def sound() -> SoundTrial:
            return trial

        def network() -> HouseNetwork:
            raise ConfigError("network.proxy is no URL")

        return Examined(
            outside=Outside(self.machine, lambda: FakeWakeWords(), network),
            clock=self.clock,
            home=Home(self.folder),
            config=load(None, {}),
            sound=sound,
            synthesizer=lambda: FakeSynthesizer(),
            transcriber=lambda: FakeTranscriber(),
            activity=lambda: LoudnessVoiceActivity(),
            endpoint=lambda: None,
            settings_problems=[f"speak.voice = '{self.secret}' is no voice"],
            is_running=True,
        )

    def doctor(self) -> Doctor:
        return Doctor(self.examined, lambda text: text.replace(self.secret, "[secret]"))


@pytest.fixture
def patient(tmp_path: Path) -> Patient:
    return Patient(tmp_path)


def test_every_check_has_a_rank_and_a_spoken_sentence(patient: Patient) -> None:
    names = [check.name for check in all_checks(patient.examined())]
    assert len(set(names)) == len(names)
    assert set(names) == set(GRAVEST_FIRST)
    keys = Catalogue.load(shipped("soul"), "en").keys
    assert [name for name in names if f"doctor.{name.replace('.', '_')}" not in keys] == []


async def in_time(clock: FakeClock, work: asyncio.Future[list[Finding]] | asyncio.Future[list[str]]) -> None:
    """Threads do their work between two steps of the clock."""
    while not work.done():
        await clock.advance(0.05)
        await asyncio.to_thread(lambda: None)


async def test_a_whole_examination_ends_with_a_finding_of_every_check(patient: Patient) -> None:
    work = asyncio.ensure_future(patient.doctor().examine())
    await in_time(patient.clock, work)
    findings = await work
    assert [finding.check for finding in findings] == [check.name for check in all_checks(patient.examined())]
    by_name = {finding.check: finding for finding in findings}
    assert by_name["network.lanes"].verdict is Verdict.WRONG
    assert by_name["sound.frames"].verdict is Verdict.WRONG
    assert by_name["settings.values"].sentence == "A setting is wrong: speak.voice = '[secret]' is no voice."


async def test_clients_get_findings_as_they_come_and_all_in_the_end(patient: Patient) -> None:
    told: list[Json] = []
    caller = Caller(Peer(0, 0, 0), told.append)
    answer = await patient.doctor().handlers["doctor"]({"checks": ["settings", "machine.bits"], "quick": True}, caller)
    assert [entry["check"] for entry in answer["findings"]] == ["machine.bits", "settings.values"]
    assert [event["finding"] for event in told] == answer["findings"]
    with pytest.raises(UsageError, match="list of names"):
        await patient.doctor().handlers["doctor"]({"checks": "sound"}, caller)


async def test_the_spoken_examination_is_quick_and_the_worst_comes_first(patient: Patient) -> None:
    patient.machine.pointer_bits = 32
    begun = patient.clock.monotonic_seconds()
    work = asyncio.ensure_future(patient.doctor().worst(8.0))
    await in_time(patient.clock, work)
    worst = await work
    assert worst[:2] == ["settings.values", "sound.frames"] and "machine.bits" in worst
    assert patient.clock.monotonic_seconds() - begun < 9.0


# ----------------------------------------------------------------------------------------------------- spoken


async def test_asked_what_is_wrong_the_box_says_the_two_worst_things() -> None:
    house = House()
    assert "nothing is wrong" in await house.say("box_doctor") or "all is well" in await house.say("box_doctor")
    house.doctor.found = ["sound.level", "machine.power", "machine.swap", "board.sandbox"]
    said = await house.say("box_doctor")
    assert said == (
        "My microphone is open, but I hear nothing. Please look whether it has a switch of its own. "
        "I get too little power. Please use the power supply that is made for me. "
        "And there is more: appliance doctor tells all of it."
    )
    assert house.doctor.allowed_seconds < 10.0
    assert "used as memory" in await house.say("box_doctor", channel="text")


async def test_a_check_without_a_sentence_is_named() -> None:
    house = House()
    house.doctor.found = ["new.check"]
    assert await house.say("box_doctor") == "My check new check found something wrong. Appliance doctor tells what."
