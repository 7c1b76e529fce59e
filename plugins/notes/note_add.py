"""Keeps a note."""

import asyncio

from kotoba.core.loop import note_tool_failure, note_tool_refusal

from . import notebook

SCHEMA = {
    "type": "function",
    "name": "note_add",
    "description": "Keep a note for the person, in their own words. For something to remember without a time; for "
    "something at a time set a reminder.",
    "parameters": {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The note, as it is to be kept."}},
        "required": ["text"],
        "additionalProperties": False,
    },
}

RISK = "write"

FAIL = "I could not write that down."


async def execute(args, ctx):
    text = str((args or {}).get("text") or "").strip()
    if not text:
        # A question is an answer too: without a model the box asks it, and calls again with what is said next.
        return "What should I write down?"
    if len(text) > notebook.LONGEST:
        note_tool_refusal(ctx)
        return f"That is too long for a note; {notebook.LONGEST} characters are the most."
    try:
        if len(await asyncio.to_thread(notebook.numbers)) >= notebook.MOST_NOTES:
            note_tool_refusal(ctx)
            return f"There are {notebook.MOST_NOTES} notes already. Delete some first."
        number = await asyncio.to_thread(notebook.add, text[0].upper() + text[1:])
    except OSError as error:
        note_tool_failure(str(error))
        return f"The note could not be kept: {error.strerror or error}."
    return f"Noted, as number {number}."
