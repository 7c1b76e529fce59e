"""kill -9 at every step of the plugin manager: the old or the new plugin is there afterwards, whole."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.install.kill_at_every_step import SCENARIOS
from tests.store.crash_disk import fast_folder

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_manager_killed_at_any_step_leaves_the_old_or_the_new_and_never_half(name: str) -> None:
    with fast_folder() as folder:
        command = [sys.executable, "-m", "tests.install.kill_at_every_step", str(folder), name]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert ran.returncode == 0, ran.stderr
    found: list[dict[str, Any]] = json.loads(ran.stdout)
    assert [one for one in found if one["faults"]] == []
    kills = [one for one in found if not one["recovery_step"] and one["event"]]
    assert len(kills) >= 20, "every change of the disk is one"
    seen = {one["live"] for one in kills}
    assert seen == {SCENARIOS[name].old, SCENARIOS[name].new}, "both ends are reached, or the kills missed the swap"
    assert sum(1 for one in kills if one["is_journal_left"]) >= 5
    assert sum(1 for one in found if one["recovery_step"] and one["event"]) >= 20, "recoveries are killed too"
