"""The whole program with all its packages, installed into a Debian that is not running, which is then started.

Nothing is small or made up here but the sound card, which there is none of.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.systemd.machine import Machine
from tests.systemd.small_version import ROOT

_PARTS = ("appliance", "plugins", "soul", "firmware", "systemd")
_FILES = ("run", "pyproject.toml", "requirements.lock", "README.md", "LICENSE")


@pytest.fixture(scope="module")
def wheels(request: pytest.FixtureRequest, system: Path) -> Path:
    """The locked packages, as pip fetches them."""
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    if not (system / "usr/bin" / python).exists():
        pytest.skip(f"run the tests with the Python of this Debian; they run with {python}")
    folder = Path(request.config.cache.mkdir("wheels"))
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:", "--require-hashes"]
    command += ["--requirement", str(ROOT / "requirements.lock"), "--dest", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program as it is now."""
    folder = tmp_path_factory.mktemp("checkout")
    for part in _PARTS:
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _FILES:
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which somebody has turned the volume down."""
    home = tmp_path_factory.mktemp("trial")
    command = [sys.executable, "-m", "appliance.cli.main", "ask", "--text", "set the volume to 30 percent"]
    done = subprocess.run(command, cwd=ROOT, env={"APPLIANCE_HOME": str(home)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return home


@pytest.fixture(scope="module")
def installed(
    system: Path, wheels: Path, checkout: Path, trial: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Machine, str]]:
    """The machine, not yet started, and what the installer said."""
    shown = {"/mnt/wheels": wheels, "/mnt/checkout": checkout, "/mnt/trial": trial}
    with Machine(system, tmp_path_factory.mktemp("machine") / "own", shown) as machine:
        assert machine.from_outside("mkdir -p usr/share/bash-completion/completions").returncode == 0
        options = "--yes --root . --wheels mnt/wheels --adopt mnt/trial"
        done = machine.from_outside(f"exec mnt/checkout/systemd/install {options}")
        assert done.returncode == 0, done.stderr
        yield machine, done.stderr


def test_a_system_that_does_not_run_gets_the_program_which_answers_a_question(installed: tuple[Machine, str]) -> None:
    _machine, said = installed
    assert "heard  What time is it?" in said
    assert "said   It is " in said
    assert "systemd does not run here: it starts with the system's next start" in said


def test_its_first_start_brings_the_box_up_under_all_its_protections(installed: tuple[Machine, str]) -> None:
    machine, _said = installed
    machine.boot()
    assert machine.shell("systemctl is-active appliance.service") == "active"
    assert machine.shell("systemctl show appliance.service --property User --value") == "appliance"
    assert json.loads(machine.shell("appliance status --json"))["volume"] == "30 %", "as it was in the trial"
    # The Tab key knows its commands.
    assert "doctor" in machine.shell("cat /usr/share/bash-completion/completions/appliance")
    # The checkout and the packages are no longer needed.
    assert machine.run("grep", "-r", "/mnt/", "/opt/appliance/current/bin").stdout == ""


def test_a_person_of_its_group_talks_to_it_and_starts_no_second_one(installed: tuple[Machine, str]) -> None:
    machine, _said = installed
    machine.shell("useradd --create-home pi; useradd --create-home guest; usermod --append --groups appliance pi")

    def types(person: str, *words: str) -> subprocess.CompletedProcess[str]:
        return machine.run("setpriv", f"--reuid={person}", f"--regid={person}", "--init-groups", *words, HOME="/tmp")

    done = types("pi", "appliance", "ask", "--text", "what time is it")
    assert (done.returncode, done.stderr) == (0, "")
    assert types("guest", "appliance", "status").returncode == 3, "refused"
    for person in ("pi", "root"):
        done = types(person, "appliance", "run")
        assert done.returncode == 1
        assert "the appliance is a service on this computer" in done.stderr


def test_what_root_does_while_the_service_is_stopped_stays_usable_for_the_service(
    installed: tuple[Machine, str],
) -> None:
    machine, _said = installed
    machine.shell("systemctl stop appliance.service; appliance ask --text 'set the volume to 40 percent'")
    of_root = machine.shell("cd /var/lib/appliance; find . /var/cache/appliance -mindepth 1 -user root")
    assert of_root.split() == ["./installed", "./plugins"]
    machine.shell("systemctl start appliance.service")
    machine.shell("appliance ask --text 'set the volume to 50 percent'; appliance audit verify")


def test_the_next_installation_finds_everything_in_its_place(installed: tuple[Machine, str]) -> None:
    machine, _said = installed
    process = machine.shell("systemctl show appliance.service --property MainPID --value")
    done = machine.run("/mnt/checkout/systemd/install", "--yes", "--wheels", "/mnt/wheels")
    assert done.returncode == 0, done.stderr
    assert "this version is here already" in done.stderr
    assert machine.shell("systemctl show appliance.service --property MainPID --value") == process
