"""What hearing costs, and whether it hears as well: the box against its own full window and against faster-whisper.

Each clip is as it is when transcribing starts: cut a little behind the last loud sample. All ways take each clip back
to back, in shuffled order, so that a busy machine slows all of them; a ratio is the median over the clips of one
way's time divided by faster-whisper's for the same clip. The box is measured twice: where its second ratio to its
first is not near 1, the machine is too busy to say anything.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np

from appliance.audio import HEARING_FORMAT, AudioChunk, Samples
from appliance.bench import endings as bench_endings
from appliance.bench.endings import Endings, endings
from appliance.bench.figures import Figure
from appliance.bench.intervals import Estimate, Values, estimate
from appliance.bench.speech_clips import SENTENCES, Clip, people, room, said_by
from appliance.bench.word_errors import word_errors, words_of
from appliance.listen.config import ListenConfig
from appliance.listen.endpointing import Endpointing
from appliance.listen.utterance import UtteranceRecorder
from appliance.ports import Synthesizer, Transcriber
from appliance.wiring_hearing import HearingParts

BOX, AGAIN, FULL, STOCK = "the box", "the box, again", "full window", "faster-whisper"
_NOISE_DB = 10.0
_LEAD_SECONDS, _TAIL_SECONDS = 0.3, 0.13
#: Nobody speaks: digital silence, a quiet room, and noise that is loud enough for the model.
_SILENCES = {"silence": 0.0, "a quiet room": 12.0, "noise": 1_000.0}
#: The text that a way hears.
Way = Callable[[AudioChunk], Awaitable[str]]


@dataclass(frozen=True)
class WayRow:
    """One way with all clips; ``ratio`` is to faster-whisper, ``more_errors_percent`` to the full window.

    ``word_error_percent_of`` is by kind of clip: who speaks, and the noise.
    """

    way: str
    clips: int
    median_milliseconds: float
    p95_milliseconds: float
    ratio: Estimate
    word_error_percent: float
    word_error_percent_of: dict[str, float]
    more_errors_percent: Estimate


@dataclass(frozen=True)
class SilenceRow:
    """One second in which nobody speaks; ``heard`` should be "".

    In the box that sound comes through voice activity first, which takes time too, and mostly nothing comes behind it.
    """

    sound: str
    way: str
    milliseconds: float
    ratio: float
    heard: str


@dataclass(frozen=True)
class Result:
    """``full_windows`` of ``clips`` needed the full window after the short one."""

    ways: list[WayRow]
    again_ratio: Estimate
    clips: int
    full_windows: int
    silences: list[SilenceRow]
    endings: Endings


@dataclass(frozen=True)
class _Heard:
    """One clip in one way."""

    text: str
    seconds: float


def measure(parts: HearingParts, rules: ListenConfig, most_clips: int | None = None) -> Result:
    """All ways with the people and sentences there are, clean and with noise; ``most_clips`` of them."""
    return asyncio.run(_measure(parts, rules, most_clips))


async def _measure(parts: HearingParts, rules: ListenConfig, most_clips: int | None) -> Result:
    return await compare(parts, rules, await _clips(parts.voice, most_clips))


async def compare(parts: HearingParts, rules: ListenConfig, clips: Sequence[Clip]) -> Result:
    """All ways with ``clips``, one at least."""
    ways, order = _ways(parts), random.Random(1)
    for way in ways.values():
        await way(_utterance(clips[0]))
    before = parts.full_windows()
    heard = {name: list[_Heard]() for name in ways}
    for clip in clips:
        for name in order.sample(list(ways), len(ways)):
            heard[name].append(await _timed(ways[name], _utterance(clip)))
    full_windows = parts.full_windows() - before
    again = np.array([(a.seconds, b.seconds) for a, b in zip(heard[AGAIN], heard[BOX], strict=True)])
    return Result(
        ways=[_row(name, clips, heard) for name in (BOX, FULL, STOCK)],
        again_ratio=estimate(again, _median_ratio),
        clips=len(clips),
        # Each clip was taken twice.
        full_windows=full_windows // 2,
        silences=await _silences({**ways, BOX: _behind_voice_activity(parts, rules)}),
        endings=await endings(clips, rules, parts.short, parts.turn_detector, parts.activity()),
    )


def figures(result: Result) -> list[Figure]:
    """P6, P7, P18, and the part of P19 that is about transcripts."""
    return [_transcribing(result), _silence(result), *bench_endings.figures(result.endings)]


def _transcribing(result: Result) -> Figure:
    rows = {row.way: row for row in result.ways}
    box, stock = rows[BOX], rows[STOCK]
    return Figure(
        "P6",
        "an utterance becomes text",
        "faster-whisper, language given",
        box.ratio.value,
        0.35,
        box.ratio.low,
        box.ratio.high,
        own=box.median_milliseconds,
        peer=stock.median_milliseconds,
        guard=f"words wrong {box.word_error_percent:.1f} %, with faster-whisper {stock.word_error_percent:.1f} %",
    )


def _silence(result: Result) -> Figure:
    """The worst of the sounds; the goal is missed by any text at all."""
    box = max((row for row in result.silences if row.way == BOX), key=lambda row: (bool(row.heard), row.ratio))
    stock = next(row for row in result.silences if row.way == STOCK and row.sound == box.sound)
    ratio = max(1.0, box.ratio) if box.heard else box.ratio
    return Figure(
        "P7",
        "a second in which nobody speaks",
        "faster-whisper, language given",
        ratio,
        0.05,
        ratio,
        ratio,
        own=box.milliseconds,
        peer=stock.milliseconds,
        guard=f"heard {box.heard!r} in {box.sound}" if box.heard else f"no text; the worst is {box.sound}",
    )


async def _clips(voice: Synthesizer, most: int | None) -> list[Clip]:
    clean = [clip.trimmed() for clip in (*people()[:most], *await said_by(voice, SENTENCES[:most]))]
    clips = [*clean, *(clip.noisy(_NOISE_DB, seed) for seed, clip in enumerate(clean))]
    random.Random(1).shuffle(clips)
    return clips[:most]


def _ways(parts: HearingParts) -> dict[str, Way]:
    async def stock(utterance: AudioChunk) -> str:
        return await asyncio.to_thread(parts.stock, utterance)

    box = _text_of(parts.short)
    return {BOX: box, AGAIN: box, FULL: _text_of(parts.full), STOCK: stock}


def _text_of(transcriber: Transcriber) -> Way:
    async def way(utterance: AudioChunk) -> str:
        return (await transcriber.transcribe(utterance)).text

    return way


def _utterance(clip: Clip) -> AudioChunk:
    return AudioChunk(np.concatenate([room(_LEAD_SECONDS), clip.samples, room(_TAIL_SECONDS)]), HEARING_FORMAT)


async def _timed(way: Way, utterance: AudioChunk) -> _Heard:
    began = time.perf_counter()
    text = await way(utterance)
    return _Heard(text, time.perf_counter() - began)


def _row(name: str, clips: Sequence[Clip], heard: dict[str, list[_Heard]]) -> WayRow:
    own, full, stock = heard[name], heard[FULL], heard[STOCK]
    milliseconds = [1000 * one.seconds for one in own]
    kinds = [f"{clip.voice}, {clip.noise}" for clip in clips]
    times = np.array([(a.seconds, b.seconds) for a, b in zip(own, stock, strict=True)])
    words = np.array([float(len(words_of(clip.text))) for clip in clips])
    own_errors = np.column_stack((_errors(clips, own), words))
    more_errors = np.column_stack((own_errors[:, 0] - _errors(clips, full), words))
    return WayRow(
        name,
        len(clips),
        float(np.median(milliseconds)),
        float(np.quantile(milliseconds, 0.95)),
        estimate(times, _median_ratio),
        _percent_of_words(own_errors),
        {kind: _percent_of_words(own_errors[[one == kind for one in kinds]]) for kind in sorted(set(kinds))},
        estimate(more_errors, _percent_of_words),
    )


def _errors(clips: Sequence[Clip], heard: list[_Heard]) -> Values:
    pairs = zip(clips, heard, strict=True)
    return np.array([float(word_errors(words_of(clip.text), words_of(one.text))) for clip, one in pairs])


def _median_ratio(rows: Values) -> float:
    return float(np.median(rows[:, 0] / rows[:, 1]))


def _percent_of_words(rows: Values) -> float:
    return 100 * float(rows[:, 0].sum() / rows[:, 1].sum())


def _behind_voice_activity(parts: HearingParts, rules: ListenConfig) -> Way:
    """As an open ear of the box hears: what is no speech never reaches the transcriber."""
    activity = parts.activity()
    activity.reset()
    # The weights are loaded long before.
    UtteranceRecorder(activity, Endpointing(rules, no_speech_seconds=1.0)).warm_up(room(0.5))

    async def way(sound: AudioChunk) -> str:
        recorder = UtteranceRecorder(activity, Endpointing(rules, no_speech_seconds=rules.no_speech_seconds))
        recorder.hear(sound.samples)
        utterance = recorder.utterance
        return "" if utterance is None else (await parts.short.transcribe(utterance.audio)).text

    return way


async def _silences(ways: dict[str, Way]) -> list[SilenceRow]:
    rows = []
    for sound, level in _SILENCES.items():
        utterance = AudioChunk(_noise(level), HEARING_FORMAT)
        stock = await _timed(ways[STOCK], utterance)
        for name in (BOX, FULL, STOCK):
            heard = stock if name == STOCK else await _timed(ways[name], utterance)
            rows.append(
                SilenceRow(sound, name, 1000 * heard.seconds, heard.seconds / stock.seconds, heard.text.strip())
            )
    return rows


def _noise(level: float) -> Samples:
    return np.random.default_rng(5).normal(0.0, level, HEARING_FORMAT.sample_rate_hz).astype(np.int16)
