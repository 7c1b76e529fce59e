"""What a call depends on besides its arguments: the program that its command names, and the files it is pointed at.

Looked at three times. When a person is asked, and right before the run: what differs then was not what they agreed to,
and does not run. And after the run: what differs then is written into the audit trail, for between the last look and
the moment in which a tool opens a file there is a gap that we cannot close. A tool is a stranger's code that takes a
path: we can hand it no open file, and a path to a copy would be another argument than the one that was approved (and
a script in another folder would be another script). So the gap is small, nothing is waited for in it, and it shows:
a file that was changed and put back has another time of change (ctime), which cannot be set.

What does not show: a folder or a link on the way to a file that was exchanged and put back, and a file of the box's
own store. Who changed a file does not show either: it may well have been the call itself, at its work.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shlex
import shutil
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from appliance.ports import Json

_LOG = logging.getLogger(__name__)

#: Names of arguments whose value is a command line or begins one.
_COMMAND_NAMES = frozenset(
    (
        *("command", "commands", "command_line", "commandline", "cmd", "cmdline", "exec", "executable"),
        *("program", "binary", "argv", "args", "script", "shell", "bash", "sh", "run"),
    )
)
#: Reading more would keep the person waiting; larger files are known by size, time and place on the disk.
_MOST_BYTES = 64_000_000
_MOST_WORDS = 200
#: The store changes whenever anything is written down, so it says nothing about a call.
_OWN_FILES = ("appliance.db", "appliance.db-wal", "appliance.db-shm", "audit.head")
#: How each part of what ``changes`` says begins.
CHANGES_BEGIN_WITH = "operands "
#: Two changes within one tick of a file system's clock leave the same stamp. The longest tick is that of FAT, which a
#: Pi's boot partition has: two seconds, for the time of modification.
_STAMP_TICK_NS = 2_000_000_000
#: Names in a sentence for the trail, whose fields are short.
_MOST_NAMES = 5

#: Device, inode, size, times of modification and of change; () when it cannot be read.
Stamp = tuple[int, ...]


@dataclass(frozen=True)
class Operands:
    """``executable`` is the resolved program of the first command, "" without one; ``files`` maps paths to digests.

    ``stamps`` maps them to place and times; two files that say the same count as the same whatever their stamps.
    ``looked_at_ns`` is the wall clock's time before the first stamp was taken.
    """

    workdir: str = ""
    executable: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    stamps: Mapping[str, Stamp] = field(default_factory=dict, compare=False, repr=False)
    looked_at_ns: int = field(default=0, compare=False, repr=False)

    def as_json(self) -> dict[str, Json]:
        """For the record."""
        return {"workdir": self.workdir, "executable": self.executable, "files": dict(self.files)}

    def changes(self, later: Operands) -> str:
        """What is different in ``later``, half a sentence for the audit trail; "" when nothing is."""
        paths = sorted({*self.files, *later.files, *filter(None, (self.executable, later.executable))})
        changed = [path for path in paths if self._tells(path) != later._tells(path)]
        touched = [path for path in paths if path not in changed and self.stamps.get(path) != later.stamps.get(path)]
        parts = ("changed during the run", changed), ("touched or put back during the run", touched)
        return "; ".join(f"{CHANGES_BEGIN_WITH}{what}: {_listed(names)}" for what, names in parts if names)

    def _tells(self, path: str) -> tuple[str | None, bool]:
        return self.files.get(path), self.executable == path


class Surveyor:
    """Finds operands. ``home`` and ``workdir`` are where plain arguments may name files; commands may name any."""

    def __init__(self, home: Path, workdir: Path, search_path: str | None = None) -> None:
        self._home = home
        self._workdir = workdir
        self._search_path = search_path

    def survey(self, arguments: Mapping[str, Json], known: Operands | None = None) -> Operands:
        """What these arguments depend on now. Reads files; blocks. Raises nothing for what is not there.

        A file whose stamp is the one that is ``known`` is not read again, unless it had only just been changed then.
        """
        looked_at_ns = time.time_ns()
        commands = list(command_lines(arguments))
        words = [word for line in commands for word in line][:_MOST_WORDS]
        executables = [self._resolve(program_of(line)) for line in commands if line]
        paths = {path for word in words for path in self._paths_of(word)}
        paths |= {path for text in texts_in(arguments) for path in self._paths_of(text) if self._is_ours(path)}
        paths |= {Path(found) for found in executables if found}
        files, stamps = _read((path for path in sorted(paths) if not self._is_store(path)), known or Operands())
        return Operands(str(self._workdir), next(filter(None, executables), ""), files, stamps, looked_at_ns)

    def _resolve(self, program: str) -> str:
        if not program:
            return ""
        try:
            if "/" in program:
                return os.path.realpath(self._workdir / Path(program).expanduser())
            found = shutil.which(program, path=self._search_path)
        except (ValueError, OSError, RuntimeError):
            return ""
        return os.path.realpath(found) if found else ""

    def _paths_of(self, word: str) -> Iterator[Path]:
        """The files that a word may name, also behind an equals sign (``--config=a.toml``)."""
        for part in {word, word.partition("=")[2]}:
            if not part or len(part) > 4096 or "\n" in part:
                continue
            try:
                path = Path(os.path.realpath(self._workdir / Path(part).expanduser()))
                if stat.S_ISREG(path.stat().st_mode):
                    yield path
            except (ValueError, OSError, RuntimeError):
                continue

    def _is_ours(self, path: Path) -> bool:
        return any(path.is_relative_to(os.path.realpath(folder)) for folder in (self._home, self._workdir))

    def _is_store(self, path: Path) -> bool:
        return path.name in _OWN_FILES and path.parent == Path(os.path.realpath(self._home))


def command_lines(arguments: Mapping[str, Json]) -> Iterator[list[str]]:
    """The words of every argument that is named like a command, at any depth."""
    for name, value in arguments.items():
        if name.lower() in _COMMAND_NAMES:
            yield from _lines_of(value)
        else:
            for inner in value if isinstance(value, list) else [value]:
                if isinstance(inner, Mapping):
                    yield from command_lines(inner)


def texts_in(value: Json) -> Iterator[str]:
    """Every text in a JSON value, keys of objects too: a tool may take those for names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield key
            yield from texts_in(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from texts_in(entry)


def program_of(words: list[str]) -> str:
    """The program that a command line starts, behind settings of its environment; "" when there is none."""
    return next((word for word in words if not word.partition("=")[0].isidentifier() or "=" not in word), "")


def _lines_of(value: Json) -> Iterator[list[str]]:
    """A text is a command line; a list of texts is one already in words; anything else is looked into."""
    if isinstance(value, str):
        try:
            yield shlex.split(value)
        except ValueError:
            yield value.split()
    elif isinstance(value, list):
        if all(isinstance(entry, str) for entry in value):
            yield list(value)
        else:
            for entry in value:
                yield from _lines_of(entry)
    elif isinstance(value, Mapping):
        yield from command_lines(value)


def _read(paths: Iterable[Path], known: Operands) -> tuple[dict[str, str], dict[str, Stamp]]:
    """Digests and stamps; of all together only so many bytes are read."""
    budget = _MOST_BYTES
    digests: dict[str, str] = {}
    stamps: dict[str, Stamp] = {}
    for path in map(str, paths):
        stamp = stamps[path] = _stamp(path)
        if stamp and stamp == known.stamps.get(path) and _tells_every_change(stamp, known.looked_at_ns):
            digests[path] = known.files[path]
            continue
        try:
            digests[path], read = _digest(path, budget)
        except OSError as error:
            digests[path], read = f"unreadable: {error.strerror}", 0
        budget -= read
    for path, stamp in stamps.items():
        # What was read first has had the most time to change.
        if (now := _stamp(path)) != stamp:
            digests[path] = f"changed while it was read: {now}"
    return digests, stamps


def _stamp(path: str) -> Stamp:
    try:
        facts = Path(path).stat()
    except OSError:
        return ()
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def _tells_every_change(stamp: Stamp, looked_at_ns: int) -> bool:
    """Whether a change after this look must have left another stamp."""
    return max(stamp[-2:]) + _STAMP_TICK_NS <= looked_at_ns


def _digest(path: str, budget: int) -> tuple[str, int]:
    """What is in a file, read from one open descriptor, and how many bytes that took."""
    # Without O_NONBLOCK a pipe that was put in the file's place would hold us up for ever.
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as stream:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            return "no file", 0
        if facts.st_size > budget:
            return f"size {facts.st_size}, time {facts.st_mtime_ns}, inode {facts.st_ino}", 0
        return f"sha256 {hashlib.file_digest(stream, 'sha256').hexdigest()}", facts.st_size


def _listed(paths: list[str]) -> str:
    more = len(paths) - _MOST_NAMES
    return ", ".join(paths[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
