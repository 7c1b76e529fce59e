"""What the doctor says of plugins, the store, the settings, the service and crashes."""

from __future__ import annotations

import json
import os
import sqlite3
from datetime import timedelta
from pathlib import Path

from appliance.adapters.fakes.machine import FakeMachine
from appliance.clock import FakeClock, SystemClock
from appliance.doctor.checks import plugins, service, store
from appliance.doctor.checks.plugins import PluginState
from appliance.doctor.finding import Verdict
from appliance.doctor.starts_file import decided
from appliance.ports_doctor import Ended
from appliance.store.plugin_pins import PluginPin, PluginPins, digest_of, file_digests
from tests.doctor.test_machine_checks import is_fine, is_unknown, is_wrong

TRACEBACK = """Traceback (most recent call last):
  File "/opt/appliance/service.py", line 10, in run
    await work()
  File "/home/nabu/plugins/weather/tools.py", line 7, in fetch
    raise ValueError("the person said: my password is hunter2")
ValueError: the person said: my password is hunter2
"""
FAULT = """Fatal Python error: Segmentation fault

Current thread 0x00007f (most recent call first):
  File "/home/nabu/plugins/camera/grab.py", line 33 in grab
  File "/opt/appliance/worker.py", line 5 in run
"""


# --------------------------------------------------------------------------------------------------- plugins


def test_plugins_without_a_fault_are_fine() -> None:
    states = [PluginState("dice"), PluginState("off", is_on=False)]
    assert is_fine(plugins.plugin_problems(states), "1 plugins are on")
    assert is_fine(plugins.plugins_paused(states, {}))
    assert is_fine(plugins.plugin_keys(states))


def test_what_is_wrong_with_a_plugin_is_told_with_its_name() -> None:
    states = [
        PluginState("dice"),
        PluginState("weather", problems=("its import fails",), missing_keys=("KEY", "USER")),
        PluginState("lamp", paused="3 failures in 10 minutes", problems=("paused",)),
    ]
    assert is_wrong(plugins.plugin_problems(states), "weather: Its import fails.", "appliance plugin info weather")
    assert is_wrong(plugins.plugins_paused(states, {}), "has paused lamp: 3 failures", "plugin disable lamp")
    assert is_wrong(plugins.plugin_keys(states), "weather asks for KEY, USER in vain", "credential set weather KEY")


def test_a_key_that_a_switched_off_plugin_misses_is_no_fault() -> None:
    assert is_fine(plugins.plugin_keys([PluginState("weather", is_on=False, missing_keys=("KEY",))]))


def test_without_a_running_box_only_what_was_decided_before_is_known() -> None:
    assert is_unknown(plugins.plugin_problems(None)) and is_unknown(plugins.plugin_keys(None))
    assert is_unknown(plugins.plugins_paused(None, {}))
    assert is_wrong(plugins.plugins_paused(None, {"lamp": "it brought the box down"}), "has paused lamp")


def test_a_plugin_whose_files_were_changed_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "plugins" / "dice"
    folder.mkdir(parents=True)
    (folder / "tools.py").write_text("x = 1\n")
    files = file_digests(folder)
    pins = PluginPins(tmp_path / "pins.json")
    pins.put(PluginPin("dice", "tool", "1.0", "dice", "a folder", digest_of(files), files))
    assert is_fine(plugins.plugins_changed(tmp_path / "pins.json", tmp_path / "plugins"), "1 installed")
    (folder / "tools.py").write_text("x = 2\n")
    assert is_wrong(plugins.plugins_changed(tmp_path / "pins.json", tmp_path / "plugins"), "dice", "plugin verify dice")
    (folder / "tools.py").unlink()
    folder.rmdir()
    assert is_wrong(plugins.plugins_changed(tmp_path / "pins.json", tmp_path / "plugins"), "dice")


# ----------------------------------------------------------------------------------------------------- store


def test_a_whole_store_is_fine_and_a_damaged_one_is_told(tmp_path: Path) -> None:
    file = tmp_path / "appliance.db"
    assert is_fine(store.database(file), "no store yet")
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE words (text)")
        connection.executemany("INSERT INTO words VALUES (?)", [("x" * 500,)] * 500)
    connection.close()
    assert is_fine(store.database(file), "whole")
    data = bytearray(file.read_bytes())
    data[4096:8192] = os.urandom(4096)
    file.write_bytes(data)
    assert is_wrong(store.database(file), "damaged")
    file.write_bytes(b"no database at all" * 100)
    assert is_wrong(store.database(file), "damaged")


