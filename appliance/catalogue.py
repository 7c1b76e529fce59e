"""Every sentence that the box itself says, one catalogue per language, in ``soul/<language>/*.toml``.

A key is ``table.name``; its value is a sentence, or a list of sentences that take turns so that the box does
not sound like a recording. ``{field}`` is filled by the caller.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator
from pathlib import Path

from appliance.errors import ConfigError


class Catalogue:
    """The sentences of one language."""

    def __init__(self, language: str, sentences: dict[str, tuple[str, ...]]) -> None:
        self.language = language
        self._sentences = sentences
        self._turns: dict[str, Iterator[str]] = {}

    @classmethod
    def load(cls, soul_folder: Path, language: str) -> Catalogue:
        """Read ``soul_folder/language/*.toml``. Raises ``ConfigError`` when there is no such language."""
        files = sorted((soul_folder / language).glob("*.toml"))
        if not files:
            known = sorted(p.name for p in soul_folder.iterdir() if any(p.glob("*.toml")))
            raise ConfigError(f"no sentences for language {language!r}; there are: {', '.join(known)}")
        sentences: dict[str, tuple[str, ...]] = {}
        for file in files:
            for table, entries in tomllib.loads(file.read_text(encoding="utf-8")).items():
                for name, value in entries.items():
                    forms = (value,) if isinstance(value, str) else tuple(value)
                    sentences[f"{table}.{name}"] = forms
        return cls(language, sentences)

    @property
    def keys(self) -> frozenset[str]:
        """Every key."""
        return frozenset(self._sentences)

    def forms(self, key: str) -> tuple[str, ...]:
        """Every form of a sentence, unfilled (to synthesise them ahead)."""
        return self._sentences[key]

    def say(self, key: str, **fields: object) -> str:
        """The sentence, in its next form, with its fields filled. ``KeyError`` is a fault of ours."""
        turns = self._turns.setdefault(key, itertools.cycle(self._sentences[key]))
        return next(turns).format(**fields)
