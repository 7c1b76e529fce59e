"""What is installed says what was decided, and systemd's own tools find nothing wrong with it."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from appliance.adapters.worker_link import worker_command
from appliance.approve.config import ButtonConfig
from appliance.clock import FakeClock
from appliance.home import HOME_POINTER, SERVICE_CACHE, SERVICE_CONFIG, SERVICE_RUNTIME, Home
from appliance.store.credentials import Credentials
from tests.systemd.unit_files import FOLDER, PROGRAM, UNITS, USER_UNIT, copy_unit, lines_of, settings_of, text_of

ALL_UNITS = (*UNITS, USER_UNIT)
SERVICES = tuple(name for name in ALL_UNITS if name.endswith(".service"))
MAIN, WORKER, SOCKET = "appliance.service", "appliance-worker@.service", "appliance-worker.socket"

pytestmark = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that is there, for tools that look."""
    folder = tmp_path / "program"
    for name in ("appliance", "python"):
        file = folder / "bin" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\n")
        file.chmod(0o755)
    return folder


def run(*words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, words)), capture_output=True, text=True, check=False, env={**os.environ, **variables}
    )


# ------------------------------------------------------------------------------------------- systemd's own tools


@pytest.mark.parametrize("name", UNITS)
def test_systemd_finds_nothing_to_say_about_a_unit(name: str, program: Path, tmp_path: Path) -> None:
    for unit in UNITS:
        has_program = PROGRAM in text_of(unit)
        copy_unit(unit, tmp_path / "units", swaps={PROGRAM: str(program)} if has_program else None)
    # Trailing comments and loops end well all the same: only silence is a pass.
    told = run("systemd-analyze", "verify", "--recursive-errors=yes", tmp_path / "units" / name)
    assert (told.returncode, told.stderr) == (0, "")


def test_systemd_finds_nothing_to_say_about_the_unit_of_a_desktop(program: Path, tmp_path: Path) -> None:
    swaps = {"/usr/local/bin": str(program / "bin")}
    unit = copy_unit(USER_UNIT, tmp_path / "units", swaps=swaps)
    (tmp_path / "runtime").mkdir(mode=0o700)
    words = ("systemd-analyze", "--user", "verify", "--recursive-errors=yes", unit)
    told = run(*words, XDG_RUNTIME_DIR=str(tmp_path / "runtime"), HOME=str(tmp_path))
    assert (told.returncode, told.stderr) == (0, "")


def test_a_comment_behind_a_value_is_found(program: Path, tmp_path: Path) -> None:
    swaps = {PROGRAM: str(program), "WatchdogSec=30": "WatchdogSec=30 # seconds"}
    unit = copy_unit(MAIN, tmp_path / "units", swaps=swaps)
    assert run("systemd-analyze", "verify", "--recursive-errors=yes", unit).stderr


@pytest.mark.parametrize(
    ("name", "most"),
    [(MAIN, 2.0), ("appliance-stopped.service", 1.5), (WORKER, 1.0)],
)
def test_little_of_the_system_is_exposed(name: str, most: float) -> None:
    words = ("systemd-analyze", "security", "--offline=yes", f"--threshold={most * 10:.0f}", FOLDER / name)
    told = run(*words)
    score = re.search(r"Overall exposure level for .*: ([\d.]+)", told.stdout)
    assert told.returncode == 0 and score is not None, told.stdout + told.stderr
    assert float(score[1]) <= most


