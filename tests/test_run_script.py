"""The set-up script, on a made-up computer: commands of our own stand in for the system's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

#: The system's commands that the script uses as they are; it sees no others.
_REAL_COMMANDS = (
    *("awk", "cat", "cp", "cut", "dirname", "env", "flock", "grep", "ln", "mkdir"),
    *("readlink", "rm", "sed", "sha256sum", "sh", "sync", "touch", "tr"),
)

_STAND_INS = {
    "uname": 'cat "$COMPUTER/machine"',
    "getconf": 'cat "$COMPUTER/bits"',
    "df": 'echo header; echo "disk 0 0 $(cat "$COMPUTER/free-kb") 0% /"',
    "id": 'cat "$COMPUTER/user-id"',
    "sudo": """
        echo "sudo $*" >>"$COMPUTER/calls"
        [ -e "$COMPUTER/may-sudo" ] || exit 1
        [ "$1" = -n ] || exec "$@" """,
    "apt-cache": 'printf "Size: 66728\\nInstalled-Size: 2214\\n"',
    "apt-get": """
        case "$*" in
            *--print-uris*) echo "Need to get 1,234 kB of archives." ;;
            *) echo "apt-get $*" >>"$COMPUTER/calls"; touch "$COMPUTER/has-portaudio" ;;
        esac""",
    # Answers what the script asks of Python. What it tells Python to install or run is only written down.
    "python3": """
        case "$*" in
            "-m venv --clear "*)
                rm -rf "$4"
                mkdir -p "$4/bin"
                echo "VIRTUAL_ENV=$4" >"$4/bin/activate"
                cp "$0" "$4/bin/python"
                cp "$0" "$4/bin/appliance" ;;
            "-m tests.system_packages") cat "$COMPUTER/test-packages" ;;
            *find_library*) [ -e "$COMPUTER/has-portaudio" ] ;;
            -c*) exec @python@ -c "import sys; sys.version_info = $(cat "$COMPUTER/python-version")
