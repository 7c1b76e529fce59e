"""How soon a thread of this process gets its turn."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from appliance import promptness
from appliance.promptness import environment_as_it_came, keep_algebra_on_one_thread

#: The threads of a program that has loaded numpy behind the words that are put in front.
_COUNT = "import os, numpy; print(len(os.listdir('/proc/self/task')))"


def test_the_algebra_of_numpy_has_no_threads_that_burn_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    words = f"from appliance.promptness import keep_algebra_on_one_thread as keep; keep(); {_COUNT}"
    ran = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "1"


def test_numpy_is_not_loaded_before_that() -> None:
    words = "import sys, appliance.cli.main; print('numpy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


def test_the_owner_s_own_number_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    keep_algebra_on_one_thread()
    assert environment_as_it_came()["OPENBLAS_NUM_THREADS"] == "3"


def test_a_program_that_is_compared_does_not_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    assert "OPENBLAS_NUM_THREADS" not in environment_as_it_came()


#: How nice a thread is that stepped back, one that it started, and the one that started it.
_HOW_NICE = """
import os, threading
from concurrent.futures import ThreadPoolExecutor
from appliance.promptness import share_promptly, step_back

def nice():
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

def both():
    found = []
    started = threading.Thread(target=lambda: found.append(nice()))
    started.start()
    started.join()
    return [nice(), *found]

before = nice()
{first}
with ThreadPoolExecutor(1, initializer=step_back) as pool:
    print([one - before for one in (*pool.submit(both).result(), nice())])
"""


@pytest.mark.parametrize(("first", "found"), [("share_promptly()", "[10, 10, 0]"), ("", "[0, 0, 0]")])
def test_who_calculates_gives_way_on_a_device_and_only_there(first: str, found: str) -> None:
    words = _HOW_NICE.format(first=first)
    ran = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == found


def test_where_the_system_forbids_it_everything_works_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_words: int) -> None:
        raise PermissionError

    monkeypatch.setattr(promptness, "_IS_SHARED", threading.Event())
    monkeypatch.setattr(sys, "setswitchinterval", lambda _seconds: None)
    monkeypatch.setattr(os, "setpriority", forbidden)
    promptness.share_promptly()
    promptness.step_back()
