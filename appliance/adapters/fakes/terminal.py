"""A terminal at which a test has typed its answers beforehand."""

from __future__ import annotations

from collections.abc import Callable


class FakeTerminal:
    """A ``Terminal``. ``answers`` are given in order; an answer that is a function is called for its text.

    ``lines`` is everything that was said, ``shown`` what was shown in passing, ``questions`` what was asked;
    ``unused`` are the answers that nobody asked for.
    """

    def __init__(self, *answers: str | Callable[[], str]) -> None:
        self.lines: list[str] = []
        self.shown: list[str] = []
        self.questions: list[str] = []
        self.secret_questions: list[str] = []
        self.unused = list(answers)

    @property
    def text(self) -> str:
        """All that a person saw."""
        return "\n".join(self.lines)

    def say(self, text: str = "") -> None:
        self.lines.append(text)

    def show(self, text: str) -> None:
        self.shown.append(text)

    async def ask(self, question: str) -> str:
        self.questions.append(question)
        if not self.unused:
            raise EOFError
        answer = self.unused.pop(0)
        typed = answer() if callable(answer) else answer
        self.lines.append(f"{question} {typed}")
        return typed

    async def ask_secret(self, question: str) -> str:
        self.secret_questions.append(question)
        answer = await self.ask(question)
        self.lines.pop()
        return answer