def test_a_store_that_is_in_use_is_looked_at_all_the_same(tmp_path: Path) -> None:
    file = tmp_path / "appliance.db"
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE words (text)")
    connection.execute("BEGIN IMMEDIATE")
    assert is_fine(store.database(file))
    connection.execute("COMMIT")
    connection.close()


def test_what_was_put_aside_and_what_was_wrong_at_opening_are_told(tmp_path: Path) -> None:
    assert is_fine(store.corrupt_copies(tmp_path)) and is_fine(store.store_notes([]))
    (tmp_path / "appliance.db.corrupt.20260504").write_text("x")
    assert is_wrong(store.corrupt_copies(tmp_path), "appliance.db.corrupt.20260504")
    assert is_wrong(store.store_notes(["everything is kept in memory"]), "Everything is kept in memory.")


def test_wrong_settings_are_told() -> None:
    assert is_fine(store.settings(()))
    assert is_wrong(store.settings(("speak.volume_percent = 300 (file): must be at most 100",)), "must be at most 100")


# --------------------------------------------------------------------------------------------------- service


def test_a_service_that_does_not_run_or_start_is_told() -> None:
    machine = FakeMachine()
    assert is_fine(service.service_installed(machine, is_service=False))
    assert is_unknown(service.service_installed(machine, is_service=True))
    machine.commands["systemctl is-enabled appliance.service"] = Ended(1, "disabled")
    assert is_wrong(service.service_installed(machine, is_service=True), "disabled", "systemctl enable")
    machine.commands["systemctl is-enabled appliance.service"] = Ended(0, "enabled")
    assert is_fine(service.service_installed(machine, is_service=True))
    machine.commands["systemctl is-active appliance.service"] = Ended(3, "failed")
    assert is_wrong(service.service_running(machine, is_service=True, is_running=False), "failed")
    assert is_fine(service.service_running(machine, is_service=True, is_running=True))
    assert is_fine(service.service_running(machine, is_service=False, is_running=False))


def test_the_last_crash_names_the_plugin_and_the_line_and_no_word_that_was_said(tmp_path: Path) -> None:
    assert is_fine(service.last_crash(tmp_path / "none", SystemClock()), "No crash")
    (tmp_path / "crash-000001.txt").write_text(FAULT)
    (tmp_path / "crash-000002.txt").write_text(TRACEBACK)
    (tmp_path / "crash-000003.txt").write_text("")
    finding = service.last_crash(tmp_path, SystemClock())
    assert is_wrong(finding, "in the plugin weather (tools.py line 7 in fetch)", "plugin disable weather")
    assert "hunter2" not in finding.sentence


def test_in_the_stack_of_a_fault_the_first_line_is_the_last_call(tmp_path: Path) -> None:
    (tmp_path / "crash-000001.txt").write_text(FAULT)
    assert is_wrong(service.last_crash(tmp_path, SystemClock()), "plugin camera (grab.py line 33 in grab)")


def test_an_old_crash_is_history(tmp_path: Path) -> None:
    file = tmp_path / "crash-000001.txt"
    file.write_text(FAULT)
    clock = FakeClock()
    then = (clock.now() - timedelta(days=3)).timestamp()
    os.utime(file, (then, then))
    assert is_fine(service.last_crash(tmp_path, clock), "The last crash was on 2026-05-01", "camera")


def test_safe_mode_is_told_with_why(tmp_path: Path) -> None:
    file = tmp_path / "starts.json"
    assert service.safe_mode(decided(file).safe_mode).verdict is Verdict.FINE
    file.write_text(json.dumps({"safe_mode": "you have switched it on", "quarantined": {"lamp": "it fell"}}))
    assert is_wrong(service.safe_mode(decided(file).safe_mode), "you have switched it on")
    assert decided(file).quarantined == {"lamp": "it fell"}
    file.write_text("{ not JSON")
    assert decided(file).safe_mode == ""


def test_the_file_of_the_starts_is_read_as_it_is_written(tmp_path: Path) -> None:
    from appliance.store.starts import Starts

    starts = Starts(tmp_path / "starts.json", FakeClock().now)
    starts.begin(is_device=True)
    starts.set_safe_mode(True)
    starts.end()
    assert decided(tmp_path / "starts.json").safe_mode == "you have switched it on"
