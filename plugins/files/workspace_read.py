"""Reads a file of the work folder, or tells what is in a folder of it."""

import asyncio

from kotoba.core.loop import note_tool_failure, note_tool_refusal

from . import jail

SCHEMA = {
    "type": "function",
    "name": "workspace_read",
    "description": "Read a text file of the work folder, or list a folder in it. Long files come in pieces.",
    "parameters": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": 'The file or folder, relative to the work folder; "." lists it.'},
            "first_line": {"type": "integer", "description": "Where to begin in a long file. Default 1."},
        },
        "required": ["path"],
        "additionalProperties": False,
    },
}

FAIL = "I could not read that."

MOST_CHARACTERS = 12_000
MOST_ENTRIES = 200


async def execute(args, ctx):
    args = args or {}
    try:
        first = max(1, int(args.get("first_line") or 1))
        return await asyncio.to_thread(_look, args.get("path"), ctx.workdir, first)
    except jail.Refused as refusal:
        note_tool_refusal(ctx)
        return str(refusal)
    except (TypeError, ValueError):
        note_tool_refusal(ctx)
        return "I need first_line as a whole number."
    except OSError as error:
        note_tool_failure(str(error))
        return f"That cannot be read: {error.strerror or error}."


def _look(path, folder, first):
    target = jail.inside(path, folder)
    if target.is_dir():
        return _entries(target)
    lines = jail.text_of(jail.read(target)).splitlines(keepends=True)
    if not lines:
        return f"{target.name} is empty."
    if first > len(lines):
        return f"{target.name} has only {len(lines)} lines."
    return _piece(lines, first)


def _entries(folder):
    entries = sorted(folder.iterdir(), key=lambda entry: (not entry.is_dir(), entry.name))
    if not entries:
        return "The folder is empty."
    lines = [f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries[:MOST_ENTRIES]]
    if len(entries) > MOST_ENTRIES:
        lines.append(f"[and {len(entries) - MOST_ENTRIES} more]")
    return "\n".join(lines)


def _piece(lines, first):
    text, last = "", first - 1
    for line in lines[first - 1 :]:
        if text and len(text) + len(line) > MOST_CHARACTERS:
            break
        text, last = text + line[:MOST_CHARACTERS], last + 1
    if last < len(lines):
        return f"{text}\n[lines {first} to {last} of {len(lines)}; go on with first_line {last + 1}]"
    return text
