"""The firmware onto a board: built with avr-gcc, written with avrdude; both are Debian packages."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

#: Debian package and a command in it.
_BUILDERS = {"make": "make", "gcc-avr": "avr-gcc"}
#: Loaders of boards that are sold today; old Nanos talk at 57600.
LOADER_BAUD = 115_200
_CHIP = "atmega328p"
#: Programmers that go through the board's own serial port.
_LOADERS = ("arduino",)
_BUILD_SECONDS, _WRITE_SECONDS = 120.0, 180.0
_LINES_TOLD = 6


def build_firmware(source: Path, folder: Path, *, anew: bool = False) -> Path:
    """The image of the firmware in ``source``, built into ``folder``; without a compiler the one built before.

    ``anew`` builds whatever is there. Raises ``OSError`` that says what to do.
    """
    image = folder / "face.hex"
    lacking = [package for package, command in _BUILDERS.items() if shutil.which(command) is None]
    if lacking:
        if image.exists() and not anew:
            return image
        raise OSError(
            f"the firmware cannot be built here; install: sudo apt install {' '.join([*lacking, 'avr-libc'])}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    always = ["--always-make"] if anew else []
    _run(["make", "--silent", *always, "-C", str(source), f"BUILD={folder}", str(image)], _BUILD_SECONDS, "building it")
    return image


def write_firmware(image: Path, port: str, programmer: str = "arduino", baud: int = LOADER_BAUD) -> None:
    """Put the image on the board. Raises ``OSError`` that says what to do."""
    if shutil.which("avrdude") is None:
        raise OSError("avrdude is not installed; install it with: sudo apt install avrdude")
    words = ["avrdude", "-q", "-p", _CHIP, "-c", programmer]
    if programmer in _LOADERS:
        # The loader cannot erase the chip (-D): it writes page by page, and what is stored on the board stays.
        words += ["-P", port, "-b", str(baud), "-D"]
    _run([*words, "-U", f"flash:w:{image}:i"], _WRITE_SECONDS, "writing it")


def _run(words: list[str], seconds: float, what: str) -> None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise OSError(f"{what} took longer than {seconds:g} seconds; is the board there?") from error
    if done.returncode:
        said = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()][-_LINES_TOLD:]
        raise OSError(f"{what} failed. {words[0]} says: {'; '.join(said) or 'nothing'}")
