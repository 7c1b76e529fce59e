"""The jobs whose growth is measured, in small."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from appliance.bench.growth import GrowthRow


def test_a_ratio_is_that_of_a_step_to_the_one_before() -> None:
    row = GrowthRow("a job", (10, 100, 1000), (1.0, 10.0, 150.0), is_in_turn=True)
    assert row.ratios == pytest.approx((10.0, 15.0))


#: In a process of its own: it imports a plugin, as other tests of this run have had the box do in their way.
_MEASURE = """
import dataclasses, json
from appliance.bench.growth import measure
print(json.dumps([dataclasses.asdict(row) for row in measure((10, 20), (20, 40), (3, 6))]))
"""


def test_every_job_is_done_for_every_count() -> None:
    done = subprocess.run([sys.executable, "-c", _MEASURE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [GrowthRow(**row) for row in json.loads(done.stdout)]
    assert {row.job.partition(":")[0] for row in rows} == {"tools", "chat", "network"}
    assert len({row.job for row in rows}) == len(rows)
    assert all(len(row.milliseconds) == len(row.counts) == 2 for row in rows)
    assert all(cost > 0 for row in rows for cost in row.milliseconds)
    assert {row.job for row in rows if row.is_in_turn} >= {
        "tools: selected for a turn",
        "chat: what a model gets of it",
        "chat: the same behind a new topic",
    }
