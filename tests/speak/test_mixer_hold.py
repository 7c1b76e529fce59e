"""A held voice is silent at once, loses nothing, and goes on where it stopped."""

from __future__ import annotations

import numpy as np

from appliance.audio import AudioChunk, AudioFormat, Samples
from appliance.speak.clip import FADE_SECONDS
from appliance.speak.mixer import Lane, Mixer

RATE_HZ = 16_000
BLOCK = 320
FADE = round(FADE_SECONDS * RATE_HZ)


def counting(seconds: float) -> AudioChunk:
    """Sound in which every sample says where it is."""
    return AudioChunk(np.arange(1, round(seconds * RATE_HZ) + 1, dtype=np.int16), AudioFormat(RATE_HZ))


def loud_mixer() -> Mixer:
    return Mixer(RATE_HZ, volume_percent=100, alert_floor_percent=0)


def blocks(mixer: Mixer, count: int) -> Samples:
    return np.concatenate([mixer.render(BLOCK) for _ in range(count)])


async def test_a_held_voice_is_silent_within_the_next_block() -> None:
    mixer = loud_mixer()
    mixer.play(Lane.SPEECH, counting(1.0))
    mixer.render(BLOCK)
    mixer.hold(Lane.SPEECH)
    held = mixer.render(BLOCK)
    assert held[: FADE // 2].all() and not held[FADE:].any()
    assert not blocks(mixer, 10).any()


async def test_a_held_voice_goes_on_where_it_stopped() -> None:
    mixer = loud_mixer()
    clip = mixer.play(Lane.SPEECH, counting(1.0))
    mixer.render(BLOCK)
    mixer.hold(Lane.SPEECH)
    blocks(mixer, 50)
    mixer.release(Lane.SPEECH)
    resumed = blocks(mixer, 2)
    assert resumed[BLOCK] == 2 * BLOCK + FADE + 1, "behind one fade and one block nothing is lost and nothing twice"
    blocks(mixer, 50)
    assert clip.heard_seconds == 1.0


async def test_what_is_said_while_the_voice_is_held_comes_behind_it() -> None:
    mixer = loud_mixer()
    mixer.hold(Lane.SPEECH)
    mixer.play(Lane.SPEECH, counting(0.02))
    mixer.play(Lane.SPEECH, counting(0.02))
    assert not blocks(mixer, 5).any()
    assert not mixer.has_sound()
    mixer.release(Lane.SPEECH)
    assert mixer.has_sound()
    assert blocks(mixer, 2)[-1] == BLOCK


async def test_what_was_flushed_while_it_was_held_never_sounds_again() -> None:
    mixer = loud_mixer()
    mixer.play(Lane.SPEECH, counting(1.0))
    mixer.render(BLOCK)
    mixer.hold(Lane.SPEECH)
    mixer.render(BLOCK)
    mixer.flush(Lane.SPEECH)
    mixer.render(BLOCK)
    mixer.release(Lane.SPEECH)
    assert not blocks(mixer, 10).any()


async def test_an_alarm_rings_over_a_held_voice() -> None:
    mixer = Mixer(RATE_HZ, volume_percent=100)
    mixer.play(Lane.SPEECH, counting(1.0))
    mixer.hold(Lane.SPEECH, Lane.HUM)
    mixer.play(Lane.ALERT, counting(0.02))
    assert mixer.render(BLOCK).any()
    assert not mixer.render(BLOCK).any()


async def test_the_card_goes_on_taking_sound_while_a_voice_is_held() -> None:
    """So that nobody takes the speaker for a stuck one."""
    mixer = loud_mixer()
    pulled: list[bool] = []
    mixer.on_ready = lambda: pulled.append(True)
    mixer.hold(Lane.SPEECH)
    blocks(mixer, 3)
    assert mixer.rendered_frames == 3 * BLOCK
    mixer.release(Lane.SPEECH)
    assert pulled, "a card without a clock of its own starts to pull again"


async def test_the_mouth_is_shut_while_the_voice_is_held() -> None:
    mouth: list[float] = []
    mixer = Mixer(RATE_HZ, volume_percent=100, on_mouth=mouth.append)
    clip = mixer.open_clip(Lane.SPEECH, "words")
    clip.write(AudioChunk(np.full(RATE_HZ, 8_000, dtype=np.int16), AudioFormat(RATE_HZ)))
    mixer.render(BLOCK)
    mixer.hold(Lane.SPEECH)
    blocks(mixer, 2)
    assert mouth[0] > 0.5 and mouth[-1] == 0.0
