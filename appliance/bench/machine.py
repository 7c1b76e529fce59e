"""What the benchmark ran on: without that its milliseconds mean nothing."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

#: Processor flags that decide how fast 8-bit arithmetic is.
_FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8", "asimd", "asimddp", "i8mm", "sve")
_PACKAGES = ("faster-whisper", "ctranslate2", "onnxruntime", "piper-tts", "numpy")
_PROC = Path("/proc")


@dataclass(frozen=True)
class Machine:
    """A description; ``throttled`` is what a Raspberry Pi says about heat and power, "" elsewhere.

    ``load`` is how many processes wanted to run during the last minute.
    """

    processor: str
    flags: tuple[str, ...]
    cores: int
    memory_megabytes: int
    system: str
    python: str
    packages: dict[str, str]
    load: float
    throttled: str

    def in_words(self) -> str:
        """For the head of a table."""
        packages = ", ".join(f"{name} {version}" for name, version in self.packages.items())
        lines = [
            f"{self.processor}, {self.cores} cores ({' '.join(self.flags)}), {self.memory_megabytes / 1000:.1f} GB",
            f"{self.system}, Python {self.python}, {packages}",
            f"load at start {self.load:.2f}" + (f", throttled {self.throttled}" if self.throttled else ""),
        ]
        return "\n".join(lines)


def describe(proc: Path = _PROC) -> Machine:
    """The machine as it is now."""
    cpu = (proc / "cpuinfo").read_text(encoding="utf-8", errors="replace")
    memory = re.search(r"MemTotal:\s+(\d+)", (proc / "meminfo").read_text(encoding="utf-8"))
    flags = set(re.findall(r"^(?:flags|Features)\s*:(.*)$", cpu, re.MULTILINE)[:1] or [""]).pop().split()
    return Machine(
        _processor(cpu, proc),
        tuple(flag for flag in _FLAGS if flag in flags),
        os.cpu_count() or 1,
        int(memory[1]) // 1000 if memory else 0,
        f"{platform.system()} {platform.release()} {platform.machine()}",
        platform.python_version(),
        {name: _version(name) for name in _PACKAGES},
        os.getloadavg()[0],
        throttled(),
    )


def throttled() -> str:
    """What ``vcgencmd get_throttled`` says: 0x0 when neither heat nor power held the board back."""
    command = shutil.which("vcgencmd")
    if command is None:
        return ""
    done = subprocess.run([command, "get_throttled"], capture_output=True, text=True, check=False, timeout=10)
    return done.stdout.strip().rpartition("=")[2]


def _processor(cpu: str, proc: Path) -> str:
    try:
        # A board says what it is; its processor has numbers only.
        return (proc / "device-tree" / "model").read_text(encoding="utf-8").strip("\0\n ")
    except OSError:
        found = re.search(r"^model name\s*:\s*(.+)$", cpu, re.MULTILINE)
        return found[1].strip() if found else platform.machine()


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "missing"
