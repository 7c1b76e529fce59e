"""The hum: a soft wordless sound in place of a heartbeat line when the model itself narrates."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Sequence
from pathlib import Path

from appliance.audio import AudioChunk
from appliance.errors import BadAudioFileError
from appliance.speak.wave_file import read_wave

_LOG = logging.getLogger(__name__)


class Hum:
    """The variants, which take turns."""

    def __init__(self, sounds: Sequence[AudioChunk]) -> None:
        self._sounds = itertools.cycle(sounds)

    @classmethod
    def load(cls, soul_folder: Path) -> Hum:
        """Read ``soul_folder/hum/*.wav`` in the order of their names; blocks, so call it before the loop runs.

        A file that cannot be read is left out; with none left the hum is silent.
        """
        sounds: list[AudioChunk] = []
        for file in sorted((soul_folder / "hum").glob("*.wav")):
            try:
                sounds.append(read_wave(file))
            except (BadAudioFileError, OSError) as error:
                _LOG.warning("a hum is left out: %s", error)
        return cls(sounds)

    def next_sound(self) -> AudioChunk | None:
        """The next variant; None when there are none."""
        return next(self._sounds, None)
