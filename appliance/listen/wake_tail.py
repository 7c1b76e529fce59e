"""Where does the wake word end and the command begin?

A detector finds a wake word 50 to 200 ms after its end, when a command may have begun already. What is kept of the wake
word becomes a wrong first word ("We've set a timer"); what is cut off the command is worse. Most people pause for a
moment: then the cut is in the middle of the pause. Else a fixed stretch before the finding is kept. The figures are
those that read most commands right of 200 made by a synthetic voice: four wake words, three speeds, four kinds of
pause, whisper tiny.en.
"""

from __future__ import annotations

import numpy as np

from appliance.audio import HEARING_FORMAT, Samples

#: The wake word's end is in here, counted back from the finding.
_LOOK_BACK_SECONDS = 0.3
#: Kept when there is no pause.
_TAIL_SECONDS = 0.2
#: A pause is this much quieter than the wake word, for at least this long: stops inside a word are shorter.
_PAUSE_DECIBELS = 20.0
_PAUSE_STEPS = 7
_WAKE_WORD_SECONDS = 0.6

_STEP_SAMPLES = HEARING_FORMAT.sample_rate_hz // 100


def command_start(before: Samples) -> int:
    """How many samples before the end of ``before`` the command may begin; ``before`` ends where the word was found."""
    levels = _levels(before[-round(_WAKE_WORD_SECONDS * HEARING_FORMAT.sample_rate_hz) :])
    if not len(levels):
        return 0
    is_quiet = levels <= levels.max() - _PAUSE_DECIBELS
    recent = is_quiet[-round(_LOOK_BACK_SECONDS * HEARING_FORMAT.sample_rate_hz) // _STEP_SAMPLES :]
    for first, end in reversed(_runs(recent)):
        if end - first >= _PAUSE_STEPS:
            return (len(recent) - (first + end) // 2) * _STEP_SAMPLES
    return min(len(before), round(_TAIL_SECONDS * HEARING_FORMAT.sample_rate_hz))


def _levels(samples: Samples) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Level of each 10 ms, in decibels above one step; the newest is last."""
    whole = len(samples) // _STEP_SAMPLES * _STEP_SAMPLES
    steps = samples[len(samples) - whole :].astype(np.float64).reshape(-1, _STEP_SAMPLES)
    levels: np.ndarray[tuple[int], np.dtype[np.float64]] = 10.0 * np.log10(np.mean(steps * steps, axis=1) + 1.0)
    return levels


def _runs(flags: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[tuple[int, int]]:
    """Stretches in which the flag is set, as (first, behind the last)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(first), int(end)) for first, end in edges.reshape(-1, 2)]
