from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from appliance.adapters.fakes.synthesizer import FakeSynthesizer
from appliance.clock import settle
from appliance.speak.line_cache import LineCache
from tests.speak.rig import Rig

LINE = "Let me look."


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


async def test_a_prepared_line_is_kept_as_the_voice_said_it(tmp_path: Path) -> None:
    voice = FakeSynthesizer()
    cache = LineCache(tmp_path, voice, 1)
    assert await cache.get(LINE) is None
    assert await cache.prepare([LINE])
    kept = await cache.get(LINE)
    assert kept is not None
    assert voice.texts_in(kept.samples) == [LINE]
    assert kept.format.sample_rate_hz == voice.sample_rate_hz
    assert kept.duration_seconds == voice.seconds(LINE)


async def test_a_kept_line_survives_a_restart_and_is_not_made_again(tmp_path: Path) -> None:
    await LineCache(tmp_path, FakeSynthesizer(), 1).prepare([LINE])
    voice = FakeSynthesizer()
    cache = LineCache(tmp_path, voice, 1)
    await cache.prepare([LINE, LINE])
    assert await cache.get(LINE) is not None
    assert voice.asked == []


async def test_another_voice_or_pace_has_its_own_lines(tmp_path: Path) -> None:
    await LineCache(tmp_path, FakeSynthesizer(), 1).prepare([LINE])
    assert await LineCache(tmp_path, FakeSynthesizer(), 1).get(LINE, 1.5) is None
    assert await LineCache(tmp_path, FakeSynthesizer(voice_key="other"), 1).get(LINE) is None


async def test_the_text_of_a_line_is_not_in_the_name_of_its_file(tmp_path: Path) -> None:
    await LineCache(tmp_path, FakeSynthesizer(), 1).prepare([LINE])
    (file,) = files(tmp_path)
    assert file.suffix == ".wav"
    assert "look" not in file.name


async def test_a_damaged_file_counts_as_missing_and_is_made_again(tmp_path: Path) -> None:
    await LineCache(tmp_path, FakeSynthesizer(), 1).prepare([LINE])
    (file,) = files(tmp_path)
    whole = file.read_bytes()
    for damaged in (b"", b"\0" * len(whole), whole[:30], whole[:-100], b"not a sound at all"):
        file.write_bytes(damaged)
        voice = FakeSynthesizer()
        cache = LineCache(tmp_path, voice, 1)
        assert await cache.get(LINE) is None
        assert files(tmp_path) == []
        await cache.prepare([LINE])
        assert voice.asked == [LINE]
        assert file.read_bytes() == whole


async def test_what_a_power_cut_left_half_written_is_removed(tmp_path: Path) -> None:
    (tmp_path / "0123.part").write_bytes(b"half")
    await LineCache(tmp_path, FakeSynthesizer(), 1).get(LINE)
    assert files(tmp_path) == []


@pytest.mark.parametrize("oldest", range(4))
async def test_a_full_cache_drops_what_was_used_longest_ago(tmp_path: Path, oldest: int) -> None:
    before = LineCache(tmp_path, FakeSynthesizer(), 1)
    lines = [f"Line {number}." for number in range(4)]
    for number, line in enumerate(lines):
        known = set(files(tmp_path))
        await before.prepare([line])
        (new,) = set(files(tmp_path)) - known
        seconds = 1e9 + 100 * ((number - oldest) % 4)
        os.utime(new, (seconds, seconds))
    size = new.stat().st_size

    # Room for three of the four beside the guessed length of a fifth (6 letters at 15 a second).
    cache = LineCache(tmp_path, FakeSynthesizer(), (3 * size + 12_800 + 100) / 1e6)
    assert await cache.prepare(["New on"])
    kept = [line for line in [*lines, "New on"] if await cache.get(line) is not None]
    assert kept == [*lines[:oldest], *lines[oldest + 1 :], "New on"]


async def test_a_full_cache_of_lines_in_use_stays_as_it_is(tmp_path: Path) -> None:
    """Else every start would write all lines again when there are more than fit."""
    voice = FakeSynthesizer(word_seconds=0.5)
    cache = LineCache(tmp_path, voice, 0.1)
    lines = [f"Line {number}." for number in range(20)]
    assert not await cache.prepare(lines)
    kept = [line for line in lines if await cache.get(line) is not None]
    assert kept == lines[: len(kept)]
    assert 0 < len(kept) < 5
    asked = len(voice.asked)
    assert not await cache.prepare(lines)
    assert len(voice.asked) == asked
    assert sum(file.stat().st_size for file in files(tmp_path)) <= 100_000


async def test_a_disk_that_cannot_be_written_only_costs_speed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = LineCache(tmp_path / "file", FakeSynthesizer(), 1)
    assert not await cache.prepare([LINE])
    assert await cache.get(LINE) is None


async def test_a_voice_that_fails_on_one_line_still_prepares_the_others(tmp_path: Path) -> None:
    voice = FakeSynthesizer()
    voice.fail("Bad.")
    cache = LineCache(tmp_path, voice, 1)
    assert await cache.prepare(["Bad.", "Good."])
    assert await cache.get("Bad.") is None
    assert await cache.get("Good.") is not None


async def test_the_speaker_says_a_prepared_line_without_its_voice(tmp_path: Path) -> None:
    rig = Rig(cache=lambda voice: LineCache(tmp_path, voice, 1))
    rig.speaker.prepare([LINE])
    await _disk(tmp_path, rig, 1)
    assert rig.voice.asked == [LINE]
    rig.voice.fail()
    rig.speaker.say(LINE)
    await _until_heard(rig)
    assert rig.heard == [LINE]
    assert rig.voice.asked == [LINE]


async def test_a_reply_is_never_kept(tmp_path: Path) -> None:
    rig = Rig(cache=lambda voice: LineCache(tmp_path, voice, 1))
    rig.speaker.say("Your password is hunter two.")
    await _until_heard(rig)
    assert files(tmp_path) == []


async def test_lines_are_prepared_only_while_no_turn_is_on_unless_they_are_needed_soon(tmp_path: Path) -> None:
    rig = Rig(cache=lambda voice: LineCache(tmp_path, voice, 1))
    rig.is_busy = True
    rig.speaker.prepare(["Later."])
    rig.speaker.prepare(["Soon."], soon=True)
    await _disk(tmp_path, rig, 1)
    await rig.clock.advance(5.0)
    assert rig.voice.asked == ["Soon."]
    rig.is_busy = False
    await rig.clock.advance(2.0)
    await _disk(tmp_path, rig, 2)
    assert rig.voice.asked == ["Soon.", "Later."]


async def test_another_pace_has_its_fixed_lines_prepared_anew(tmp_path: Path) -> None:
    rig = Rig(cache=lambda voice: LineCache(tmp_path, voice, 1))
    rig.speaker.prepare([LINE])
    await _disk(tmp_path, rig, 1)
    rig.speaker.speed = 2.0
    await _disk(tmp_path, rig, 2)
    assert sorted(np.round([file.stat().st_size for file in files(tmp_path)], -2)) == [2900, 5800]
    await rig.speaker.close()


async def _disk(folder: Path, rig: Rig, count: int) -> None:
    """Let the loop and the file threads run until ``count`` lines are kept."""
    while len([file for file in files(folder) if file.suffix == ".wav"]) < count:
        await rig.clock.advance(0.0)
    await settle()


async def _until_heard(rig: Rig) -> None:
    while rig.speaker.is_speaking:
        await rig.play(0.02)
