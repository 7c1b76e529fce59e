"""Boxes for the stories; each is switched off, and looked at, when its story is over."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.sentence_matcher import HassilMatcher
from appliance.home import shipped
from appliance.think.sentences import SENTENCE_LISTS, fixed_lists
from tests.assistant.rig import Rig

MakeRig = Callable[..., Coroutine[Any, Any, Rig]]
#: For a model that fails once: the draft would meet that failure, and the person would not.
NO_DRAFTS = {"think.speculate": "false"}


@pytest.fixture(scope="session")
def matcher() -> HassilMatcher:
    """The sentences of the box, parsed once."""
    matcher = HassilMatcher(shipped("soul") / "en" / "intents.yaml", fixed_lists(), SENTENCE_LISTS)
    matcher.load()
    return matcher


@pytest.fixture
async def make_rig(tmp_path: Path, matcher: HassilMatcher, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MakeRig]:
    """Makes boxes that are switched on; see ``Rig`` for what it takes.

    A box on the disk of an earlier one is that one, started again.
    """
    monkeypatch.setenv("TZ", "UTC")
    rigs: list[Rig] = []

    async def make(*, is_living: bool = True, **parts: Any) -> Rig:
        for earlier in rigs:
            if earlier.disk is parts.get("disk"):
                await earlier.close()
        rig = await Rig(tmp_path, matcher, **parts).start(is_living=is_living)
        rigs.append(rig)
        return rig

    yield make
    for rig in rigs:
        await rig.close()
    for rig in rigs:
        rig.disk.unplug()
