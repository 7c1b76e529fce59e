"""From a source (a folder, a file, an archive, a URL) to a stage: unpacked, checked against the rules, named."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from appliance.errors import RefusedError, StoreError, UsageError
from appliance.install.archive import is_archive, unpack
from appliance.install.archive_rules import MOST_TOTAL_BYTES, shown
from appliance.install.fetch import Fetch
from appliance.install.git_clone import clone_as_tar
from appliance.install.naming import MANIFEST_FILE, Identity, check_name, identify, name_from
from appliance.install.packages import FOLDER
from appliance.install.source import ArchiveSource, GitSource, LocalSource, Source, read_source
from appliance.install.stage import Contract, Staged
from appliance.install.stage_files import copy_file, copy_folder
from appliance.install.wheel import WHEEL_REST, lay_out_wheel, read_wheel_name
from appliance.store.plugin_pins import digest_of, file_digests

#: Names on the stage that no plugin can have.
_BROUGHT, _UNPACKED, _PLACE = ".brought", ".unpacked", ".place"
_MACHINE_CODE = re.compile(r".*\.(so|pyd|dll|dylib)(\.[0-9.]+)?", re.IGNORECASE)


def stage(source: str, into: Path, *, fetch: Fetch, name: str = "") -> Staged:
    """Lay the plugin of ``source`` into the folder ``into``, which is made, for this user only, and must be new.

    ``source``: a folder; a ``.py`` file; a zip, tar or wheel; ``https://...`` of one; a repository as
    ``https://github.com/owner/name``, ``git+https://...`` or ``git+file://...``, with ``@ref`` and
    ``#subdirectory=...``. ``name`` is for a tool module whose source says no good one. Nothing is left of ``into``
    when this raises: ``UsageError`` for what is no source, ``RefusedError`` with one sentence for what breaks a
    rule, ``NetworkError``, ``StoreError``. Blocks.
    """
    wanted = read_source(source)
    try:
        into.mkdir(mode=0o700)
        into.chmod(0o700)
    except OSError as error:
        raise StoreError(f"the stage {into} cannot be made: {error.strerror}") from error
    try:
        return _Staging(wanted, into, fetch, name).staged()
    except OSError as error:
        shutil.rmtree(into, ignore_errors=True)
        raise StoreError(f"{wanted.words} cannot be laid out: {error.strerror or error}") from error
    except BaseException:
        shutil.rmtree(into, ignore_errors=True)
        raise


@dataclass
class _Staging:
    """One run of ``stage``."""

    source: Source
    into: Path
    fetch: Fetch
    wanted_name: str

    def staged(self) -> Staged:
        self.remarks: list[str] = []
        file = self._brought()
        if file is not None and file.name.endswith(".py"):
            identity, place = self._lone_file(file)
        elif file is not None and file.name.endswith(".whl"):
            identity, place = self._wheel(file)
        else:
            identity, place = self._folder(file)
        for rest in (_BROUGHT, _UNPACKED, WHEEL_REST):
            shutil.rmtree(self.into / rest, ignore_errors=True)
        files = file_digests(place)
        return Staged(
            place=place,
            place_name=place.name,
            name=identity.name,
            contract=identity.contract,
            version=identity.version,
            origin=self.source.words,
            files=files,
            digest=digest_of(files),
            remarks=tuple(self.remarks),
        )

    # --------------------------------------------------------------------------------------------- to this machine

    def _brought(self) -> Path | None:
        """The file to open; None when the source was a folder, which is then unpacked already."""
        match self.source:
            case LocalSource(path=path):
                if path.is_dir():
                    copy_folder(path, self._fresh(_UNPACKED), self._words)
                    return None
                if not path.is_file():
                    raise UsageError(f"there is nothing to install at {path}")
                return path
            case ArchiveSource(url=url, name=name):
                is_plain = name.isprintable() and "/" not in name and name not in (".", "..")
                file = self._fresh(_BROUGHT) / (name if is_plain else "archive")
                self.fetch.download(url, file, MOST_TOTAL_BYTES)
                return file
            case GitSource() as repository:
                proxy = self.fetch.proxy_for(repository.url) if repository.url.startswith("https:") else None
                return clone_as_tar(repository, self._fresh(_BROUGHT), proxy)

    # ------------------------------------------------------------------------------------------------ to its place

    def _lone_file(self, file: Path) -> tuple[Identity, Path]:
        name = self.wanted_name or file.stem
        check_name(name, self._words)
        unpacked = self._fresh(_UNPACKED)
        copy_file(file, unpacked, self._words)
        place = (unpacked / file.name).rename(self.into / f"{name}.py")
        return Identity(name, Contract.MODULE), place

    def _wheel(self, file: Path) -> tuple[Identity, Path]:
        wheel = read_wheel_name(file.name)
        unpacked = self._fresh(_UNPACKED)
        unpack(file, unpacked, self._words)
        place = self.into / _PLACE
        self.remarks += lay_out_wheel(unpacked, place, file.name)
        name = self.wanted_name or wheel.name
        check_name(name, self._words)
        return Identity(name, Contract.MODULE, wheel.version), place.rename(self.into / name)

    def _folder(self, file: Path | None) -> tuple[Identity, Path]:
        unpacked = self.into / _UNPACKED
        fallback = self._own_name()
        if file is not None:
            if not is_archive(file):
                raise RefusedError(f"{self._words} is refused: it is neither a zip, a tar, a wheel nor a .py file")
            unpack(file, self._fresh(_UNPACKED), self._words)
            wrapper = _wrapper(unpacked)
            if wrapper is not None:
                unpacked = wrapper
                # A repository has a name of its own; the folder in its archive is named after a commit.
                archive_of = self.source.written if isinstance(self.source, ArchiveSource) else ""
                is_repository = isinstance(self.source, GitSource) or archive_of != ""
                fallback = fallback if is_repository else name_from(wrapper.name)
        root, inner_name = self._plugin_in(unpacked)
        self._check_code(root)
        identity = identify(root, self.wanted_name or inner_name or fallback, self._words)
        place = root.rename(self.into / _PLACE)
        place.chmod(0o755)
        return identity, place.rename(self.into / identity.name)

    def _plugin_in(self, unpacked: Path) -> tuple[Path, str]:
        """The plugin's folder, and its name there when it is not the top."""
        if self.source.subdirectory:
            inside = unpacked / self.source.subdirectory
            if not inside.is_dir():
                raise UsageError(f"{self._words}: there is no folder {self.source.subdirectory} in it")
            return inside, inside.name
        if (unpacked / MANIFEST_FILE).exists():
            return unpacked, ""
        below = sorted(entry.parent for entry in unpacked.glob(f"*/{MANIFEST_FILE}"))
        if len(below) == 1 and not any(unpacked.glob("*.py")):
            others = sorted(entry.name for entry in unpacked.iterdir() if entry != below[0])
            if others:
                beside = ", ".join(others[:5])
                self.remarks.append(f"only the folder {below[0].name} is installed, not {beside} beside it")
            return below[0], below[0].name
        if len(below) > 1:
            names = ", ".join(folder.name for folder in below[:5])
            raise UsageError(f"{self._words} holds several plugins ({names}): name one behind it, #subdirectory=NAME")
        return unpacked, ""

    def _check_code(self, root: Path) -> None:
        """Code that nobody can read is not taken; packages of the plugin's own may have some."""
        for path in sorted(root.rglob("*")):
            parts = path.relative_to(root).parts
            if FOLDER in parts[:1] or path.is_dir():
                continue
            if _MACHINE_CODE.fullmatch(path.name):
                raise RefusedError(f"{self._words} is refused: {shown('/'.join(parts))} is machine code")
            if path.suffix == ".pyc":
                if not path.with_suffix(".py").exists():
                    raise RefusedError(f"{self._words} is refused: {shown('/'.join(parts))} has no source beside it")
                path.unlink()

    # ------------------------------------------------------------------------------------------------------- small

    @property
    def _words(self) -> str:
        return self.source.words

    def _own_name(self) -> str:
        match self.source:
            case LocalSource(path=path):
                return path.name if path.is_dir() else name_from(path.name)
            case ArchiveSource(name=name) | GitSource(name=name):
                return name_from(name)

    def _fresh(self, name: str) -> Path:
        folder = self.into / name
        folder.mkdir(mode=0o700)
        return folder


def _wrapper(unpacked: Path) -> Path | None:
    """The one folder that holds everything, if there is one."""
    entries = list(unpacked.iterdir())
    if len(entries) == 1 and entries[0].is_dir() and entries[0].name != FOLDER:
        return entries[0]
    return None
