"""What the last starts decided, read without beginning one: safe mode, and which plugins are quarantined."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Decided:
    """Why safe mode is on, half a sentence ("" when it is off); each quarantined plugin and why."""

    safe_mode: str = ""
    quarantined: Mapping[str, str] = field(default_factory=dict)


def decided(file: Path) -> Decided:
    """From the file of ``store.starts``; what cannot be read has decided nothing. Blocks."""
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        quarantined = {str(name): str(why) for name, why in (kept.get("quarantined") or {}).items()}
        return Decided(str(kept.get("safe_mode") or ""), quarantined)
    except (OSError, ValueError, AttributeError):
        return Decided()
