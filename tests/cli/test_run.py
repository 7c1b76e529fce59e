"""``run``: the demo without sound, the device with its clients, and how it ends."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.shell import Process, Ran, read_wav
from tests.e2e.conftest import Understand
from tests.e2e.device import PATIENCE_SECONDS, wait_until
from tests.understood import was_said

# ------------------------------------------------------------------------------------------------- the demo


def test_without_sound_the_same_turn_is_shown_and_written(process: Process, understand: Understand) -> None:
    ran = process("run")
    assert ran.code == 0
    title, heard, did, said, wrote, hint = ran.out.splitlines()
    assert title == "There is no microphone and no speaker here, so this is the demo: a recorded question."
    assert (heard, did) == ("heard  What time is it?", "did    box_time (ok)")
    assert said.startswith("said   It")
    assert wrote == "wrote  demo-reply.wav and demo-face.png"
    assert "appliance talk --silent" in hint
    assert "no speaker was found; plug one in" in ran.err and ran.err.count("\n") == 1
    assert was_said(understand(read_wav(process.folder / "demo-reply.wav")), "it")
    assert (process.folder / "demo-face.png").read_bytes().startswith(b"\x89PNG")


def test_the_demo_in_json(process: Process, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    report = process("run", "--json", "--demo-out", "out", "--trace", "trace.jsonl").json
    assert (report["reason"], report["heard"], report["did"]) == ("answered", "What time is it?", ["box_time (ok)"])
    assert report["wrote"] == [str(tmp_path / "out" / name) for name in ("demo-reply.wav", "demo-face.png")]
    assert all(Path(file).exists() for file in report["wrote"])
    assert '"TurnEnded"' in (tmp_path / "trace.jsonl").read_text().splitlines()[-1]


def test_the_demo_in_a_folder_that_takes_no_file_writes_into_the_home_and_says_so(process: Process) -> None:
    ran = process("run", cwd=Path("/proc"))
    assert ran.code == 0
    cache = process.home / "cache"
    assert f"the demo writes into {cache}" in ran.err
    assert f"wrote  {cache / 'demo-reply.wav'} and {cache / 'demo-face.png'}" in ran.out
    assert (cache / "demo-reply.wav").exists() and (cache / "demo-face.png").exists()


@pytest.mark.parametrize("option", ["--demo-out", "--trace"])
def test_a_place_for_its_files_that_is_none_is_told_at_once(process: Process, option: str) -> None:
    ran = process("run", option, "nowhere/x")
    assert (ran.code, ran.out) == (1, "")
    assert "cannot be written: its folder does not exist" in ran.err


def test_wrong_settings_are_told_and_the_box_works_without_them(process: Process) -> None:
    process.home.mkdir()
    (process.home / "config.toml").write_text('[speak]\nspeed = "fast"\n[sepak]\nhum = true\n')
    ran = process("run")
    assert ran.code == 0 and "said   It" in ran.out
    assert "appliance: speak.speed = 'fast' (file): must be a number (going on without it)\n" in ran.err
    assert "[sepak] (file) is no section; did you mean [speak]? (going on without it)\n" in ran.err


@pytest.mark.parametrize("text", ["[speak\n", '[approval]\nbutton_for = ["everything"]\n'], ids=["no TOML", "approval"])
def test_settings_that_nobody_may_guess_stop_it(process: Process, text: str) -> None:
    process.home.mkdir()
    (process.home / "config.toml").write_text(text)
    ran = process("run")
    assert (ran.code, ran.out) == (78, "")
    assert ran.err.count("\n") == 1


# ------------------------------------------------------------------------------------------------ the device


class Running(Process):
    """A device that waits for a microphone; commands run beside it in its home."""

    def __init__(self, folder: Path) -> None:
        # It does not use its idle time to speak lines ahead: these tests need the processor.
        super().__init__(folder, variables={"APPLIANCE_SPEAK_LINE_CACHE_MEGABYTES": "0"})
        self.introduction = ""
        self._device: subprocess.Popen[str] | None = None

    def start(self, *words: str) -> None:
        """Start it, and wait until it listens."""
        with (self.folder / "stderr").open("w") as complaints:
            self._device = subprocess.Popen(
                self.command("run", "--stay", *words),
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
                text=True,
            )

    def wait_until_listening(self) -> None:
        """Return when it is ready."""
        assert self._device is not None and self._device.stdout is not None
        for line in self._device.stdout:
            self.introduction += line
            if line == "listening\n":
                return
        raise AssertionError(f"it did not start: {self.introduction} {self.complaints}")

    def end(self, number: signal.Signals = signal.SIGTERM) -> Ran:
        """Send it a signal, and wait for its end."""
        assert self._device is not None
        self._device.send_signal(number)
        out, _ = self._device.communicate(timeout=PATIENCE_SECONDS)
        return Ran(self._device.returncode, self.introduction + out, self.complaints)

    @property
    def pid(self) -> int:
        """Number of its process."""
        assert self._device is not None
        return self._device.pid

    @property
    def complaints(self) -> str:
        """What it wrote to standard error."""
        return (self.folder / "stderr").read_text()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One device for all that only talk to it."""
    device = Running(tmp_path_factory.mktemp("running"))
    device.home.mkdir()
    (device.home / "credentials.json").write_text('{"OPENAI_API_KEY": "sk-half')
    device.start()
    device.wait_until_listening()
    yield device
    ended = device.end()
    assert ended.code == 0 and "Traceback" not in ended.err, ended.err


