"""A database of its own below ``user``, found from where ``config`` lies; rows kept apart by scope."""

import sqlite3
import threading
from contextlib import contextmanager
from pathlib import Path

import config as root_config

ENABLED = True
EMOJI = "📓"
AVAILABLE_FUNCTIONS = ["notebook_note", "notebook_search", "notebook_person"]

_db_lock = threading.Lock()
_db_made = False


def _text(name):
    return {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}


TOOLS = [
    {
        "type": "function",
        "is_local": True,
        "function": {"name": "notebook_note", "description": "Notes something.", "parameters": _text("content")},
    },
    {
        "type": "function",
        "is_local": True,
        "function": {"name": "notebook_search", "description": "Searches notes.", "parameters": _text("query")},
    },
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "notebook_person",
            "description": "Notes a person.",
            "parameters": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "address": {"type": "string"}},
            },
        },
    },
]


@contextmanager
def _db():
    global _db_made
    path = Path(root_config.__file__).parent / "user" / "notebook.db"
    with _db_lock:
        connection = sqlite3.connect(path, timeout=10)
        try:
            if not _db_made:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, scope TEXT, content TEXT)"
                )
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS people (id INTEGER PRIMARY KEY, name TEXT, address TEXT)"
                )
                _db_made = True
            with connection:
                yield connection
        finally:
            connection.close()


def find_people():
    """For other plugins."""
    with _db() as connection:
        return connection.execute("SELECT id, name, address FROM people ORDER BY id").fetchall()


def _current_scope():
    from core.chat.function_manager import scope_notebook

    return scope_notebook.get()


def execute(function_name, arguments, config):
    scope = _current_scope()
    if scope is None:
        return "The notebook is disabled for this chat.", False
    with _db() as connection:
        if function_name == "notebook_note":
            row = connection.execute("INSERT INTO notes (scope, content) VALUES (?, ?)", (scope, arguments["content"]))
            return f"Noted (ID: {row.lastrowid})", True
        if function_name == "notebook_search":
            like = f"%{arguments.get('query', '')}%"
            found = connection.execute(
                "SELECT id, content FROM notes WHERE scope = ? AND content LIKE ? ORDER BY id", (scope, like)
            ).fetchall()
            return "\n".join(f"[{number}] {content}" for number, content in found) or "No notes found", True
        if function_name == "notebook_person":
            pair = (arguments["name"], arguments["address"])
            connection.execute("INSERT INTO people (name, address) VALUES (?, ?)", pair)
            return f"Noted {pair[0]}", True
    return f"Unknown function '{function_name}'", False
