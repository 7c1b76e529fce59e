"""``logs``: what the device tells about itself, tagged with turn and plugin, and with no word that is private."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import stat
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.fakes.control import FakeControl
from appliance.adapters.fakes.journal import FakeJournal
from appliance.adapters.journal import SystemdJournal
from appliance.cli.logs import SafeLog
from appliance.cli.logs_command import show_device, show_journal, since_when
from appliance.clock import FakeClock, settle
from appliance.contracts.plugin_call import PluginCall
from appliance.errors import JournalError, UsageError
from appliance.log_ring import LINES_KEPT, LineMaker, LogRing
from appliance.ports_logs import LogLine
from appliance.service_logs import LogService
from appliance.tools.current_chat import in_chat
from appliance.turn import Turn
from tests.cli.shell import Shell
from tests.cli.test_run import Running

KITCHEN = logging.getLogger("appliance.kitchen")


@pytest.fixture
def log(capsys: pytest.CaptureFixture[str]) -> Iterator[SafeLog]:
    """What a device logs with, switched on."""
    log = SafeLog(is_debug=False, is_device=True)
    with log.shown():
        yield log


def lines_of(log: SafeLog) -> list[LogLine]:
    assert log.ring is not None
    return log.ring.lines


def asked(**values: Any) -> argparse.Namespace:
    """What was typed."""
    usual = {"follow": False, "count": 200, "turn": "", "plugin": "", "json": False}
    return argparse.Namespace(**{**usual, **values})


# ---------------------------------------------------------------------------------------------- what is kept


def test_a_line_knows_its_turn(log: SafeLog) -> None:
    turn = Turn("voice")
    turn.context().run(KITCHEN.warning, "the %s is hot", "stove")
    KITCHEN.info("later")
    first, second = lines_of(log)
    assert (first.turn_id, first.level, first.source, first.text) == (
        turn.turn_id,
        "WARNING",
        "appliance.kitchen",
        "the stove is hot",
    )
    assert second.turn_id == ""


async def test_what_plugin_code_logs_is_tagged_with_its_name_whatever_its_logger_is(log: SafeLog) -> None:
    logging.getLogger("plugin.tides").info("what it printed")
    call = PluginCall("tides", asyncio.get_running_loop().create_future())
    call.context.run(logging.getLogger("some.library").info, "from inside")
    logging.getLogger("some.library").info("from elsewhere")
    assert [(line.plugin, line.text) for line in lines_of(log)] == [
        ("tides", "what it printed"),
        ("tides", "from inside"),
    ]


async def test_what_a_plugin_logs_in_a_private_chat_has_no_words(capsys: pytest.CaptureFixture[str]) -> None:
    call = PluginCall("diary", asyncio.get_running_loop().create_future())

    def work() -> None:
        with in_chat("secret", "turn-1", is_private=True):
            logging.getLogger("diary").warning("dear owl")

    log = SafeLog(is_debug=False, is_device=True)
    with log.shown():
        call.context.run(work)
    (line,) = lines_of(log)
    assert "owl" not in line.text and line.plugin == "diary"
    assert capsys.readouterr().err == "appliance: (said in a private chat)\n"


def test_an_exception_that_may_repeat_what_was_said_is_told_by_its_kind_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> str:
        try:
            raise ValueError("dear owl")
        except ValueError:
            KITCHEN.exception("baking failed")
        return capsys.readouterr().err

    log = SafeLog(is_debug=False, is_device=True)
    with log.shown():
        assert fail() == "appliance: baking failed (ValueError: dear owl)\n"
        log.lines.hides_words = lambda: True
        assert fail() == "appliance: baking failed (ValueError)\n"
    told, private = (line.text for line in lines_of(log))
    assert "Traceback" in told and "dear owl" in told
    assert private == "baking failed (ValueError)"


def test_a_secret_is_in_no_line(log: SafeLog) -> None:
    log.redact = lambda text: text.replace("owl-4711", "[secret]")
    KITCHEN.warning("the key is %s", "owl-4711")
    assert lines_of(log)[0].text == "the key is [secret]"


def test_the_oldest_lines_go() -> None:
    ring = LogRing(LineMaker())
    for number in range(LINES_KEPT + 5):
        ring.handle(logging.LogRecord("appliance.x", logging.INFO, "", 0, "line %d", (number,), None))
    assert len(ring.lines) == LINES_KEPT and ring.lines[0].text == "line 5"


def test_a_command_keeps_nothing() -> None:
    assert SafeLog(is_debug=False).ring is None


# --------------------------------------------------------------------------------------- from the running device


def device_with(*lines: tuple[str, str]) -> tuple[LogRing, FakeControl]:
    """A device that logged these: (logger, text)."""
    ring = LogRing(LineMaker())
    for name, text in lines:
        ring.handle(logging.LogRecord(name, logging.INFO, "", 0, text, (), None))
    return ring, FakeControl(LogService(ring).handlers)


async def test_the_last_lines_are_shown_oldest_first(capsys: pytest.CaptureFixture[str]) -> None:
    _, device = device_with(*[("appliance.clock", f"tick {number}") for number in range(250)])
    await show_device(asked(count=240), device, None)
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 240
    assert shown[0].endswith("INFO clock: tick 10") and shown[-1].endswith("INFO clock: tick 249")


async def test_one_plugin_alone_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    _, device = device_with(("appliance.clock", "tick"), ("plugin.tides", "high water"), ("plugin.dice", "six"))
    await show_device(asked(plugin="tides", json=True), device, None)
    entry = json.loads(capsys.readouterr().out)
    assert entry["plugin"] == "tides" and entry["text"] == "high water"


async def test_following_goes_on_until_the_client_leaves(capsys: pytest.CaptureFixture[str]) -> None:
    ring, device = device_with(("appliance.clock", "tick"), ("appliance.clock", "tock"))
    following = asyncio.create_task(show_device(asked(follow=True, count=1), device, None))
    await settle()
    assert capsys.readouterr().out.splitlines()[0].endswith("tock")
    record = logging.LogRecord("appliance.clock", logging.INFO, "", 0, "cuckoo", (), None)
    await asyncio.to_thread(ring.handle, record)
    await settle()
    assert capsys.readouterr().out.endswith("cuckoo\n")
    following.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await following
    assert not ring._followers, "nobody is told any more"


async def test_only_what_came_since(capsys: pytest.CaptureFixture[str]) -> None:
    _, device = device_with(("appliance.clock", "tick"))
    await show_device(asked(), device, datetime(2999, 1, 1, tzinfo=UTC))
    assert capsys.readouterr().out == ""
    with pytest.raises(UsageError, match="no ISO time"):
        await device.call("logs.tail", {"since": "soon"})
    with pytest.raises(UsageError, match="number of lines"):
        await device.call("logs.tail", {"count": 0})


# -------------------------------------------------------------------------------------------- from the journal


def test_what_goes_to_the_journal_comes_back_with_its_tags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "journal").open("w") as file:
        place = (tmp_path / "journal").stat()
        monkeypatch.setenv("JOURNAL_STREAM", f"{place.st_dev}:{place.st_ino}")
        monkeypatch.setattr(sys, "stderr", file)
        turn = Turn("voice")
        with SafeLog(is_debug=False, is_device=True).shown():
            logging.getLogger("plugin.tides").info("high water")
            turn.context().run(KITCHEN.error, "first\nsecond")
            logging.getLogger("some.library").info("asked https://host/what-was-said")
    written = (tmp_path / "journal").read_text().splitlines()
    assert [line[:3] for line in written] == ["<6>", "<3>", "<3>"], "and nothing of what libraries tell"
    lines = [LogLine.parse("now", line[3:]) for line in written]
    assert [(line.turn_id, line.plugin, line.text) for line in lines] == [
        ("", "tides", "high water"),
        (turn.turn_id, "", "first"),
        (turn.turn_id, "", "second"),
    ]


async def test_one_turn_is_found_in_the_journal(capsys: pytest.CaptureFixture[str]) -> None:
    journal = FakeJournal(
        LogLine("2026-05-04T15:07:00", "INFO", "appliance.a", "one", "turn-1"),
        LogLine("2026-05-04T15:07:01", "INFO", "appliance.a", "two", "turn-2"),
        LogLine("2026-05-04T15:07:02", "INFO", "", "Started the appliance."),
    )
    await show_journal(asked(turn="turn-2"), journal, None)
    assert capsys.readouterr().out == "2026-05-04 15:07:01 INFO a [turn-2]: two\n"
    await show_journal(asked(), journal, None)
    assert capsys.readouterr().out.splitlines()[-1] == "2026-05-04 15:07:02 Started the appliance."


async def test_the_journal_is_followed(capsys: pytest.CaptureFixture[str]) -> None:
    journal = FakeJournal()
    following = asyncio.create_task(show_journal(asked(follow=True), journal, None))
    await settle()
    journal.log(LogLine("2026-05-04T15:07:00", "INFO", "appliance.a", "news"))
    await settle()
    assert capsys.readouterr().out.endswith("INFO a: news\n")
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)


JOURNALCTL = """#!/bin/sh
echo "$@" > "$(dirname "$0")/asked"
cat <<'END'
{"__REALTIME_TIMESTAMP": "1777907220000000", "PRIORITY": "4", "MESSAGE": "WARNING appliance.a [turn-1]: hot"}
{"__REALTIME_TIMESTAMP": "1777907221000000", "PRIORITY": "6", "MESSAGE": [104, 105, 255]}
rubbish
END
"""


def program(folder: Path, text: str) -> Path:
    """Something that stands in for journalctl."""
    file = folder / "journalctl"
    file.write_text(text)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


async def test_journalctl_is_asked_for_the_unit_and_its_entries_are_read(tmp_path: Path) -> None:
    journal = SystemdJournal(program=[str(program(tmp_path, JOURNALCTL))])
    since = datetime(2026, 5, 4, 15, 7, tzinfo=UTC)
    lines = [line async for line in journal.lines(count=7, since=since, follow=False)]
    assert [(line.level, line.turn_id, line.text) for line in lines] == [
        ("WARNING", "turn-1", "hot"),
        ("INFO", "", "hi�"),
    ]
    words = (tmp_path / "asked").read_text()
    assert "--unit appliance --output json" in words and "--lines 7 --since 2026-05-04" in words


NO_RIGHTS = (
    "No journal files were opened due to insufficient permissions.",
    "Hint: You are currently not seeing messages from other users and the system.",
)


@pytest.mark.parametrize("hint", [*NO_RIGHTS, ""])
@pytest.mark.parametrize("follow", [False, True])
async def test_a_journal_that_cannot_be_read_says_what_to_do(tmp_path: Path, hint: str, follow: bool) -> None:
    said = f"#!/bin/sh\necho '{hint}' >&2\ncase \"$*\" in *--follow*) exec sleep 100 ;; esac\n"
    words = [str(program(tmp_path, said))] if hint else [str(tmp_path / "nowhere")]
    with pytest.raises(JournalError, match="the journal cannot be read"):
        async for _ in SystemdJournal(program=words).lines(count=1, since=None, follow=follow):
            pass


# ------------------------------------------------------------------------------------------------- the command


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("10m", "2026-05-04T14:57"),
        ("2h", "2026-05-04T13:07"),
        ("1d", "2026-05-03T15:07"),
        ("14:30", "2026-05-04T14:30"),
        ("23:00", "2026-05-03T23:00"),
        ("2026-05-01", "2026-05-01T00:00"),
    ],
)
def test_since_is_what_a_person_types(text: str, moment: str) -> None:
    since = since_when(text, FakeClock())
    assert since is not None and since.isoformat().startswith(moment)


@pytest.mark.parametrize("words", [("--since", "soon"), ("--since", "25:00"), ("--count", "0")])
def test_what_is_no_time_or_number_is_told(shell: Shell, words: tuple[str, ...]) -> None:
    assert shell("logs", *words).code == 2


def test_without_a_device_there_is_no_log_and_why_is_said(shell: Shell) -> None:
    ran = shell("logs")
    assert (ran.code, ran.out) == (1, "") and "it keeps its log in memory" in ran.err


CHATTY = """
DESCRIPTION = "Talks to itself."
SCHEMA = {"type": "function", "name": "chatty", "description": "Talks.",
          "parameters": {"type": "object", "properties": {}}}
RISK = "read"
async def execute(args, ctx):
    print("mumble mumble")
    return {"ok": True}
"""


def test_a_running_device_shows_its_turns_and_what_plugins_print(tmp_path: Path) -> None:
    device = Running(tmp_path)
    (device.home / "plugins" / "chatty").mkdir(parents=True)
    (device.home / "plugins" / "chatty" / "chatty.py").write_text(CHATTY)
    device.start()
    device.wait_until_listening()
    try:
        turn_id = device("ask", "--text", "what time is it", "--json").json["turn_id"]
        assert device("tool", "run", "chatty").code == 0
        assert f"[{turn_id}]" in device("logs", "--turn", turn_id).out
        assert device("logs", "--plugin", "chatty").out.endswith("plugin.chatty [plugin:chatty]: mumble mumble\n")
        assert device("logs", "--turn", "turn-0").out == ""
    finally:
        ended = device.end()
    assert "mumble" not in ended.err
