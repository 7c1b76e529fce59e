"""How long a question waits is the owner's to say, and every call that may ask has the time for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.approve.config import ApprovalConfig
from appliance.config import load
from appliance.contracts.kotoba.budget import BudgetRule
from appliance.errors import ConfigError
from tests.approve.rig import Scene

SETTINGS = {"approval.voice_window_seconds": "90.5", "approval.typed_window_seconds": "30"}


@pytest.mark.parametrize(("channel", "seconds"), [("voice", 90.5), ("text", 30.0)])
async def test_a_question_waits_as_long_as_the_owner_wants(tmp_path: Path, channel: str, seconds: float) -> None:
    scene = Scene(tmp_path, load(None, {}, SETTINGS).of(ApprovalConfig))
    call = await scene.asked(channel=channel)
    await scene.clock.advance(seconds - 0.5)
    await scene.quiet()
    assert not call.done()
    await scene.clock.advance(0.5)
    assert "timed out" in (await call).text
    scene.database.close()


@pytest.mark.parametrize("wanted", ["5", "0", "-1", "9000", "nan", "long"])
@pytest.mark.parametrize("key", list(SETTINGS))
def test_no_window_is_too_short_to_answer_or_longer_than_a_tool_may_run(key: str, wanted: str) -> None:
    with pytest.raises(ConfigError, match=key):
        load(None, {}, {key: wanted})


@pytest.mark.parametrize("rule", [BudgetRule(is_exec=True), BudgetRule(is_exec=True, follows_argument=True)])
@pytest.mark.parametrize("wanted", ["10", "10.9", "60", "590"])
def test_a_call_that_asks_outlives_its_question(rule: BudgetRule, wanted: str) -> None:
    windows = load(None, {}, dict.fromkeys(SETTINGS, wanted)).of(ApprovalConfig).window_seconds
    for seconds in windows.values():
        assert rule.seconds({}, seconds) > seconds
