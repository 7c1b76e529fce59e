"""What comes out on standard error: sentences for a person, everything for the journal, a secret for nobody."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

from appliance.cli.logs import SafeLog
from appliance.errors import ConfigError


def _log_a_failure() -> None:
    try:
        raise ValueError("no bread, owl-4711")
    except ValueError:
        logging.getLogger("kitchen").exception("baking failed")


def test_a_person_gets_one_line_and_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    with SafeLog(is_debug=False).shown():
        _log_a_failure()
    assert capsys.readouterr().err == "appliance: baking failed (ValueError: no bread, owl-4711)\n"


def test_debugging_shows_where_and_masks_what_is_secret(capsys: pytest.CaptureFixture[str]) -> None:
    log = SafeLog(is_debug=True)
    log.redact = lambda text: text.replace("owl-4711", "[secret]")
    with log.shown():
        _log_a_failure()
        log.tell(ConfigError("not owl-4711"))
    err = capsys.readouterr().err
    assert err.startswith("ERROR kitchen: baking failed\nTraceback") and "ValueError: no bread, [secret]" in err
    assert err.endswith("appliance: not [secret]\n") and "owl-4711" not in err


def test_the_journal_gets_the_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "journal").open("w") as journal:
        place = (tmp_path / "journal").stat()
        monkeypatch.setenv("JOURNAL_STREAM", f"{place.st_dev}:{place.st_ino}")
        monkeypatch.setattr(sys, "stderr", journal)
        log = SafeLog(is_debug=False)
        with log.shown():
            _log_a_failure()
            log.tell(ConfigError("a sentence"))
    text = (tmp_path / "journal").read_text()
    assert "Traceback" in text and text.count("Traceback") == 1 and text.endswith("appliance: a sentence\n")


@pytest.mark.parametrize(("is_device", "shown"), [(True, "appliance: hm\n"), (False, "")])
def test_only_the_device_logs_warnings(capsys: pytest.CaptureFixture[str], is_device: bool, shown: str) -> None:
    with SafeLog(is_debug=False, is_device=is_device).shown():
        logging.getLogger("kitchen").warning("hm")
    assert capsys.readouterr().err == shown
    assert logging.getLogger().level == logging.WARNING


def test_what_broke_in_a_parallel_task_is_told_itself(capsys: pytest.CaptureFixture[str]) -> None:
    group = ExceptionGroup("unhandled errors in a TaskGroup", [ExceptionGroup("inner", [ConfigError("a is no b")])])
    assert SafeLog(is_debug=False).tell(group) == 78
    assert capsys.readouterr().err == "appliance: a is no b\n"


def test_a_fault_of_ours_says_how_to_find_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert SafeLog(is_debug=False).tell(KeyError("crumb")) == 1
    err = capsys.readouterr().err
    assert "something went wrong that should not (KeyError: 'crumb')" in err and "--debug" in err