def test_the_first_start_says_who_is_there_and_how_to_begin(running: Running) -> None:
    lines = running.introduction.splitlines()
    assert lines[:5] == [
        "microphone  none yet: waiting for one",
        "speaker     none yet: waiting for one",
        "wake word   okay nabu",
        "button      none: what is risky is refused",
        "brain       its own; appliance model set URL gives it a model",
    ]
    assert lines[-5:] == [
        "Try:",
        '  "Okay nabu, what time is it?"',
        '  "Okay nabu, set a timer for one minute."',
        '  "Okay nabu, what can you do?"',
        "listening",
    ]


def test_a_running_device_answers_and_keeps_the_conversation(running: Running) -> None:
    ran = running("ask", "--text", "what time is it", "--json")
    assert (ran.code, ran.json["reason"], ran.json["did"]) == (0, "answered", ["box_time (ok)"])
    assert running("ask", "--text", "who are you").out.count("Wren") == 1
    assert "who are you" in running("chat", "show").out
    assert [chat["is_current"] for chat in running("chat", "list", "--json").json] == [True]
    shown = running("turns", "show", ran.json["turn_id"])
    assert shown.code == 0 and "answered" in shown.out
    assert running("talk", "--silent", stdin="who are you\n").out.count("Wren") == 1


def test_a_running_device_runs_tools(running: Running) -> None:
    assert "42" in running("tool", "run", "calculate", '{"expression": "6 * 7"}').out
    ran = running("tool", "run", "make_coffee")
    assert ran.code == 2 and "no tool 'make_coffee'" in ran.err
    assert "roll_dice" in running("tool", "list").out


def test_a_running_device_tells_its_status(running: Running) -> None:
    status = running("status", "--json")
    assert status.code == 0
    assert (status.json["state"], status.json["muted"], status.json["timers"]) == ("idle", False, 0)
    assert status.json["home"] == str(running.home)
    assert "no microphone was found" in status.json["microphone"]
    (problem,) = status.json["store problems"]
    assert "credentials.json was damaged" in problem and "sk-half" not in problem
    texts = running("status")
    assert texts.code == 0 and "wake words" in texts.out and texts.err == ""


def test_a_running_device_says_at_once_that_it_cannot_be_heard(running: Running) -> None:
    ran = running("say", "Good morning.")
    assert ran.code == 1 and "nothing could be heard" in ran.err


