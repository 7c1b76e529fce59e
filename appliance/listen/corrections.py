"""Words that the transcriber gets wrong in this house, put right as the owner says (``listen.corrections``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from appliance.audio import AudioChunk
from appliance.errors import ConfigError
from appliance.ports import Transcriber, Transcript

_BETWEEN = "="
_EXAMPLE = f'"nano leaf {_BETWEEN} Nanoleaf"'


@dataclass(frozen=True)
class Corrections:
    """What is meant, by what is heard (in small letters, one space between words)."""

    meant: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, entries: Sequence[str]) -> Corrections:
        """Each entry is "heard = meant". Raises ``ConfigError`` that names the wrong one."""
        meant: dict[str, str] = {}
        for entry in entries:
            heard, between, right = (part.strip() for part in entry.partition(_BETWEEN))
            key = " ".join(_words(heard))
            if not between or not key or not right:
                raise ConfigError(
                    f"listen.corrections: {entry!r} must be what is heard and what is meant, as {_EXAMPLE}"
                )
            if key in meant:
                raise ConfigError(f"listen.corrections: {heard!r} is there twice; take one of them out")
            meant[key] = right
        return cls(meant)

    def applied(self, text: str) -> str:
        """``text`` with whole words corrected, whatever their capitals; of two that fit the longer one counts."""
        if not self.meant:
            return text
        longest_first = sorted(self.meant, key=len, reverse=True)
        patterns = (r"[\s-]+".join(map(re.escape, heard.split())) for heard in longest_first)
        pattern = rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)"
        return re.sub(pattern, lambda found: self.meant[" ".join(_words(found[0]))], text, flags=re.IGNORECASE)


class CorrectedTranscriber:
    """Meets ``Transcriber``: what ``inner`` heard, with the corrections that ``corrections`` gives at that moment."""

    def __init__(self, inner: Transcriber, corrections: Callable[[], Corrections]) -> None:
        self._inner = inner
        self._corrections = corrections

    async def warm_up(self) -> None:
        """See ``Transcriber``."""
        await self._inner.warm_up()

    async def transcribe(self, utterance: AudioChunk) -> Transcript:
        """See ``Transcriber``."""
        transcript = await self._inner.transcribe(utterance)
        return replace(transcript, text=self._corrections().applied(transcript.text))

    def close(self) -> None:
        """See ``Transcriber``."""
        self._inner.close()


def _words(text: str) -> list[str]:
    return re.split(r"[\s-]+", text.strip().lower()) if text.strip() else []
