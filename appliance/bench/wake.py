"""Waking: how many calls are missed, and how often the box wakes to something else.

Calls and near-misses are heard one by one, each in a room of its own. Then comes an hour in one piece: people,
television with several voices over music, music alone, the box's own voice, and a near-miss every half a minute. All
of it goes through the product's own watch for wake words, with its loudness gate, in blocks of 80 ms, faster than real
time; every finding gets a second look, so that one run says what would be with it and without.
"""

from __future__ import annotations

import asyncio
import bisect
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from appliance.audio import HEARING_FORMAT, AudioChunk, Samples
from appliance.bench.speech_clips import PEOPLE_FOLDER, Clip, people
from appliance.bench.wake_phrases import CALLS, CLAUSES, FIRST_HALF, OPENERS, REPLIES, SECOND_HALF
from appliance.bench.wake_sounds import (
    CONDITIONS,
    OWN_VOICE,
    RATE_HZ,
    SPEECH_DBFS,
    Voice,
    Wave,
    at_level,
    changed_people,
    finished,
    music,
    voices,
)
from appliance.clock import FakeClock
from appliance.listen.pre_roll import PreRoll
from appliance.listen.wake_check import LOOK_SECONDS, WakeCheck
from appliance.listen.wake_watch import WakeWatch
from appliance.wiring_wake import WakeParts

PHRASE = "okay nabu"
_BLOCK_SAMPLES = round(0.08 * RATE_HZ)
_LEAD_SECONDS, _TAIL_SECONDS = 3.0, 0.6
_HOUR_SECONDS = 3600.0
_PAUSE_SAMPLES = RATE_HZ // 2
_NEAR_MISS_EACH_SECONDS = 30.0
#: Parts of the hour besides near-misses.
_PEOPLE, _TELEVISION, _MUSIC, _OWN_VOICE, _NEAR_MISS = "people", "television", "music", "own voice", "near-misses"
_SHARES = {_PEOPLE: 0.35, _TELEVISION: 0.45, _MUSIC: 0.12, _OWN_VOICE: 0.08}


@dataclass(frozen=True)
class CallRow:
    """Calls of one kind of voice under one condition, in counts."""

    voice: str
    condition: str
    calls: int
    found_without_gate: int
    found: int
    accepted: int

    @property
    def refused_percent(self) -> float:
        """Of the calls that the wake model found, those that the second look refused."""
        return 100.0 * (self.found - self.accepted) / self.found if self.found else 0.0


@dataclass(frozen=True)
class NearMissRow:
    """Near-misses by one kind of voice; ``is_second_half`` every second phrase of the list, which the hour has too."""

    voice: str
    is_second_half: bool
    said: int
    found: int
    accepted: int


@dataclass(frozen=True)
class HourRow:
    """One kind of sound in the hour."""

    part: str
    minutes: float
    found: int
    accepted: int


@dataclass(frozen=True)
class Result:
    """``milliseconds`` are those of each second look."""

    calls: list[CallRow]
    near_misses: list[NearMissRow]
    hour: list[HourRow]
    milliseconds: list[float]


def measure(parts: WakeParts, *, sound_seconds: float = _HOUR_SECONDS, folder: Path = PEOPLE_FOLDER) -> Result:
    """Everything; takes some minutes. The parts of the hour shrink together with ``sound_seconds``."""
    listener = Listener(parts)
    speakers = voices(parts.voice)
    calls = [
        row
        for kind in sorted({voice.kind for voice in speakers})
        for row in _calls(listener, kind, [voice for voice in speakers if voice.kind == kind])
    ]
    near_misses = [
        _near_misses(listener, kind, [voice for voice in speakers if voice.kind == kind], is_second_half)
        for kind in sorted({voice.kind for voice in speakers})
        for is_second_half in (True, False)
    ]
    hour = _hour(listener, speakers, people(folder), sound_seconds)
    return Result(calls, near_misses, hour, listener.milliseconds)


# ------------------------------------------------------------------------------------------------ listening


@dataclass(frozen=True)
class Finding:
    """Where a wake word was found, in samples, and whether the second look took it for a call."""

    at: int
    is_call: bool


