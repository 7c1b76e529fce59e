from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from appliance.bench.idle import PEERS, IdleRow, figures
from appliance.bench.idle_listener import BOX, SILERO, Pace, frames_of
from appliance.bench.speech_clips import room

ROOT = Path(__file__).resolve().parents[2]


def row(name: str, *shares: float) -> IdleRow:
    return IdleRow(name, shares, 12.0, 43.0)


def test_a_figure_is_the_ratio_of_the_means_with_an_interval_around_it() -> None:
    rows = [row("the box", 0.3, 0.5), row("openWakeWord", 4.0, 4.0, 9.0)]
    (figure,) = figures(rows)
    assert (figure.id, figure.ratio, figure.goal) == ("P11b", pytest.approx(0.1), 0.16)
    assert figure.low <= figure.ratio <= figure.high
    assert (figure.own, figure.unit) == (pytest.approx(0.4), "% of a core")


def test_there_is_a_figure_for_each_peer_that_was_measured() -> None:
    peers = ("openWakeWord and pysilero", "openWakeWord", "Silero by onnxruntime, every frame")
    rows = [row("the box", 0.5), *(row(name, 5.0) for name in peers)]
    assert [figure.id for figure in figures(rows)] == ["P11a", "P11b", "P11c"]
    assert figures(rows[:1]) == []


def test_blocks_of_any_length_become_frames_of_512_samples() -> None:
    frames: list[bytes] = []
    take = frames_of(frames.append)
    sound = bytes(range(256)) * 20
    for at in range(0, len(sound), 700):
        take(sound[at : at + 700])
    assert [len(frame) for frame in frames] == [1024] * 5
    assert b"".join(frames) == sound


def test_a_pace_that_is_over_gives_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    is_over = threading.Event()
    is_over.set()
    taken: list[bytes] = []
    Pace([b"\0\0"], is_over).give(taken.append)
    assert taken == []
    assert capsys.readouterr().out == "ready\n"


@pytest.mark.parametrize("way", [BOX, SILERO])
def test_a_listener_is_ready_and_ends_with_its_input(tmp_path: Path, way: str) -> None:
    sound = tmp_path / "room"
    sound.write_bytes(room(1.0).tobytes())
    command = [sys.executable, "-m", "appliance.bench.idle_listener", way, str(sound)]
    done = subprocess.run(command, input="", capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
    assert (done.stdout, done.returncode) == ("ready\n", 0), done.stderr


def test_the_peers_are_those_that_the_tests_are_locked_to() -> None:
    lock = (ROOT / "tests" / "requirements.lock").read_text(encoding="utf-8")
    assert all(f"\n{peer} " in lock for peer in PEERS)
