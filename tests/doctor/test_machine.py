"""The real machine, seen with the same eyes on every Linux."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from appliance.adapters.machine import SystemMachine
from appliance.ports_doctor import Machine


@pytest.fixture
def machine() -> Machine:
    return SystemMachine()


def test_it_knows_its_user_and_what_it_was_made_for(machine: Machine) -> None:
    assert machine.user and machine.groups <= machine.known_groups
    assert machine.is_root == (os.geteuid() == 0)
    assert machine.pointer_bits == (64 if sys.maxsize > 2**32 else 32)
    assert machine.has_module("json") and not machine.has_module("no_such_module")


def test_it_reads_and_finds_files(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(b"Raspberry Pi 5\n\0")
    assert machine.read(str(tmp_path / "model")) == "Raspberry Pi 5"
    assert machine.find(f"{tmp_path}/mod*") == (str(tmp_path / "model"),)
    assert machine.may_use(str(tmp_path / "model")) and not machine.may_use(str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError):
        machine.read(str(tmp_path / "none"))


def test_it_measures_the_disk_and_leaves_nothing_on_it(machine: Machine, tmp_path: Path) -> None:
    disk = machine.disk(str(tmp_path))
    assert 0 < disk.free_bytes < disk.total_bytes and not disk.is_read_only
    assert machine.write_seconds(str(tmp_path)) > 0.0
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        machine.write_seconds(str(tmp_path / "none"))


def test_it_sees_who_runs_and_who_holds_a_file(machine: Machine, tmp_path: Path) -> None:
    with (tmp_path / "pcm").open("w"):
        holders = machine.holders(f"{tmp_path}/pcm")
    assert [(program.pid, program.user, path) for program, path in holders] == [
        (os.getpid(), machine.user, str(tmp_path / "pcm"))
    ]
    assert os.getpid() in {program.pid for program in machine.programs()}


def test_it_runs_commands_that_look(machine: Machine) -> None:
    ended = machine.run(sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert ended.code == 3 and {"out", "err"} == set(ended.text.split())
    with pytest.raises(FileNotFoundError):
        machine.run("no-such-command")
