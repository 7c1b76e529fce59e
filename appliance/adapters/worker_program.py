"""The worker program: runs commands for one call of a tool, and takes all of them with it when it ends.

It is started by path in an interpreter of its own (``python -I -S worker_program.py``), so it imports nothing of the
box. On its standard input and output it speaks messages of JSON, each behind its length in four bytes: first
``start``, then one request after another. It ends, and everything it has started ends, when its input does.

What it cannot reach is the launcher's affair. What it does by itself: no new privileges, limits on time, memory, files
and processes for each command, and it adopts the orphans of its commands, so that none is out of its sight.
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import resource
import selectors
import signal
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

#: A longer message is nothing that we have sent.
LARGEST_MESSAGE_BYTES = 12_000_000
LARGEST_FILE_BYTES = 8_000_000
#: Of each of the two streams of a command; the rest is read and thrown away.
LARGEST_OUTPUT_BYTES = 200_000
#: As ``timeout`` of the coreutils says it.
TIMED_OUT = 124
NOT_FOUND = 127

LENGTH = struct.Struct(">I")
#: What a command that was told to end may take for it.
_GRACE_SECONDS = 1.0
#: Behind the end of a command whose children still hold its output open.
_DRAIN_SECONDS = 0.3
_KILL_SECONDS = 3.0

_MEMORY_BYTES = 1 << 30
_WRITTEN_FILE_BYTES = 64 << 20
_OPEN_FILES = 256
#: On top of what this user runs already: the kernel counts all of it.
_PROCESSES = 64

#: Where programs are found.
_SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin"

_PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 36, 38
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000


class RequestError(Exception):
    """Why a request cannot be met: a word for the program, and a sentence."""

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind


class Whole:
    """An unbuffered input, read in whole pieces: what nobody has asked for yet stays where ``select`` sees it."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def fileno(self) -> int:
        return int(self._raw.fileno())

    def read(self, size: int) -> bytes:
        """As many bytes as asked for, fewer only at the end."""
        pieces = bytearray()
        while len(pieces) < size:
            piece = self._raw.read(size - len(pieces))
            if not piece:
                break
            pieces += piece
        return bytes(pieces)


