"""The owner's folder: where it is, what is in it, and that only one box lives there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from appliance.errors import ApplianceError, HomeLockedError
from appliance.home import SERVICE_CONFIG, Home, shipped

NOWHERE = Path("/nonexistent/pointer")


def test_the_environment_says_where_it_is(tmp_path: Path) -> None:
    home = Home.find({"APPLIANCE_HOME": str(tmp_path / "here" / ".." / "there")}, NOWHERE)

    assert home == Home(tmp_path / "there")
    assert home.config_file == tmp_path / "there" / "config.toml"


def test_a_home_may_be_written_with_a_tilde() -> None:
    assert Home.find({"APPLIANCE_HOME": "~/box"}, NOWHERE).folder == Path("~/box").expanduser().resolve()


def test_else_the_service_says_it(tmp_path: Path) -> None:
    pointer = tmp_path / "home"
    pointer.write_text("/var/lib/appliance\n")

    home = Home.find({}, pointer)

    assert home == Home(Path("/var/lib/appliance"), is_service=True)
    assert home.config_file == SERVICE_CONFIG
    # So that whoever is logged in finds the running service.
    assert home.control_socket == Path("/run/appliance/control.sock")
    assert home.cache_folder == Path("/var/cache/appliance")


def test_else_it_is_where_this_users_data_lies() -> None:
    assert Home.find({"XDG_DATA_HOME": "/data"}, NOWHERE) == Home(Path("/data/appliance"))
    assert Home.find({}, NOWHERE) == Home(Path("~/.local/share/appliance").expanduser())
    assert Home.find({"APPLIANCE_HOME": ""}, NOWHERE) == Home.find({}, NOWHERE)


def test_its_folders_are_made_for_this_user_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "deep" / "home")

    home.make()
    home.make()

    for folder in (home.folder, home.plugins_folder, home.cache_folder, home.runtime_folder, home.switch_file.parent):
        assert folder.is_dir()
    assert stat.S_IMODE(home.folder.stat().st_mode) == 0o700
    assert home.switch_file == home.folder / "user" / "webui" / "plugins.json"
    assert home.control_socket.parent == home.runtime_folder


def test_a_service_keeps_its_socket_where_systemd_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNTIME_DIRECTORY", f"{tmp_path}/run:{tmp_path}/other")

    assert Home(tmp_path).control_socket == tmp_path / "run" / "control.sock"


@pytest.mark.parametrize("name", ["soul", "plugins"])
def test_what_ships_is_there(name: str) -> None:
    assert any(shipped(name).iterdir())


def test_a_second_box_on_one_home_is_refused_with_what_to_do(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with home.lock(), pytest.raises(HomeLockedError) as refused, home.lock():
        pass

    said = str(refused.value)
    assert str(home.folder) in said
    assert f"process {os.getpid()}" in said
    assert "stop it first, or set APPLIANCE_HOME to another folder" in said


def test_the_one_that_was_refused_does_not_free_the_home(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with home.lock():
        for _ in range(2):
            with pytest.raises(HomeLockedError), home.lock():
                pass


def test_a_home_is_free_again_when_its_box_is_gone_however_it_went(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with pytest.raises(KeyError), home.lock():
        raise KeyError("it crashed")

    with home.lock():
        pass


def test_a_lock_file_left_by_a_dead_process_locks_nothing(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("4194305")

    with Home(tmp_path).lock():
        assert (tmp_path / "lock").read_text() == str(os.getpid())


def test_a_home_that_is_no_folder_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ApplianceError, match=r"cannot be used .* set APPLIANCE_HOME"), Home(tmp_path / "file").lock():
        pass
