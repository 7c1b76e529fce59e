"""What ``plugin check`` has to say, one sentence at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A sentence about a file (and a line, 0 for none). A fault costs something; a remark is worth knowing."""

    file: str
    sentence: str
    is_fault: bool = True
    line: int = 0

    @property
    def place(self) -> str:
        """``file:line``."""
        return f"{self.file}:{self.line}" if self.line else self.file


#: Takes a finding.
Report = Callable[[Finding], None]
