"""A brain that follows a script."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from appliance.think.brain import BrainAnswer, Hands, Question
from appliance.tools.tool import ToolCall, ToolResult

#: One step of an answer: words to say, a call to run, an error to raise, something to wait for, or how it ends.
Step = str | ToolCall | Exception | asyncio.Event | BrainAnswer


class FakeBrain:
    """A ``Brain``: one script per question, then nothing to say.

    Without a ``BrainAnswer`` at its end, a script answers with what it said. Ask it with ``questions`` and
    ``results`` (of the calls, in order).
    """

    def __init__(self, *answers: Sequence[Step]) -> None:
        self.answers: list[Sequence[Step]] = list(answers)
        self.questions: list[Question] = []
        self.results: list[ToolResult] = []

    async def answer(self, question: Question, hands: Hands) -> BrainAnswer:
        """The next script."""
        self.questions.append(question)
        said = ""
        for step in self.answers.pop(0) if self.answers else ():
            if isinstance(step, str):
                said += step
                hands.say(step)
            elif isinstance(step, ToolCall):
                self.results.append(await hands.run(step))
            elif isinstance(step, asyncio.Event):
                await step.wait()
            elif isinstance(step, Exception):
                raise step
            else:
                return step
        return BrainAnswer(said)
