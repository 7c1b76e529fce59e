"""The notes: one plain text file each, ``user/notes/note-<number>.txt`` in the home folder of the box.

It has no SCHEMA, so it is no tool; the tools beside it share it. The box runs with its home as the working folder.
"""

import os
import re
from pathlib import Path

FOLDER = Path("user/notes")
LONGEST = 2_000
MOST_NOTES = 500

_NAME = re.compile(r"note-(\d{1,6})\.txt")
_LARGEST_BYTES = 20_000


def numbers():
    """The numbers of all notes, oldest first."""
    try:
        names = [_NAME.fullmatch(entry.name) for entry in FOLDER.iterdir()]
    except FileNotFoundError:
        return []
    return sorted(int(name[1]) for name in names if name)


def text_of(number):
    """What a note says. Raises ``OSError`` when there is none of that number."""
    with _file(number).open("rb") as file:
        return file.read(_LARGEST_BYTES).decode("utf-8", "replace").strip()


def add(text):
    """Keep a note; its number. It is on the disk, or it raises ``OSError``."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    number = max(numbers(), default=0) + 1
    # Never over another one, also when two are written at once.
    with _file(number).open("x", encoding="utf-8") as file:
        file.write(f"{text}\n")
        file.flush()
        os.fsync(file.fileno())
    return number


def delete(number):
    """Throw a note away. Raises ``OSError`` when there is none of that number."""
    _file(number).unlink()


def find(which):
    """The numbers of the notes that a person may mean: "last", "all", a number, or words that stand in them."""
    known = numbers()
    wanted = str(which if which is not None else "").strip().lower()
    if not wanted or wanted == "all":
        return known
    if wanted in ("last", "newest", "latest", "most recent"):
        return known[-1:]
    if wanted.isdecimal():
        return [number for number in known if number == int(wanted)]
    words = re.findall(r"\w+", wanted)
    return [number for number in known if words and set(words) <= set(re.findall(r"\w+", text_of(number).lower()))]


def brief(number):
    """A note in one short line, with its number."""
    text = " ".join(text_of(number).split())
    return f"{number}: {text if len(text) <= 60 else text[:57].rstrip() + '…'}"


def _file(number):
    return FOLDER / f"note-{int(number)}.txt"
