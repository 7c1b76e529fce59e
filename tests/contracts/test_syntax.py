"""Reading sources from several threads at once, as the page does."""

from __future__ import annotations

import ast
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from appliance.contracts.syntax import parsed

SOURCE = Path(ast.__file__).read_bytes()


def test_sources_are_read_in_many_threads_at_once() -> None:
    with ThreadPoolExecutor(8) as pool:
        trees = list(pool.map(parsed, [SOURCE] * 24))
    assert all(isinstance(tree, ast.Module) for tree in trees)


def test_what_is_no_source_is_said_so() -> None:
    with pytest.raises(SyntaxError):
        parsed(b"def")


def test_a_tree_that_a_plugin_disturbed_is_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    built, real = [], ast.parse

    def disturbed(*arguments: object) -> ast.Module:
        built.append(arguments)
        if len(built) == 1:
            raise SystemError("AST constructor recursion depth mismatch (before=45, after=39)")
        return real(*arguments)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(ast, "parse", disturbed)
    assert isinstance(parsed(b"x = 1"), ast.Module)
