"""What the firmware is made of: its table, its size, and what the sanitizers say."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from appliance.face.firmware_table import emotions_header
from tests.firmware.core import HostBuild
from tests.firmware.rig import FIRMWARE, Firmware

FLASH_BYTES, RAM_BYTES = 32 * 1024, 2 * 1024


def test_the_moods_of_the_firmware_are_those_of_the_python_table() -> None:
    found = (FIRMWARE / "core" / "emotions.h").read_text(encoding="ascii")
    assert found == emotions_header(), (
        "made from another table; run: python -m appliance.face.firmware_table > firmware/core/emotions.h"
    )


def test_it_fits_into_the_chip_with_room_to_spare(face_firmware: Firmware, capsys: pytest.CaptureFixture[str]) -> None:
    told = subprocess.run(
        ["make", "--silent", "-C", str(FIRMWARE), f"BUILD={face_firmware.elf.parent}", "size"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    flash, ram = (int(number) for number in re.findall(r"(?:Program|Data): +(\d+) bytes", told))
    with capsys.disabled():
        print(f"\nfirmware: flash {flash} of {FLASH_BYTES} bytes, RAM {ram} of {RAM_BYTES} bytes and the stack")
    assert 1000 < flash < 0.9 * FLASH_BYTES
    assert 100 < ram < 0.9 * RAM_BYTES


def test_nothing_that_comes_over_the_wire_harms_the_core(host_build: HostBuild) -> None:
    told = subprocess.run([str(host_build.fuzzer), "400000", "7"], capture_output=True, text=True, timeout=60)
    assert told.returncode == 0, told.stderr
    assert "400000 inputs, nothing wrong" in told.stdout


def test_the_core_knows_no_chip() -> None:
    for file in sorted((FIRMWARE / "core").glob("*.[hc]")):
        includes = re.findall(r"#include [<\"]([^>\"]+)", file.read_text(encoding="ascii"))
        foreign = [name for name in includes if name.startswith(("avr/", "../", "util/"))]
        # Tables in flash are read in another way on an AVR; nothing else of a chip is in there.
        assert foreign == ([] if file.name != "table.h" else ["avr/pgmspace.h"]), file.name


def test_no_file_is_longer_than_a_reader_holds_in_mind() -> None:
    files: list[Path] = [*FIRMWARE.glob("core/*.[hc]"), *FIRMWARE.glob("avr/*.[hc]"), *FIRMWARE.glob("host/*.[hc]")]
    files += FIRMWARE.glob("sim/*.c")
    lengths = {file.name: len(file.read_text(encoding="ascii").splitlines()) for file in files}
    assert {name: lines for name, lines in lengths.items() if lines > 450} == {}
