"""Voice activity that takes whatever is loud for speech."""

from __future__ import annotations

from appliance.audio import Samples, level_dbfs


class LoudnessVoiceActivity:
    """Meets ``VoiceActivityDetector``: speech is what is louder than ``threshold_dbfs``."""

    def __init__(self, threshold_dbfs: float = -40.0) -> None:
        self._threshold_dbfs = threshold_dbfs
        #: How many steps were looked at since the last reset, and how often it was reset.
        self.steps = 0
        self.resets = 0

    def probability(self, samples: Samples) -> float:
        """1.0 for a loud step, 0.0 for a quiet one."""
        self.steps += 1
        return 1.0 if level_dbfs(samples) > self._threshold_dbfs else 0.0

    def reset(self) -> None:
        """Count it."""
        self.steps = 0
        self.resets += 1
