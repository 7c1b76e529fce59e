"""The store: whether it is whole, what it said when it was opened, what was put aside."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from appliance.doctor.finding import Finding, as_sentence, cannot_tell, fine, some_of, wrong

#: Looking only: another process may have the file.
_PATIENCE_SECONDS = 2.0


def database(file: Path) -> Finding:
    """SQLite's own quick check, on a connection that cannot write."""
    if not file.exists():
        return fine("There is no store yet; the first start makes it.")
    try:
        with closing(
            sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True, timeout=_PATIENCE_SECONDS)
        ) as store:
            answer = store.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if "locked" in str(error) or "unable to open" in str(error):
            return cannot_tell(as_sentence(f"the store cannot be looked at now ({error})"))
        answer = str(error)
    if answer != "ok":
        return wrong(
            as_sentence(f"the store is damaged ({answer})"),
            "Restart the box, which puts it aside and begins anew; then: appliance restore BACKUP",
        )
    return fine(f"The store is whole ({file.stat().st_size / 1e6:.1f} MB).")


def store_notes(notes: Sequence[str]) -> Finding:
    """What was wrong when it was opened."""
    if notes:
        return wrong(as_sentence(notes[0]), "Look at the disk first: appliance doctor machine")
    return fine("The store had nothing to say when it was opened.")


def corrupt_copies(folder: Path) -> Finding:
    """Files that were damaged and put aside."""
    found = sorted(path for path in folder.rglob("*.corrupt.*") if path.is_file())
    if found:
        return wrong(
            f"{len(found)} damaged files were put aside: {some_of([path.name for path in found])}.",
            f"Look into what you miss, then remove them: rm {found[0]}",
        )
    return fine("No damaged file was put aside.")


def settings(problems: Sequence[str]) -> Finding:
    """Wrong settings, for which defaults stand in."""
    if problems:
        return wrong(
            as_sentence(f"a setting is wrong: {problems[0]}"),
            "Correct it in config.toml; appliance config shows what is allowed.",
        )
    return fine("The settings make sense.")
