"""Barge-in and echo: the box in simulated rooms, with its real ear, canceller, weights and rules.

In each room the box speaks four times: nobody talks over it (and it has to learn the room), it says its own wake word,
somebody says "stop", and somebody says something else.
"""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from appliance.audio import HEARING_FORMAT, AudioChunk, AudioFormat, Samples, join, level_dbfs
from appliance.bench.echo_box import CannedVoice, EchoBox
from appliance.bench.figures import Figure
from appliance.bench.intervals import estimate
from appliance.bench.simulated_room import Room
from appliance.bench.speech_clips import Clip, people
from appliance.listen.config import ListenConfig
from appliance.ports import Synthesizer
from appliance.speak.speech_text import SpeechText
from appliance.wiring_duplex import EchoParts

#: What people say over the box, among what Debian's clips hold; the box's own voice says "stop", no person's clip does.
_STOP = "Stop."
_LONGEST_BARGE_IN_SECONDS = 4.0
#: Level of a person at the microphone: arm's length.
PERSON_DBFS = -30.0
#: The box has spoken for so long when somebody talks over it.
_INTO_REPLY_SECONDS = 2.2
#: And they have finished.
_PAUSE_SECONDS = 0.3
#: Peers as they come, by their own settings: speech must last that long, then a block of sound goes out.
PIPECAT_SECONDS, LIVEKIT_SECONDS = 0.24, 0.5
_GOALS = {"pipecat-ai": (PIPECAT_SECONDS, 0.60), "livekit-agents": (LIVEKIT_SECONDS, 0.30)}

_REPLY = (
    "The kettle has boiled, the rice needs eleven more minutes, and the oven is at two hundred degrees. "
    "Tomorrow will be cloudy in the morning with a little rain towards noon. "
    "After that the wind turns to the west, and the evening will be dry and rather cold."
)
_OWN_WAKE_WORD = "To talk to me, say: okay nabu. Then say what you want, for example: okay nabu, what time is it?"

DELAYS_SECONDS = (0.02, 0.08, 0.2)
REVERBERATIONS_SECONDS = (0.2, 0.4, 0.8)
ECHOES_DECIBELS = (-20.0, -10.0, 0.0, 6.0)
SKEWS_PPM = (0.0, 200.0)
_QUIET_ECHO_DECIBELS = -10.0


@dataclass(frozen=True)
class RoomResult:
    """One room. ``ducks`` and ``holds`` count how often the voice was lowered and paused though nobody spoke,
    ``self_triggers`` how often the box then stopped or answered itself, ``wakes`` how often the detector found a wake
    word in what was left of its own voice.

    ``stop_seconds`` and ``barge_in_seconds`` are from the onset of speech to the last sample that went out; None when
    it was not noticed. ``words_lost`` is the share of the person's words that were not understood.
    """

    room: Room
    mode: str
    echo_loss_decibels: float
    removed_decibels: float
    ducks: int
    holds: int
    self_triggers: int
    wakes: int
    stop_seconds: float | None
    is_stopped: bool
    barge_in_seconds: float | None
    words_lost: float
    cost_share: float


def rooms(
    delays: Sequence[float] = DELAYS_SECONDS,
    reverberations: Sequence[float] = REVERBERATIONS_SECONDS,
    echoes: Sequence[float] = ECHOES_DECIBELS,
    skews: Sequence[float] = SKEWS_PPM,
) -> Iterator[Room]:
    """Every combination."""
    yield from (Room(*shape) for shape in itertools.product(delays, reverberations, echoes, skews))


def measure(parts: EchoParts, chosen: Sequence[Room], rules: ListenConfig | None = None) -> list[RoomResult]:
    """What happens in each of the rooms."""
    return asyncio.run(_measure(parts, chosen, rules or ListenConfig()))


async def _measure(parts: EchoParts, chosen: Sequence[Room], rules: ListenConfig) -> list[RoomResult]:
    await parts.transcriber.warm_up()
    await parts.offline.warm_up()
    voice = await _canned(parts.voice, (_REPLY, _OWN_WAKE_WORD))
    stop = Clip("box", _resampled(await _spoken(parts.voice, _STOP)), _STOP)
    said = [clip for clip in people() if len(clip.samples) < _LONGEST_BARGE_IN_SECONDS * HEARING_FORMAT.sample_rate_hz]
    results = []
    for number, room in enumerate(chosen):
        results.append(await _in_room(parts, room, voice, rules, stop, said[number % len(said)] if said else stop))
    return results