class Listener:
    """The watch for wake words in rooms that follow each other; ``milliseconds`` has the time of each second look."""

    def __init__(self, parts: WakeParts) -> None:
        self.milliseconds: list[float] = []
        self._parts = parts

    def hear(self, sounds: Iterable[Samples]) -> list[Finding]:
        """What is found in one room; each of ``sounds`` follows on the last."""
        return asyncio.run(self._hear(sounds))

    def finds_without_gate(self, sound: Samples) -> bool:
        """Whether the wake model alone finds something."""
        detector = self._parts.wake_words([PHRASE])
        return any(detector.detect(AudioChunk(block, HEARING_FORMAT)) is not None for block in _blocks(sound))

    async def _hear(self, sounds: Iterable[Samples]) -> list[Finding]:
        await self._parts.reader.warm_up()
        pre_roll = PreRoll()
        watch = WakeWatch(self._parts.wake_words([PHRASE]), pre_roll, lambda: None)
        check = watch.check = _NotedCheck(self._parts, pre_roll)
        iterator = iter(sounds)
        # On a thread: whoever speaks needs a loop of their own.
        while (sound := await asyncio.to_thread(next, iterator, None)) is not None:
            for block in _blocks(sound):
                pre_roll.append(block, keep_seconds=LOOK_SECONDS)
                watch.hear(block)
                await asyncio.sleep(0)  # a second look begins
                await check.done.wait()
        self.milliseconds += check.milliseconds
        return check.findings


class _NotedCheck(WakeCheck):
    """The second look, with notes; in its time a second is one of sound."""

    def __init__(self, parts: WakeParts, pre_roll: PreRoll) -> None:
        super().__init__(parts.reader, parts.activity, _SoundClock(pre_roll))
        self.findings: list[Finding] = []
        self.milliseconds: list[float] = []
        self.done = asyncio.Event()
        self.done.set()
        self._pre_roll = pre_roll

    async def is_call(self, phrase: str, sound: Samples) -> bool:
        self.done.clear()
        began, at = time.perf_counter(), self._pre_roll.end
        is_call = await super().is_call(phrase, sound)
        self.milliseconds.append(1000.0 * (time.perf_counter() - began))
        self.findings.append(Finding(at, is_call))
        self.done.set()
        return is_call


class _SoundClock(FakeClock):
    """Shows how much sound has been heard; nobody who sleeps is ever woken."""

    def __init__(self, pre_roll: PreRoll) -> None:
        super().__init__()
        self._pre_roll = pre_roll

    def monotonic_seconds(self) -> float:
        return self._pre_roll.end / RATE_HZ


def _blocks(sound: Samples) -> Iterator[Samples]:
    for at in range(0, len(sound), _BLOCK_SAMPLES):
        yield sound[at : at + _BLOCK_SAMPLES]


# ------------------------------------------------------------------------------------- calls and near-misses


def in_a_room(speech: Samples, condition: str, seed: int) -> Samples:
    """That speech under that condition, with silence around it."""
    silence = [np.zeros(round(seconds * RATE_HZ)) for seconds in (_LEAD_SECONDS, _TAIL_SECONDS)]
    return CONDITIONS[condition](np.concatenate([silence[0], at_level(speech, SPEECH_DBFS), silence[1]]), seed)


def _calls(listener: Listener, kind: str, speakers: Sequence[Voice]) -> Iterator[CallRow]:
    spoken = [voice.say(text) for voice in speakers for text in CALLS]
    for condition in CONDITIONS:
        rooms = [in_a_room(speech, condition, seed) for seed, speech in enumerate(spoken)]
        findings = [listener.hear([sound]) for sound in rooms]
        yield CallRow(
            kind,
            condition,
            len(rooms),
            sum(map(listener.finds_without_gate, rooms)),
            sum(map(bool, findings)),
            sum(any(one.is_call for one in found) for found in findings),
        )


