"""A shell's line taken apart into the commands that it would run; good enough to recognise them, not to run them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

#: They start another command, which is looked at instead; how many of their own words stand before it is unknown.
_WRAPPERS = frozenset(
    (
        *("sudo", "doas", "su", "env", "nohup", "nice", "ionice", "time", "timeout", "setsid", "stdbuf"),
        *("exec", "command", "builtin", "busybox", "toybox", "xargs", "parallel", "watch", "chroot"),
        *("unshare", "nsenter", "systemd-run", "flatpak-spawn", "pkexec", "runuser", "script", "strace"),
        *("ltrace", "then", "do", "else", "if", "while", "!"),
    )
)
#: Behind a wrapper the command begins within so many words.
_MOST_WRAPPER_WORDS = 20
#: They run a line that they are given as one word.
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "csh", "tcsh", "eval", "ssh"))
_SYNTAX = frozenset(";|&<>`$(){}\n\r\\*?~!#")


def has_shell_syntax(text: str) -> bool:
    """Whether a shell would see more in ``text`` than the words of one command."""
    return not _SYNTAX.isdisjoint(text)


def commands(line: str, depth: int = 3) -> Iterator[list[str]]:
    """Every simple command in a line: behind separators, wrappers and ``sh -c``, inside substitutions."""
    for part in re.split(r"\|\||&&|[;|&\n\r()`{}]|\$\(", plain(line, keeps_quotes=True)):
        words = _words(part)
        for start in _starts(words):
            yield words[start:]
    if depth:
        for inner in _inner_lines(line):
            yield from commands(inner, depth - 1)


def plain(line: str, *, keeps_quotes: bool = False) -> str:
    """``line`` without the spellings that a shell takes away: backslashes, ``$IFS``, empty quotes, broken lines."""
    line = re.sub(r"\\\r?\n", "", line)
    line = re.sub(r"\$\{?IFS\}?(?:\$\d)?", " ", line)
    line = re.sub(r"\\(?=[A-Za-z/])", "", line)
    line = re.sub(r"(?<=\w)(?:''|\"\")|(?:''|\"\")(?=\w)", "", line)
    return line if keeps_quotes else line.replace('"', "").replace("'", "")


def _starts(words: Sequence[str]) -> Iterator[int]:
    """Where a command may begin: at the first word, behind settings of its environment, and behind a wrapper."""
    is_wrapped, is_behind_setting = False, True
    for position, word in enumerate(words[:_MOST_WRAPPER_WORDS]):
        name = word.rpartition("/")[2]
        if (is_behind_setting or is_wrapped) and name and not name.startswith("-"):
            yield position
        is_behind_setting = is_behind_setting and "=" in word
        is_wrapped = is_wrapped or name in _WRAPPERS


def _inner_lines(line: str) -> Iterator[str]:
    """Lines inside quotes that a shell is given (``bash -c '…'``, ``eval "…"``, ``ssh host '…'``)."""
    words = _words(line)
    if any(word.rpartition("/")[2] in _SHELLS for word in words):
        yield from (word for word in words if " " in word or ";" in word)


def _words(part: str) -> list[str]:
    try:
        return shlex.split(part)
    except ValueError:
        return part.replace('"', " ").replace("'", " ").split()
