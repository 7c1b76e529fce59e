"""Where the plugin manager keeps its things, in the home."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from appliance.errors import StoreError
from appliance.home import Home


@dataclass(frozen=True)
class Places:
    """The manager's files and folders; all lie on one disk, so that a rename moves a whole plugin at once."""

    home: Home

    @property
    def plugins(self) -> Path:
        """The live plugins."""
        return self.home.plugins_folder

    @property
    def installed(self) -> Path:
        """All that follows lies here."""
        return self.home.installed_folder

    @property
    def stage(self) -> Path:
        """What is being looked at, and what is being thrown away: of no worth to the next command."""
        return self.installed / "stage"

    @property
    def previous(self) -> Path:
        """Older versions: ``<plugin>/<version>-<digest>/`` with the plugin and ``pin.json``."""
        return self.installed / "previous"

    @property
    def signers(self) -> Path:
        """The public keys of signers that the owner trusts, a ``<name>.pub`` each."""
        return self.installed / "signers"

    @property
    def journal(self) -> Path:
        """There only while a change is under way."""
        return self.installed / "journal.json"

    @property
    def history(self) -> Path:
        """Where each plugin came from, and which versions were there before."""
        return self.installed / "history.json"

    @property
    def lock(self) -> Path:
        """Held by the one manager at work."""
        return self.installed / "lock"

    def inside(self, relative: str) -> Path:
        """A path that the journal names. Raises ``StoreError`` for one that leads out of the manager's folder."""
        path = PurePosixPath(relative)
        if not relative or path.is_absolute() or ".." in path.parts:
            raise StoreError(f"{self.journal} names {relative!r}, which is no place of the plugin manager")
        return self.installed / path

    def live(self, place: str) -> Path:
        """Where a plugin lies that is called ``place`` there. Raises ``StoreError`` for what is no plain name."""
        if not place or place in (".", "..") or "/" in place or "\0" in place:
            raise StoreError(f"{place!r} cannot be the name of a plugin's folder")
        return self.plugins / place
