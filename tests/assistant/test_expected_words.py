"""Names that no dictionary has: the transcriber is told which may be said now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from appliance.adapters.fakes.control import FakeControl
from appliance.adapters.sentence_matcher import HassilMatcher
from appliance.assembly_ground import Adapters
from appliance.config_file import set_values
from tests.assistant.rig import Rig


class ExpectingRig(Rig):
    """A box whose transcriber can be asked what it expects."""

    def __init__(self, folder: Path, matcher: HassilMatcher, **options: Any) -> None:
        super().__init__(folder, matcher, **options)
        self.expected: Callable[[], Sequence[str]] = list

    def _adapters(self) -> Adapters:
        return replace(super()._adapters(), expect_words=lambda words: setattr(self, "expected", words))


async def test_words_of_the_owner_and_names_of_timers_are_expected_for_as_long_as_they_hold(
    tmp_path: Path, matcher: HassilMatcher
) -> None:
    settings = {"listen.words": "Jellyfin, Aoife", "listen.corrections": "nano leaf = Nanoleaf"}
    rig = await ExpectingRig(tmp_path, matcher, settings=settings).start()
    assert rig.expected() == ["Jellyfin", "Aoife", "Nanoleaf"]
    await rig.control.call("tool.run", {"name": "box_timer_set", "arguments": {"seconds": 300, "name": "sourdough"}})
    assert rig.expected() == ["Jellyfin", "Aoife", "Nanoleaf", "sourdough"]
    await rig.runs(302.0)
    assert rig.expected() == ["Jellyfin", "Aoife", "Nanoleaf"]
    await rig.close()
    rig.disk.unplug()


async def test_new_words_are_expected_at_once(tmp_path: Path, matcher: HassilMatcher) -> None:
    rig = await ExpectingRig(tmp_path, matcher).start()
    set_values(rig.home.config_file, "listen", {"words": ["Roborock"]})
    effects = await FakeControl(rig.box.all_handlers).call("config.changed", {"keys": ["listen.words"]})
    assert effects == {"listen.words": "now"}
    assert rig.expected() == ["Roborock"]
    await rig.close()
    rig.disk.unplug()