$2" ;;
            --version) echo "Python 0.0" ;;
            *)
                echo "${0##*/} $*" >>"$COMPUTER/calls"
                case "$0" in *appliance) echo "the appliance answers in $PWD" ;; esac
                case "$*" in *"$(cat "$COMPUTER/fails")"*) echo "it did not work" >&2; exit 1 ;; esac ;;
        esac""",
}


class Computer:
    """A computer with a checkout on it; its properties are files that the stand-in commands read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checkout = folder / "the box"
        (self.checkout / "tests").mkdir(parents=True)
        shutil.copy(ROOT / "run", self.checkout / "run")
        for name in ("pyproject.toml", "requirements.lock", "tests/requirements.lock"):
            (self.checkout / name).write_text(f"{name}\n", encoding="utf-8")
        self._commands = folder / "commands"
        self._commands.mkdir()
        for name in _REAL_COMMANDS:
            (self._commands / name).symlink_to(str(shutil.which(name)))
        for name, text in _STAND_INS.items():
            command = self._commands / name
            command.write_text(f"#!/bin/sh\n{text.replace('@python@', sys.executable)}\n", encoding="utf-8")
            command.chmod(0o755)
        self.has(machine="x86_64", bits="64", user_id="0", python_version="(3, 11, 2)", free_kb="9000000")
        self.has(has_portaudio="", test_packages="", fails="nothing at all")
        self.has(meminfo="MemTotal: 4000000 kB")
        self.calls_file.touch()

    @property
    def calls_file(self) -> Path:
        return self.folder / "calls"

    @property
    def calls(self) -> list[str]:
        """What was installed and started so far."""
        return self.calls_file.read_text(encoding="utf-8").splitlines()

    def has(self, **properties: str) -> None:
        """Change what the computer is like."""
        for name, text in properties.items():
            (self.folder / name.replace("_", "-")).write_text(text, encoding="utf-8")

    def lacks(self, name: str) -> None:
        """Take a property or a command away."""
        (self.folder / name).unlink(missing_ok=True)
        (self._commands / name).unlink(missing_ok=True)

    def run(
        self, *words: str, script: Path | None = None, folder: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Type ``./run WORDS``."""
        return subprocess.run(
            ["/bin/sh", str(script or self.checkout / "run"), *words],
            cwd=folder or self.checkout,
            env={"PATH": str(self._commands), "COMPUTER": str(self.folder), "APPLIANCE_RUN_PROC": str(self.folder)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )


@pytest.fixture
def computer(tmp_path: Path) -> Computer:
    return Computer(tmp_path)


def test_the_first_start_installs_the_lock_and_the_checkout_and_then_starts_the_device(computer: Computer) -> None:
    done = computer.run()
    assert done.returncode == 0
    lock = computer.checkout / "requirements.lock"
    install = "python -m pip install --disable-pip-version-check --no-input"
    assert computer.calls == [
        f"{install} --only-binary :all: --require-hashes -r {lock}",
        f"{install} --quiet --no-deps --no-build-isolation --editable {computer.checkout}",
        "appliance models fetch --for-program",
        "appliance models verify",
        "appliance run",
    ]
    assert "3/4 Python packages (the first time 310 MB to fetch" in done.stderr


def test_the_second_start_says_nothing_and_runs_only_the_command(computer: Computer) -> None:
    computer.run("setup")
    computer.calls_file.write_text("", encoding="utf-8")
    done = computer.run("ask", "--text", "what time is it")
    assert computer.calls == ["appliance ask --text what time is it"]
    assert done.stdout == f"the appliance answers in {computer.checkout}\n"
    assert done.stderr == ""


def test_it_works_from_another_folder_and_through_a_link(computer: Computer, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "box").symlink_to(computer.checkout / "run")
    done = computer.run("ask", "q.wav", script=elsewhere / "box", folder=elsewhere)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == f"the appliance answers in {elsewhere}"
    assert (computer.checkout / ".venv").is_dir()


def test_a_missing_system_package_is_listed_with_its_size_and_installed(computer: Computer) -> None:
    computer.lacks("has-portaudio")
    done = computer.run("setup")
    assert done.returncode == 0
    assert "libportaudio2: microphone and speaker (67 kB to fetch, 2.2 MB on disk)" in done.stderr
    assert "In all, with what they need: 1,234 kB" in done.stderr
    assert "apt-get -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends --no-remove libportaudio2" in (
        computer.calls
    )


def test_a_person_without_root_gets_one_command_and_nothing_is_changed(computer: Computer) -> None:
    computer.lacks("has-portaudio")
    computer.has(user_id="1000")
    done = computer.run("setup")
    assert done.returncode == 1
    assert "apt-get update && apt-get install --no-install-recommends libportaudio2\n" in done.stderr
    assert [call for call in computer.calls if not call.startswith("sudo -n true")] == []


def test_sudo_is_used_when_it_asks_for_nothing(computer: Computer) -> None:
    computer.lacks("has-portaudio")
    computer.has(user_id="1000", may_sudo="")
    assert computer.run("setup").returncode == 0
    assert any(call.startswith("sudo env DEBIAN_FRONTEND=noninteractive apt-get") for call in computer.calls)


def test_a_system_without_apt_is_told_what_it_lacks(computer: Computer) -> None:
    computer.lacks("has-portaudio")
    computer.lacks("apt-get")
    done = computer.run("setup")
    assert done.returncode == 1
    assert "this system has no apt; please install what Debian calls: libportaudio2" in done.stderr


@pytest.mark.parametrize(
    ("properties", "sentence"),
    [
        ({"machine": "aarch64", "bits": "32"}, "install the 64-bit Raspberry Pi OS"),
        ({"machine": "armv7l", "bits": "32"}, "this computer (armv7l) is not supported; it must be 64-bit"),
        ({"free_kb": "1000000"}, "only 976 MB of disk are free"),
        ({"python_version": "(3, 10, 1)"}, "Python 0.0 is not supported; it must be Python 3.11, 3.12 or 3.13"),
        ({"python_version": "(3, 14, 0)"}, "Python 0.0 is not supported; it must be Python 3.11, 3.12 or 3.13"),
    ],
    ids=["32-bit system", "32-bit computer", "full disk", "old Python", "new Python"],
)
def test_a_computer_that_cannot_do_it_is_told_so_before_anything_changes(
    computer: Computer, properties: dict[str, str], sentence: str
) -> None:
    computer.has(**properties)
    done = computer.run()
    assert done.returncode == 1
    assert sentence in done.stderr
    assert computer.calls == []
    assert not (computer.checkout / ".venv").exists()


def test_little_memory_is_a_warning(computer: Computer) -> None:
    computer.has(meminfo="MemTotal: 460000 kB")
    done = computer.run()
    assert done.returncode == 0
    assert "Warning: this computer has 449 MB of memory" in done.stderr


@pytest.mark.parametrize("changed", ["requirements.lock", "pyproject.toml"])
def test_a_changed_lock_or_project_is_installed_by_the_next_start(computer: Computer, changed: str) -> None:
    computer.run("setup")
    computer.calls_file.write_text("", encoding="utf-8")
    (computer.checkout / changed).write_text("new\n", encoding="utf-8")
    computer.run("status")
    assert any("--require-hashes" in call for call in computer.calls)


def test_a_failed_installation_ends_in_a_sentence_and_is_tried_again(computer: Computer) -> None:
    computer.has(fails="--require-hashes")
    done = computer.run()
    assert done.returncode == 1
    assert "run: the Python packages could not be installed" in done.stderr
    assert "appliance run" not in computer.calls
    computer.has(fails="nothing at all")
    assert computer.run().returncode == 0
    assert computer.calls[-1] == "appliance run"


def test_a_checkout_that_was_moved_gets_a_new_environment(computer: Computer) -> None:
    computer.run("setup")
    computer.checkout = computer.checkout.rename(computer.folder / "moved")
    assert computer.run("status").returncode == 0
    assert str(computer.checkout) in (computer.checkout / ".venv/bin/activate").read_text(encoding="utf-8")


def test_a_half_made_environment_is_made_anew(computer: Computer) -> None:
    (computer.checkout / ".venv/bin").mkdir(parents=True)
    assert computer.run("status").returncode == 0


def test_an_installation_that_was_cut_off_starts_from_an_empty_environment(computer: Computer) -> None:
    computer.has(fails="--require-hashes")
    computer.run("setup")
    leftover = computer.checkout / ".venv" / "half-a-package"
    leftover.touch()
    computer.has(fails="nothing at all")
    assert computer.run("setup").returncode == 0
    assert not leftover.exists()
    leftover.touch()
    assert computer.run("setup").returncode == 0
    assert leftover.exists(), "a whole environment is kept"


def test_help_before_the_first_set_up_installs_nothing(computer: Computer) -> None:
    done = computer.run("--help")
    assert done.returncode == 0
    assert "./run test [ARGS]" in done.stdout
    assert "set -eu" not in done.stdout
    assert computer.calls == []


@pytest.mark.skipif(Path("/usr/lib/python3/dist-packages/lgpio.py").exists(), reason="this system has lgpio itself")
def test_a_new_raspberry_pi_gets_its_pins_from_the_system_and_goes_on_without_them(computer: Computer) -> None:
    (computer.folder / "device-tree").mkdir()
    (computer.folder / "device-tree/model").write_text("Raspberry Pi 5 Model B Rev 1.0\0", encoding="utf-8")
    computer.has(python_version="(3, 11, 2)")
    assert "python3-lgpio" not in computer.run("setup").stderr
    computer.has(python_version="(3, 13, 5)")
    assert "python3-lgpio: the board's pins: button and lights" in computer.run("setup").stderr
    computer.has(user_id="1000")
    done = computer.run("setup")
    assert done.returncode == 0
    assert "Warning: a button and lights on the board's pins will not work" in done.stderr


def test_a_copy_is_installed_elsewhere_and_needs_the_checkout_no_more(computer: Computer) -> None:
    folder = computer.folder / "elsewhere" / "1.0"
    folder.parent.mkdir()
    done = computer.run("copy", str(folder))
    assert done.returncode == 0
    install = "python -m pip install --disable-pip-version-check --no-input"
    assert computer.calls == [
        f"{install} --only-binary :all: --require-hashes -r {computer.checkout}/requirements.lock",
        f"{install} --quiet --no-deps --no-build-isolation {computer.checkout}",
    ]
    assert str(folder) in (folder / "bin/activate").read_text(encoding="utf-8")
    assert not (computer.checkout / ".venv").exists()
    assert "name the folder: ./run copy FOLDER" in computer.run("copy").stderr


def test_the_tests_get_their_tools_and_every_check_runs(computer: Computer) -> None:
    computer.has(test_packages="shellcheck reads the shell scripts\n")
    done = computer.run("test", "tests/face", "-x")
    assert done.returncode == 0
    assert "shellcheck: reads the shell scripts" in done.stderr
    assert any(call.endswith("--no-remove shellcheck") for call in computer.calls)
    assert any(
        call.endswith(f"--require-hashes -r {computer.checkout}/tests/requirements.lock") for call in computer.calls
    )
    assert computer.calls[-4:] == [
        "python -m ruff check .",
        "python -m ruff format --check .",
        "python -m mypy",
        "python -m pytest tests/face -x",
    ]


@pytest.mark.parametrize("check", ["ruff check .", "ruff format --check .", "mypy", "pytest"])
def test_a_failing_check_fails_the_tests_and_is_named_at_the_end(computer: Computer, check: str) -> None:
    computer.has(fails=f"-m {check}")
    done = computer.run("test")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"run: failed: {check}"
    parts = [call.split()[3:] for call in computer.calls if call.startswith("python -m pytest tests/")]
    (others,) = [call.split()[3:] for call in computer.calls if "--ignore=" in call]
    assert len(parts) == 2
    assert sorted(others) == sorted(f"--ignore={folder}" for part in parts for folder in part), "each runs once"


def test_the_benchmark_comes_behind_all_tests_and_counts_as_one(computer: Computer) -> None:
    computer.has(fails="bench --quick")
    done = computer.run("test")
    assert computer.calls[-1] == "appliance bench --quick"
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "run: failed: benchmark")
    assert computer.run("test", "tests/face").returncode == 0


def test_the_scripts_are_plain_shell(tmp_path: Path) -> None:
    if not shutil.which("shellcheck"):
        pytest.skip("as root: apt-get install shellcheck")
    done = subprocess.run(["shellcheck", "run", ".ci/run"], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout + done.stderr == ""
    assert (ROOT / "run").read_text(encoding="utf-8").startswith("#!/bin/sh\n")
    assert os.access(ROOT / "run", os.X_OK)
    assert os.access(ROOT / ".ci/run", os.X_OK)
