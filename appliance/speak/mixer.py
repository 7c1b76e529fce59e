"""The mixer: everything the box sounds goes through this one stream, in three lanes.

The audio thread calls ``render`` for each block; the loop opens clips and writes into them. A lock is held by either
side for microseconds only: while a list is changed, or while at most one block is copied out.
"""

from __future__ import annotations

import enum
import math
import threading
from collections import deque
from collections.abc import Callable

import numpy as np

from appliance.audio import AudioChunk, Samples
from appliance.speak.clip import FADE_SECONDS, Clip, Floats

#: Gain of a ducked lane (-14 dB): still there, but out of the way of a voice.
DUCK_GAIN = 0.2
#: And of everything, while somebody may be speaking (-20 dB): lower than their voice at the microphone.
LISTENING_GAIN = 0.1
#: A mouth without phonemes follows the loudness: shut at the first of these, wide open at the second. A piper voice
#: has pauses below -45 dBFS and vowels around -12 dBFS.
_QUIET_DBFS, _LOUD_DBFS = -45.0, -12.0


class Lane(enum.StrEnum):
    """Clips on one lane sound one after another; lanes sound together."""

    SPEECH = "speech"
    HUM = "hum"
    ALERT = "alert"


class Mixer:
    """Sums the lanes for the sound card.

    ``on_ready`` is called, on the loop's thread, each time sound was added: a card without a clock of its own
    then starts to pull. ``on_mouth`` is called on the audio thread for each block with how far the speech in it opens
    a mouth, 0 to 1. Alerts keep the volume ``alert_floor_percent`` and duck the other lanes while they sound.
    """

    def __init__(
        self,
        sample_rate_hz: int,
        *,
        volume_percent: int = 70,
        alert_floor_percent: int = 40,
        on_ready: Callable[[], None] | None = None,
        on_mouth: Callable[[float], None] | None = None,
    ) -> None:
        self.on_ready = on_ready
        self._on_mouth = on_mouth
        self._sample_rate_hz = sample_rate_hz
        self._alert_floor_percent = alert_floor_percent
        self._volume_percent = volume_percent
        self._is_ducked = False
        self._lock = threading.Lock()
        self._lanes = {lane: _LaneQueue() for lane in Lane}
        self._sum: Floats = np.zeros(0, dtype=np.float32)
        self._scratch: Floats = np.zeros(0, dtype=np.float32)
        self._rendered_frames = 0

    # --------------------------------------------------------------------------------- the loop's thread

    @property
    def sample_rate_hz(self) -> int:
        """Rate of what ``render`` gives."""
        return self._sample_rate_hz

    def set_sample_rate(self, sample_rate_hz: int) -> None:
        """Render at the card's rate from now on; sound that is queued at another rate is dropped."""
        if sample_rate_hz != self._sample_rate_hz:
            self.flush(*Lane)
            self._sample_rate_hz = sample_rate_hz

    @property
    def volume_percent(self) -> int:
        """The volume that was set, 0 to 100."""
        return self._volume_percent

    def set_volume_percent(self, percent: int) -> None:
        """Change the volume, at once and without a click."""
        self._volume_percent = min(100, max(0, percent))

    def duck(self, ducked: bool) -> None:
        """Make everything quieter while somebody may be speaking; ``volume_percent`` stays what it is."""
        self._is_ducked = ducked

    @property
    def is_ducked(self) -> bool:
        """Whether everything is made quieter."""
        return self._is_ducked

    def hold(self, *lanes: Lane) -> None:
        """Fall silent on ``lanes`` within the next block, by a fade of 5 ms, and lose nothing: ``release`` goes on."""
        with self._lock:
            for lane in lanes:
                self._lanes[lane].is_held = True

    def release(self, *lanes: Lane) -> None:
        """Go on where ``hold`` stopped, with what was not flushed meanwhile."""
        with self._lock:
            for lane in lanes:
                self._lanes[lane].is_held = False
        self._sound_was_added()

    def open_clip(self, lane: Lane, text: str = "", on_started: Callable[[], None] | None = None) -> Clip:
        """A place at the end of ``lane`` to write sound into.

        ``text`` is what the sound says ("" for a tone). ``on_started`` is called on the running loop when the
        first sample has been rendered.
        """
        clip = Clip(
            text,
            sample_rate_hz=self._sample_rate_hz,
            lock=self._lock,
            on_sound=self._sound_was_added,
            on_started=on_started,
        )
        with self._lock:
            self._lanes[lane].add(clip)
        return clip

    def play(self, lane: Lane, sound: AudioChunk, on_started: Callable[[], None] | None = None) -> Clip:
        """Play a sound without words that is already whole, such as a tone or a hum."""
        clip = self.open_clip(lane, on_started=on_started)
        clip.write(sound)
        clip.end()
        return clip

    def flush(self, *lanes: Lane) -> None:
        """Drop all that is queued on ``lanes``: the last sound is a fade of 5 ms in the next block."""
        with self._lock:
            dropped = [clip for lane in lanes for clip in self._lanes[lane].clips]
            for clip in dropped:
                clip.cut()
            for lane in lanes:
                self._lanes[lane].generation += 1
        for clip in dropped:
            clip.wake()

    def generation(self, lane: Lane) -> int:
        """How often ``lane`` was flushed: what was planned under a lower number must not sound any more."""
        return self._lanes[lane].generation

    # --------------------------------------------------------------------------------------- any thread

    def has_sound(self) -> bool:
        """Whether the next block holds sound."""
        with self._lock:
            return any(queue.has_sound for queue in self._lanes.values())

    @property
    def rendered_frames(self) -> int:
        """How many samples the card has taken, silence included: stands still when the card is stuck or missing."""
        return self._rendered_frames

    # --------------------------------------------------------------------------------- the audio thread

    def render(self, frames: int) -> Samples:
        """The next ``frames`` samples, int16 mono; silence when there is nothing to play. Audio thread."""
        if len(self._sum) < frames:
            self._sum = np.zeros(frames, dtype=np.float32)
            self._scratch = np.zeros(frames, dtype=np.float32)
        total, scratch = self._sum[:frames], self._scratch[:frames]
        total.fill(0.0)
        mouth = 0.0
        with self._lock:
            targets = self._gains()
            for lane, queue in self._lanes.items():
                square_sum = queue.add_to(total, scratch, targets[lane], self._fade_frames)
                if queue.is_speech and frames:
                    mouth = max(mouth, _as_level(square_sum / frames) if queue.mouth is None else queue.mouth)
        if self._on_mouth is not None:
            self._on_mouth(mouth)
        self._rendered_frames += frames
        np.clip(total, -32768.0, 32767.0, out=total)
        return total.astype(np.int16)

    def _gains(self) -> dict[Lane, float]:
        volume = volume_gain(self._volume_percent)
        alert = volume_gain(max(self._volume_percent, self._alert_floor_percent))
        if self._is_ducked:
            volume, alert = volume * LISTENING_GAIN, alert * LISTENING_GAIN
        if self._lanes[Lane.ALERT].has_sound:
            volume *= DUCK_GAIN
        return {Lane.SPEECH: volume, Lane.HUM: volume, Lane.ALERT: alert}

    @property
    def _fade_frames(self) -> int:
        return round(FADE_SECONDS * self._sample_rate_hz)

    def _sound_was_added(self) -> None:
        if self.on_ready is not None:
            self.on_ready()


