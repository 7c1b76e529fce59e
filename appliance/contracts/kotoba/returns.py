"""What a tool module may return besides a text."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class ToolResult:
    """Text with pictures, as ``kotoba.tools.ToolResult``; ``images`` are data URLs."""

    text: str = ""
    images: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return self.text

    def __bool__(self) -> bool:
        return bool(self.text or self.images)
