"""What speaking costs: every figure is there, with its interval around it."""

from __future__ import annotations

import pytest

from appliance.bench import speaking
from tests.cli.conftest import shell
from tests.cli.shell import Shell

__all__ = ["shell"]


def test_the_command_prints_every_figure(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    few = (*speaking.SENTENCES[:2], speaking.SENTENCES[-3])
    monkeypatch.setattr(speaking, "SENTENCES", few)
    monkeypatch.setattr(speaking, "_KEPT_LINES", 2)
    monkeypatch.setattr(speaking, "_LONG_SECONDS", 3.0)
    ran = shell("bench", "speaking", "--rounds", "1", "--json")
    assert (ran.code, ran.err) == (0, "")
    rows = ran.json
    assert {"A/A", "P8", "P9", "P10"} <= {row["figure"] for row in rows}
    assert all(row["low"] <= row["ratio"] <= row["high"] and row["milliseconds"] > 0 for row in rows)
