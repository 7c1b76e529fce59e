"""``ask``, ``say`` and ``talk``: one question, one sentence, a conversation."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import wave
from pathlib import Path

import numpy as np
import pytest
import soxr

from appliance.audio import AudioChunk
from appliance.cli.ask import Watcher
from tests.cli.scripted_model import ScriptedModel
from tests.cli.shell import Process, Shell, read_wav
from tests.e2e.conftest import Understand
from tests.e2e.device import PATIENCE_SECONDS
from tests.responses_server import Answer, Call
from tests.understood import was_said


def test_a_typed_question_is_answered_in_text(shell: Shell) -> None:
    ran = shell("ask", "--text", "what time is it")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("It")


def test_a_model_s_answer_is_shown_as_it_was_written(shell: Shell) -> None:
    with ScriptedModel(Answer(text="Fourteen **wrens**, I think.")) as model:
        ran = shell("ask", "--text", "how many birds are there", "--set", f"think.url={model.url}")
    assert (ran.code, ran.out) == (0, "Fourteen **wrens**, I think.\n")


def test_a_recorded_question_is_heard_answered_and_the_reply_written(
    shell: Shell, question: Path, understand: Understand
) -> None:
    ran = shell("ask", question, "--out", "reply.wav", "--trace", "trace.jsonl", "--face", "face.png")
    assert (ran.code, ran.err) == (0, "")
    heard, did, said = ran.out.splitlines()
    assert (heard, did) == ("heard  What time is it?", "did    box_time (ok)")
    assert said.startswith("said   It")
    assert was_said(understand(read_wav(shell.folder / "reply.wav")), "it")
    events = [json.loads(line)["event"] for line in (shell.folder / "trace.jsonl").read_text().splitlines()]
    assert events[0] == "TurnStarted" and events[-1] == "TurnEnded"
    assert events.index("Transcribed") < events.index("ToolFinished") < events.index("ReplySentenceSpoken")
    assert (shell.folder / "face.png").read_bytes().startswith(b"\x89PNG")


def test_a_typed_question_with_voice_is_a_whole_spoken_turn(shell: Shell) -> None:
    with ScriptedModel(
        Answer(calls=[Call("roll_dice", {"sides": 6})]), Answer(text="[happily] You got a *three*.")
    ) as model:
        words = ("ask", "--text", "roll a die for me", "--voice", "--out", "r.wav", "--trace", "t.jsonl", "--json")
        ran = shell(*words, "--set", f"think.url={model.url}")
    assert ran.code == 0
    assert (ran.json["reason"], ran.json["said"]) == ("answered", "You got a three.")
    assert ran.json["did"] == ["roll_dice (ok)"]
    facts = [json.loads(line) for line in (shell.folder / "t.jsonl").read_text().splitlines()]
    assert [fact["text"] for fact in facts if fact["event"] == "Narrated"] == ["Rolling."]


def test_what_tools_did_in_the_turn_before_is_not_told_as_this_turn_s() -> None:
    watcher = Watcher(None, shows_text=False)
    for turn_id, tool in (("turn-1", "box_stop"), ("turn-2", "box_time")):
        watcher({"trace": {"event": "ToolFinished", "turn_id": turn_id, "tool": tool, "outcome": "ok"}})
    assert watcher.did("turn-2") == ["box_time (ok)"]


def test_json_tells_the_whole_turn(shell: Shell) -> None:
    ran = shell("ask", "--text", "what time is it", "--json")
    report = ran.json
    assert report["turn_id"].startswith("turn-")
    assert (report["reason"], report["heard"], report["problem"]) == ("answered", "what time is it", "")
    assert report["reply"] == report["said"] and report["did"] == ["box_time (ok)"]


def test_a_spoken_reply_that_nobody_can_hear_is_shown_and_is_a_failure(process: Process, question: Path) -> None:
    ran = process("ask", question)
    assert ran.code == 1
    assert "said   It" in ran.out
    assert ran.err == (
        "appliance: the reply could not be heard; appliance devices shows the speakers, --out writes it to a WAV\n"
    )


# ------------------------------------------------------------------------------------ questions that are none


def _write_wav(file: Path, samples: bytes) -> None:
    with wave.open(str(file), "wb") as stream:
        stream.setparams((1, 2, 16_000, 0, "NONE", ""))
        stream.writeframes(samples)


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("empty", "is empty; record it again"),
        ("silent", "nothing that could be understood was heard in it"),
        ("header only", "ends before its sound begins"),
        ("cut in the header", "has a damaged header"),
        ("text", "is not a WAV file; convert it"),
        ("mp3", "is not a WAV file but MP3; convert it"),
        ("folder", "is a folder; name a WAV file in it"),
        ("missing", "there is no file"),
    ],
)
def test_a_recording_that_is_none_is_told_in_a_sentence_and_the_next_question_is_answered(
    shell: Shell, question: Path, kind: str, sentence: str
) -> None:
    file = shell.folder / "question.wav"
    match kind:
        case "empty":
            file.write_bytes(b"")
        case "silent":
            _write_wav(file, bytes(2 * 16_000 * 3))
        case "header only":
            file.write_bytes(question.read_bytes()[:36])
        case "cut in the header":
            file.write_bytes(question.read_bytes()[:30])
        case "text":
            file.write_text("what time is it")
        case "mp3":
            file.write_bytes(b"ID3\x04" + bytes(500))
        case "folder":
            file.mkdir()
    ran = shell("ask", file, "--out", "reply.wav")
    assert (ran.code, ran.out) == (1, "")
    assert sentence in ran.err and ran.err.count("\n") == 1
    assert shell("ask", "--text", "what time is it").code == 0


def test_a_recording_that_breaks_off_is_heard_as_far_as_it_goes(shell: Shell, question: Path) -> None:
    file = shell.folder / "question.wav"
    file.write_bytes(question.read_bytes()[:-2000])
    ran = shell("ask", file, "--out", "reply.wav")
    assert ran.code == 0
    assert "heard  What time is it?" in ran.out


def test_of_two_hours_of_sound_the_question_is_answered_without_reading_them_into_memory(
    process: Process, question: Path
) -> None:
    file = process.folder / "long.wav"
    _write_long_wav(file, read_wav(question))
    command = [sys.executable, "-c", _WITH_PEAK, *process.command("ask", file, "--out", process.folder / "reply.wav")]
    ran = subprocess.run(
        command, env=process.environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "heard  What time is it?" in ran.stdout
    peak_kb = int(ran.stderr.rpartition("peak ")[2])
    assert file.stat().st_size > 1_300_000_000 and peak_kb < 700_000


#: Runs a command and tells how much memory it took, in kB.
_WITH_PEAK = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print("peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


def _write_long_wav(file: Path, spoken: AudioChunk) -> None:
    """Two hours of 48 kHz stereo that begin with ``spoken``; the silence behind it takes no room on the disk."""
    rate_hz = 48_000
    resampled = soxr.resample(spoken.samples, spoken.format.sample_rate_hz, rate_hz)
    frame_bytes, whole_bytes = 4, 4 * rate_hz * 2 * 3600
    shape = struct.pack("<HHIIHH", 1, 2, rate_hz, rate_hz * frame_bytes, frame_bytes, 16)
    header = struct.pack("<4sI4s4sI", b"RIFF", whole_bytes + 36, b"WAVE", b"fmt ", len(shape)) + shape
    header += struct.pack("<4sI", b"data", whole_bytes)
    with file.open("wb") as stream:
        stream.write(header + np.repeat(resampled, 2).astype("<i2").tobytes())
        stream.truncate(len(header) + whole_bytes)


@pytest.mark.parametrize("words", [(), ("question.wav", "--text", "hello")], ids=["neither", "both"])
def test_ask_wants_a_recording_or_a_text(shell: Shell, words: tuple[str, ...]) -> None:
    ran = shell("ask", *words)
    assert ran.code == 2
    assert "give a WAV file or --text, one of them" in ran.err


@pytest.mark.parametrize("words", [("ask", "--text", " "), ("say", "")], ids=" ".join)
def test_nothing_is_no_question_and_no_sentence(shell: Shell, words: tuple[str, ...]) -> None:
    ran = shell(*words)
    assert ran.code == 2
    assert "empty" in ran.err


@pytest.mark.parametrize("option", ["--out", "--trace", "--face"])
@pytest.mark.parametrize(
    ("file", "why"), [("nowhere/x", "its folder does not exist"), ("home", "it is a folder"), ("", "it is a folder")]
)
def test_a_result_that_cannot_be_written_is_told_before_the_turn(
    shell: Shell, option: str, file: str, why: str
) -> None:
    shell.home.mkdir()
    ran = shell("ask", "--text", "what time is it", option, file)
    assert (ran.code, ran.out) == (1, "")
    assert f"cannot be written: {why}" in ran.err
    assert shell("turns", "--json").json == []


def test_text_that_is_not_unicode_is_answered_all_the_same(shell: Shell) -> None:
    text = os.fsdecode(b"caf\xe9 \xff")
    with ScriptedModel(Answer(text="Yes.")) as model:
        ran = shell("ask", "--text", text, "--set", f"think.url={model.url}")
    assert (ran.code, ran.out) == (0, "Yes.\n"), ran.err
    assert "caf" in shell("chat", "show").out


# ------------------------------------------------------------------------------------------------------- say


def test_say_writes_what_it_says(shell: Shell, understand: Understand) -> None:
    ran = shell("say", "The kettle is on the **stove**.", "--out", "said.wav")
    assert (ran.code, ran.out, ran.err) == (0, "wrote said.wav\n", "")
    assert was_said(understand(read_wav(shell.folder / "said.wav")), "the kettle is on the stove")


def test_say_in_json_tells_what_was_heard(shell: Shell) -> None:
    ran = shell("say", "Good morning.", "--out", "said.wav", "--json")
    assert ran.json["heard"] == "Good morning."


def test_say_without_a_speaker_fails_with_a_sentence(process: Process) -> None:
    ran = process("say", "Good morning.")
    assert (ran.code, ran.out) == (1, "")
    assert (
        ran.err == "appliance: nothing could be heard; appliance devices shows the speakers, --out writes it to a WAV\n"
    )


def test_say_into_a_folder_that_is_not_there_is_told_at_once(shell: Shell) -> None:
    ran = shell("say", "Good morning.", "--out", "nowhere/said.wav")
    assert ran.code == 1
    assert "nowhere/said.wav cannot be written: its folder does not exist" in ran.err


# ------------------------------------------------------------------------------------------------------ talk


def test_talk_takes_a_conversation_from_a_pipe(shell: Shell) -> None:
    ran = shell("talk", "--silent", stdin="what time is it\n\nwho are you\nwhat did you hear")
    assert (ran.code, ran.err) == (0, "")
    time, who, heard = ran.out.splitlines()
    assert time.startswith("It") and "Wren" in who and "who are you" in heard


def test_talk_in_json_is_one_report_for_each_line(shell: Shell) -> None:
    ran = shell("talk", "--silent", "--json", stdin="what time is it\nwho are you\n")
    reports = [json.loads(line) for line in ran.out.splitlines()]
    assert [report["heard"] for report in reports] == ["what time is it", "who are you"]


def test_talk_goes_on_after_a_model_that_fails(shell: Shell) -> None:
    with ScriptedModel(Answer(status=401), Answer(text="Better now.")) as model:
        words = ("talk", "--silent", "--set", f"think.url={model.url}")
        ran = shell(*words, stdin="tell me something\ntell me more about that\n")
    assert ran.code == 0
    assert "My model does not accept my key" in ran.out and "Better now." in ran.out
    assert "wants a key" in ran.err and "appliance model show" in ran.err


def test_talk_without_a_speaker_shows_what_it_would_have_said(process: Process) -> None:
    ran = process("talk", stdin="what time is it\n")
    assert ran.code == 0
    assert ran.out.startswith("It") and "could not be heard" in ran.err


def test_ctrl_c_ends_a_talk_that_waits_for_a_line(process: Process) -> None:
    talk = subprocess.Popen(
        process.command("talk", "--silent"),
        env=process.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert talk.stdin is not None and talk.stdout is not None
    talk.stdin.write("what time is it\n")
    talk.stdin.flush()
    assert talk.stdout.readline().startswith("It")
    talk.send_signal(signal.SIGINT)
    # Its input stays open, as a terminal does.
    code = talk.wait(PATIENCE_SECONDS)
    _, err = talk.communicate()
    assert (code, err) == (130, "")
