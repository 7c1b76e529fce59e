"""What a call depends on besides its arguments: the program that its command names, and the files it is pointed at.

Looked at twice, when a person is asked and right before the run: what differs then was not what they agreed to.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shlex
import shutil
import stat
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


@dataclass(frozen=True)
class Operands:
    """``executable`` is the resolved program of the first command, "" without one; ``files`` maps paths to digests."""

    workdir: str = ""
    executable: str = ""
    files: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Json]:
        """For the record."""
        return {"workdir": self.workdir, "executable": self.executable, "files": dict(self.files)}


class Surveyor:
    """Finds operands. ``home`` and ``workdir`` are where plain arguments may name files; commands may name any."""

    def __init__(self, home: Path, workdir: Path, search_path: str | None = None) -> None:
        self._home = home
        self._workdir = workdir
        self._search_path = search_path

    def survey(self, arguments: Mapping[str, Json]) -> Operands:
        """What these arguments depend on now. Reads files; blocks. Raises nothing for what is not there."""
        commands = list(command_lines(arguments))
        words = [word for line in commands for word in line][:_MOST_WORDS]
        executables = [self._resolve(program_of(line)) for line in commands if line]
        paths = {path for word in words for path in self._paths_of(word)}
        paths |= {path for text in texts_in(arguments) for path in self._paths_of(text) if self._is_ours(path)}
        paths |= {Path(found) for found in executables if found}
        return Operands(
            workdir=str(self._workdir),
            executable=next(filter(None, executables), ""),
            files=_digests(path for path in sorted(paths) if not self._is_store(path)),
        )

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


def _digests(paths: Iterable[Path]) -> dict[str, str]:
    budget = _MOST_BYTES
    found: dict[str, str] = {}
    for path in paths:
        try:
            found[str(path)], read = _digest(path, budget)
        except OSError as error:
            found[str(path)], read = f"unreadable: {error.strerror}", 0
        budget -= read
    return found


def _digest(path: Path, budget: int) -> tuple[str, int]:
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
