"""The parts of the benchmark of turns: the model, the sound, the clips, the machine."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from openai import OpenAI

from appliance.adapters.fakes.synthesizer import FakeSynthesizer
from appliance.adapters.fakes.voice_activity import LoudnessVoiceActivity
from appliance.audio import AudioChunk, AudioFormat, Samples
from appliance.bench.machine import describe
from appliance.bench.paced_sound import Feeder, PacedSoundCard, PreparedClip, is_audible
from appliance.bench.peers import environment_of
from appliance.bench.processes import cost_of
from appliance.bench.stub_model import AT_ONCE, QUICK, REPLIES, SLOW, StubModel
from appliance.bench.turn_clips import CLEAN, NOISES, SENTENCES, digest_of, prepare
from appliance.bench.turn_loop import sentences
from appliance.errors import ApplianceError
from appliance.speak.mixer import Lane, Mixer

# ----------------------------------------------------------------------------------------------------- the model


def test_the_model_gives_the_same_reply_on_both_interfaces_and_counts_who_asks() -> None:
    model = StubModel()
    model.pace, model.reply = AT_ONCE, REPLIES[1]
    with model.serving(), OpenAI(base_url=model.url, api_key="none") as client:
        response = client.responses.create(model="stub", input="hello", stream=True)
        deltas = [event.delta for event in response if event.type == "response.output_text.delta"]
        chat = client.chat.completions.create(
            model="stub", messages=[{"role": "user", "content": "hello"}], stream=True
        )
        words = [chunk.choices[0].delta.content or "" for chunk in chat]
    assert "".join(deltas) == "".join(words) == REPLIES[1]
    assert model.requests == 2


def test_a_token_is_due_at_its_pace_from_the_request_on() -> None:
    assert QUICK.due_seconds(0) == pytest.approx(0.150)
    assert QUICK.due_seconds(4) == pytest.approx(0.250)
    assert SLOW.due_seconds(12) == pytest.approx(1.6)
    assert AT_ONCE.due_seconds(100) == 0.0


def test_every_reply_has_three_sentences_and_asks_nothing() -> None:
    for reply in REPLIES:
        assert len(list(sentences(iter(reply)))) == 3
        assert "?" not in reply


def test_a_sentence_is_given_as_soon_as_its_last_word_is_there() -> None:
    words = iter(["It ", "is ", "9.5 ", "degrees. ", "Good ", "night."])
    assert next(sentences(words)) == "It is 9.5 degrees."
    assert next(words) == "Good "


# ----------------------------------------------------------------------------------------------------- the sound


def _tone(seconds: float, rate_hz: int = 16_000) -> Samples:
    return np.tile(np.array([6_000, -6_000], dtype=np.int16), round(seconds * rate_hz / 2))


def test_a_clip_is_heard_whole_and_in_order() -> None:
    blocks, is_over = list[Samples](), threading.Event()
    clip = PreparedClip(np.arange(1_600, dtype=np.int16), end_seconds=0.06)
    feeder = Feeder(clip, blocks.append, when_over=is_over.set)
    feeder.start()
    is_over.wait()
    feeder.stop()
    assert np.array_equal(np.concatenate(blocks), clip.samples)
    assert {len(block) for block in blocks} == {320}


def test_leading_zeros_and_faint_noise_are_no_sound() -> None:
    assert not is_audible(np.zeros(0, dtype=np.int16))
    assert not is_audible(np.full(100, 100, dtype=np.int16))
    assert is_audible(np.array([0, -200], dtype=np.int16))


async def test_the_card_hears_only_while_a_turn_is_on_and_notes_when_the_reply_begins() -> None:
    mixer = Mixer(48_000)
    card = PacedSoundCard(mixer)
    await card.open(mixer.render)
    feeder = card.begin(PreparedClip(_tone(0.2), end_seconds=0.1))
    blocks = card.chunks()
    first = await anext(blocks)
    assert np.array_equal(first.samples, _tone(0.02))
    mixer.play(Lane.SPEECH, AudioChunk(_tone(0.5, 48_000), AudioFormat(48_000)))
    async for _ in blocks:
        if card.first_sound is not None:
            break
    card.end()
    milliseconds, cpu_seconds = feeder.cost_of(card.first_sound)
    await card.close()
    assert milliseconds is not None
    assert cpu_seconds is not None


# ----------------------------------------------------------------------------------------------------- the clips


async def test_clips_are_said_once_and_heard_in_a_quiet_room_and_in_noise(tmp_path: Path) -> None:
    voice, kept = FakeSynthesizer(), tmp_path / "kept"
    clips = await prepare(voice, LoudnessVoiceActivity(), kept, tmp_path)
    assert {clip.noise for clip in clips} == {CLEAN, *NOISES}
    said = len(voice.asked)
    again = await prepare(voice, LoudnessVoiceActivity(), kept, tmp_path)
    assert said == len(SENTENCES)
    assert len(voice.asked) == said
    assert digest_of(again) == digest_of(clips)


async def test_speech_ends_where_a_clip_says_it_does(tmp_path: Path) -> None:
    clips = await prepare(FakeSynthesizer(), LoudnessVoiceActivity(), tmp_path, tmp_path, most=2)
    assert len(clips) == 2
    for clip in clips:
        samples = np.fromfile(clip.file, dtype=np.int16)
        end = round(clip.end_seconds * 16_000)
        assert abs(int(samples[end - 1])) > 600
        assert np.abs(samples[end:]).max() < 100
        assert len(samples) - end == 4 * 16_000


# --------------------------------------------------------------------------------------------------- the machine


def test_a_board_is_described_by_what_it_says_it_is(tmp_path: Path) -> None:
    (tmp_path / "device-tree").mkdir()
    (tmp_path / "device-tree" / "model").write_text("Raspberry Pi 5 Model B Rev 1.0\0", encoding="utf-8")
    (tmp_path / "cpuinfo").write_text("processor : 0\nFeatures : fp asimd asimddp\n", encoding="utf-8")
    (tmp_path / "meminfo").write_text("MemTotal:  8000000 kB\n", encoding="utf-8")
    machine = describe(tmp_path)
    assert (machine.processor, machine.flags) == ("Raspberry Pi 5 Model B Rev 1.0", ("asimd", "asimddp"))
    assert "(asimd asimddp), 8.0 GB" in machine.in_words()


def test_another_computer_is_described_by_its_processor(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("model name\t: AMD EPYC\nflags\t\t: fpu avx2 avx512_vnni\n", encoding="utf-8")
    (tmp_path / "meminfo").write_text("MemTotal:  24000000 kB\n", encoding="utf-8")
    machine = describe(tmp_path)
    assert (machine.processor, machine.flags) == ("AMD EPYC", ("avx2", "avx512_vnni"))


def test_a_process_costs_what_its_children_cost_too(tmp_path: Path) -> None:
    def process(pid: int, parent: int, ticks: int, pages: int) -> None:
        (tmp_path / str(pid)).mkdir()
        fields = ["S", str(parent), *["0"] * 9, str(ticks), "0", "0", "0", *["0"] * 6, str(pages)]
        (tmp_path / str(pid) / "stat").write_text(f"{pid} (a (b) c) {' '.join(fields)}", encoding="utf-8")

    process(10, 1, 300, 1_000)
    process(11, 10, 100, 500)
    process(12, 1, 999, 999)
    cost = cost_of(10, tmp_path)
    assert cost.cpu_seconds == pytest.approx(4 * cost_of(11, tmp_path).cpu_seconds)
    assert cost.rss_megabytes == pytest.approx(3 * cost_of(11, tmp_path).rss_megabytes)


# ----------------------------------------------------------------------------------------------------- the peers


def test_an_environment_that_holds_the_peer_is_taken_as_it_is(tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text("#!/bin/sh\necho 1.14.0\n", encoding="utf-8")
    python.chmod(0o755)
    said: list[str] = []
    assert environment_of(tmp_path, {}, said.append) == tmp_path
    assert not said


def test_peers_that_cannot_be_fetched_are_an_error_that_says_why(tmp_path: Path) -> None:
    environment = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": "/dev/null"}
    said: list[str] = []
    with pytest.raises(ApplianceError, match="the peers could not be installed: ERROR"):
        environment_of(tmp_path / "peers", environment, said.append)
    assert "pipecat-ai 1.14.0 is fetched into" in said[0]
