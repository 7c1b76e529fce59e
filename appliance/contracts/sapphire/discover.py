"""Which plugins of this contract there are, before any of their code is opened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from appliance.contracts.kotoba.discover import PluginRoot, Source
from appliance.contracts.sapphire.manifest import MANIFEST_FILE, Manifest, ManifestError, read_manifest
from appliance.contracts.switch import SwitchState

#: Priorities of the owner's plugins come behind those of the shipped ones, as the two bands of the contract do.
_OWNER_BAND, _HIGHEST = 100, 199


@dataclass(frozen=True)
class FoundPlugin:
    """A folder with a manifest that can be read."""

    folder: Path
    source: Source
    manifest: Manifest

    @property
    def name(self) -> str:
        """The manifest's; the folder may be called otherwise."""
        return self.manifest.name

    @property
    def priority(self) -> int:
        """Lower is earlier in every chain of hooks; the owner's come behind the shipped."""
        own = max(0, self.manifest.priority)
        return min(own, _OWNER_BAND - 1) if self.source is Source.SHIPPED else min(own + _OWNER_BAND, _HIGHEST)

    def is_like(self, other: FoundPlugin) -> bool:
        """Whether both have one name, or one name of their folder."""
        return self.name == other.name or self.folder.name == other.folder.name

    def is_on(self, state: SwitchState) -> bool:
        """Enabled beats disabled; without either the manifest's default counts."""
        names = {self.name, self.folder.name}
        if names & state.enabled:
            return True
        return self.manifest.is_on_by_default and not names & state.disabled


@dataclass(frozen=True)
class BadFolder:
    """A folder that cannot be used; ``sentence`` says why."""

    name: str
    sentence: str


@dataclass(frozen=True)
class Discovery:
    """In loading order: the owner's first, for of two tools with one name the first stays."""

    plugins: tuple[FoundPlugin, ...]
    bad: tuple[BadFolder, ...]
    #: The owner's plugins that keep a shipped one of their name closed.
    shadowed: frozenset[str]


def discover(roots: Iterable[PluginRoot]) -> Discovery:
    """Look through the roots. Reads the disk; a root that is missing holds nothing."""
    found: list[FoundPlugin] = []
    bad: list[BadFolder] = []
    for root in roots:
        for folder in _plugin_folders(root.folder):
            try:
                found.append(FoundPlugin(folder, root.source, read_manifest(folder)))
            except ManifestError as error:
                bad.append(BadFolder(folder.name, f"it is not loaded: {error}"))
    order = list(Source)
    found.sort(key=lambda plugin: (order.index(plugin.source), plugin.priority, plugin.folder.name))
    kept, shadowed = _one_of_each_name(found, bad)
    return Discovery(tuple(kept), tuple(bad), frozenset(shadowed))


def _one_of_each_name(found: list[FoundPlugin], bad: list[BadFolder]) -> tuple[list[FoundPlugin], set[str]]:
    """Two plugins of one name, or in folders of one name, cannot both be imported."""
    kept: list[FoundPlugin] = []
    shadowed: set[str] = set()
    for plugin in found:
        first = next((other for other in kept if plugin.is_like(other)), None)
        if first is None:
            kept.append(plugin)
        elif first.source is plugin.source:
            sentence = f"it is not loaded: the plugin in {first.folder.name} is named {plugin.name} too"
            bad.append(BadFolder(plugin.folder.name, sentence))
        else:
            shadowed.add(first.name)
    return kept, shadowed


def _plugin_folders(root: Path) -> list[Path]:
    """Sorted; a root that cannot be read is as good as empty."""
    try:
        entries = sorted(root.iterdir())
    except OSError:
        return []
    return [entry for entry in entries if entry.name[0] not in "._" and _has_manifest(entry)]


def _has_manifest(folder: Path) -> bool:
    try:
        return (folder / MANIFEST_FILE).is_file()
    except OSError:
        return False
