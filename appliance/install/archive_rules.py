"""What may come onto a stage: names, sizes and kinds. What breaks a rule is refused, never repaired."""

from __future__ import annotations

import stat
import unicodedata
from collections.abc import Iterator
from typing import BinaryIO

from appliance.errors import RefusedError

MOST_MEMBERS = 2_000
MOST_FILE_BYTES = 10_000_000
MOST_TOTAL_BYTES = 50_000_000
#: Unpacked to packed. Text that repeats itself may well be over it while it is small, and small it does no harm.
MOST_RATIO = 100
RATIO_COUNTS_FROM_BYTES = 65_536
#: What a file system takes for one name, and what leaves room for a home's own path before it.
_LONGEST_NAME_BYTES = 255
_LONGEST_PATH_BYTES = 1_000
_DEEPEST = 32
_KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_PIECE_BYTES = 65_536
_LONGEST_SHOWN = 80

Parts = tuple[str, ...]


class Rules:
    """The rules for one source, which remember what has come already. ``source`` begins every refusal."""

    def __init__(self, source: str) -> None:
        self._source = source
        #: Caseless path -> the path as it was written.
        self._files: dict[Parts, Parts] = {}
        self._folders: dict[Parts, Parts] = {}
        self._named_folders: set[Parts] = set()
        self._members = 0
        self._total_bytes = 0

    def refusal(self, why: str, name: str | None = None) -> RefusedError:
        """One sentence: ``why`` speaks of the member, or of the whole source."""
        return RefusedError(f"{self._source} is refused: {'it' if name is None else shown(name)} {why}")

    def member(self, name: str, size_bytes: int, *, is_folder: bool) -> Parts:
        """Take a member in; its path in parts, () for the top itself. Raises ``RefusedError``."""
        self._members += 1
        if self._members > MOST_MEMBERS:
            raise self.refusal(f"holds more than {MOST_MEMBERS:,} files and folders")
        parts = self._parts(name)
        if size_bytes > MOST_FILE_BYTES:
            raise self.refusal(f"is larger than {_megabytes(MOST_FILE_BYTES)}", name)
        self._total_bytes += max(0, size_bytes)
        if self._total_bytes > MOST_TOTAL_BYTES:
            raise self.refusal(f"holds more than {_megabytes(MOST_TOTAL_BYTES)}")
        if parts:
            self._place(name, parts, is_folder)
        elif not is_folder:
            raise self.refusal("is a file in the place of the top folder", name)
        return parts

    def check_mode(self, mode: int, name: str) -> None:
        """The mode of a member, 0 for unknown. Raises ``RefusedError``."""
        kind = stat.S_IFMT(mode)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise self.refusal(f"is {_KINDS.get(kind, 'no file and no folder')}", name)
        if kind != stat.S_IFDIR and mode & (stat.S_ISUID | stat.S_ISGID):
            raise self.refusal("would run with the rights of somebody else (set-uid)", name)

    def check_ratio(self, unpacked_bytes: int, packed_bytes: int, name: str | None = None) -> None:
        """Whether something grows too much. Raises ``RefusedError``."""
        if unpacked_bytes > RATIO_COUNTS_FROM_BYTES and unpacked_bytes > MOST_RATIO * packed_bytes:
            raise self.refusal(f"grows more than {MOST_RATIO} times when it is unpacked", name)

    def pieces(self, stream: BinaryIO, name: str, size_bytes: int) -> Iterator[bytes]:
        """A member's bytes, exactly as many as were announced. Raises ``RefusedError``."""
        remaining = size_bytes
        while piece := stream.read(min(_PIECE_BYTES, remaining + 1)):
            remaining -= len(piece)
            if remaining < 0:
                break
            yield piece
        if remaining:
            raise self.refusal(f"is {'shorter' if remaining > 0 else 'longer'} than was announced", name)

    def _parts(self, name: str) -> Parts:
        fault = _fault_of_path(name)
        # One "./" in front, and a "/" behind a folder, are how archives are written.
        parts = name.removeprefix("./").removesuffix("/").split("/")
        if not fault and parts in ([""], ["."]):
            return ()
        fault = fault or next(filter(None, map(_fault_of_part, parts)), "")
        if fault:
            raise self.refusal(fault, name)
        return tuple(parts)

    def _place(self, name: str, parts: Parts, is_folder: bool) -> None:
        for length in range(1, len(parts)):
            self._folder(name, parts[:length])
        key = _caseless(parts)
        if key in self._files or key in self._named_folders:
            other = self._files.get(key) or self._folders[key]
            raise self.refusal(f"stands for the same place as {shown('/'.join(other))}", name)
        if is_folder:
            self._folder(name, parts)
            self._named_folders.add(key)
        elif key in self._folders:
            raise self.refusal("is a file, and a folder too", name)
        else:
            self._files[key] = parts

    def _folder(self, name: str, parts: Parts) -> None:
        key = _caseless(parts)
        if key in self._files:
            raise self.refusal(f"lies below {shown('/'.join(self._files[key]))}, which is a file", name)
        if self._folders.setdefault(key, parts) != parts:
            raise self.refusal(f"spells the folder {shown('/'.join(self._folders[key]))} in another way", name)


def shown(name: str) -> str:
    """A name for a person's eyes: quoted, what cannot be seen spelled out, not long."""
    return repr(name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}…")


def _fault_of_path(name: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in name):
        return "has a name that is not UTF-8"
    if "\0" in name:
        return "has a NUL in its name"
    if name.startswith("/"):
        return "is an absolute path"
    if "\\" in name:
        return "has a backslash in its name"
    if ":" in name:
        return "has a colon in its name"
    if not name.isprintable():  # control characters, marks that turn the direction, odd spaces
        return "has characters in its name that cannot be seen"
    if len(name.encode()) > _LONGEST_PATH_BYTES:
        return f"has a path of more than {_LONGEST_PATH_BYTES:,} bytes"
    if name.count("/") > _DEEPEST:
        return f"lies more than {_DEEPEST} folders deep"
    return "" if name else "has no name"


def _fault_of_part(part: str) -> str:
    if part == "..":
        return "leads out of its folder by '..'"
    if part in ("", "."):
        return "has an empty or a '.' folder in its path"
    if part[-1] in ". ":
        return "has a dot or a space at the end of a name"
    if part[0] == " ":
        return "has a space at the beginning of a name"
    if len(part.encode()) > _LONGEST_NAME_BYTES:
        return f"has a name of more than {_LONGEST_NAME_BYTES} bytes"
    return ""


def _caseless(parts: Parts) -> Parts:
    """Two paths that some file system takes for one have one of these."""
    return tuple(unicodedata.normalize("NFC", unicodedata.normalize("NFD", part).casefold()) for part in parts)


def _megabytes(count: int) -> str:
    return f"{count // 1_000_000} MB"
