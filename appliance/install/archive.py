"""Unpacks a zip or a tar into a fresh folder, member by member, under ``Rules``; a reader of its own, no extractall."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, cast

from appliance.install.archive_rules import MOST_MEMBERS, MOST_TOTAL_BYTES, Parts, Rules
from appliance.install.leftovers import is_left_out
from appliance.install.stage_files import make_folder, write_file

_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
#: Where a tar without packing says what it is.
_TAR_MAGIC = slice(257, 262)
#: A zip's list of members ends with this; a comment of at most 64 KiB may follow.
_END_OF_LIST = b"PK\x05\x06"
_END_BYTES, _LONGEST_COMMENT_BYTES = 22, 65_535
_BIG_ZIP = b"PK\x06\x07"
_BIG_ZIP_BYTES = 20
#: The list of the most members that are taken, each with a long name: what is larger is not even read.
_LONGEST_LIST_BYTES = MOST_MEMBERS * 1_200
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_UTF8_NAME = 0x800
#: A tar around the most that is taken: a head, padding and long names for every member.
_MOST_TAR_BYTES = MOST_TOTAL_BYTES + MOST_MEMBERS * 4_096
#: xz asks for as much memory as its maker liked; the largest usual preset takes 65 MiB.
_MOST_XZ_MEMORY_BYTES = 80 * 1_024 * 1_024

#: What a broken archive raises, from any of the readers.
_DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError)


def is_archive(file: Path) -> bool:
    """Whether its first bytes are those of something that ``unpack`` reads. Raises ``OSError``."""
    with file.open("rb") as opened:
        return _reader_for(opened.read(512)) is not None


def unpack(file: Path, into: Path, source: str) -> None:
    """Write the members of ``file`` into ``into``, which must be there and empty; ``source`` begins every refusal.

    Files get 0644, folders 0755. Raises ``RefusedError``, and may then have written some of them; ``OSError``.
    """
    rules = Rules(source)
    with file.open("rb") as opened:
        if os.fstat(opened.fileno()).st_size > MOST_TOTAL_BYTES:
            raise rules.refusal(f"is larger than {MOST_TOTAL_BYTES // 1_000_000} MB")
        reader = _reader_for(opened.read(512))
        opened.seek(0)
        if reader is None:
            raise rules.refusal("is neither a zip nor a tar")
        try:
            reader(opened, into, rules)
        except _DAMAGE as error:
            raise rules.refusal(f"is damaged ({_words(error)})") from error
        except OSError as error:
            if error.errno is not None:
                raise  # the disk's, not the archive's
            raise rules.refusal(f"is damaged ({_words(error)})") from error


_Reader = Callable[[BinaryIO, Path, Rules], None]


def _reader_for(start: bytes) -> _Reader | None:
    if start.startswith(_ZIP_STARTS):
        return _unpack_zip
    if start.startswith(b"\x1f\x8b"):
        return lambda file, into, rules: _unpack_tar(file, cast(BinaryIO, gzip.GzipFile(fileobj=file)), into, rules)
    if start.startswith(b"BZh"):
        return lambda file, into, rules: _unpack_tar(file, cast(BinaryIO, bz2.BZ2File(file)), into, rules)
    if start.startswith(b"\xfd7zXZ\x00"):
        return lambda file, into, rules: _unpack_tar(file, cast(BinaryIO, _Xz(file)), into, rules)
    if start[_TAR_MAGIC] == b"ustar":
        return lambda file, into, rules: _unpack_tar(file, file, into, rules)
    return None


# ----------------------------------------------------------------------------------------------------------- zip


def _unpack_zip(file: BinaryIO, into: Path, rules: Rules) -> None:
    _check_list(file, rules)
    with zipfile.ZipFile(file) as archive:
        # All of them before the first is written: most of what is wrong shows here.
        members = [(_zip_member(info, rules), info) for info in archive.infolist()]
        for parts, info in members:
            if is_left_out(parts):
                continue
            if info.filename.endswith("/"):
                make_folder(into, parts)
                continue
            with archive.open(info) as stream:
                name = info.orig_filename
                write_file(into, parts, rules.pieces(cast(BinaryIO, stream), name, info.file_size))


def _check_list(file: BinaryIO, rules: Rules) -> None:
    """Whether the list of members is where it belongs and of a size that may be read.

    Programs differ in where they look for it, so a zip may show two faces: one that has anything before its first
    member, behind its end, or in the form for giants, is refused.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END_BYTES - _LONGEST_COMMENT_BYTES - _BIG_ZIP_BYTES))
    tail = file.read()
    file.seek(0)
    at = tail.rfind(_END_OF_LIST)
    end = tail[at : at + _END_BYTES] if at >= 0 else b""
    if len(end) < _END_BYTES:
        raise rules.refusal("is damaged (it has no list of its members)")
    list_bytes, list_at, comment_bytes = (
        int.from_bytes(end[start:stop], "little") for start, stop in ((12, 16), (16, 20), (20, 22))
    )
    if tail[max(0, at - _BIG_ZIP_BYTES) :].startswith(_BIG_ZIP):
        raise rules.refusal("is a zip in the form for more than 4 GB")
    place = size - len(tail) + at
    if list_at + list_bytes != place or at + _END_BYTES + comment_bytes != len(tail):
        raise rules.refusal("has bytes before its beginning or behind its end, which could be a second archive")
    if list_bytes > _LONGEST_LIST_BYTES:
        raise rules.refusal(f"holds more than {MOST_MEMBERS:,} files and folders")


