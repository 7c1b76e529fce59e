"""The mouth opens and shuts with the sound that is heard: under 40 ms apart, from the mixer to the pose."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field

import numpy as np
import pytest

from appliance.adapters.fakes.face import FakeFace
from appliance.audio import AudioChunk, AudioFormat
from appliance.clock import FakeClock
from appliance.face.animator import Animator
from appliance.face.stage import Stage
from appliance.ports import TimedPhoneme
from appliance.speak.mixer import Lane, Mixer
from appliance.speak.mouth import MouthTrack

RATE_HZ = 16_000
_STEP_SECONDS = 0.002
#: Half as loud as a vowel of the voice, and loud enough to open the mouth further than this.
_AMPLITUDE, _OPEN = 8000, 0.3


@dataclass
class Card:
    """A sound card that plays what it takes ``latency_seconds`` later, and notes when what became loud or silent."""

    mixer: Mixer
    clock: FakeClock
    block_seconds: float
    latency_seconds: float
    heard: list[tuple[float, bool]] = field(default_factory=list)
    _is_loud: bool = False

    def take_block(self) -> None:
        """The next block, now."""
        samples = self.mixer.render(round(self.block_seconds * RATE_HZ))
        began = self.clock.monotonic_seconds() + self.latency_seconds
        for index, is_loud in enumerate(np.abs(samples) > 0):
            if is_loud != self._is_loud:
                self._is_loud = bool(is_loud)
                self.heard.append((began + index / RATE_HZ, self._is_loud))


def words_and_pauses(seed: int) -> list[tuple[float, bool]]:
    """Stretches of sound and of silence that fit no grid: seconds, whether there is sound."""
    dice = random.Random(seed)
    return [(dice.uniform(0.12, 0.5), number % 2 == 1) for number in range(24)]


async def talk(card: Card, stage: Stage, words: list[tuple[float, bool]], *, has_phonemes: bool) -> None:
    """Say it; every clock runs at its own pace."""
    clip = card.mixer.open_clip(Lane.SPEECH, "words and pauses")
    for seconds, is_loud in words:
        samples = np.full(round(seconds * RATE_HZ), _AMPLITUDE if is_loud else 0, dtype=np.int16)
        phonemes = [TimedPhoneme("a" if is_loud else " ", len(samples))] if has_phonemes else []
        clip.write(AudioChunk(samples, AudioFormat(RATE_HZ, 1)), phonemes)
    clip.end()
    steps = round((sum(seconds for seconds, _ in words) + 0.5) / _STEP_SECONDS)
    block_steps, pose_steps = round(card.block_seconds / _STEP_SECONDS), round(0.04 / _STEP_SECONDS)
    for step in range(steps):
        if step % block_steps == 0:
            card.take_block()
        if step % pose_steps == 7:
            stage.show()
        await card.clock.advance(_STEP_SECONDS)


@pytest.mark.parametrize("has_phonemes", [True, False], ids=["phonemes", "loudness"])
@pytest.mark.parametrize(("block_seconds", "latency_seconds"), [(0.02, 0.06), (0.01, 0.03), (0.02, 0.2)])
def test_the_mouth_is_never_40_ms_from_the_sound(
    block_seconds: float, latency_seconds: float, has_phonemes: bool
) -> None:
    clock, face = FakeClock(), FakeFace()
    track = MouthTrack(clock.monotonic_seconds, latency_seconds)
    mixer = Mixer(RATE_HZ, volume_percent=50, on_mouth=track.note)
    card = Card(mixer, clock, block_seconds, latency_seconds)
    stage = Stage(Animator(mouth=track.at), [face], clock, poses_per_second=25)
    moved: list[tuple[float, bool]] = []

    def note() -> None:
        is_open = face.shown[-1].mouth_open > _OPEN
        if is_open != (moved[-1][1] if moved else False):
            moved.append((clock.monotonic_seconds(), is_open))

    face.on_shown = note
    asyncio.run(talk(card, stage, words_and_pauses(seed=5), has_phonemes=has_phonemes))
    assert [is_open for _, is_open in moved] == [is_loud for _, is_loud in card.heard]
    apart = [shown - heard for (shown, _), (heard, _) in zip(moved, card.heard, strict=True)]
    assert max(map(abs, apart)) < 0.040, apart
