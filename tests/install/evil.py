"""Archives that nobody should unpack, each wrong in one way, and the half sentence that says which."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from appliance.install.archive_rules import MOST_FILE_BYTES, MOST_MEMBERS

TOOL = b'SCHEMA = {"name": "roll"}\n\n\nasync def execute(args, ctx):\n    return "4"\n'
#: Writes an archive.
Maker = Callable[[Path], None]

NAMES: Mapping[str, tuple[str, str]] = {
    "absolute": ("/tmp/up.py", "is an absolute path"),
    "only-slashes": ("//up.py", "is an absolute path"),
    "up": ("../up.py", "leads out of its folder"),
    "up-in-the-middle": ("a/../../up.py", "leads out of its folder"),
    "up-at-the-end": ("a/..", "leads out of its folder"),
    "up-inside": ("a/../b.py", "leads out of its folder"),
    "dot-in-the-middle": ("a/./b.py", "'.' folder"),
    "empty-part": ("a//b.py", "an empty"),
    "backslash": ("a\\..\\c.py", "has a backslash"),
    "drive": ("C:\\w.py", "has a backslash"),
    "colon": ("C:w.py", "has a colon"),
    "stream": ("a.py:hidden", "has a colon"),
    "odd-space": ("a\u00a0b.py", "cannot be seen"),
    "newline": ("a\nb.py", "cannot be seen"),
    "escape": ("a\x1b[2Kb.py", "cannot be seen"),
    "delete": ("a\x7f.py", "cannot be seen"),
    "right-to-left": ("a\u202eyp.b", "cannot be seen"),
    "isolate": ("a\u2066b.py", "cannot be seen"),
    "zero-width": ("a\u200bb.py", "cannot be seen"),
    "line-separator": ("a\u2028b.py", "cannot be seen"),
    "dot-at-the-end": ("a./b.py", "a dot or a space at the end"),
    "space-at-the-end": ("b.py ", "a dot or a space at the end"),
    "space-in-front": (" b.py", "a space at the beginning"),
    "long-name": ("n" * 256, "a name of more than 255 bytes"),
    "long-path": ("/".join(["n" * 200] * 6), "a path of more than 1,000 bytes"),
    "deep": ("/".join(["d"] * 40), "folders deep"),
}

TWICE: Mapping[str, tuple[str, str, str]] = {
    "same-name": ("a.py", "a.py", "stands for the same place"),
    "other-case": ("a.py", "A.PY", "stands for the same place"),
    "sharp-s": ("ß.py", "ss.py", "stands for the same place"),
    "composed": ("\u00e9.py", "e\u0301.py", "stands for the same place"),
    "folder-in-other-case": ("a/b.py", "A/c.py", "in another way"),
    "file-under-a-file": ("a", "a/b.py", "which is a file"),
    "file-over-a-folder": ("a/b.py", "a", "is a file, and a folder too"),
}

KINDS: Mapping[str, tuple[int, bytes, str]] = {
    "link": (stat.S_IFLNK | 0o777, tarfile.SYMTYPE, "is a link"),
    "pipe": (stat.S_IFIFO | 0o644, tarfile.FIFOTYPE, "is a pipe"),
    "character-device": (stat.S_IFCHR | 0o644, tarfile.CHRTYPE, "is a device"),
    "block-device": (stat.S_IFBLK | 0o644, tarfile.BLKTYPE, "is a device"),
}


def zips() -> dict[str, tuple[Maker, str]]:
    """Every zip by what is wrong with it."""
    found = {case: (_zip({name: b"x"}), words) for case, (name, words) in NAMES.items()}
    found |= {case: (_zip([(one, b"x"), (two, b"y")]), words) for case, (one, two, words) in TWICE.items()}
    found |= {case: (_zip({"a.py": b"/etc/passwd"}, mode), words) for case, (mode, _kind, words) in KINDS.items()}
    found["socket"] = (_zip({"a.py": b""}, stat.S_IFSOCK | 0o644), "is a socket")
    found["set-uid"] = (_zip({"a.py": b"x"}, stat.S_IFREG | 0o4755), "rights of somebody else")
    found["set-gid"] = (_zip({"a.py": b"x"}, stat.S_IFREG | 0o2755), "rights of somebody else")
    found["folder-that-is-a-file"] = (_zip({"a/": b""}, stat.S_IFREG | 0o644), "is a file, and a folder too")
    found["folder-with-content"] = (_zip({"a/": b"x"}, stat.S_IFDIR | 0o755), "is a file, and a folder too")
    found["nul"] = (_patched({"a_b.py": b"x"}, b"a_b.py", b"a\0b.py"), "has a NUL")
    found["latin-1"] = (_patched({"a_b.py": b"x"}, b"a_b.py", b"a\xe9b.py"), "not UTF-8")
    found["two-names"] = (_patched({"aaa.py": b"x"}, b"aaa.py", b"bbb.py", count=1), "is damaged")
    found["encrypted"] = (_with_flags(0x1), "is encrypted")
    found["odd-packing"] = (_zip({"a.py": b"x" * 100}, packing=zipfile.ZIP_LZMA), "packed in a way")
    found["bomb"] = (_zip({"a.txt": bytes(9_000_000)}), "grows more than 100 times")
    found["large"] = (_zip({"a.txt": bytes(MOST_FILE_BYTES + 1)}), "is larger than 10 MB")
    found["many"] = (_zip({f"{number}.txt": b"" for number in range(MOST_MEMBERS + 1)}), "more than 2,000")
    found["lying-short"] = (_lying(5), "is damaged")
    found["lying-long"] = (_lying(50_000), "shorter than was announced")
    found["wrong-sum"] = (_patched({"a.txt": b"hello"}, b"hello", b"hallo"), "is damaged")
    found["prefixed"] = (_around(b"#!/bin/sh\n", b""), "neither a zip")
    found["two-in-one"] = (_two_zips, "a second archive")
    found["tail"] = (_around(b"", b"more"), "a second archive")
    found["cut"] = (_cut, "is damaged")
    return found


def tars() -> dict[str, tuple[Maker, str]]:
    """Every tar by what is wrong with it."""
    found = {case: (_tar([(name, b"x")]), words) for case, (name, words) in NAMES.items()}
    found |= {case: (_tar([(one, b"x"), (two, b"y")]), words) for case, (one, two, words) in TWICE.items()}
    found |= {case: (_tar([("a.py", b"")], kind), words) for case, (_mode, kind, words) in KINDS.items()}
    found["hard-link"] = (_tar([("a.py", b"")], tarfile.LNKTYPE), "is a link")
    found["sparse"] = (_tar([("a.py", b"")], tarfile.GNUTYPE_SPARSE), "is")
    found["unknown-kind"] = (_tar([("a.py", b"")], b"V"), "is no usual file")
    found["set-uid"] = (_tar([("a.py", b"x")], mode=0o4755), "rights of somebody else")
    found["nul"] = (_tar([("a.py", b"x")], headers={"path": "a\0b.py"}), "has a NUL")
    found["latin-1"] = (_tar([("a\udce9b.py", b"x")]), "not UTF-8")
    found["large"] = (_tar([("a.txt", bytes(MOST_FILE_BYTES + 1))]), "is larger than 10 MB")
    found["many"] = (_tar([(f"{number}.txt", b"") for number in range(MOST_MEMBERS + 1)]), "more than 2,000")
    found["bomb"] = (_packed([("a.txt", bytes(9_000_000))], gzip.compress), "grows more than 100 times")
    found["bomb-of-xz"] = (_packed([("a.txt", bytes(9_000_000))], lzma.compress), "grows more than 100 times")
    found["bomb-behind-the-end"] = (_hidden_bomb, "more than 50 MB")
    found["bomb-in-a-header"] = (_header_bomb, "more than 50 MB")
    found["endless-headers"] = (_header_chain, "is damaged")
    found["hungry-xz"] = (_hungry_xz, "is damaged")
    found["cut"] = (_cut_tar, "is damaged")
    found["spoilt-bz2"] = (_spoilt_bz2, "is damaged")
    found["wrong-sum"] = (_wrong_sum, "is damaged")
    return found


# ---------------------------------------------------------------------------------------------------------- makers


def _zip(
    members: Mapping[str, bytes] | list[tuple[str, bytes]],
    mode: int = stat.S_IFREG | 0o644,
    packing: int = zipfile.ZIP_DEFLATED,
) -> Maker:
    entries = list(members.items()) if isinstance(members, Mapping) else members

    def make(file: Path) -> None:
        with zipfile.ZipFile(file, "w", packing) as archive:
            archive.writestr("first.py", TOOL)
            for name, content in entries:
                info = zipfile.ZipInfo("x")
                info.filename, info.compress_type, info.external_attr = name, packing, mode << 16
                if archive.NameToInfo.get(name) is not None:
                    del archive.NameToInfo[name]  # it only warns
                archive.writestr(info, content)

    return make


def _patched(members: Mapping[str, bytes], old: bytes, new: bytes, count: int = -1) -> Maker:
    def make(file: Path) -> None:
        _zip(members, packing=zipfile.ZIP_STORED)(file)
        file.write_bytes(file.read_bytes().replace(old, new, count))

    return make


def _with_flags(flags: int) -> Maker:
    def make(file: Path) -> None:
        _zip({})(file)
        whole = bytearray(file.read_bytes())
        for start, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            at = whole.index(start) + offset
            whole[at : at + 2] = struct.pack("<H", flags)
        file.write_bytes(whole)

    return make


def _lying(announced: int) -> Maker:
    """A member that unpacks to 1,000 bytes and says otherwise, in both places."""

    def make(file: Path) -> None:
        content = bytes(range(250)) * 4
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.txt", content)
        whole = bytearray(file.read_bytes())
        for start, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
            at = whole.index(start) + offset
            whole[at : at + 4] = struct.pack("<I", announced)
        file.write_bytes(whole)

    return make


def _around(before: bytes, behind: bytes) -> Maker:
    def make(file: Path) -> None:
        _zip({})(file)
        file.write_bytes(before + file.read_bytes() + behind)

    return make


def _two_zips(file: Path) -> None:
    _zip({"a.py": b"one"})(file)
    first = file.read_bytes()
    _zip({"b.py": b"two"})(file)
    file.write_bytes(first + file.read_bytes())


def _cut(file: Path) -> None:
    _zip({"a.py": b"x"})(file)
    file.write_bytes(file.read_bytes()[:-30])


def _tar_bytes(
    members: list[tuple[str, bytes]],
    kind: bytes = tarfile.REGTYPE,
    mode: int = 0o644,
    headers: Mapping[str, str] | None = None,
) -> bytes:
    whole = io.BytesIO()
    layout = tarfile.PAX_FORMAT if headers else tarfile.GNU_FORMAT
    with tarfile.open(fileobj=whole, mode="w", format=layout, encoding="utf-8", errors="surrogateescape") as archive:
        first = tarfile.TarInfo("first.py")
        first.size = len(TOOL)
        archive.addfile(first, io.BytesIO(TOOL))
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.type, info.mode, info.size, info.linkname = kind, mode, len(content), "/etc/passwd"
            info.pax_headers = dict(headers or {})
            archive.addfile(info, io.BytesIO(content))
    return whole.getvalue()


def _tar(
    members: list[tuple[str, bytes]],
    kind: bytes = tarfile.REGTYPE,
    mode: int = 0o644,
    headers: Mapping[str, str] | None = None,
) -> Maker:
    return lambda file: _write(file, _tar_bytes(members, kind, mode, headers))


def _packed(members: list[tuple[str, bytes]], pack: Callable[[bytes], bytes]) -> Maker:
    return lambda file: _write(file, pack(_tar_bytes(members)))


def _hidden_bomb(file: Path) -> None:
    """Where the list of members ends, hundreds of megabytes of nothing begin."""
    _write(file, gzip.compress(_tar_bytes([])) + gzip.compress(bytes(70_000_000), 1))


def _header_bomb(file: Path) -> None:
    """A note about the next member that is larger than everything that may come."""
    note = tarfile.TarInfo("note")
    note.type, note.size = tarfile.XHDTYPE, 70_000_000
    _write(file, gzip.compress(_tar_bytes([])[:1_024] + note.tobuf() + bytes(note.size), 1))


def _header_chain(file: Path) -> None:
    """Notes about notes about notes."""
    note = tarfile.TarInfo("note")
    note.type = tarfile.XHDTYPE
    _write(file, note.tobuf() * 5_000 + _tar_bytes([]))


def _hungry_xz(file: Path) -> None:
    """Unpacking it takes 200 MB of memory, whatever is in it."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 200_000_000}]
    _write(file, lzma.compress(_tar_bytes([]), filters=filters))


def _cut_tar(file: Path) -> None:
    whole = gzip.compress(_tar_bytes([("a.txt", bytes(range(256)) * 50)]))
    _write(file, whole[: len(whole) // 2])


def _wrong_sum(file: Path) -> None:
    whole = bytearray(gzip.compress(_tar_bytes([])))
    whole[-6] ^= 0xFF
    _write(file, bytes(whole))


def _spoilt_bz2(file: Path) -> None:
    whole = bytearray(bz2.compress(_tar_bytes([])))
    whole[40:44] = b"oops"
    _write(file, bytes(whole))


def _write(file: Path, content: bytes) -> None:
    file.write_bytes(content)