def _zip_member(info: zipfile.ZipInfo, rules: Rules) -> Parts:
    name = info.orig_filename
    is_folder = name.endswith("/")
    if not info.flag_bits & _UTF8_NAME and not name.isascii():
        raise rules.refusal("has a name that is not UTF-8", name)
    parts = rules.member(name, info.file_size, is_folder=is_folder)
    if info.filename != name:
        raise rules.refusal(f"has a second name, {info.filename!r}", name)
    mode = info.external_attr >> 16
    rules.check_mode(mode, name)
    if stat.S_IFMT(mode) not in (0, stat.S_IFDIR if is_folder else stat.S_IFREG) or (is_folder and info.file_size):
        raise rules.refusal("is a file, and a folder too", name)
    if info.flag_bits & _ENCRYPTED:
        raise rules.refusal("is encrypted", name)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise rules.refusal("is packed in a way that not every program can read", name)
    rules.check_ratio(info.file_size, info.compress_size, name)
    return parts


# ----------------------------------------------------------------------------------------------------------- tar


def _unpack_tar(file: BinaryIO, unpacked: BinaryIO, into: Path, rules: Rules) -> None:
    packed_bytes = os.fstat(file.fileno()).st_size
    stream = _Bounded(unpacked, rules)
    taken_bytes = 0
    with tarfile.open(fileobj=cast(BinaryIO, stream), mode="r|", encoding="utf-8", errors="surrogateescape") as archive:
        while (member := archive.next()) is not None:
            parts = _tar_member(member, rules)
            taken_bytes += member.size
            if unpacked is not file:
                rules.check_ratio(taken_bytes, packed_bytes)
            content = archive.extractfile(member) if member.isreg() else None
            if content is not None and not is_left_out(parts):
                write_file(into, parts, rules.pieces(cast(BinaryIO, content), member.name, member.size))
            elif content is None and not is_left_out(parts):
                make_folder(into, parts)
    while stream.read(65_536):
        pass  # the check sum of the packing comes last


def _tar_member(member: tarfile.TarInfo, rules: Rules) -> Parts:
    name = member.name
    kind = next((words for is_kind, words in _TAR_KINDS if is_kind(member)), "")
    if member.size < 0:
        raise rules.refusal("is damaged (a member has less than no bytes)")
    # Its name first: what is odd in it shall not be printed as something else.
    parts = rules.member(name, member.size, is_folder=member.isdir())
    if kind or not (member.isreg() or member.isdir()) or member.issparse():
        raise rules.refusal(f"is {kind or 'no usual file'}", name)
    rules.check_mode((stat.S_IFDIR if member.isdir() else stat.S_IFREG) | member.mode & 0o7777, name)
    return parts


_TAR_KINDS: tuple[tuple[Callable[[tarfile.TarInfo], bool], str], ...] = (
    (tarfile.TarInfo.issym, "a link"),
    (tarfile.TarInfo.islnk, "a link"),
    (tarfile.TarInfo.isfifo, "a pipe"),
    (tarfile.TarInfo.isdev, "a device"),
)


class _Bounded:
    """What is unpacked, up to what a tar of the allowed size can be."""

    def __init__(self, stream: BinaryIO, rules: Rules) -> None:
        self._stream = stream
        self._rules = rules
        self._remaining = _MOST_TAR_BYTES

    def read(self, size: int) -> bytes:
        piece = self._stream.read(size)
        self._remaining -= len(piece)
        if self._remaining < 0:
            raise self._rules.refusal(f"holds more than {MOST_TOTAL_BYTES // 1_000_000} MB")
        return piece


class _Xz:
    """An xz stream whose maker cannot ask for all memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._unpacker = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_MOST_XZ_MEMORY_BYTES)

    def read(self, size: int) -> bytes:
        while not self._unpacker.eof:
            packed = self._file.read(65_536) if self._unpacker.needs_input else b""
            if self._unpacker.needs_input and not packed:
                raise EOFError("it ends too early")
            piece = self._unpacker.decompress(packed, size)
            if piece:
                return piece
        return b""


def _words(error: BaseException) -> str:
    text = "".join(character for character in str(error) if character.isprintable())
    return text[:200] or type(error).__name__
