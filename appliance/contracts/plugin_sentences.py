"""Sentences that plugins bring along, ``sentences/<language>.yaml`` in their folder: what asks for their tools without
a model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from appliance.contracts.kotoba.contract import LoadProblem
from appliance.contracts.kotoba.discover import PluginRoot
from appliance.contracts.sapphire.manifest import MANIFEST_FILE, ManifestError, read_manifest
from appliance.ports_think import SentenceFile, SentenceMatcher
from appliance.tools.tool import Tool

_PLUGIN = "plugin:"


class PluginSentences:
    """``roots`` hold plugins, the owner's before the shipped ones; of a name in both only the first counts."""

    def __init__(self, matcher: SentenceMatcher, roots: Sequence[PluginRoot], language: str) -> None:
        self._matcher = matcher
        self._roots = tuple(roots)
        self._language = language
        #: What is wrong with the files that are in use.
        self.problems: tuple[LoadProblem, ...] = ()

    async def refresh(self, tools: Iterable[Tool]) -> None:
        """Understand the sentences for these tools, and for no others."""
        names: dict[str, set[str]] = {}
        for tool in tools:
            if tool.origin.startswith(_PLUGIN):
                names.setdefault(tool.origin, set()).add(tool.name)
        wrong = await asyncio.to_thread(self._use, names)
        self.problems = tuple(
            LoadProblem(owner.removeprefix(_PLUGIN), self._place, sentence)
            for owner, sentences in wrong.items()
            for sentence in sentences
        )

    @property
    def _place(self) -> str:
        return f"sentences/{self._language}.yaml"

    def _use(self, names: Mapping[str, set[str]]) -> Mapping[str, tuple[str, ...]]:
        files: list[SentenceFile] = []
        for owner, intents in sorted(names.items()):
            folder = self._folder_of(owner.removeprefix(_PLUGIN))
            file = folder / self._place if folder is not None else None
            if file is not None and file.is_file():
                files.append(SentenceFile(owner, file, frozenset(intents)))
        return self._matcher.use(files)

    def _folder_of(self, name: str) -> Path | None:
        """Where the plugin lies; None when it is a single file, or an installed package."""
        if not name or "/" in name or name.startswith("."):
            return None
        for root in self._roots:
            for folder in _folders_of(root.folder, name):
                return folder
            if (root.folder / f"{name}.py").is_file():
                return None
        return None


def _folders_of(root: Path, name: str) -> Iterable[Path]:
    """The folder of that name, and those whose manifest says it."""
    if (root / name).is_dir():
        yield root / name
    for manifest in sorted(root.glob(f"*/{MANIFEST_FILE}")):
        with suppress(ManifestError):
            if manifest.parent.name != name and read_manifest(manifest.parent).name == name:
                yield manifest.parent
