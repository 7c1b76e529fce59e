"""The default voice without its chance: the same text gives the same sound each time, however it is made."""

from __future__ import annotations

import json
from pathlib import Path

from appliance import models

VOICE_FILE = models.locate("en_US-joe-medium", Path("nowhere"))


def steady_voice(folder: Path, *, length_scale: float = 1.0) -> Path:
    """The voice file of a voice that adds no noise."""
    file = folder / VOICE_FILE.name
    file.symlink_to(VOICE_FILE)
    settings = json.loads(Path(f"{VOICE_FILE}.json").read_text(encoding="utf-8"))
    settings["inference"] = {"noise_scale": 0.0, "noise_w": 0.0, "length_scale": length_scale}
    Path(f"{file}.json").write_text(json.dumps(settings), encoding="utf-8")
    return file
