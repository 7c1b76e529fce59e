"""What the face costs: every device is measured, and the sum is right."""

from __future__ import annotations

import pytest

from appliance.bench.face import ALL, ENGINE, measure
from tests.cli.conftest import shell
from tests.cli.shell import Shell

__all__ = ["shell"]


def test_every_device_gets_the_poses_it_can_show() -> None:
    rows = {row.part: row for row in measure(2.0)}
    assert set(rows) == {
        *(ENGINE, ALL, "serial", "led", "strip", "servo", "servo, in software"),
        *("pca9685", "matrix", "oled", "screen"),
    }
    assert rows["strip"].poses == rows[ENGINE].poses == 50
    assert 15 <= rows["oled"].poses <= 25, "a small screen cannot show all of them"
    assert rows[ALL].cpu_seconds == pytest.approx(sum(row.cpu_seconds for row in rows.values()) / 2)
    assert rows[ALL].share_percent == pytest.approx(50 * rows[ALL].cpu_seconds)


def test_the_command_prints_the_shares(shell: Shell) -> None:
    ran = shell("bench", "face", "--seconds", "1")
    assert (ran.code, ran.err) == (0, "")
    assert "all together" in ran.out and "share of a core" in ran.out
    listed = shell("bench", "face", "--seconds", "1", "--json").json
    assert {"part", "poses", "milliseconds", "share_percent"} <= set(listed[0])
