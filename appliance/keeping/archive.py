"""The one file of a backup: a tar archive whose last member, the manifest, says what all others must be."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from appliance.durable import make_folder, sync_folder, sync_handle
from appliance.errors import ApplianceError

MANIFEST = "manifest.json"
#: What the home has below this name in the archive.
HOME = "home/"
CONFIG = "config.toml"
SEALED_KEYS = "keys.sealed"
_FORMAT = 1
_LARGEST_MANIFEST_BYTES = 64 * 2**20
_PIECE_BYTES = 2**20


class BackupError(ApplianceError):
    """A backup cannot be made, or is not one, or not a whole one."""


@dataclass(frozen=True)
class Manifest:
    """What a backup is: who wrote it, when (ISO), the store's schema (0: no store), and each member's SHA-256."""

    program: str
    made_at: str
    schema: int
    python: str
    private_chats: int = 0
    has_keys: bool = False
    format: int = _FORMAT
    members: Mapping[str, str] = field(default_factory=dict)


def write_archive(target: Path, members: Iterable[tuple[str, Path]], manifest: Manifest) -> tuple[Manifest, int]:
    """Write it whole, mode 0600, or not at all; the manifest with all members, and the file's size in bytes.

    Raises ``BackupError``. Blocks.
    """
    fresh = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    digests: dict[str, str] = {}
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as out:
            with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
                for name, path in members:
                    # A file that goes away meanwhile was not there; one that is replaced is read from one opening.
                    with _opened(path) as source:
                        if source is not None:
                            digests[name] = _add(archive, name, source, is_program=os.access(path, os.X_OK))
                whole = Manifest(**{**asdict(manifest), "members": digests})
                _add(archive, MANIFEST, io.BytesIO(json.dumps(asdict(whole), indent=1).encode()))
            sync_handle(out.fileno())
        fresh.replace(target)
        sync_folder(target.parent)
        return whole, target.stat().st_size
    except OSError as error:
        raise BackupError(f"{target} cannot be written: {error.strerror} ({error.filename or fresh})") from error
    finally:
        fresh.unlink(missing_ok=True)


def read_manifest(file: Path) -> Manifest:
    """What a backup says of itself. Raises ``BackupError``."""
    with _reading(file) as archive:
        for member in archive:
            if member.name == MANIFEST and member.isreg() and member.size <= _LARGEST_MANIFEST_BYTES:
                return _parsed(file, _bytes(archive, member))
    raise BackupError(f"{file} is no backup of this program, or its end is missing")


def unpack(file: Path, manifest: Manifest, folder: Path) -> None:
    """Put all members into ``folder``, each checked; nothing else may be in the archive. Raises ``BackupError``."""
    found: set[str] = set()
    with _reading(file) as archive:
        for member in archive:
            name = member.name
            if name == MANIFEST:
                continue
            if name in found or name not in manifest.members or not member.isreg() or not _is_safe(name):
                raise BackupError(f"{file} holds {name!r}, which does not belong into it; nothing was changed")
            found.add(name)
            if _extract(archive, member, folder / name) != manifest.members[name]:
                raise BackupError(f"{file} is damaged: {name} is not what was put in; nothing was changed")
    if missing := set(manifest.members) - found:
        raise BackupError(f"{file} is damaged: {min(missing)} is missing; nothing was changed")


def size_of(file: Path) -> int:
    """Bytes of all members together. Raises ``BackupError``."""
    with _reading(file) as archive:
        return sum(member.size for member in archive)


@contextmanager
def _reading(file: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(file, mode="r:") as archive:
            yield archive
    except (tarfile.TarError, EOFError) as error:
        raise BackupError(f"{file} is no backup, or only a part of one ({error})") from error
    except OSError as error:
        raise BackupError(f"{error.filename or file}: {error.strerror or error}") from error


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO | None]:
    try:
        source = path.open("rb")
    except FileNotFoundError:
        yield None
        return
    with source:
        yield source


def _add(archive: tarfile.TarFile, name: str, source: BinaryIO, *, is_program: bool = False) -> str:
    """Add what is in there; its SHA-256."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = source.seek(0, os.SEEK_END), 0o700 if is_program else 0o600
    source.seek(0)
    reader = _Hashing(source)
    archive.addfile(info, reader)
    return reader.digest.hexdigest()


class _Hashing:
    """Reads, and knows the SHA-256 of what was read."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(size)
        self.digest.update(data)
        return data


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> str:
    digest = hashlib.sha256()
    make_folder(target.parent)
    source, mode = archive.extractfile(member), 0o700 if member.mode & 0o100 else 0o600
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb") as out:
        while source is not None and (piece := source.read(_PIECE_BYTES)):
            digest.update(piece)
            out.write(piece)
    return digest.hexdigest()


def _bytes(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    source = archive.extractfile(member)
    return source.read() if source is not None else b""


def _is_safe(name: str) -> bool:
    """Whether a name stays below the folder that it is put into."""
    parts = PurePosixPath(name).parts
    is_plain = name == "/".join(parts) and name.isprintable() and "\\" not in name
    return is_plain and ".." not in parts and not name.startswith("/") and name.startswith((HOME, CONFIG, SEALED_KEYS))


def _parsed(file: Path, data: bytes) -> Manifest:
    try:
        fields: dict[str, Any] = json.loads(data)
        newer = int(fields["format"]) > _FORMAT
        known = {name: fields[name] for name in Manifest.__dataclass_fields__ if name in fields}
        manifest = Manifest(**known)
    except (ValueError, KeyError, TypeError) as error:
        raise BackupError(f"{file} is no backup of this program: its manifest cannot be read") from error
    if newer:
        raise BackupError(f"{file} was made by a newer version ({manifest.program}); install that one first")
    return manifest