def test_users_groups_and_folders_are_as_the_units_want_them(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    for _ in range(2):  # an installation may be repeated
        made = run("systemd-sysusers", f"--root={tmp_path}", FOLDER / "appliance.sysusers")
        assert made.returncode == 0, made.stderr
    users, groups = _numbers(tmp_path / "etc/passwd"), _numbers(tmp_path / "etc/group")
    assert set(users) == {"appliance", "appliance-worker"}
    service = settings_of(MAIN, "Service")
    assert {*service["SupplementaryGroups"][0].split(), *service["Group"]} <= set(groups)
    if os.geteuid() != 0:
        pytest.skip("only root can give folders away")
    for _ in range(2):
        made = run("systemd-tmpfiles", f"--root={tmp_path}", "--create", FOLDER / "appliance.tmpfiles")
        assert (made.returncode, made.stderr) == (0, "")
    owners = {0: "root", **{number: name for name, number in users.items()}}
    folders = {
        str(path.relative_to(tmp_path)): f"{owners[path.stat().st_uid]} {stat.S_IMODE(path.stat().st_mode):o}"
        for path in sorted(tmp_path.rglob("*"))
        if path.is_dir() and "appliance" in str(path.relative_to(tmp_path))
    }
    assert folders == {
        "etc/appliance": "root 755",
        "etc/appliance/credentials": "root 700",
        "run/appliance": "appliance 750",
        "var/cache/appliance": "appliance 700",
        "var/cache/appliance/workdir": "appliance 2770",
        "var/lib/appliance": "appliance 700",
        "var/lib/appliance/installed": "root 755",
        "var/lib/appliance/plugins": "root 755",
    }
    _two_users_share(tmp_path / "var/cache/appliance/workdir", users, groups["appliance-worker"])


def _numbers(file: Path) -> dict[str, int]:
    return {line.split(":")[0]: int(line.split(":")[2]) for line in file.read_text().splitlines()}


def _two_users_share(folder: Path, users: dict[str, int], group: int) -> None:
    """What one of them makes with the most careful umask, the other can change."""
    # What is above it lets nobody else in, but whoever works in it has no need of that.
    order = ("appliance", "appliance-worker", "appliance")
    for step, name in enumerate(order):
        script = "umask 077; mkdir -p a && echo line >> a/b"
        done = subprocess.run(
            ["sh", "-c", script],
            cwd=folder,
            user=users[name],
            group=group if name != "appliance" else users[name],
            extra_groups=[group],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr == "", f"step {step}, {name}: {done.stderr}"
    assert (folder / "a/b").read_text() == "line\n" * 3


def test_the_rules_for_devices_are_read_without_complaint() -> None:
    rules = text_of("appliance.rules")
    labels = set(re.findall(r'LABEL="(\w+)"', rules))
    assert set(re.findall(r'GOTO="(\w+)"', rules)) == labels
    for line in rules.splitlines():
        if line and not line.startswith("#"):
            for part in line.split(", "):
                assert re.fullmatch(r'[A-Z]+(\{\w+\})?(==|!=|\+=|=)"[^"]*"', part), line
    if shutil.which("udevadm") and run("udevadm", "verify", "--help").returncode == 0:
        checked = run("udevadm", "verify", FOLDER / "appliance.rules")
        assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_board_with_a_face_is_no_modem_and_has_a_name_that_stays() -> None:
    rules = text_of("appliance.rules")
    assert 'ENV{ID_MM_DEVICE_IGNORE}="1", SYMLINK+="appliance-face"' in rules
    assert rules.index('ENV{APPLIANCE_FACE}="1"') < rules.index('ENV{APPLIANCE_FACE}=="1"')


_POLKIT = """
var rule, polkit = {Result: {YES: "yes", NOT_HANDLED: "not handled"}, addRule: function (f) { rule = f; }};
%s
var told = [];
["appliance", "appliance-worker", "root"].forEach(function (user) {
    ["power-off", "power-off-multiple-sessions", "reboot", "power-off-ignore-inhibit"].forEach(function (action) {
        if (rule({id: "org.freedesktop.login1." + action}, {user: user}) === "yes") { told.push(user + " " + action); }
    });
});
told.join(", ");
"""


def test_the_box_may_switch_the_machine_off_and_nothing_else() -> None:
    told = _evaluated(_POLKIT % text_of("appliance-power.rules"))
    assert told == "appliance power-off, appliance power-off-multiple-sessions"
    assert ButtonConfig().shuts_down == "service"


def _evaluated(source: str) -> str:
    """The value of a script, from the interpreter that polkit itself has."""
    name = ctypes.util.find_library("duktape")
    assert name is not None, "needs the library of polkit's rules; as root: apt-get install libduktape207"
    duktape = ctypes.CDLL(name)
    duktape.duk_create_heap.restype = ctypes.c_void_p
    duktape.duk_create_heap.argtypes = [ctypes.c_void_p] * 5
    duktape.duk_eval_raw.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint]
    duktape.duk_safe_to_lstring.restype = ctypes.c_char_p
    duktape.duk_safe_to_lstring.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
    heap = duktape.duk_create_heap(None, None, None, None, None)
    # eval, safe, source of our own, length by its end, no file name: what duk_peval_string passes
    failed = duktape.duk_eval_raw(heap, source.encode(), 0, 1 << 3 | 1 << 7 | 1 << 9 | 1 << 10 | 1 << 11)
    value = str(duktape.duk_safe_to_lstring(heap, -1, None).decode())
    assert not failed, value
    return value


# ---------------------------------------------------------------------------------------------- what was decided


@pytest.mark.parametrize("name", ALL_UNITS)
def test_nothing_stands_in_a_unit_that_harms(name: str) -> None:
    for section, key, value in lines_of(name):
        line = f"{key}={value}"
        assert not re.search(r"\s#", value), f"systemd knows no comment behind a value: {line}"
        assert key not in ("MemoryDenyWriteExecute", "ProcSubset"), f"it breaks sound or pins: {line}"
        assert not (key == "Environment" and re.search("KEY|TOKEN|SECRET|PASSW", value)), f"children see it: {line}"
        assert not (key in ("Requires", "BindsTo", "Requisite") and "network" in value), f"no network, no box: {line}"
        assert "network-online" not in value, f"it must start without a network: {line}"
        assert key not in ("DynamicUser", "RestartSteps", "RestartMaxDelaySec", "ImportCredential"), line
        assert not (key.startswith("StartLimit") and section != "Unit"), f"ignored outside of [Unit]: {line}"


def test_why_two_protections_are_off_is_written_where_somebody_would_add_them() -> None:
    for name in ("MemoryDenyWriteExecute", "ProcSubset"):
        assert f"# {name} stays off: " in text_of(MAIN)


@pytest.mark.parametrize("name", [MAIN, USER_UNIT])
def test_start_watchdog_and_end_are_as_decided(name: str) -> None:
    unit, service = settings_of(name, "Unit"), settings_of(name, "Service")
    assert (unit["StartLimitIntervalSec"], unit["StartLimitBurst"]) == (["10min"], ["6"])
    wanted = {
        "Type": "notify",
        "NotifyAccess": "main",
        "TimeoutStartSec": "60",
        "TimeoutStopSec": "15",
        "TimeoutAbortSec": "10",
        "WatchdogSec": "30",
        "WatchdogSignal": "SIGABRT",
        "Restart": "on-failure",
        "RestartSec": "2",
        "RestartPreventExitStatus": "78",
        "LimitCORE": "0",
    }
    assert {key: service[key] for key in wanted} == {key: [value] for key, value in wanted.items()}
    assert service["ExecStart"][0].endswith("/appliance run --stay")
    assert re.fullmatch(r"-/.*/appliance face park", service["ExecStopPost"][0])


def test_the_service_uses_the_places_that_the_program_looks_in(tmp_path: Path) -> None:
    service = settings_of(MAIN, "Service")
    pointer = tmp_path / "home"
    pointer.write_text("/var/lib/appliance\n")
    home = Home.find({}, pointer)
    assert str(home.folder) == f"/var/lib/{service['StateDirectory'][0]}"
    assert home.cache_folder == SERVICE_CACHE == Path("/var/cache", service["CacheDirectory"][0])
    assert home.control_socket.parent == SERVICE_RUNTIME == Path("/run", service["RuntimeDirectory"][0])
    assert SERVICE_CONFIG.parent == HOME_POINTER.parent == Path("/etc", service["ConfigurationDirectory"][0])
    assert str(home.worker_socket) == settings_of(SOCKET, "Socket")["ListenStream"][0]
    assert not [value for value in service["Environment"] if "APPLIANCE_HOME" in value]
    assert {f"-{home.plugins_folder}", f"-{home.installed_folder}"} <= set(service["ReadOnlyPaths"][0].split())
    assert settings_of(WORKER, "Service")["BindPaths"] == [str(home.cache_folder / "workdir")]


def test_secrets_are_found_under_the_names_that_systemd_gives_them(tmp_path: Path) -> None:
    name, _, folder = settings_of(MAIN, "Service")["LoadCredential"][0].partition(":")
    assert folder == "/etc/appliance/credentials"
    (tmp_path / f"{name}_OPENAI_API_KEY").write_text("sk-owl\n")
    credentials = Credentials(tmp_path / "none.json", {"CREDENTIALS_DIRECTORY": str(tmp_path)}, FakeClock())
    assert (credentials.get("OPENAI_API_KEY"), credentials.origin("OPENAI_API_KEY")) == ("sk-owl", "systemd")


def test_lgpio_has_a_working_folder_that_it_can_write_to() -> None:
    for name in (MAIN, "appliance-stopped.service"):
        service = settings_of(name, "Service")
        assert service["WorkingDirectory"] == ["/run/appliance"] and service["RuntimeDirectory"] == ["appliance"]
        assert "LG_WD=/run/appliance" in service["Environment"][0].split()


def test_the_user_of_the_sandbox_is_not_the_user_of_the_box() -> None:
    worker, box = settings_of(WORKER, "Service"), settings_of(MAIN, "Service")
    assert worker["User"] != box["User"]
    assert settings_of(SOCKET, "Socket")["SocketUser"] == box["User"]
    for key, value in {
        "PrivateNetwork": "yes",
        "PrivateDevices": "yes",
        "ProtectSystem": "strict",
        "NoNewPrivileges": "yes",
    }.items():
        assert worker[key] == [value]
    assert {"RuntimeMaxSec", "TasksMax", "LimitAS", "LimitFSIZE", "LimitNPROC"} <= set(worker)


def test_the_sandbox_is_started_as_the_box_would_start_it() -> None:
    words = settings_of(WORKER, "Service")["ExecStart"][0].split()
    assert words == [f"{PROGRAM}/bin/python", *worker_command()[1:-1], f"{PROGRAM}/libexec/worker_program.py"]


def test_the_desktop_unit_has_nothing_that_keeps_a_user_unit_from_starting() -> None:
    keys = {key for _, key, _ in lines_of(USER_UNIT)}
    trouble = ("User", "Group", "SupplementaryGroups", "Device", "Protect", "Private", "Capability", "LoadCredential")
    assert [key for key in keys if key.startswith(trouble)] == []


def test_every_file_is_in_the_guide() -> None:
    guide = text_of("README.md")
    names = [str(path.relative_to(FOLDER)) for path in FOLDER.rglob("appliance*") if path.is_file()]
    assert [name for name in names if f"`{name}`" not in guide] == []
