"""A conversation in plain text: questions and answers, line by line, at a terminal or from a script."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import termios
from collections.abc import Iterator
from typing import Protocol


class Terminal(Protocol):
    """Where a person is asked. Raises ``EOFError`` from its questions when no more answers come."""

    def say(self, text: str = "") -> None:
        """A line for the person."""
        ...

    def show(self, text: str) -> None:
        """A line that takes the place of the one that was shown before, until something else is said."""
        ...

    async def ask(self, question: str) -> str:
        """The answer, without blanks around it; "" for Enter alone."""
        ...

    async def ask_secret(self, question: str) -> str:
        """The same, not shown while it is typed."""
        ...


class ShellTerminal:
    """A ``Terminal`` on standard input and output. Waiting for an answer does not block the loop, and Ctrl-C ends it.

    A live line needs a terminal; in a file there is only its last state.
    """

    def __init__(self) -> None:
        self._shown = ""
        self._is_live = sys.stdout.isatty()

    def say(self, text: str = "") -> None:
        self._end_line()
        print(text, flush=True)

    def show(self, text: str) -> None:
        if self._is_live:
            print(f"\r\x1b[K{text}", end="", flush=True)
        self._shown = text

    async def ask(self, question: str) -> str:
        self._end_line()
        print(f"{question} ", end="", flush=True)
        return await self._line()

    async def ask_secret(self, question: str) -> str:
        self._end_line()
        with _not_shown():  # before the question: who pastes is quick
            print(f"{question} (hidden) ", end="", flush=True)
            answer = await self._line()
        if sys.stdin.isatty():
            print(flush=True)
        return answer

    def _end_line(self) -> None:
        if self._shown:
            print("" if self._is_live else self._shown, flush=True)
            self._shown = ""

    async def _line(self) -> str:
        if sys.stdin.isatty():
            await _readable(sys.stdin.fileno())
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        if not sys.stdin.isatty():
            print(flush=True)  # nobody pressed Enter
        return line.strip()


async def _readable(descriptor: int) -> None:
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)


@contextlib.contextmanager
def _not_shown() -> Iterator[None]:
    """What is typed inside the block is not echoed, where there is a terminal that would."""
    descriptor = sys.stdin.fileno()
    if not os.isatty(descriptor):
        yield
        return
    before = termios.tcgetattr(descriptor)
    hidden = [*before]
    hidden[3] = before[3] & ~termios.ECHO
    termios.tcsetattr(descriptor, termios.TCSADRAIN, hidden)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