async def _in_room(
    parts: EchoParts, room: Room, voice: CannedVoice, rules: ListenConfig, stop: Clip, barge_in: Clip
) -> RoomResult:
    box = EchoBox(parts, room, voice, rules)
    await box.open()
    async with box.living():
        await box.run(0.5)
        for text in (_REPLY, _OWN_WAKE_WORD):
            box.speaker.say(text)
            await box.until_silent()
        ducks, holds, wakes = box.ducks, box.holds, len(box.wakes)
        self_triggers = box.floor.stops + len(box.floor.interruptions)
        box.floor.stops, box.floor.interruptions = 0, []
        stop_seconds = await _talk_over(box, stop)
        is_stopped = box.floor.stops > 0
        box.floor.interruptions = []
        barge_in_seconds = await _talk_over(box, barge_in)
        figure = box.card.meter.figure
        return RoomResult(
            room=room,
            mode=str(box.barge_in.mode),
            echo_loss_decibels=figure.loss_decibels if figure is not None else 0.0,
            removed_decibels=figure.removed_decibels if figure is not None else 0.0,
            ducks=ducks,
            holds=holds,
            self_triggers=self_triggers,
            wakes=wakes,
            stop_seconds=stop_seconds,
            is_stopped=is_stopped,
            barge_in_seconds=barge_in_seconds,
            words_lost=words_lost(barge_in.text, " ".join(box.floor.interruptions)),
            cost_share=box.cost_share,
        )


async def _talk_over(box: EchoBox, clip: Clip) -> float | None:
    """Somebody talks over a reply; how long the box went on, None when it did not fall silent for them."""
    holds = box.holds
    person = _at_level(clip.trimmed().samples, PERSON_DBFS)
    box.speaker.say(_REPLY)
    await box.run(_INTO_REPLY_SECONDS)
    if box.holds > holds:
        await box.until_silent()
        return None  # It had interrupted itself: nobody can say when the person was noticed.
    onset = box.clock.monotonic_seconds() + _onset(person) / HEARING_FORMAT.sample_rate_hz
    await box.run(len(person) / HEARING_FORMAT.sample_rate_hz + _PAUSE_SECONDS, person)
    was_noticed = box.holds > holds
    await box.until_silent()
    return float(box.silent_at_seconds[holds] - onset) if was_noticed else None


def figures(results: Sequence[RoomResult]) -> list[Figure]:
    """P17: people's sentences, in the rooms whose echo is at least 10 dB below what is played. (In the others the table
    says what happened.) The peers' side are their configured defaults.
    """
    quiet = [result for result in results if result.room.echo_decibels <= _QUIET_ECHO_DECIBELS]
    waits = [result.barge_in_seconds for result in quiet if result.barge_in_seconds is not None]
    if not waits:
        return []
    found = estimate(np.array(waits), lambda values: float(np.median(values)))
    self_triggers = sum(result.self_triggers for result in results)
    guard = f"{len(waits)} of {len(quiet)} noticed; {self_triggers} self-triggers in {len(results)} rooms"
    return [
        Figure(
            id="P17",
            name="speech onset to last sample out",
            against=f"{peer} (its configured default, not run)",
            ratio=found.value / seconds,
            goal=goal,
            low=found.low / seconds,
            high=found.high / seconds,
            own=found.value * 1e3,
            peer=seconds * 1e3,
            guard=guard,
        )
        for peer, (seconds, goal) in _GOALS.items()
    ]


def words_lost(said: str, heard: str) -> float:
    """Share of the words that are not in what was heard."""
    words, understood = re.findall(r"[a-z]+", said.casefold()), re.findall(r"[a-z]+", _in_words(heard))
    return sum(word not in understood for word in words) / max(1, len(words))


_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def _in_words(text: str) -> str:
    """Numbers as the clips have them: digit by digit, and ten."""
    text = re.sub(r"\b10\b", " ten ", text.casefold())
    return "".join(f" {_DIGITS[int(letter)]} " if letter in "0123456789" else letter for letter in text)


def _onset(samples: Samples) -> int:
    """The first sample that is a tenth as loud as the loudest."""
    loudness = np.abs(samples.astype(np.int32))
    return int(np.argmax(loudness > loudness.max() / 10))


def _at_level(samples: Samples, dbfs: float) -> Samples:
    """As loud as that, on the average of its loud parts."""
    loud = samples[np.abs(samples.astype(np.int32)) > np.abs(samples.astype(np.int32)).max() / 20]
    gain = 10.0 ** ((dbfs - level_dbfs(loud)) / 20.0)
    levelled: Samples = np.clip(samples * gain, -32768, 32767).astype(np.int16)
    return levelled


async def _canned(voice: Synthesizer, texts: Sequence[str]) -> CannedVoice:
    spoken = {}
    for text in texts:
        reader = SpeechText("en")
        for sentence in (*reader.feed(text), *reader.end()):
            spoken[sentence.text] = await _spoken(voice, sentence.text)
    return CannedVoice(spoken)


async def _spoken(voice: Synthesizer, text: str) -> AudioChunk:
    return join([chunk.audio async for chunk in voice.synthesize(text)], AudioFormat(voice.sample_rate_hz))


def _resampled(sound: AudioChunk) -> Samples:
    import soxr

    samples: Samples = soxr.resample(sound.samples, sound.format.sample_rate_hz, HEARING_FORMAT.sample_rate_hz)
    return samples