def test_a_running_device_hears_a_recording(running: Running, question: Path) -> None:
    ran = running("ask", question)
    assert ran.code == 1  # It has no speaker.
    assert "heard  What time is it?" in ran.out and "said   It" in ran.out


def test_a_running_device_survives_a_recording_that_is_none(running: Running) -> None:
    (running.folder / "empty.wav").write_bytes(b"")
    ran = running("ask", "empty.wav")
    assert ran.code == 1 and "empty.wav is empty" in ran.err
    assert running("ask", "--text", "what time is it").code == 0


def test_a_running_device_keeps_its_voice_to_itself(running: Running) -> None:
    ran = running("say", "hello", "--out", "hello.wav")
    assert (ran.code, ran.out) == (1, "")
    assert "the device is running" in ran.err and "stop it first" in ran.err


def test_a_second_device_on_the_same_home_is_told_who_has_it(running: Running) -> None:
    ran = running("run")
    assert (ran.code, ran.out) == (1, "")
    assert f"already runs on {running.home} (process {running.pid})" in ran.err
    assert running("status").code == 0


def test_a_second_start_does_not_say_again_how_to_begin(tmp_path: Path) -> None:
    for is_first in (True, False):
        device = Running(tmp_path)
        device.start()
        device.wait_until_listening()
        assert device.end().code == 0
        assert ("Try:" in device.introduction) is is_first


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    device = Running(tmp_path)
    device.start()
    device.wait_until_listening()
    ended = device.end(number)
    assert (ended.code, ended.err) == (0, "")
    assert not (device.home / "run" / "control.sock").exists()
    assert device("chat", "list").code == 0


def test_a_signal_while_it_starts_is_a_clean_end_too(tmp_path: Path) -> None:
    device = Running(tmp_path)
    slow = device.home / "plugins" / "slow"
    slow.mkdir(parents=True)
    # Loading this plugin takes its time, and says when it has begun.
    (slow / "slow.py").write_text("import pathlib, time\npathlib.Path(__file__ + '.begun').touch()\ntime.sleep(60)\n")
    device.start()
    wait_until((slow / "slow.py.begun").exists, lambda: device.complaints)
    ended = device.end()
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_a_device_that_is_killed_leaves_its_client_with_a_sentence(tmp_path: Path) -> None:
    device = Running(tmp_path)
    slow = device.home / "plugins" / "slow"
    slow.mkdir(parents=True)
    (slow / "slow.py").write_text(
        "import asyncio, pathlib\n"
        'SCHEMA = {"type": "function", "name": "slow", "description": "Slow."}\n'
        "async def execute(args, ctx):\n"
        "    pathlib.Path(__file__ + '.begun').touch()\n"
        "    await asyncio.sleep(60)\n"
    )
    device.start()
    device.wait_until_listening()
    client = subprocess.Popen(
        device.command("tool", "run", "slow"), env=device.environment, stderr=subprocess.PIPE, text=True
    )
    wait_until((slow / "slow.py.begun").exists, lambda: device.complaints)
    device.end(signal.SIGKILL)
    _, err = client.communicate(timeout=PATIENCE_SECONDS)
    assert client.returncode == 1
    assert err.startswith("appliance: the device stopped before it had answered")
    # The next command works on the home that was left behind.
    assert device("ask", "--text", "what time is it").code == 0


def test_debugging_a_device_shows_no_secret(tmp_path: Path) -> None:
    device = Running(tmp_path)
    device.environment["OPENAI_API_KEY"] = "sk-test-8841-owl"
    device.environment["APPLIANCE_THINK_URL"] = "http://127.0.0.1:9"
    device.start("--debug")
    device.wait_until_listening()
    ran = device("ask", "--text", "tell me of sk-test-8841-owl", "--debug")
    ended = device.end()
    assert ran.code == 1 and ended.code == 0
    assert "BrainUnreachableError" in ended.err
    assert "sk-test-8841-owl" not in ended.err + ran.err
