"""A Debian of its own for the tests of the service."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.systemd.box import Box
from tests.systemd.machine import make_system

_TRIAL = """
cd
mkdir -p .local/share/appliance
cd .local/share/appliance
mkdir -p plugins/mine cache run
echo secret >credentials.json
chmod 600 credentials.json
echo "[box]" >config.toml
echo code >plugins/mine/plugin.py
touch lock
python3 -c "
import os, sqlite3
store = sqlite3.connect(\\"appliance.db\\")
store.execute(\\"PRAGMA journal_mode=WAL\\")
store.execute(\\"CREATE TABLE visits (version TEXT)\\")
store.execute(\\"INSERT INTO visits VALUES (9)\\")
store.commit()
os._exit(0)  # what was written last is still in the log
"
"""


@pytest.fixture(scope="session")
def system(request: pytest.FixtureRequest) -> Path:
    """A Debian that nobody changes."""
    if os.geteuid() != 0:
        pytest.skip("a machine in namespaces of its own takes root")
    return make_system(request.config.cache.mkdir("debian"))


@pytest.fixture
def box(system: Path, tmp_path: Path) -> Iterator[Box]:
    """A machine that has just been started for the first time."""
    with Box(system, tmp_path) as machine:
        machine.boot()
        yield machine


@pytest.fixture
def trial(box: Box) -> str:
    """A home that ``./run`` made for pi, who has used it."""
    box.shell("useradd --create-home pi")
    done = box.run("setpriv", "--reuid=pi", "--regid=pi", "--clear-groups", "sh", "-euc", _TRIAL, HOME="/home/pi")
    assert done.returncode == 0, done.stderr
    return "/home/pi/.local/share/appliance"
