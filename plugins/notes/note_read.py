"""Reads notes."""

import asyncio

from kotoba.core.loop import note_tool_failure

from . import notebook

SCHEMA = {
    "type": "function",
    "name": "note_read",
    "description": "Read the person's notes.",
    "parameters": {
        "type": "object",
        "properties": {
            "which": {
                "type": "string",
                "description": 'Which: "last", "all", a number, or words that stand in it. Default: all.',
            }
        },
        "required": [],
        "additionalProperties": False,
    },
}

FAIL = "I cannot get at your notes."

#: The newest; whoever wants more of them asks for one.
MOST_READ = 10


async def execute(args, ctx):
    which = (args or {}).get("which")
    try:
        return await asyncio.to_thread(_read, which)
    except OSError as error:
        note_tool_failure(str(error))
        return f"The notes cannot be read: {error.strerror or error}."


def _read(which):
    numbers = notebook.find(which)
    if not numbers:
        return "You have no notes." if not notebook.numbers() else f"There is no note {_about(which)}."
    if len(numbers) == 1:
        return notebook.text_of(numbers[0])
    newest = numbers[: -MOST_READ - 1 : -1]
    lines = [f"Note {number}: {notebook.text_of(number)}" for number in newest]
    if len(newest) < len(numbers):
        lines.append(f"And {len(numbers) - len(newest)} older ones.")
    return "\n".join(lines)


def _about(which):
    wanted = str(which or "").strip()
    return f"with the number {wanted}" if wanted.isdecimal() else f"about {wanted}"
