"""A disk whose power can be cut: what is written to it is recorded, and any state that a cut may leave is rebuilt.

The recorder hears of Python's own steps on files through its audit events, of flushes through those of
``appliance.durable``, and of SQLite's steps through a file layer (``crash_sqlite.py``).

A cut keeps what was flushed. Of the rest anything may be there: each 512-byte sector or none of it, zeros in its
place, half of it; each name that was created, renamed or removed since its folder was flushed, or the one before.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import RLock
from typing import Any

from appliance.durable import FLUSHED

SECTOR = 512


@dataclass(frozen=True)
class Step:
    """One thing that happened to the disk; names are relative to the recorded folder.

    Kinds: create, folder, write, truncate, sync, sync folder, open folder, rename, rename folder, link, unlink,
    acknowledged.
    """

    kind: str
    name: str = ""
    inode: int = 0
    other: str = ""
    offset: int = 0
    data: bytes = b""
    is_exclusive: bool = False


class RecordedDisk:
    """Records what happens below ``root``, which begins empty."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.steps: list[Step] = []
        self._names: dict[str, int] = {}
        self._folders: set[str] = set()
        self._inodes = 0
        #: Files that Python has open for writing: inode -> name and what is known to be in it.
        self._watched: dict[int, tuple[str, bytes]] = {}
        self._lock = RLock()
        self._is_busy = False

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record while the block runs."""
        _active.append(self)
        try:
            yield
        finally:
            self._collect()
            _active.remove(self)

    def acknowledge(self) -> None:
        """What was done so far was promised to last."""
        self._collect()
        self.add(Step("acknowledged"))

    def add(self, step: Step) -> None:
        """Something happened."""
        with self._lock:
            self.steps.append(step)

    def name_of(self, path: str | Path) -> str | None:
        """A path as a name on this disk; None when it is elsewhere."""
        full = Path(os.path.normpath(Path(path).absolute()))
        return str(full.relative_to(self.root)) if full.is_relative_to(self.root) and full != self.root else None

    def inode_of(self, name: str) -> int:
        """The file under that name; one that is not known yet is created."""
        if name not in self._names:
            self._inodes += 1
            self._names[name] = self._inodes
            self.add(Step("create", name, self._inodes))
        return self._names[name]

    def is_told_by_another(self, name: str) -> None:
        """What is written to this file is added by somebody else, not by Python."""
        self._watched.pop(self.inode_of(name), None)

    def renamed(self, name: str, other: str) -> None:
        """A file has another name now."""
        inode = self._names.pop(name)
        self._names[other] = inode
        self._watched.pop(inode, None)
        self.add(Step("rename", name, inode, other))

    def folder_renamed(self, name: str, other: str) -> None:
        """A folder, with everything in it, has another name now."""
        self._names = {_moved(known, name, other): inode for known, inode in self._names.items()}
        self._folders = {_moved(known, name, other) for known in self._folders}
        self._watched = {inode: (_moved(known, name, other), data) for inode, (known, data) in self._watched.items()}
        self.add(Step("rename folder", name, 0, other))

    def unlinked(self, name: str) -> None:
        """A name is gone."""
        inode = self._names.pop(name, 0)
        self._watched.pop(inode, None)
        self.add(Step("unlink", name, inode))

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """One audit event, which comes before its step."""
        with self._lock:
            if self._is_busy or event not in _HEARD:
                return
            self._is_busy = True
            try:
                self._collect()
                self._hear(event, arguments)
            finally:
                self._is_busy = False

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        path: str | None = None
        if event == FLUSHED:
            path = str(Path(f"/proc/self/fd/{arguments[0]}").readlink())
        elif isinstance(arguments[0], str | bytes | os.PathLike):
            path = os.fsdecode(arguments[0])
        if path is None or (not Path(path).absolute().is_relative_to(self.root)):
            return
        name = self.name_of(path) or "."
        if event == FLUSHED:
            self._meet(name, Path(path))
        match event:
            case "open":
                self._opened(name, arguments[2])
            case "appliance.flushed" if Path(path).is_dir():
                self.add(Step("sync folder", name))
            case "appliance.flushed":
                self.add(Step("sync", name, self.inode_of(name)))
            case "os.mkdir" if not Path(path).exists():
                self._folders.add(name)
                self._names = {known: inode for known, inode in self._names.items() if not known.startswith(f"{name}/")}
                self.add(Step("folder", name, is_exclusive=True))
            case "os.rename" if Path(path).is_dir():
                self.folder_renamed(name, self.name_of(os.fsdecode(arguments[1])) or "")
            case "os.rename" if name in self._names:
                self.renamed(name, self.name_of(os.fsdecode(arguments[1])) or "")
            # The event comes before the step, which fails when there is no such file.
            case "os.link" if name in self._names:
                other = self.name_of(os.fsdecode(arguments[1])) or ""
                self._names[other] = self._names[name]
                self.add(Step("link", name, self._names[other], other))
            case "os.remove" if name in self._names:
                self.unlinked(name)

    def _meet(self, name: str, path: Path) -> None:
        """What was made by a way that tells no whole name (relative to an open folder) is heard of when flushed."""
        if path.is_dir():
            if name != "." and name not in self._folders:
                self._folders.add(name)
                self.add(Step("folder", name))
        elif name not in self._names:
            self._watched[self.inode_of(name)] = (name, b"")
            self._collect()

    def _opened(self, name: str, flags: int) -> None:
        if flags & os.O_DIRECTORY:
            self.add(Step("open folder", name))
        elif flags & (os.O_WRONLY | os.O_RDWR):
            if name not in self._names and flags & os.O_CREAT:
                self._inodes += 1
                self._names[name] = self._inodes
                self.add(Step("create", name, self._inodes, is_exclusive=bool(flags & os.O_EXCL)))
            self._watched.setdefault(self.inode_of(name), (name, b""))

    def _collect(self) -> None:
        """Take in what Python has written since the last event."""
        for inode, (name, known) in [*self._watched.items()]:
            was_busy, self._is_busy = self._is_busy, True
            try:
                now = (self.root / name).read_bytes()
            except FileNotFoundError:
                continue
            finally:
                self._is_busy = was_busy
            if now != known:
                if len(now) < len(known):
                    self.add(Step("truncate", name, inode, offset=len(now)))
                self.add(Step("write", name, inode, data=now))
                self._watched[inode] = (name, now)


_HEARD = frozenset(("open", "os.mkdir", "os.rename", "os.link", "os.remove", FLUSHED))
_active: list[RecordedDisk] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    # A hook stays until the process ends: this one does nothing while nobody records.
    for disk in _active:
        disk.hear(event, arguments)


sys.addaudithook(_hook)


@dataclass
class Disk:
    """What is on the disk for certain, and what may be, at one moment of a recording."""

    names: dict[str, int] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    contents: dict[int, bytes] = field(default_factory=dict)
    waiting_names: list[Step] = field(default_factory=list)
    waiting_bytes: dict[int, list[Step]] = field(default_factory=dict)
    acknowledged: int = 0

    def take(self, step: Step) -> None:
        """Go on by one step."""
        match step.kind:
            case "write" | "truncate":
                self.waiting_bytes.setdefault(step.inode, []).append(step)
            case "sync":
                self.contents[step.inode] = self._all_of(step.inode)
                self.waiting_bytes.pop(step.inode, None)
            case "sync folder":
                for waiting in [entry for entry in self.waiting_names if _folder_of(entry) == step.name]:
                    _rename(self.names, self.folders, waiting)
                    self.waiting_names.remove(waiting)
            case "acknowledged":
                self.acknowledged += 1
            case "open folder":
                pass
            case _:
                if step.kind == "folder" and step.is_exclusive:
                    self._empty(step.name)
                if step.kind == "rename folder":
                    # What waits inside goes with it: it belongs to the folder, whatever that is called.
                    self.waiting_names = [_taken_along(entry, step) for entry in self.waiting_names]
                self.waiting_names.append(step)

    def _empty(self, folder: str) -> None:
        """A fresh folder is empty; one of that name may have been removed by ways that tell no whole names."""
        inside = f"{folder}/"
        self.names = {name: inode for name, inode in self.names.items() if not name.startswith(inside)}
        self.waiting_names = [entry for entry in self.waiting_names if not entry.name.startswith(inside)]

    def after_a_cut(self, dice: random.Random) -> dict[str, bytes]:
        """A state that a cut at this moment may leave: names with their bytes."""
        names, folders = dict(self.names), set(self.folders)
        share = dice.choice((0.0, 0.5, 0.5, 1.0))
        for step in self.waiting_names:
            if dice.random() < share or share == 1.0:
                _rename(names, folders, step)
        there = {name: inode for name, inode in names.items() if _is_reached(name, folders)}
        return {name: self._content(inode, dice) for name, inode in there.items()}

    def _content(self, inode: int, dice: random.Random) -> bytes:
        old, steps = self.contents.get(inode, b""), self.waiting_bytes.get(inode, [])
        if not steps:
            return old
        new = self._all_of(inode)
        match dice.choice(("lost", "whole", "sectors", "sectors", "zeros", "half")):
            case "lost":
                return old
            case "whole":
                return new
            case "zeros":
                return old[: len(new)] + bytes(max(0, len(new) - len(old)))
            case "half":
                return new[: dice.randint(min(len(old), len(new)), len(new))]
            case _:
                return _written(old, [piece for step in steps for piece in _sectors(step) if dice.random() < 0.5])

    def _all_of(self, inode: int) -> bytes:
        return _written(self.contents.get(inode, b""), self.waiting_bytes.get(inode, []))


def cuts(steps: list[Step], moments: list[int]) -> Iterator[Disk]:
    """The disk at each of the moments, a sorted list of numbers of steps taken."""
    disk, taken = Disk(), 0
    for moment in moments:
        for step in steps[taken:moment]:
            disk.take(step)
        taken = moment
        yield disk


@contextmanager
def fast_folder() -> Iterator[Path]:
    """A folder for many small files, in RAM where there is some; it goes with the block."""
    ram = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=ram if ram.is_dir() else None) as folder:
        yield Path(folder).resolve()


def lay_out(files: dict[str, bytes], folder: Path) -> None:
    """Put a state into a folder, which begins empty."""
    for name, data in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.write_bytes(data)


def _rename(names: dict[str, int], folders: set[str], step: Step) -> None:
    match step.kind:
        case "create":
            names[step.name] = step.inode
        case "folder":
            folders.add(step.name)
        case "unlink":
            names.pop(step.name, None)
        case "link":
            names[step.other] = step.inode
        case "rename folder":
            for known, inode in [*names.items()]:
                del names[known]
                names[_moved(known, step.name, step.other)] = inode
            moved = {_moved(known, step.name, step.other) for known in folders}
            folders.clear()
            folders.update(moved)
        case "rename":
            if names.get(step.name) == step.inode:
                del names[step.name]
            names[step.other] = step.inode


def _moved(name: str, old: str, new: str) -> str:
    """A name after a folder was renamed."""
    return new + name.removeprefix(old) if name == old or name.startswith(f"{old}/") else name


def _taken_along(entry: Step, moved: Step) -> Step:
    """A step inside a folder after that was renamed; the folder itself is a name in the folder above."""
    if not entry.name.startswith(f"{moved.name}/"):
        return entry
    other = _moved(entry.other, moved.name, moved.other)
    return replace(entry, name=_moved(entry.name, moved.name, moved.other), other=other)


def _folder_of(step: Step) -> str:
    return str(Path(step.other or step.name).parent)


def _is_reached(name: str, folders: set[str]) -> bool:
    return all(str(above) in folders for above in Path(name).parents if str(above) != ".")


def _sectors(step: Step) -> Iterator[Step]:
    """A write in pieces that end where sectors do."""
    if step.kind == "truncate":
        yield step
        return
    place, end = step.offset, step.offset + len(step.data)
    while place < end:
        until = min(end, (place // SECTOR + 1) * SECTOR)
        yield Step(
            "write", step.name, step.inode, offset=place, data=step.data[place - step.offset : until - step.offset]
        )
        place = until


def _written(old: bytes, steps: list[Step]) -> bytes:
    data = bytearray(old)
    for step in steps:
        if step.kind == "truncate":
            del data[step.offset :]
            continue
        if len(data) < step.offset:
            data.extend(bytes(step.offset - len(data)))
        data[step.offset : step.offset + len(step.data)] = step.data
    return bytes(data)
