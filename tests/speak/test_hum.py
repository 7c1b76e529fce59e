from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from appliance.home import shipped
from appliance.speak.hum import Hum
from appliance.speak.hum_maker import LEVEL_DBFS, VARIANTS, make_hum
from appliance.speak.wave_file import read_wave

SHIPPED = sorted((shipped("soul") / "hum").glob("*.wav"))


def test_four_hums_are_shipped_and_take_turns() -> None:
    hum = Hum.load(shipped("soul"))
    sounds = [hum.next_sound() for _ in range(8)]
    assert len({id(sound) for sound in sounds}) == 4
    assert sounds[:4] == sounds[4:]


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_a_hum_is_short_soft_and_starts_and_ends_in_silence(file: Path) -> None:
    sound = read_wave(file)
    assert 0.5 <= sound.duration_seconds <= 0.9
    assert sound.level_dbfs == pytest.approx(LEVEL_DBFS, abs=1.0)
    loudest = int(np.abs(sound.samples).max())
    edge = sound.format.sample_rate_hz // 200
    assert np.abs(sound.samples[:edge]).max() < 0.05 * loudest
    assert np.abs(sound.samples[-edge:]).max() < 0.05 * loudest


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_a_hum_has_a_voice_pitch_and_its_sound_is_in_the_nose(file: Path) -> None:
    sound = read_wave(file)
    rate_hz = sound.format.sample_rate_hz
    spectrum = np.abs(np.fft.rfft(sound.samples * np.hanning(len(sound.samples)))) ** 2
    frequencies = np.fft.rfftfreq(len(sound.samples), 1.0 / rate_hz)
    assert spectrum[frequencies < 500.0].sum() > 0.8 * spectrum.sum()
    voiced = sound.samples[len(sound.samples) // 2 :][: rate_hz // 10].astype(float)
    echo = np.correlate(voiced, voiced, "full")[len(voiced) :]
    shortest, longest = rate_hz // 200, rate_hz // 80
    pitch_hz = rate_hz / (1 + shortest + int(np.argmax(echo[shortest:longest])))
    assert 90.0 < pitch_hz < 145.0


def test_the_shipped_files_are_what_the_maker_makes() -> None:
    assert len(SHIPPED) == len(VARIANTS)
    for file, parts in zip(SHIPPED, VARIANTS, strict=True):
        made = make_hum(parts).samples.astype(int)
        # Rounding may differ in the last bit between processors.
        assert np.abs(read_wave(file).samples.astype(int) - made).max() <= 1


def test_a_damaged_hum_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "hum"
    folder.mkdir()
    (folder / "hum-1.wav").write_bytes(b"RIFF")
    (folder / "hum-2.wav").write_bytes(SHIPPED[0].read_bytes())
    hum = Hum.load(tmp_path)
    first = hum.next_sound()
    assert first is not None
    assert hum.next_sound() is first


def test_without_files_the_hum_is_silent(tmp_path: Path) -> None:
    assert Hum.load(tmp_path).next_sound() is None
