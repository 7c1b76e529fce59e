"""What somebody types, word by word: single keys at once on a terminal, words from a pipe or a file."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator

_READ_BYTES = 1024
#: What begins a word of several characters, which Enter or a space ends.
_BEGINS_WORD = "0123456789d"


def typed_words(idle: Callable[[], None], every_seconds: float) -> Iterator[str]:
    """Words until standard input is over; ``idle`` is called every so often, also while nothing is typed."""
    descriptor = sys.stdin.fileno()
    with _key_by_key(descriptor) as is_terminal:
        word = ""
        while True:
            idle()
            if not select.select([descriptor], [], [], every_seconds)[0]:
                continue
            read = os.read(descriptor, _READ_BYTES).decode(errors="replace")
            *words, word = split(word + read, is_terminal=is_terminal)
            if is_terminal:  # One that gives keys at once does not show them: what is said comes over what is typed.
                print(f"\r{'' if words else f'{word} '}", end="", flush=True)
            yield from words
            if not read or "\x04" in read:
                if word:
                    yield word
                return


def split(typed: str, *, is_terminal: bool) -> list[str]:
    """Whole words, and last what is not whole yet ("" when all is)."""
    words, word = [], ""
    for character in typed:
        if character == "\t" and is_terminal:
            words += [word, "\t"] if word else ["\t"]
            word = ""
        elif character.isspace() or character == "\x04":
            words += [word] if word else []
            word = ""
        elif character in "\b\x7f":
            word = word[:-1]
        elif is_terminal and not word and character not in _BEGINS_WORD:
            words.append(character)
        else:
            word += character
    return [*words, word]


@contextlib.contextmanager
def _key_by_key(descriptor: int) -> Iterator[bool]:
    """A terminal gives each key at once inside the block; whether it is one."""
    if not os.isatty(descriptor):
        yield False
        return
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)
    try:
        yield True
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
