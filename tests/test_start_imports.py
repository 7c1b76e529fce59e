"""What a person who has just switched the box on waits for, and what they do not wait for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.device import environment_without_sound

#: Loaded behind the ears: each costs more than a wake word may wait for.
LATER = (
    "PIL",
    "appliance.adapters.piper",
    "appliance.adapters.responses_api",
    "appliance.adapters.whisper",
    "appliance.assembly",
    "appliance.assistant",
    "appliance.box",
    "appliance.contracts.shelf",
    "appliance.doctor.doctor",
    "appliance.think.soul",
    "appliance.wiring",
    "appliance.wiring_faces",
    "av",
    "cryptography",
    "ctranslate2",
    "faster_whisper",
    "gpiozero",
    "hassil",
    "httpx",
    "livekit",
    "onnxruntime",
    "piper",
    "requests",
    "tokenizers",
    "tomlkit",
    "yaml",
    "zeroconf",
)

#: The device up to the moment at which its ears are open, by the way that it always takes.
_UNTIL_IT_HEARS = """
import json, os, sys
from contextlib import asynccontextmanager
import appliance.wiring_ears as wiring_ears

opened = wiring_ears.open_ears

@asynccontextmanager
async def until_open(*parts):
    async with opened(*parts):
        json.dump([name for name in LATER if name in sys.modules], sys.stdout)
        sys.stdout.flush()
        os._exit(0)
    yield

wiring_ears.open_ears = until_open
from appliance.cli.main import main
main(["run", "--stay"])
"""


def test_nothing_but_what_a_wake_word_needs_is_loaded_before_it_is_heard(tmp_path: Path) -> None:
    environment = {**environment_without_sound(), "APPLIANCE_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-c", _UNTIL_IT_HEARS.replace("LATER", repr(LATER))]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == []


@pytest.mark.parametrize("name", [name for name in LATER if name.startswith("appliance.")])
def test_the_list_names_modules_that_exist(name: str) -> None:
    root = Path(__file__).resolve().parent.parent
    path = root.joinpath(*name.split("."))
    assert path.with_suffix(".py").exists() or path.is_dir()
