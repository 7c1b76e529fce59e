"""Tells which notes there are."""

import asyncio

from kotoba.core.loop import note_tool_failure

from . import notebook

SCHEMA = {
    "type": "function",
    "name": "note_list",
    "description": "List the person's notes, newest first: number and beginning of each.",
    "parameters": {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
}

FAIL = "I cannot get at your notes."

#: More than that nobody listens to.
MOST_TOLD = 20


async def execute(args, ctx):
    try:
        return await asyncio.to_thread(_list)
    except OSError as error:
        note_tool_failure(str(error))
        return f"The notes cannot be read: {error.strerror or error}."


def _list():
    numbers = notebook.numbers()
    if not numbers:
        return "You have no notes."
    told = [notebook.brief(number) for number in numbers[: -MOST_TOLD - 1 : -1]]
    count = "You have one note." if len(numbers) == 1 else f"You have {len(numbers)} notes."
    more = [f"And {len(numbers) - len(told)} older ones."] if len(told) < len(numbers) else []
    return "\n".join([count, *(f"Note {line}" for line in told), *more])
