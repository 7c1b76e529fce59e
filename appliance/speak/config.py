"""Settings of the voice: ``[speak]``."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.config import setting


@dataclass(frozen=True)
class SpeakConfig:
    """How the box sounds."""

    voice: str = setting("en_US-joe-medium", "piper voice that speaks; must fit box.language")
    voice_path: str = setting("", 'a .onnx voice file of your own, with its .json beside it; "" uses the voice above')
    speed: float = setting(
        1.0, "pace of speech; 1.0 is the voice's own, 2.0 twice as fast", at_least=0.5, at_most=2.0, is_live=True
    )
    volume_percent: int = setting(60, "loudness until someone asks for another", at_least=0, at_most=100, is_live=True)
    alert_floor_percent: int = setting(
        40, "alarms and spoken alerts are never quieter than this volume", at_least=0, at_most=100
    )
    longest_reply_sentences: int = setting(
        6, "a spoken reply stops after this many sentences and asks whether to go on", at_least=1, at_most=100
    )
    line_cache_megabytes: int = setting(
        32, "disk for fixed lines spoken ahead of time, in the cache folder; 0 keeps none", at_least=0, at_most=4096
    )
    hum: bool = setting(True, "hum during long tool calls when the model narrates by itself")
