"""faster-whisper without what the box does not use of it, until it does."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from appliance.home import shipped

_BEGIN = """
import json, sys
from appliance.adapters.whisper_library import whisper_model
whisper_model()
"""


def _in_a_program_of_its_own(words: str) -> Any:
    ran = subprocess.run([sys.executable, "-c", _BEGIN + words], capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


def test_what_is_not_used_is_not_imported() -> None:
    found = _in_a_program_of_its_own('print(json.dumps([n for n in ("av", "huggingface_hub") if n in sys.modules]))')
    assert found == []


def test_a_recording_is_read_with_it_all_the_same() -> None:
    words = f"""
from faster_whisper import decode_audio
print(json.dumps(len(decode_audio({str(shipped("soul") / "demo.wav")!r}))))
"""
    assert _in_a_program_of_its_own(words) > 8_000


def test_who_imports_them_later_gets_them_whole() -> None:
    words = """
import faster_whisper.utils
import huggingface_hub
from huggingface_hub import snapshot_download
import av.error
is_same = faster_whisper.utils.huggingface_hub.snapshot_download is snapshot_download
print(json.dumps([is_same, av.error.InvalidDataError.__name__, type(huggingface_hub).__name__]))
"""
    assert _in_a_program_of_its_own(words) == [True, "InvalidDataError", "module"]


def test_what_is_there_already_stays() -> None:
    words = """
import av
print(json.dumps(sys.modules["av"] is av and type(av).__name__ == "module"))
"""
    assert _in_a_program_of_its_own(words) is True
