"""The owner's soul is in force while it can be used, and what they edit is followed while the box runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from appliance.clock import FakeClock
from appliance.errors import ConfigError
from appliance.think.soul import Soul
from appliance.think.soul_file import SoulWatch, find_soul
from tests.contracts.gate import until

PIP = "name: Pip\n---\n## Personality\nCalm.\n"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home" / "default.md"


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    file = tmp_path / "shipped.md"
    file.write_text("name: Wren\n---\n## Personality\nWarm.\n", encoding="utf-8")
    return file


def test_without_a_file_of_the_owner_the_shipped_soul_is_in_force(own: Path, shipped: Path) -> None:
    found = find_soul(own, shipped)
    assert (found.soul.name, found.problems) == ("Wren", ())


def test_the_owners_file_takes_its_place(own: Path, shipped: Path) -> None:
    own.write_text(PIP, encoding="utf-8")
    found = find_soul(own, shipped)
    assert (found.soul.name, found.soul.personality, found.problems) == ("Pip", "Calm.", ())


@pytest.mark.parametrize("text", ["", "just a thought\n", "## Nothing known\nx\n", "\0\0\0"])
def test_a_file_with_nothing_in_it_is_told_and_the_shipped_soul_used(own: Path, shipped: Path, text: str) -> None:
    own.write_text(text, encoding="utf-8")
    found = find_soul(own, shipped)
    assert found.soul.name == "Wren"
    (problem,) = found.problems
    assert str(own) in problem
    assert "## Personality" in problem
    assert "the shipped one is used" in problem


def test_a_file_that_cannot_be_read_is_told_and_the_shipped_soul_used(own: Path, shipped: Path) -> None:
    own.mkdir()
    found = find_soul(own, shipped)
    assert found.soul.name == "Wren"
    assert "cannot be read: Is a directory; the shipped one is used" in found.problems[0]


def test_what_has_another_effect_than_its_owner_may_think_is_told(own: Path, shipped: Path) -> None:
    own.write_text(PIP + "## Tool voice patterns\nkettle:\n  heartbeat: Still cold.\n" + "## Quirks\n" + "x" * 40_000)
    found = find_soul(own, shipped)
    assert found.soul.name == "Pip"
    assert found.soul.voice_overrides["kettle"].heartbeat == ()
    first, second = found.problems
    assert "the heartbeat of kettle is no list on one line" in first
    assert "longer than 32000 characters" in second


def test_without_any_soul_there_is_an_error(own: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        find_soul(own, tmp_path / "none.md")


class Life:
    """A box's soul, what was told of it, and the owner with an editor."""

    def __init__(self, own: Path, shipped: Path) -> None:
        self.clock = FakeClock()
        self.own, self.shipped = own, shipped
        self.watch = SoulWatch(own, shipped, self.clock)
        self.told: list[str] = []
        self.watch.follow(self._fail)
        self.watch.follow(self._note)

    def writes(self, text: str) -> None:
        self.own.write_text(text, encoding="utf-8")

    def removes(self, file: Path) -> None:
        file.unlink()

    async def _note(self, soul: Soul) -> None:
        self.told.append(soul.name)

    async def _fail(self, soul: Soul) -> None:
        raise RuntimeError("a follower that breaks does not keep the others from it")


@pytest.fixture
def life(own: Path, shipped: Path) -> Life:
    return Life(own, shipped)


async def test_an_edit_is_followed_and_nothing_is_told_without_one(life: Life) -> None:
    await life.watch.look()
    assert life.told == []
    life.writes(PIP)
    await life.watch.look()
    await life.watch.look()
    assert (life.told, life.watch.soul.name) == (["Pip"], "Pip")
    life.writes("")
    await life.watch.look()
    assert life.told == ["Pip", "Wren"]
    assert life.watch.problems
    life.removes(life.own)
    await life.watch.look()
    assert life.told == ["Pip", "Wren", "Wren"]
    assert not life.watch.problems


async def test_a_running_box_looks_every_three_seconds(life: Life) -> None:
    running = asyncio.create_task(life.watch.run())
    life.writes(PIP)
    await life.clock.advance(2.9)
    assert life.told == []
    await life.clock.advance(0.1)
    await until(lambda: life.told == ["Pip"])
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_another_language_or_voice_waits_for_the_next_start_and_says_so(life: Life) -> None:
    life.writes("name: Pip\nvoice: en_GB-alba-medium\n---\n")
    await life.watch.look()
    assert life.watch.problems == ("another language or voice in the soul counts from the next start",)


async def test_a_shipped_soul_that_goes_away_changes_nothing(life: Life) -> None:
    life.writes(PIP)
    await life.watch.look()
    life.removes(life.own)
    life.removes(life.shipped)
    await life.watch.look()
    assert (life.told, life.watch.soul.name) == (["Pip"], "Pip")