class _LaneQueue:
    """The clips of one lane and the gain it has reached; used with the mixer's lock held."""

    def __init__(self) -> None:
        self.clips: deque[Clip] = deque()
        self.generation = 0
        self.is_held = False
        self.is_speech = False
        #: What the phonemes of the block's first clip say; None when they are not known.
        self.mouth: float | None = None
        self._gain: float | None = None

    @property
    def has_sound(self) -> bool:
        if self.is_held:
            return False
        for clip in self.clips:
            if clip.has_sound:
                return True
            if not clip.is_over:
                return False  # It waits for its own sound, and those behind it wait for their turn.
        return False

    def add(self, clip: Clip) -> None:
        # Without a card nobody takes the clips that are over out of the queue.
        while self.clips and self.clips[0].is_over and not self.clips[0].has_sound:
            self.clips.popleft()
        self.clips.append(clip)

    def add_to(self, total: Floats, scratch: Floats, target_gain: float, fade_frames: int) -> float:
        """Add this lane's next samples to ``total``; the sum of their squares before the gain."""
        if self.is_held:
            self._fall_silent(total, scratch[:fade_frames])
            return 0.0
        self.mouth = self.clips[0].mouth_open if self.clips else None
        count = self._take(scratch)
        if count == 0:
            self._gain = None  # Nothing sounds, so the next gain needs no ramp.
            return 0.0
        taken = scratch[:count]
        square_sum = float(np.dot(taken, taken))
        start_gain = target_gain if self._gain is None else self._gain
        self._gain = target_gain
        if start_gain != target_gain:
            # A step in gain clicks; over one block (20 to 80 ms) it does not.
            taken *= np.linspace(start_gain, target_gain, count, dtype=np.float32)
        elif target_gain != 1.0:
            taken *= target_gain
        total[:count] += taken
        return square_sum

    def _fall_silent(self, total: Floats, scratch: Floats) -> None:
        gain, self._gain, self.mouth = self._gain, 0.0, 0.0
        if gain:
            count = self._take(scratch)
            total[:count] += scratch[:count] * np.linspace(gain, 0.0, count, dtype=np.float32)
        while self.clips and self.clips[0].is_dropped:
            self.clips.popleft()  # The fade of its cut must not sound when the lane goes on.

    def _take(self, scratch: Floats) -> int:
        count = 0
        while self.clips and count < len(scratch):
            clip = self.clips[0]
            self.is_speech = bool(clip.text)
            count += clip.take(scratch[count:])
            if clip.has_sound or not clip.is_over:
                break
            self.clips.popleft()
        return count


def volume_gain(percent: int) -> float:
    """Square law: half the number sounds about half as loud (50 % is -12 dB)."""
    return (percent / 100.0) ** 2


def _as_level(mean_square: float) -> float:
    if mean_square <= 0.0:
        return 0.0
    level_dbfs = 10.0 * math.log10(mean_square / (32768.0 * 32768.0))
    return min(1.0, max(0.0, (level_dbfs - _QUIET_DBFS) / (_LOUD_DBFS - _QUIET_DBFS)))
