"""What is installed: the lock files fit the project, and the wheel carries what it needs and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
TESTS_LOCK = ROOT / "tests" / "requirements.lock"

#: Every system that we support: version of Python, processor.
SYSTEMS = [(python, machine) for python in ("3.11", "3.12", "3.13") for machine in ("x86_64", "aarch64")]


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as built:
        yield built


@pytest.mark.parametrize(("python", "machine"), SYSTEMS)
def test_every_direct_dependency_is_locked_at_a_version_that_fits(
    project: dict[str, Any], python: str, machine: str
) -> None:
    build = project["dependency-groups"]["build"]
    assert _unmet(project["project"]["dependencies"] + build, _locked(LOCK, python, machine), python, machine) == []


@pytest.mark.parametrize(("python", "machine"), SYSTEMS)
def test_every_test_tool_is_locked_at_a_version_that_fits(project: dict[str, Any], python: str, machine: str) -> None:
    tools = [entry for entry in project["dependency-groups"]["test"] if isinstance(entry, str)]
    assert _unmet(tools, _locked(TESTS_LOCK, python, machine), python, machine) == []


@pytest.mark.parametrize(("python", "machine"), SYSTEMS)
def test_the_test_tools_run_with_the_versions_that_people_get(python: str, machine: str) -> None:
    runtime, tools = _locked(LOCK, python, machine), _locked(TESTS_LOCK, python, machine)
    assert {name: tools[name] for name in runtime.keys() & tools.keys()} == {
        name: runtime[name] for name in runtime.keys() & tools.keys()
    }


@pytest.mark.parametrize("lock", [LOCK, TESTS_LOCK], ids=["runtime", "tests"])
def test_every_locked_package_is_pinned_with_hashes_and_comes_from_no_other_index(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    assert all(re.match(r"[\w.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", entry) for entry in _entries(lock))
    for word in ("--index", "--extra-index", "--find-links", "://", " @ "):
        assert word not in text


def test_the_wheel_installs_one_package_and_nothing_beside_it(wheel: zipfile.ZipFile) -> None:
    assert {name.split("/")[0] for name in wheel.namelist() if ".dist-info/" not in name} == {"appliance"}


def test_the_wheel_carries_every_file_of_the_package(wheel: zipfile.ZipFile) -> None:
    assert _files("appliance") - set(wheel.namelist()) == set()


@pytest.mark.parametrize("name", ["plugins", "soul"])
def test_the_wheel_carries_what_ships_with_the_box(wheel: zipfile.ZipFile, name: str) -> None:
    shipped = {f"appliance/_shipped/{path}" for path in _files(name)}
    assert shipped
    assert shipped - set(wheel.namelist()) == set()


def test_the_wheel_carries_the_firmware_for_a_board_but_not_its_simulator(wheel: zipfile.ZipFile) -> None:
    packed = {name for name in wheel.namelist() if name.startswith("appliance/_shipped/firmware/")}
    sources = {f"appliance/_shipped/{path}" for part in ("avr", "core") for path in _files(f"firmware/{part}")}
    assert packed == {"appliance/_shipped/firmware/Makefile", *sources}


def test_the_installed_package_finds_what_ships_with_it(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nfrom appliance.home import shipped\nprint(shipped('soul'))"
    )
    shown = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert Path(shown.stdout.strip()) == tmp_path / "appliance" / "_shipped" / "soul"


def test_the_wheel_says_its_licence_its_pythons_and_its_command(wheel: zipfile.ZipFile) -> None:
    (folder,) = {name.split("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
    metadata = Parser().parsestr(wheel.read(f"{folder}/METADATA").decode())
    assert metadata["License-Expression"] == "GPL-3.0-or-later"
    assert b"GNU GENERAL PUBLIC LICENSE" in wheel.read(f"{folder}/licenses/LICENSE")
    assert metadata["Requires-Python"] == "<3.14,>=3.11"
    assert b"appliance = appliance.cli.main:main" in wheel.read(f"{folder}/entry_points.txt")


def _files(folder: str) -> set[str]:
    """Every file of a folder of the checkout, but for what Python makes itself."""
    paths = (path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(ROOT)) for path in paths}


def _entries(lock: Path) -> list[str]:
    """Each pinned package as one line, comments left out."""
    lines = [line for line in lock.read_text(encoding="utf-8").splitlines() if not line.strip().startswith("#")]
    return "\n".join(lines).replace("\\\n", " ").strip().splitlines()


def _locked(lock: Path, python: str, machine: str) -> dict[str, str]:
    """Name and version of what pip takes from a lock file on a system."""
    pins = [Requirement(entry.split("--hash")[0].strip()) for entry in _entries(lock)]
    return {
        canonicalize_name(pin.name): str(pin.specifier).removeprefix("==")
        for pin in pins
        if _applies(pin, python, machine)
    }


def _unmet(wanted: list[str], locked: dict[str, str], python: str, machine: str) -> list[str]:
    requirements = [requirement for text in wanted if _applies(requirement := Requirement(text), python, machine)]
    return [
        f"{requirement}: locked is {version}"
        for requirement in requirements
        if not (version := locked.get(canonicalize_name(requirement.name))) or version not in requirement.specifier
    ]


def _applies(requirement: Requirement, python: str, machine: str) -> bool:
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.2",
        "platform_machine": machine,
        "sys_platform": "linux",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    return requirement.marker is None or requirement.marker.evaluate(environment)
