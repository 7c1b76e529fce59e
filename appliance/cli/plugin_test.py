"""``appliance plugin test``: the tests of a plugin, in a box of fakes."""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from pathlib import Path

from appliance.cli.plugin_place import find_plugin
from appliance.cli.shared import complain, home_of
from appliance.errors import ApplianceError

_FIXTURES = "appliance.testing.fixtures"
#: Exit code of pytest when it found no test.
_NO_TESTS = 5


def run(arguments: argparse.Namespace) -> int:
    """Exit code 0 when every test passed."""
    path = find_plugin(arguments.plugin, home_of(arguments))
    if importlib.util.find_spec("pytest") is None:
        raise ApplianceError(
            f"the tests need pytest, which is not installed; install it with: {sys.executable} -m pip install pytest"
        )
    folder = path if path.is_dir() else path.parent
    words = [sys.executable, "-m", "pytest", "-q", "-p", _FIXTURES, "--plugin", str(path), "--rootdir", str(folder)]
    # What a pytest of another project is told by its own settings does not count here.
    words += ["-c", "/dev/null", "-p", "no:cacheprovider", str(_where(path))]
    if importlib.util.find_spec("pytest_asyncio") is not None:
        words += ["-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function"]
    code = subprocess.run(words, cwd=folder, check=False).returncode
    if code == _NO_TESTS:
        complain(f"{path} has no tests: put them into {folder / 'tests'}, as files test_….py")
    return 0 if code == 0 else 1


def _where(path: Path) -> Path:
    """A folder with its tests; of a single file those that are named after it."""
    if path.is_dir():
        return path / "tests" if (path / "tests").is_dir() else path
    own = path.with_name(f"test_{path.name}")
    return own if own.exists() else path.parent
