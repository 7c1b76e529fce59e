"""The units as they are, run by the systemd of a whole machine: users, groups, secrets, and what is out of reach."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.systemd.machine import Machine, make_system
from tests.systemd.unit_files import PROGRAM, UNITS

CHECKOUT = Path(__file__).resolve().parent.parent.parent
HOME, WORK = "/var/lib/appliance", "/var/cache/appliance/workdir"

#: The small box instead of the program: it is the units that are looked at.
_PREPARE = f"""
mkdir -p .{PROGRAM}/bin .{PROGRAM}/libexec
cat >.{PROGRAM}/bin/appliance <<'end'
#!/bin/sh
case $1 in
    run) PYTHONPATH=/mnt/checkout exec python3 -B /mnt/checkout/tests/systemd/small_box.py fine {HOME} ;;
    face) echo "$SERVICE_RESULT" >>{HOME}/parked ;;
esac
end
chmod +x .{PROGRAM}/bin/appliance
ln -s /usr/bin/python3 .{PROGRAM}/bin/python
files=mnt/checkout/systemd
cp mnt/checkout/appliance/adapters/worker_program.py .{PROGRAM}/libexec/
for unit in {" ".join(UNITS)}; do cp "$files/$unit" etc/systemd/system/; done
cp "$files/appliance.sysusers" usr/lib/sysusers.d/appliance.conf
cp "$files/appliance.tmpfiles" usr/lib/tmpfiles.d/appliance.conf
"""

#: What the box does with a worker: standard input has the requests, the answers are printed.
_CLIENT = """
import asyncio, json, pathlib, sys
sys.path.insert(0, "/mnt/checkout")
from appliance.adapters.worker_socket import SocketWorkers
async def main():
    workers = SocketWorkers(pathlib.Path("/run/appliance/worker.sock"), pathlib.Path(sys.argv[1], "appliance.db"))
    link = await workers.launch(pathlib.Path(sys.argv[2]))
    answers = [json.loads(await link.ask(json.dumps(request).encode())) for request in json.loads(sys.argv[3])]
    link.kill()
    await link.ended()
    print(json.dumps(answers))
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def machine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine on which the service has been started."""
    if os.geteuid() != 0:
        pytest.skip("a machine in namespaces of its own takes root")
    system = make_system(request.config.cache.mkdir("debian"))
    with Machine(system, tmp_path_factory.mktemp("machine") / "it", {"/mnt/checkout": CHECKOUT}) as machine:
        prepared = machine.from_outside(_PREPARE)
        assert prepared.returncode == 0, prepared.stderr
        machine.boot()
        machine.shell("echo sk-owl > /etc/appliance/credentials/OPENAI_API_KEY; chmod 600 /etc/appliance/credentials/*")
        machine.shell(f"echo a chat > {HOME}/appliance.db; chown appliance: {HOME}/appliance.db")
        machine.shell("systemctl start appliance-worker.socket appliance.service")
        yield machine


def fact(machine: Machine, name: str) -> str:
    return machine.shell(f"systemctl show appliance.service --property {name} --value")


def inside(machine: Machine, line: str) -> str:
    """What root sees and gets told among the mounts of the service."""
    enter = ("nsenter", "--target", fact(machine, "MainPID"), "--mount", "--root", "--wd")
    done = machine.run(*enter, "sh", "-c", line)
    return (done.stdout + done.stderr).strip()


def in_sandbox(machine: Machine, *requests: dict[str, object], user: str = "appliance") -> list[dict[str, object]]:
    words = ("runuser", "-u", user, "--", "python3", "-c", _CLIENT, HOME, WORK, json.dumps(requests))
    done = machine.run(*words)
    assert done.returncode == 0, done.stderr + machine.run("journalctl", "--no-pager", "-n30").stdout
    return list(json.loads(done.stdout))


def run(command: str) -> dict[str, object]:
    return {"do": "run", "command": command, "seconds": 20}


def test_the_service_is_its_own_user_in_all_its_groups_and_nothing_else(machine: Machine) -> None:
    assert fact(machine, "ActiveState") == "active"
    status = machine.shell(f"cat /proc/{fact(machine, 'MainPID')}/status")
    facts = dict(line.split(":\t", 1) for line in status.splitlines())
    assert facts["Uid"].split() == [machine.shell("id -u appliance")] * 4
    names = machine.shell(f"getent group {facts['Groups']} | cut -d: -f1").split()
    wanted = {"appliance", "appliance-worker", "audio", "dialout", "gpio", "i2c", "plugdev", "spi", "video"}
    assert set(names) == wanted
    assert {facts[name] for name in ("CapBnd", "CapEff", "CapPrm", "CapAmb")} == {"0" * 16}
    assert (facts["NoNewPrivs"], facts["Seccomp"]) == ("1", "2")


def test_it_gets_its_secrets_from_systemd_and_not_in_its_environment(machine: Machine) -> None:
    environment = json.loads(machine.shell(f"cat {HOME}/environment"))
    assert not [value for value in environment.values() if "sk-owl" in value]
    file = f"{environment['CREDENTIALS_DIRECTORY']}/keys_OPENAI_API_KEY"
    assert inside(machine, f"cat {file}; stat -c %a {file}").split() == ["sk-owl", "400"]


def test_it_can_change_its_data_but_neither_the_system_nor_its_plugins(machine: Machine) -> None:
    as_itself = f"setpriv --reuid=appliance --regid=appliance --clear-groups touch {HOME}/x /run/appliance/x"
    assert inside(machine, as_itself) == ""
    # Root is told the same, so it is the mounts that keep it out.
    for place in ("/usr", "/etc", "/opt", "/etc/appliance", "/var/lib", f"{HOME}/plugins", f"{HOME}/installed"):
        assert "Read-only file system" in inside(machine, f"touch {place}/x"), place
    assert "busy" in inside(machine, f"mv {HOME}/plugins {HOME}/other")


def test_the_sandbox_is_somebody_else_who_sees_nothing_of_the_box(machine: Machine) -> None:
    machine.shell(f"runuser -u appliance -- sh -c 'umask 077; echo from the box > {WORK}/given'")
    who, given, hidden, network, roots = in_sandbox(
        machine,
        run("id -un"),
        run("cat given; echo back >> given; mkdir deep; echo made > deep/file"),
        run(f"ls {HOME} /etc/appliance /run/appliance /mnt/checkout /home /dev/mem 2>&1; cat /proc/net/dev | wc -l"),
        {"do": "write", "path": "written", "data": "aGk="},
        run("touch /var/x /usr/x /etc/x /opt/x 2>&1; ps ax 2>/dev/null | wc -l"),
    )
    assert who["stdout"] == "appliance-worker\n"
    assert given["stdout"] == "from the box\n" and given["exit_code"] == 0
    told = str(hidden["stdout"])
    assert told.count("No such file") + told.count("cannot access") >= 5 and told.endswith("\n3\n")
    assert "error" not in network
    assert str(roots["stdout"]).count("Read-only file system") == 4
    # What it has made, the box can change.
    change = f"cat {WORK}/given {WORK}/written; echo more >> {WORK}/deep/file; rm -r {WORK}/deep {WORK}/given"
    told = machine.shell(f"setpriv --reuid=appliance --regid=appliance --groups=appliance-worker sh -euc '{change}'")
    assert told == "from the box\nback\nhi"


def test_nobody_but_the_box_gets_a_sandbox(machine: Machine) -> None:
    done = machine.run("runuser", "-u", "appliance-worker", "--", "python3", "-c", _CLIENT, HOME, WORK, "[]")
    assert done.returncode != 0 and "Permission denied" in done.stderr


def test_a_kill_is_followed_by_a_new_start_and_an_end_by_none(machine: Machine) -> None:
    first = fact(machine, "MainPID")
    machine.shell(f"kill -KILL {first}")
    machine.shell("for i in $(seq 100); do sleep 0.1; systemctl is-active -q appliance && break; done; sleep 0.2")
    assert fact(machine, "MainPID") not in ("0", first)
    machine.shell("systemctl stop appliance.service")
    assert fact(machine, "Result") == "success"
    assert machine.shell(f"cat {HOME}/parked").split() == ["signal", "success"]
    machine.shell("systemctl start appliance-stopped.service")
    assert "appliance doctor" in machine.shell("journalctl --no-pager --unit=appliance-stopped.service")
    # The sandboxes outlive the service.
    assert in_sandbox(machine, run("echo alive"))[0]["stdout"] == "alive\n"
