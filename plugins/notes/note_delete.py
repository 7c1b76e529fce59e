"""Throws one note away."""

import asyncio

from kotoba.core.loop import note_tool_failure

from . import notebook

SCHEMA = {
    "type": "function",
    "name": "note_delete",
    "description": "Delete one of the person's notes, when they ask for that. It cannot be brought back.",
    "parameters": {
        "type": "object",
        "properties": {
            "which": {"type": "string", "description": '"last", a number, or words that stand in that note alone.'}
        },
        "required": ["which"],
        "additionalProperties": False,
    },
}

RISK = "write"

FAIL = "I could not delete that note."


async def execute(args, ctx):
    which = str((args or {}).get("which") or "").strip()
    if not which or which.lower() == "all":
        return "I delete one note at a time. Which one?"
    try:
        numbers = await asyncio.to_thread(notebook.find, which)
        if len(numbers) != 1:
            return await asyncio.to_thread(_which_one, which, numbers)
        text = await asyncio.to_thread(notebook.brief, numbers[0])
        await asyncio.to_thread(notebook.delete, numbers[0])
    except OSError as error:
        note_tool_failure(str(error))
        return f"The note could not be deleted: {error.strerror or error}."
    return f"Deleted note {text}"


def _which_one(which, numbers):
    if not numbers:
        return f"There is no note for {which}, so none is deleted."
    lines = [f"Note {notebook.brief(number)}" for number in numbers[:5]]
    return "\n".join([f"There are {len(numbers)} notes with that. Which number?", *lines])