class Worker:
    """One folder, one command at a time."""

    def __init__(self, given: Whole, answers: BinaryIO) -> None:
        self._given = given
        self._answers = answers
        self._folder = Path()
        self._python = sys.executable
        self._answer_to: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "start": self._start,
            "run": self._run,
            "code": self._code,
            "read": self._read,
            "write": self._write,
        }

    def serve(self) -> None:
        """Answer until the input ends."""
        while True:
            request = self._next_request()
            if request is None:
                return
            try:
                answer = self._answer_to[str(request.get("do"))](request)
            except RequestError as error:
                answer = {"error": error.kind, "sentence": str(error)}
            except (OSError, ValueError, KeyError, TypeError) as error:
                answer = {"error": "failed", "sentence": f"{type(error).__name__}: {error}"}
            self._send(answer)

    # ---------------------------------------------------------------------------------------- requests

    def _start(self, request: dict[str, Any]) -> dict[str, Any]:
        self._folder = Path(request["folder"]).resolve()
        self._python = str(request.get("python") or sys.executable)
        if request.get("cut_off"):
            _leave_network()
        os.chdir(self._folder)
        forbidden = str(request.get("forbidden") or "")
        return {"has_network": _has_network(), "reaches": bool(forbidden) and os.access(forbidden, os.R_OK)}

    def _run(self, request: dict[str, Any]) -> dict[str, Any]:
        command = request["command"]
        words = ["/bin/sh", "-c", command] if isinstance(command, str) else [str(word) for word in command]
        return self._watch(words, self._inside(str(request.get("cwd") or ".")), float(request["seconds"]))

    def _code(self, request: dict[str, Any]) -> dict[str, Any]:
        languages = {
            "python": [self._python, "-c"],
            "sh": ["/bin/sh", "-c"],
            "bash": ["bash", "-c"],
            "javascript": ["node", "-e"],
        }
        language = str(request["lang"])
        if language not in languages:
            return _ended(NOT_FOUND, b"", f"no way to run {language}; there is {', '.join(languages)}".encode())
        return self._watch([*languages[language], str(request["code"])], self._folder, float(request["seconds"]))

    def _read(self, request: dict[str, Any]) -> dict[str, Any]:
        # Without O_NONBLOCK a pipe in the file's place would hold us up for ever.
        handle = os.open(self._inside(str(request["path"])), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            facts = os.fstat(handle)
            if not stat.S_ISREG(facts.st_mode):
                raise RequestError("no_file", f"{request['path']} is no file")
            if facts.st_size > LARGEST_FILE_BYTES:
                raise RequestError("too_large", f"{request['path']} has more than {LARGEST_FILE_BYTES} bytes")
            return {"data": base64.b64encode(file.read(LARGEST_FILE_BYTES)).decode()}

    def _write(self, request: dict[str, Any]) -> dict[str, Any]:
        target = self._inside(str(request["path"]))
        target.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        # For the group too: in a service the folder is shared with the box, which is another user.
        with os.fdopen(os.open(target, flags, 0o660), "wb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise RequestError("no_file", f"{request['path']} is no file")
            file.truncate(0)
            file.write(base64.b64decode(request["data"]))
        return {}

    def _inside(self, path: str) -> Path:
        target = (self._folder / path).resolve()
        if not target.is_relative_to(self._folder):
            raise RequestError("outside", f"{path} is outside the working folder")
        return target

    # ---------------------------------------------------------------------------------------- commands

    def _watch(self, words: list[str], folder: Path, seconds: float) -> dict[str, Any]:
        """Run one command. It is over when its process is, whatever it has left behind; that lives as long as we do."""
        _collect()
        try:
            child = subprocess.Popen(
                words,
                cwd=folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                # There are no threads here, so this is safe.
                preexec_fn=lambda: _limit(seconds),
            )
        except (FileNotFoundError, PermissionError) as error:
            return _ended(NOT_FOUND, b"", f"{words[0]}: {error.strerror}".encode(errors="replace"))
        with _Streams(child) as streams:
            if not streams.follow(self._given, seconds):
                end_all()
                note = f"timed out after {seconds:g}s and was killed".encode()
                return _ended(TIMED_OUT, streams.out, b"\n".join(filter(None, (streams.errors, note))))
            code = child.wait()
            return _ended(128 - code if code < 0 else code, streams.out, streams.errors)

    def _environment(self) -> dict[str, str]:
        """All that a program gets: secrets come in environments."""
        return {
            "PATH": _SEARCH_PATH,
            "HOME": str(self._folder),
            "TMPDIR": os.environ.get("TMPDIR", "/tmp"),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    # ---------------------------------------------------------------------------------------- messages

    def _next_request(self) -> dict[str, Any] | None:
        head = self._given.read(LENGTH.size)
        if len(head) < LENGTH.size:
            return None
        (length,) = LENGTH.unpack(head)
        body = self._given.read(length) if length <= LARGEST_MESSAGE_BYTES else b""
        if len(body) < length or not length:
            return None
        request = json.loads(body)
        return request if isinstance(request, dict) else {}

    def _send(self, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self._answers.write(LENGTH.pack(len(body)) + body)
        self._answers.flush()


class _Streams:
    """What a command writes, while it writes it."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._pipes = [pipe for pipe in (child.stdout, child.stderr) if pipe is not None]
        self._kept = {pipe.fileno(): bytearray() for pipe in self._pipes}
        self._out, self._errors = self._kept
        self._selector = selectors.DefaultSelector()
        self._end = os.pidfd_open(child.pid)

    def __enter__(self) -> _Streams:
        for handle in (*self._kept, self._end):
            os.set_blocking(handle, False)
            self._selector.register(handle, selectors.EVENT_READ)
        return self

    def __exit__(self, *_error: object) -> None:
        self._selector.close()
        os.close(self._end)
        for pipe in self._pipes:
            pipe.close()

    @property
    def out(self) -> bytes:
        return bytes(self._kept[self._out])

    @property
    def errors(self) -> bytes:
        return bytes(self._kept[self._errors])

    def follow(self, given: Whole, seconds: float) -> bool:
        """Read until the process has ended; False when it takes longer. Ends us when nobody waits any more."""
        # Nothing is sent while a command runs: what comes there is the end of whoever asked.
        self._selector.register(given.fileno(), selectors.EVENT_READ)
        deadline = time.monotonic() + seconds
        is_ended = False
        while self._selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                return is_ended
            for key, _events in self._selector.select(left):
                if key.fd == given.fileno():
                    raise SystemExit
                if key.fd == self._end:
                    is_ended = True
                    self._selector.unregister(self._end)
                    self._selector.unregister(given.fileno())
                    deadline = time.monotonic() + _DRAIN_SECONDS
                else:
                    self._keep(key.fd)
        return is_ended

    def _keep(self, handle: int) -> None:
        piece = os.read(handle, 65536)
        if not piece:
            self._selector.unregister(handle)
        kept = self._kept[handle]
        kept += piece[: LARGEST_OUTPUT_BYTES - len(kept)]


def end_all() -> None:
    """End every process below this one: politely, then not. New ones may be born meanwhile."""
    deadline = time.monotonic() + _GRACE_SECONDS
    number = signal.SIGTERM
    while children := descendants(os.getpid()):
        for pid in children:
            _send(pid, number)
            # One that is stopped ends when it goes on.
            _send(pid, signal.SIGCONT)
        while _collect() and descendants(os.getpid()) and time.monotonic() < deadline:
            time.sleep(0.01)
        number = signal.SIGKILL
        if time.monotonic() > deadline + _KILL_SECONDS:
            return  # They hang in a driver, and nobody can help that.


def descendants(root: int) -> list[int]:
    """Living processes below ``root``."""
    parents: dict[int, list[int]] = {}
    for entry in _processes():
        try:
            state, parent = (entry / "stat").read_bytes().rpartition(b")")[2].split()[:2]
        except OSError:
            continue
        if state not in (b"Z", b"X"):
            parents.setdefault(int(parent), []).append(int(entry.name))
    found, pending = [], [root]
    while pending:
        below = parents.get(pending.pop(), [])
        found += below
        pending += below
    return found


def _processes() -> list[Path]:
    return [entry for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _collect() -> bool:
    """Take the dead; whether there are any children left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    except ChildProcessError:
        return False


def _ended(code: int, out: bytes, errors: bytes) -> dict[str, Any]:
    return {
        "exit_code": code,
        "stdout": out.decode("utf-8", "replace"),
        "stderr": errors.decode("utf-8", "replace"),
    }


# ----------------------------------------------------------------------------------------------- limits


def _limit(seconds: float) -> None:
    """In the child, before the command begins."""
    limits = {
        resource.RLIMIT_CPU: int(seconds) + 2,
        resource.RLIMIT_AS: _MEMORY_BYTES,
        resource.RLIMIT_FSIZE: _WRITTEN_FILE_BYTES,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NPROC: _threads_of_this_user() + _PROCESSES,
    }
    for which, most in limits.items():
        hard = resource.getrlimit(which)[1]
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)
        resource.setrlimit(which, (most, most))


def _threads_of_this_user() -> int:
    count = 0
    for entry in _processes():
        try:
            if entry.stat().st_uid == os.getuid():
                count += len(list((entry / "task").iterdir()))
        except OSError:
            continue
    return count


def _harden() -> None:
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _step_back() -> None:
    """The box must go on hearing and speaking: this is what gives way when time or memory run short."""
    with suppress(OSError):  # not allowed everywhere
        os.nice(10)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("900", encoding="ascii")


def _has_network() -> bool:
    """Whether there is more than the way back to ourselves."""
    lines = Path("/proc/net/dev").read_text(encoding="ascii").splitlines()
    names = [line.partition(":")[0].strip() for line in lines if ":" in line]
    return any(name != "lo" for name in names)


def _leave_network() -> None:
    """Get a network of our own, with nothing in it, where that is allowed."""
    libc = ctypes.CDLL(None)
    if libc.unshare(_CLONE_NEWNET) == 0:
        return
    # Some systems let one in and then forbid the rest, so somebody else goes first.
    scout = os.fork()
    if not scout:
        os._exit(0 if _leave_as_a_user(libc) else 1)
    if os.waitpid(scout, 0)[1] == 0:
        _leave_as_a_user(libc)


def _leave_as_a_user(libc: ctypes.CDLL) -> bool:
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        return False
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            Path(f"/proc/self/{name}").write_text(text, encoding="ascii")
    except OSError:
        return False
    return True


def main() -> None:
    """Serve the standard input."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    _harden()
    _step_back()
    given, answers = os.fdopen(os.dup(0), "rb", buffering=0), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)
    try:
        Worker(Whole(given), answers).serve()
    except BrokenPipeError:
        return
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end_all()


if __name__ == "__main__":
    main()
