"""Looks for words in the work folder: in the names of files, and in what is in them."""

import asyncio
import os
import threading
import time
from pathlib import Path

from kotoba.core.loop import note_tool_failure, note_tool_refusal

from . import jail

SCHEMA = {
    "type": "function",
    "name": "workspace_search",
    "description": "Find files in the work folder by words in their name or their text, upper and lower case alike.",
    "parameters": {
        "type": "object",
        "properties": {
            "words": {"type": "string", "description": "What to look for, exactly as it stands there."},
            "path": {"type": "string", "description": "The folder to look in. Default: all of the work folder."},
        },
        "required": ["words"],
        "additionalProperties": False,
    },
}

ANNOUNCE = "Let me look through the files."
HEARTBEAT = ["I am still looking."]
FAIL = "I could not search the files."

MOST_HITS = 40
MOST_FILES = 5_000
MOST_SECONDS = 10
LONGEST_LINE = 200


async def execute(args, ctx):
    args = args or {}
    words = str(args.get("words") or "").strip()
    if not words:
        note_tool_refusal(ctx)
        return "I need the words to look for."
    stop = threading.Event()
    try:
        folder = jail.inside(args.get("path") or ".", ctx.workdir)
        return await asyncio.to_thread(_search, words, folder, stop)
    except jail.Refused as refusal:
        note_tool_refusal(ctx)
        return str(refusal)
    except OSError as error:
        note_tool_failure(str(error))
        return f"The folder cannot be searched: {error.strerror or error}."
    finally:
        # The thread goes on when the call is stopped, unless it is told.
        stop.set()


def _search(words, folder, stop):
    wanted, hits, looked, until = words.lower(), [], 0, time.monotonic() + MOST_SECONDS
    note = ""
    for file, name in _files(folder):
        if looked >= MOST_FILES or time.monotonic() > until or stop.is_set():
            note = "not everything was searched"
            break
        looked += 1
        if wanted in name.lower():
            hits.append(name)
        hits += _lines_with(wanted, file, name, MOST_HITS - len(hits))
        if len(hits) >= MOST_HITS:
            note = "there may be more"
            break
    if not hits:
        return f"Nothing with {words!r} in {looked} files{', and ' + note if note else ''}."
    return "\n".join([*hits[:MOST_HITS], *([f"[{note}]"] if note else [])])


def _files(folder):
    """Every file below ``folder`` with its name from there; links are not followed."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(place) / name
            yield file, str(file.relative_to(folder))


def _lines_with(wanted, file, name, most):
    try:
        text = jail.text_of(jail.read(jail.inside(str(file), file.parent)))
    except (OSError, jail.Refused):
        return []
    found = (
        f"{name}:{number}: {line.strip()[:LONGEST_LINE]}"
        for number, line in enumerate(text.splitlines(), start=1)
        if wanted in line.lower()
    )
    return [line for line, _ in zip(found, range(max(0, most)), strict=False)]
