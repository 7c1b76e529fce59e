"""Python sources of strangers as syntax trees."""

from __future__ import annotations

import ast
import threading

#: CPython (seen with 3.11.7) keeps one count of depth for all threads that build trees: two at a time fail with
#: "AST constructor recursion depth mismatch".
_ONE_AT_A_TIME = threading.Lock()
#: Code of a plugin may build a tree as well, and knows nothing of our lock.
_TRIES = 3


def parsed(source: bytes, file: str = "<unknown>") -> ast.Module:
    """The tree. Any thread. Raises what ``ast.parse`` raises for a source that is none."""
    for left in reversed(range(_TRIES)):
        try:
            with _ONE_AT_A_TIME:
                return ast.parse(source, file)
        except SystemError:
            if not left:
                raise
    raise AssertionError("not reached")
