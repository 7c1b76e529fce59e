"""``appliance doctor`` as an owner types it."""

from __future__ import annotations

import json

from appliance.doctor.finding import GRAVEST_FIRST
from tests.cli.shell import Process, Shell


def test_findings_come_line_by_line_and_the_worst_comes_last(shell: Shell) -> None:
    shell.write("config.toml", "[speak]\nvolume_percent = 300\n")
    ran = shell("doctor", "machine.bits", "settings", "service")
    lines = ran.out.splitlines()
    assert ran.code == 1
    assert lines[0].split()[:2] == ["fine", "machine.bits"]
    wrong = next(number for number, line in enumerate(lines) if line.startswith("WRONG"))
    assert "speak.volume_percent = 300" in lines[wrong] and lines[wrong + 1].strip().startswith("-> Correct it")
    assert lines[-1].startswith("6 checks, 1 found something wrong") and "volume_percent" in lines[-1]


def test_nothing_wrong_is_exit_code_0_and_json_has_a_stable_shape(shell: Shell) -> None:
    ran = shell("doctor", "--json", "machine.bits", "settings")
    assert ran.code == 0
    assert ran.json == {
        "findings": [
            {"check": "machine.bits", "verdict": "fine", "sentence": "The system has 64 bits.", "advice": ""},
            {"check": "settings.values", "verdict": "fine", "sentence": "The settings make sense.", "advice": ""},
        ],
        "wrong": 0,
        "worst": None,
        "is_running": False,
    }


def test_a_settings_file_that_is_none_is_a_finding_and_no_end(shell: Shell) -> None:
    shell.write("config.toml", "[speak\n")
    ran = shell("doctor", "--quick", "settings", "machine.bits")
    assert ran.code == 1 and "is not valid TOML" in ran.out


def test_a_check_that_is_none_and_an_out_without_record_are_wrong_usage(shell: Shell) -> None:
    ran = shell("doctor", "microphone")
    assert ran.code == 2 and "the groups are: sound, speech" in ran.err
    assert shell("doctor", "--out", "x.tar.gz").code == 2


def test_a_whole_examination_of_a_machine_without_sound_ends_and_names_every_check(process: Process) -> None:
    ran = process("doctor", "--json")
    assert ran.code == 1
    told = json.loads(ran.out)
    assert {finding["check"] for finding in told["findings"]} == set(GRAVEST_FIRST)
    found = {finding["check"]: finding for finding in told["findings"]}
    assert found["sound.devices"]["verdict"] == "wrong"
    assert found["speech.hearing"]["verdict"] == found["speech.activity"]["verdict"] == "fine"
    assert all(finding["advice"] for finding in told["findings"] if finding["verdict"] == "wrong")
