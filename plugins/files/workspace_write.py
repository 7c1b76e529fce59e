"""Writes a text file of the work folder."""

import asyncio
import os
import tempfile
from pathlib import Path

from kotoba.core.loop import note_tool_failure, note_tool_refusal

from . import jail

SCHEMA = {
    "type": "function",
    "name": "workspace_write",
    "description": "Write a text file in the work folder. Folders on the way are made.",
    "parameters": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file, relative to the work folder."},
            "text": {"type": "string", "description": "What is to stand in it."},
            "how": {
                "type": "string",
                "enum": ["create", "replace", "append"],
                "description": "create (default) never touches a file that is there already.",
            },
        },
        "required": ["path", "text"],
        "additionalProperties": False,
    },
}

RISK = "write"

FAIL = "I could not write that file."


async def execute(args, ctx):
    args = args or {}
    text, how = args.get("text"), args.get("how") or "create"
    if not isinstance(text, str) or how not in ("create", "replace", "append"):
        note_tool_refusal(ctx)
        return "I need a text, and one of create, replace and append."
    try:
        return await asyncio.to_thread(_write, args.get("path"), ctx.workdir, text, how)
    except jail.Refused as refusal:
        note_tool_refusal(ctx)
        return str(refusal)
    except OSError as error:
        note_tool_failure(str(error))
        return f"That cannot be written: {error.strerror or error}."


def _write(path, folder, text, how):
    target = jail.inside(path, folder)
    if target.is_dir():
        raise jail.Refused(f"{path} is a folder.")
    is_there = target.exists()
    if is_there and how == "create":
        raise jail.Refused(f"There is a file {path} already. Say replace or append, if that is meant.")
    data = text.encode("utf-8", "replace")
    if is_there and how == "append":
        data = jail.read(target) + data
    if len(data) > jail.LARGEST_BYTES:
        raise jail.Refused(f"That is too large; {jail.LARGEST_BYTES} bytes are the most.")
    _put(target, data)
    done = {"create": "Written", "replace": "Replaced", "append": "Appended to"}[how if is_there else "create"]
    return f"{done}: {path}, {len(data)} bytes in all."


def _put(target, data):
    """All of it or nothing: a name that leads elsewhere by now is replaced, not followed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".draft-")
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        draft.replace(target)
    except BaseException:
        draft.unlink()
        raise
