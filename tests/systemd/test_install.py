"""``systemd/install`` in a Debian that a real systemd runs, with versions of the program made for the test."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from tests.systemd.box import HOME, INSTALL, Box
from tests.systemd.small_version import ROOT


def test_installing_twice_changes_nothing_the_second_time(box: Box) -> None:
    version = box.gets()
    said = box.installs()
    assert f"Version {version} runs" in said
    process, before = box.process, box.tree()
    assert "this version is here already" in box.installs()
    assert box.tree() ^ before == set()
    assert box.process == process, "it was not even restarted"


def test_the_box_starts_with_the_computer(box: Box) -> None:
    box.gets()
    box.installs()
    box.cut_power()
    box.boot()
    assert int(box.process) > 1


# ---------------------------------------------------------------------------------------------------- away, and back in


def test_uninstalling_leaves_only_data_and_a_new_installation_finds_it(box: Box) -> None:
    box.gets()
    before, users = box.tree(), box.shell("getent passwd; getent group")
    box.installs()
    box.shell("echo '[speak]' >/etc/appliance/config.toml")
    said = box.installs("--uninstall")
    assert "Your data is in /var/lib/appliance, settings are in /etc/appliance" in said
    assert _files(box.tree() - before) == {f"{HOME}/appliance.db", "/etc/appliance/config.toml"}
    assert box.run("systemctl", "cat", "appliance.service").returncode != 0
    box.installs()
    assert len(box.visits) == 2
    assert box.shell("cat /etc/appliance/config.toml") == "[speak]"
    assert "Nothing is left" in box.installs("--uninstall", "--purge")
    assert _files(box.tree() - before) == set()
    assert box.shell("getent passwd; getent group") == users


def _files(facts: set[str]) -> set[str]:
    return {line.split()[0] for line in facts if line.split()[1] != "d"}


def test_what_was_installed_can_remove_itself(box: Box) -> None:
    box.gets()
    box.installs()
    done = box.run("/opt/appliance/current/systemd/install", "--uninstall", "--yes")
    assert done.returncode == 0, done.stderr
    assert box.run("ls", "/opt/appliance").returncode != 0


# ------------------------------------------------------------------------------------------------------- the trial home


def test_the_trial_home_of_the_person_behind_sudo_is_taken_over_once(box: Box, trial: str) -> None:
    box.gets()
    said = box.installs(SUDO_USER="pi")
    assert f"taken over from {trial}, which stays as it is" in said
    assert "pi may talk to it (group appliance) after logging in anew" in said
    assert box.visits[0] == "9"
    assert len(box.visits) == 2
    assert box.shell("cat /etc/appliance/config.toml") == "[box]"
    owners = box.shell(f"cd {HOME}; stat -c '%n %U %a' . credentials.json appliance.db plugins/mine/plugin.py")
    assert owners.splitlines() == [
        ". appliance 700",
        "credentials.json appliance 600",
        "appliance.db appliance 600",
        "plugins/mine/plugin.py root 644",
    ]
    assert box.run("ls", f"{HOME}/config.toml", f"{HOME}/cache", f"{HOME}/run").stdout == ""
    assert box.shell(f"cd {trial}; cat config.toml credentials.json plugins/mine/plugin.py") == "[box]\nsecret\ncode"
    assert box.shell(f"stat -c %U {trial}/TAKEN-OVER.txt") == "pi"
    assert "appliance" in box.shell("id -nG pi").split()
    assert "stays as it is" in box.installs(SUDO_USER="pi")
    assert "it was taken over before" in box.fails_to_install("--adopt", trial)


def test_a_trial_home_never_overwrites_the_data_of_the_service(box: Box, trial: str) -> None:
    box.gets()
    box.installs("--no-adopt", SUDO_USER="pi")
    visits = box.visits
    assert "stays as it is" in box.installs(SUDO_USER="pi")
    assert box.visits == visits
    assert "has data of its own" in box.fails_to_install("--adopt", trial)


def test_a_trial_that_goes_on_after_a_failed_installation_is_taken_over_as_it_is_then(box: Box, trial: str) -> None:
    box.gets(deaf=True)
    assert "nothing was started" in box.fails_to_install(SUDO_USER="pi")
    box.shell(f"echo '[speak]' >{trial}/config.toml")
    box.gets()
    assert f"taken over from {trial}" in box.installs(SUDO_USER="pi")
    assert box.shell("cat /etc/appliance/config.toml") == "[speak]"
    assert len(box.visits) == 2


def test_a_trial_home_in_use_is_not_taken_over(box: Box, trial: str) -> None:
    box.gets()
    box.shell(f"flock {trial}/lock sleep 60 >/dev/null 2>&1 &")
    assert f"the box runs on {trial}; stop it there" in box.fails_to_install(SUDO_USER="pi")
    assert box.run("ls", "/opt/appliance").returncode != 0


# -------------------------------------------------------------------------------------------------- for a person alone

#: What a login would start for pi, on a system without logins: a systemd of their own.
_USERS_MANAGER = """
mkdir -p /run/user/1000
chown pi: /run/user/1000
cat >/etc/systemd/system/pi.service <<END
[Service]
User=pi
ExecStart=/lib/systemd/systemd --user
Environment=XDG_RUNTIME_DIR=/run/user/1000
Type=notify
Delegate=yes
END
systemctl start pi.service
"""


def test_on_a_desktop_it_is_a_service_of_the_person_with_the_home_of_their_trial(box: Box, trial: str) -> None:
    box.gets()
    assert "it starts when pi logs in" in box.installs("--user-unit", SUDO_USER="pi")
    box.shell(_USERS_MANAGER)
    manager = "setpriv --reuid pi --regid pi --clear-groups env XDG_RUNTIME_DIR=/run/user/1000 systemctl --user"
    box.shell(f"{manager} start appliance.service")  # It has begun already; this waits for the end of that.
    box.gets()
    assert " runs. " in box.installs(SUDO_USER="pi"), "it knows whose it is"
    assert box.shell(f"{manager} is-active appliance.service") == "active"
    box.shell(f"ln -s {trial} {HOME}")
    assert len(box.visits) == 3, "the trial and both versions"
    box.shell(f"rm {HOME}")
    assert f"Your data is in {trial}" in box.installs("--uninstall")
    assert box.run(*manager.split(), "is-active", "appliance.service").stdout == "inactive\n"
    assert box.run("ls", HOME, "/etc/appliance", "/opt/appliance").stdout == ""


# ------------------------------------------------------------------------------------------------------------ questions


def test_it_says_first_what_it_will_do_and_does_nothing_unasked(box: Box) -> None:
    version = box.gets()
    before = box.tree()
    said = box.run(INSTALL, "--dry-run")
    assert said.returncode == 0
    assert f"program   /opt/appliance/versions/{version} (new)" in said.stderr
    done = box.run(INSTALL)
    assert done.returncode == 1
    assert "there is nobody to ask; --yes says yes" in done.stderr
    assert box.tree() == before


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--everything"], "there is no option --everything; --help lists them"),
        (["--adopt", "/nowhere"], "--adopt needs a folder that is there"),
        (["--purge"], "--purge goes with --uninstall"),
    ],
)
def test_a_wrong_option_is_a_sentence(options: list[str], sentence: str) -> None:
    done = subprocess.run([ROOT / "systemd/install", *options], capture_output=True, text=True)
    assert done.returncode == 2
    assert sentence in done.stderr


def test_help_is_there_for_everybody_at_once() -> None:
    done = subprocess.run([ROOT / "systemd/install", "--help"], capture_output=True, text=True)
    assert done.returncode == 0
    assert "--rollback" in done.stdout
    assert "set -eu" not in done.stdout


def test_the_scripts_are_plain_shell() -> None:
    if not shutil.which("shellcheck"):
        pytest.skip("as root: apt-get install shellcheck")
    command = ["shellcheck", "--external-sources", "systemd/install", "systemd/steps.sh"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout + done.stderr == ""
    assert os.access(ROOT / "systemd/install", os.X_OK)