def _near_misses(listener: Listener, kind: str, speakers: Sequence[Voice], is_second_half: bool) -> NearMissRow:
    """Each under one of the conditions in turn."""
    phrases, conditions = SECOND_HALF if is_second_half else FIRST_HALF, list(CONDITIONS)
    said = [(phrase, voice) for phrase in phrases for voice in speakers]
    findings = [
        listener.hear([in_a_room(voice.say(phrase), conditions[seed % len(conditions)], seed)])
        for seed, (phrase, voice) in enumerate(said)
    ]
    accepted = sum(any(one.is_call for one in found) for found in findings)
    return NearMissRow(kind, is_second_half, len(said), sum(map(bool, findings)), accepted)


# --------------------------------------------------------------------------------------------------- the hour


def _hour(listener: Listener, speakers: Sequence[Voice], clips: list[Clip], seconds: float) -> list[HourRow]:
    ends, names = [0], list[str]()

    def sounds() -> Iterator[Samples]:
        for name, sound in _hour_sounds(speakers, clips, seconds):
            names.append(name)
            ends.append(ends[-1] + len(sound))
            yield sound

    findings = listener.hear(sounds())
    where = [(names[bisect.bisect_left(ends, one.at) - 1], one.is_call) for one in findings]
    minutes = dict.fromkeys((*_SHARES, _NEAR_MISS), 0.0)
    for name, start, end in zip(names, ends, ends[1:], strict=False):
        minutes[name] += (end - start) / RATE_HZ / 60.0
    return [
        HourRow(name, long, sum(part == name for part, _ in where), sum(part == name and call for part, call in where))
        for name, long in minutes.items()
    ]


def _hour_sounds(speakers: Sequence[Voice], clips: list[Clip], seconds: float) -> Iterator[tuple[str, Samples]]:
    """Name and sound of each piece; the part that is furthest behind its share is next."""
    shares = _SHARES if clips else {name: share for name, share in _SHARES.items() if name != _PEOPLE}
    source, given, near_misses = _Source(speakers, clips), dict.fromkeys(shares, 0.0), 0
    while (passed := sum(given.values())) < seconds:
        if passed >= near_misses * _NEAR_MISS_EACH_SECONDS:
            yield _NEAR_MISS, source.piece(_NEAR_MISS)
            near_misses += 1
        name = min(given, key=lambda name: given[name] / shares[name])
        sound = source.piece(name)
        given[name] += len(sound) / RATE_HZ
        yield name, sound


class _Source:
    """Makes the pieces of the hour."""

    def __init__(self, speakers: Sequence[Voice], clips: list[Clip]) -> None:
        self._speakers = speakers
        self._clips = clips
        self._random = random.Random(11)
        self._people: list[Wave] = []
        self._pieces = 0

    def piece(self, name: str) -> Samples:
        """The next one of that part, with a short pause behind it."""
        self._pieces += 1
        make: dict[str, Callable[[], Wave]] = {
            _PEOPLE: self._somebody,
            _TELEVISION: self._television,
            _MUSIC: lambda: music(10.0, self._pieces),
            _OWN_VOICE: lambda: self._say(next(one for one in self._speakers if one.name == OWN_VOICE), REPLIES),
            _NEAR_MISS: lambda: self._say(self._random.choice(self._speakers), SECOND_HALF),
        }
        return finished(np.concatenate([make[name](), np.zeros(_PAUSE_SAMPLES)]), self._pieces)

    def _somebody(self) -> Wave:
        if not self._people:
            self._people = changed_people(self._clips, self._pieces)
        return self._people.pop()

    def _television(self) -> Wave:
        """Two people who talk into each other's words, over music."""
        talks = [self._talk(), np.concatenate([np.zeros(_PAUSE_SAMPLES), self._talk()])]
        together = np.zeros(max(map(len, talks)))
        for talk in talks:
            together[: len(talk)] += talk
        return together + 0.2 * music(len(together) / RATE_HZ, self._pieces)[: len(together)]

    def _talk(self) -> Wave:
        voice = self._random.choice(self._speakers)
        lines = [f"{self._random.choice(OPENERS)} {self._random.choice(CLAUSES)}" for _ in range(3)]
        return np.concatenate([part for line in lines for part in (self._say(voice, [line]), np.zeros(_PAUSE_SAMPLES))])

    def _say(self, voice: Voice, texts: Sequence[str]) -> Wave:
        return at_level(voice.say(self._random.choice(texts)), SPEECH_DBFS)
