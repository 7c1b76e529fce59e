"""``appliance plugin install`` and its like in a home, as an owner types them."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.install.journal import Journal
from appliance.install.lock import manager_lock
from appliance.store.plugin_pins import PluginPins
from tests.cli.shell import Bound, Shell
from tests.install.rig import TIDES, Manager, tides
from tests.install.wheels import make_wheel

LAMP = """
ENABLED = True
TOOLS = [{"type": "function", "function": {"name": "lamp", "description": "Lamp.",
          "parameters": {"type": "object", "properties": {}, "required": []}}}]
def execute(function_name, arguments, config):
    return "%s", True
"""


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """A tool module."""
    return tides(tmp_path, "one")


def lamps(folder: Path, version: str) -> Path:
    """A plugin of the other contract."""
    place = folder / "lamps"
    manifest = {
        "name": "lamps",
        "version": version,
        "default_enabled": True,
        "capabilities": {"tools": ["tools/lamp.py"], "settings": [{"key": "color", "default": "red"}]},
    }
    (place / "tools").mkdir(parents=True, exist_ok=True)
    (place / "plugin.json").write_text(json.dumps(manifest))
    (place / "tools" / "lamp.py").write_text(LAMP % version)
    return place


def commit(folder: Path) -> None:
    git = ["git", "-C", str(folder), "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "new"]):
        subprocess.run([*git, *words], check=True)


def files_of(shell: Shell) -> set[str]:
    return {str(path.relative_to(shell.home)) for path in (shell.home / "plugins").rglob("*")}


# ------------------------------------------------------------------------------------------------- install


def test_before_the_yes_the_owner_sees_what_it_will_be_able_to_do(shell: Shell, one: Path) -> None:
    (one / "tides.py").write_text("import subprocess\n" + TIDES.format(says="one"))
    ran = shell("plugin", "install", one)
    assert ran.code == 3 and "nobody can be asked here, and nothing was changed; --yes says yes ahead" in ran.err
    assert f"from      {one}" in ran.out and "digest    " in ran.out and "It is not signed" in ran.out
    assert "It runs programs on this box" in ran.out
    assert files_of(shell) == set()


def test_installed_it_is_off_and_the_owner_is_told_how_to_switch_it_on(shell: Shell, one: Path) -> None:
    ran = shell("plugin", "install", one, "--yes")
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == "tides is installed and off; appliance plugin on tides switches it on"
    assert shell("tool", "run", "tides").code == 2
    assert shell("plugin", "enable", "tides").out.splitlines()[0] == "tides is on: tides"
    assert shell("tool", "run", "tides").out == "one\n"
    assert shell("plugin", "disable", "tides").out.splitlines()[0] == "tides is off"


def test_with_enable_it_works_at_once(shell: Shell, one: Path) -> None:
    ran = shell("plugin", "install", one, "--yes", "--enable", "--json").json
    assert (ran["action"], ran["live"], ran["name"], ran["signature"]) == ("install", "next start", "tides", "unsigned")
    assert shell("tool", "run", "tides").out == "one\n"


def test_a_dry_run_shows_the_same_and_changes_nothing(shell: Shell, one: Path) -> None:
    ran = shell("plugin", "install", one, "--dry-run")
    assert ran.code == 0 and ran.out.splitlines()[-1] == "Nothing was changed."
    assert files_of(shell) == set() and list((shell.home / "installed" / "stage").iterdir()) == []
    assert shell("plugin", "install", one, "--dry-run", "--json").json["action"] == "would install"


def test_installed_again_with_enable_is_only_switched_on(shell: Shell, one: Path) -> None:
    shell("plugin", "install", one, "--yes")
    ran = shell("plugin", "install", one, "--enable")
    assert ran.code == 0 and "is installed already, exactly as it is there" in ran.out
    assert shell("tool", "run", "tides").code == 0


def test_a_tampered_plugin_is_refused(shell: Shell, one: Path, tmp_path: Path) -> None:
    assert shell("plugin", "sign", one, "--key", tmp_path / "me.key", "--new-key").code == 0
    (one / "tides.py").write_text(TIDES.format(says="other"))
    ran = shell("plugin", "install", one, "--yes")
    assert ran.code == 3 and "Its signature does not fit it" in ran.err
    assert files_of(shell) == set()


def test_a_signed_and_packed_plugin_is_known_by_its_signer(shell: Shell, one: Path, tmp_path: Path) -> None:
    shell("plugin", "sign", one, "--key", tmp_path / "ada.key", "--new-key")
    assert shell("plugin", "pack", one, "--out", tmp_path / "tides.zip").code == 0
    signers = shell.home / "installed" / "signers"
    signers.mkdir(parents=True)
    (signers / "ada.pub").write_text((tmp_path / "ada.pub").read_text())
    ran = shell("plugin", "install", tmp_path / "tides.zip", "--yes", "--json").json
    assert (ran["signature"], ran["signer"]) == ("signed by a known signer", "ada")
    assert shell("plugin", "list", "--json").json[-1]["signer"] == "ada"
    assert "signed by ada" in shell("plugin", "info", "tides").out


def test_an_update_that_lost_its_signature_is_refused(shell: Shell, one: Path, tmp_path: Path) -> None:
    shell("plugin", "sign", one, "--key", tmp_path / "ada.key", "--new-key")
    shell.write("installed/signers/ada.pub", (tmp_path / "ada.pub").read_text())
    shell("plugin", "install", one, "--yes")
    (one / "plugin.sig").unlink()
    (one / "tides.py").write_text(TIDES.format(says="two"))
    ran = shell("plugin", "update", "tides", "--yes")
    assert ran.code == 3 and "tides was signed by ada, and what is at" in ran.err
    ran = shell("plugin", "install", one, "--yes")
    assert ran.code == 0 and "! what is here was signed by ada, and this is not" in ran.out


def test_what_is_no_plugin_is_refused_with_a_sentence(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ran = shell("plugin", "install", tmp_path / "empty", "--yes")
    assert ran.code in (2, 3) and ran.err.count("\n") == 1
    assert shell("plugin", "install", tmp_path / "nowhere", "--yes").code == 2


def test_packages_go_into_the_plugins_folder_and_are_found_there(shell: Shell, one: Path, tmp_path: Path) -> None:
    make_wheel(tmp_path / "wheels", "moonphase", "1.5")
    shell.set_variable("PIP_NO_INDEX", "1")
    shell.set_variable("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    (one / "requirements.txt").write_text("moonphase>=1\n")
    (one / "tides.py").write_text("import moonphase\n" + TIDES.replace('"{says}"', "moonphase.VERSION").format())
    ran = shell("plugin", "install", one, "--yes", "--enable")
    assert ran.code == 0 and "it needs packages, which go into its own folder: moonphase>=1" in ran.out
    assert shell("tool", "run", "tides").out == "1.5\n"
    assert shell("plugin", "verify").code == 0


def test_what_a_power_cut_interrupted_is_finished_by_the_next_start(shell: Shell, one: Path, tmp_path: Path) -> None:
    shell("plugin", "install", one, "--yes", "--enable")
    manager = Manager(shell.home)
    with manager_lock(manager.places):
        change = manager.prepare(manager.look_at(str(tides(tmp_path, "two"))))
        Journal(manager.places.journal).begin(change)
        (manager.places.plugins / "tides").rename(manager.places.inside(change.outgoing))
    assert shell("tool", "run", "tides").out == "two\n"
    assert shell("plugin", "verify").code == 0
    assert shell("plugin", "rollback", "tides").code == 0
    assert shell("tool", "run", "tides").out == "one\n"


def test_verify_finishes_what_was_cut_and_says_so_when_it_cannot(shell: Shell, one: Path, tmp_path: Path) -> None:
    shell("plugin", "install", one, "--yes", "--enable")
    manager = Manager(shell.home)
    with manager_lock(manager.places):
        change = manager.prepare(manager.look_at(str(tides(tmp_path, "two"))))
        Journal(manager.places.journal).begin(change)
    assert shell("plugin", "verify").code == 0
    assert manager.said_by("tides") == "two"
    manager.places.journal.write_text("{torn")
    ran = shell("plugin", "verify")
    assert ran.code == 1 and "a change of the plugins was cut short and is not finished" in ran.err


def test_packages_of_another_python_are_told_in_the_list(shell: Shell, one: Path) -> None:
    shell("plugin", "install", one, "--yes", "--enable")
    pins = PluginPins(shell.home / "installed" / "pins.json")
    pins.put(replace(pins.all()["tides"], python="3.4"))
    assert "! its own packages are for Python 3.4, and this is" in shell("plugin", "list").out


# -------------------------------------------------------------------------------- update, rollback, remove


def test_update_brings_the_new_version_and_rollback_the_old_one(shell: Shell, tmp_path: Path) -> None:
    shell("plugin", "install", lamps(tmp_path, "1.0"), "--yes", "--enable")
    assert "is installed already" in shell("plugin", "update", "lamps").out
    lamps(tmp_path, "1.1")
    assert shell("plugin", "update", "lamps").code == 3
    ran = shell("plugin", "update", "lamps", "--yes")
    assert ran.code == 0 and "lamps  1.1 (here is 1.0)" in ran.out
    assert shell("tool", "run", "lamp").out == "1.1\n"
    row = next(row for row in shell("plugin", "list", "--json").json if row["name"] == "lamps")
    assert (row["version"], row["previous"], row["pin"]) == ("1.1", "1.0", "pinned")

    assert shell("plugin", "rollback", "lamps").code == 0
    assert shell("tool", "run", "lamp").out == "1.0\n"
    again = shell("plugin", "update", "lamps", "--yes")
    assert again.code == 0 and "lamps 1.1 was rolled back, so an update does not bring it again" in again.out
    lamps(tmp_path, "1.2")
    assert shell("plugin", "update", "--all", "--yes", "--json").json[0]["version"] == "1.2"


def test_update_of_all_goes_on_after_one_that_fails(shell: Shell, one: Path, tmp_path: Path) -> None:
    shell("plugin", "install", one, "--yes")
    shell("plugin", "install", lamps(tmp_path, "1.0"), "--yes")
    lamps(tmp_path, "1.1")
    one.rename(tmp_path / "away")
    ran = shell("plugin", "update", "--all", "--yes")
    assert ran.code == 1 and "appliance: tides: " in ran.err
    assert "lamps 1.1 is installed" in ran.out


def test_update_without_names_says_how(shell: Shell) -> None:
    ran = shell("plugin", "update")
    assert ran.code == 2 and "name the plugins to update, or say --all" in ran.err


def test_an_update_fetches_from_a_repository_again(shell: Shell, one: Path) -> None:
    commit(one)
    shell("plugin", "install", f"git+file://{one}", "--yes", "--enable")
    (one / "tides.py").write_text(TIDES.format(says="two"))
    commit(one)
    assert shell("plugin", "update", "tides", "--yes").code == 0
    assert shell("tool", "run", "tides").out == "two\n"


def test_an_older_version_needs_the_owners_word(shell: Shell, tmp_path: Path) -> None:
    shell("plugin", "install", lamps(tmp_path, "2.0"), "--yes")
    lamps(tmp_path, "1.0")
    ran = shell("plugin", "install", tmp_path / "lamps", "--yes")
    assert ran.code == 3 and "version 1.0 is older than 2.0, which is here; --downgrade allows it" in ran.err
    assert shell("plugin", "install", tmp_path / "lamps", "--yes", "--downgrade").code == 0


def test_remove_keeps_the_settings_and_purge_does_not(shell: Shell, tmp_path: Path) -> None:
    shell("plugin", "install", lamps(tmp_path, "1.0"), "--yes", "--enable")
    shell("plugin", "set", "lamps", "color=blue")
    shell("credential", "set", "lamps", "LAMP_KEY", stdin="sesame-open\n")
    state = shell.write("user/plugin_state/lamps.json", '{"count": 3}')
    settings = shell.home / "user" / "webui" / "plugins" / "lamps.json"
    assert shell("plugin", "remove", "lamps").code == 3
    assert shell("plugin", "remove", "lamps", "--yes").code == 0
    assert files_of(shell) == set() and settings.exists() and state.exists()

    shell("plugin", "rollback", "lamps")
    assert shell("tool", "run", "lamp").out == "1.0\n"
    dry = shell("plugin", "remove", "lamps", "--purge", "--dry-run").out
    assert "user/plugin_state/lamps.json" in dry and "its key LAMP_KEY" in dry and "Nothing was changed." in dry
    ran = shell("plugin", "remove", "lamps", "--purge", "--yes")
    assert ran.code == 0 and ran.out.splitlines()[-1] == "lamps is removed for good"
    left = [path for path in shell.home.rglob("*lamps*") if path.is_file()]
    assert left == [] and "sesame" not in "".join(path.read_text() for path in shell.home.glob("credentials.json*"))
    assert shell("plugin", "rollback", "lamps").code == 2


def test_what_an_earlier_removal_left_can_still_be_purged(shell: Shell, tmp_path: Path) -> None:
    shell("plugin", "install", lamps(tmp_path, "1.0"), "--yes", "--enable")
    shell("plugin", "set", "lamps", "color=blue")
    shell("plugin", "remove", "lamps", "--yes")
    assert shell("plugin", "remove", "lamps", "--purge", "--yes").code == 0
    assert not (shell.home / "user" / "webui" / "plugins" / "lamps.json").exists()
    assert shell("plugin", "remove", "lamps", "--purge", "--yes").code == 2


# ----------------------------------------------------------------------------------- verify, list, safe mode


def test_verify_and_list_tell_pinned_unpinned_and_changed(shell: Shell, one: Path, tmp_path: Path) -> None:
    shell("plugin", "install", one, "--yes")
    shell.write("plugins/hand/hand.py", TIDES.format(says="hand").replace("tides", "hand"))
    assert shell("plugin", "verify").code == 0
    shell.write("plugins/tides/tides.py", "import os\n")
    ran = shell("plugin", "verify")
    assert ran.code == 1 and "tides: it is not what was installed (changed: tides.py)" in ran.out
    assert [row["state"] for row in shell("plugin", "verify", "--json").json] == ["unpinned", "changed"]
    states = {row["name"]: row["pin"] for row in shell("plugin", "list", "--json").json}
    assert (states["hand"], states["tides"], states["dice"]) == ("unpinned", "changed", "")
    assert shell("plugin", "verify", "hand").code == 0
    assert "comes with the box" in shell("plugin", "verify", "dice").err


def test_a_plugin_that_breaks_at_import_can_be_looked_at_and_taken_out(shell: Shell, tmp_path: Path) -> None:
    place = tides(tmp_path, "one", **{"tides.py": "raise SystemExit('no')\n" + TIDES.format(says="one")})
    shell("plugin", "install", place, "--yes", "--enable")
    assert shell("plugin", "verify").code == 0
    assert shell("plugin", "remove", "tides", "--yes").code == 0
    assert files_of(shell) == set()


def test_safe_mode_goes_on_and_off(shell: Shell, one: Path) -> None:
    shell("plugin", "install", one, "--yes", "--enable")
    assert "safe mode is off" in shell("plugin", "safe-mode").out
    assert "safe mode is on" in shell("plugin", "safe-mode", "on").out
    assert shell("tool", "run", "tides").code == 2
    assert shell("plugin", "safe-mode", "status", "--json").json["on"] is True
    shell("plugin", "safe-mode", "off")
    assert shell("tool", "run", "tides").code == 0


def test_a_folder_of_somebody_else_is_told_with_sudo(one: Path, tmp_path: Path) -> None:
    bound = Bound(tmp_path)
    (bound.home / "plugins").mkdir(parents=True)
    (bound.home / "plugins").chmod(0o555)
    ran = bound("plugin", "install", one, "--yes")
    assert ran.code == 1 and "sudo appliance plugin" in ran.err
