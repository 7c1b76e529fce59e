"""JSON files that survive, and the secrets kept in one."""

from __future__ import annotations

import base64
import json
import logging
import os
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pytest

from appliance.clock import FakeClock
from appliance.errors import StoreError, UsageError
from appliance.store.atomic_file import read_json, write_json
from appliance.store.canonical_json import canonical_json
from appliance.store.credentials import MASK, Credentials

NOW = datetime(2026, 5, 4, 15, 7, tzinfo=UTC)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "state.json"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# ----------------------------------------------------------------------------------------------- atomic files


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can write for others")
def test_what_root_writes_into_the_home_of_a_service_is_the_services(file: Path) -> None:
    file.parent.mkdir()
    os.chown(file.parent, 4711, 4712)
    write_json(file, {"a": 1})
    write_json(file, {"a": 2})
    assert {(path.stat().st_uid, path.stat().st_gid) for path in file.parent.iterdir()} == {(4711, 4712)}


def test_a_value_comes_back_and_only_its_owner_can_read_the_file(file: Path) -> None:
    assert read_json(file, NOW) == (None, "")
    write_json(file, {"name": "Grüße 😀", "list": [1, None, 2.5]})
    assert read_json(file, NOW) == ({"name": "Grüße 😀", "list": [1, None, 2.5]}, "")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert names(file.parent) == ["state.json"]


def test_the_value_before_stays_as_a_second_file(file: Path) -> None:
    for number in range(3):
        write_json(file, number)
    assert json.loads(file.with_name("state.json.bak").read_text()) == 1
    assert names(file.parent) == ["state.json", "state.json.bak"]


def test_nothing_is_written_when_nothing_changed(file: Path) -> None:
    write_json(file, {"a": 1})
    before = file.stat().st_ino
    write_json(file, {"a": 1})
    assert file.stat().st_ino == before
    assert names(file.parent) == ["state.json"]


@pytest.mark.parametrize("value", [float("nan"), {1: 2}, object(), {"a": b"b"}])
def test_what_is_no_json_is_refused_before_the_file_is_touched(file: Path, value: object) -> None:
    write_json(file, "old")
    with pytest.raises(StoreError, match=r"state.json cannot hold that"):
        write_json(file, value)
    assert read_json(file, NOW) == ("old", "")


@pytest.mark.parametrize("rubbish", [b"", b'{"half": ', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_file_is_put_aside_and_the_one_before_it_is_used(file: Path, rubbish: bytes) -> None:
    write_json(file, "older")
    write_json(file, "newer")
    file.write_bytes(rubbish)
    value, problem = read_json(file, NOW)
    assert value == "older"
    assert "put aside as state.json.corrupt.20260504T150700, the one before it is used" in problem
    assert file.with_name("state.json.corrupt.20260504T150700").read_bytes() == rubbish
    write_json(file, "newest")
    assert read_json(file, NOW) == ("newest", "")


def test_when_both_are_damaged_it_says_so_and_goes_on(file: Path) -> None:
    write_json(file, "older")
    write_json(file, "newer")
    file.write_bytes(b"rubbish")
    file.with_name("state.json.bak").write_bytes(b"rubbish")
    value, problem = read_json(file, NOW)
    assert value is None
    assert "nothing older could be read" in problem


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        write_json(tmp_path / "file" / "state.json", 1)


def test_a_cut_between_the_two_renames_leaves_no_rubbish_behind(file: Path) -> None:
    write_json(file, 1)
    os.link(file, file.with_name("state.json.bak"))
    write_json(file, 2)
    assert names(file.parent) == ["state.json", "state.json.bak"]
    assert json.loads(file.with_name("state.json.bak").read_text()) == 1


def test_what_a_cut_left_half_written_is_cleared_at_the_next_start(file: Path) -> None:
    write_json(file, 1)
    file.with_name(".state.json.1.0a1b.tmp").write_text('{"half": ')
    file.with_name(f".state.json.{os.getpid()}.0a1b.tmp").write_text("being written now, by another thread")
    assert read_json(file, NOW) == (1, "")
    assert names(file.parent) == [f".state.json.{os.getpid()}.0a1b.tmp", "state.json"]


_WRITER = """
import sys
from pathlib import Path
from appliance.store.atomic_file import write_json
for number in range(1_000_000):
    write_json(Path(sys.argv[1]), {"number": number, "filling": "x" * 20_000})
    print(number, flush=True)
"""


def test_kill_9_in_the_middle_of_writing_leaves_the_old_value_or_the_new_one(file: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", _WRITER, str(file)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        while int(writer.stdout.readline()) < 50:
            pass
        writer.kill()
        acknowledged = max([50, *(int(line) for line in writer.stdout if line.endswith("\n"))])
    value, problem = read_json(file, NOW)
    assert problem == ""
    assert value["number"] in (acknowledged, acknowledged + 1)
    assert names(file.parent) == ["state.json", "state.json.bak"]


def test_one_value_has_one_canonical_text() -> None:
    assert canonical_json({"b": 1, "a": [True, None, "é\ud83d"]}) == '{"a":[true,null,"\\u00e9\\ud83d"],"b":1}'
    assert canonical_json({"a": [1], "b": {}}) == canonical_json(json.loads(' {"b" : {}, "a": [1]}'))


# ------------------------------------------------------------------------------------------------ credentials

KEY = 'sk-p/a+s"s w=örd'


def credentials(folder: Path, **environment: str) -> Credentials:
    return Credentials(folder / "credentials.json", environment, FakeClock())


def test_a_secret_is_kept_over_a_restart_in_a_file_for_the_owner_only(tmp_path: Path) -> None:
    credentials(tmp_path).set("model_key", KEY)
    again = credentials(tmp_path)
    assert (again.get("model_key"), again.origin("model_key"), again.names) == (KEY, "file", ("model_key",))
    assert (again.get("other"), again.origin("other")) == ("", "")
    assert stat.S_IMODE((tmp_path / "credentials.json").stat().st_mode) == 0o600


def test_systemd_comes_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "systemd"
    folder.mkdir()
    credentials(tmp_path).set("MODEL_KEY", "from file")
    from_environment = {"MODEL_KEY": "from environment"}
    assert credentials(tmp_path, **from_environment).get("MODEL_KEY") == "from environment"
    (folder / "MODEL_KEY").write_text("from systemd\n")
    all_three = credentials(tmp_path, **from_environment, CREDENTIALS_DIRECTORY=str(folder))
    assert (all_three.get("MODEL_KEY"), all_three.origin("MODEL_KEY")) == ("from systemd", "systemd")


@pytest.mark.parametrize(
    "text",
    [
        f"Authorization: Bearer {KEY}",
        json.dumps({"key": KEY}),
        json.dumps({"key": KEY}, ensure_ascii=False),
        f"https://host/?key={quote(KEY, safe='')}",
        base64.b64encode(KEY.encode()).decode(),
        base64.urlsafe_b64encode(KEY.encode()).decode(),
    ],
)
def test_a_known_secret_is_masked_however_it_is_written(tmp_path: Path, text: str) -> None:
    known = credentials(tmp_path)
    assert known.redact(text) == text
    known.set("model_key", KEY)
    assert MASK in known.redact(text)
    assert not any(part in known.redact(text) for part in ("sk-p", "rd", "c2stcC"))
    if text.startswith("{"):
        json.loads(known.redact(text))


def test_secrets_of_the_environment_are_masked_by_name_or_once_used(tmp_path: Path) -> None:
    known = credentials(tmp_path, OPENAI_API_KEY="a-long-key", HOUSE="number seven", EMPTY_TOKEN="", SHORT_KEY="on")
    assert known.redact("a-long-key on number seven") == f"{MASK} on number seven"
    assert known.get("HOUSE") == "number seven"
    assert known.redact("a-long-key on number seven") == f"{MASK} on {MASK}"


def test_the_longer_of_two_secrets_is_masked_whole(tmp_path: Path) -> None:
    known = credentials(tmp_path)
    known.set("short", "abcd")
    known.set("long", "abcd-efgh")
    assert known.redact("abcd-efgh abcd") == f"{MASK} {MASK}"


def test_a_secret_that_is_replaced_or_removed_is_in_no_file_any_more(tmp_path: Path) -> None:
    known = credentials(tmp_path)
    known.set("key", "first-secret")
    known.set("key", "second-secret")
    assert not any(b"first-secret" in path.read_bytes() for path in tmp_path.iterdir())
    assert known.remove("key")
    assert not known.remove("key")
    assert not any(b"second-secret" in path.read_bytes() for path in tmp_path.iterdir())
    assert known.redact("second-secret") == "second-secret"


@pytest.mark.parametrize(("name", "value"), [("../up", "v"), ("", "v"), ("key", ""), ("key", "a\nb"), ("key", " a")])
def test_a_wrong_name_or_value_is_refused_without_being_repeated(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(UsageError) as caught:
        credentials(tmp_path).set(name, value)
    assert "a\nb" not in str(caught.value)


def test_a_file_that_others_could_read_is_closed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "credentials.json"
    file.write_text('{"key": "canary-secret"}')
    file.chmod(0o644)
    with caplog.at_level(logging.DEBUG):
        known = credentials(tmp_path)
    assert known.get("key") == "canary-secret"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "canary-secret" not in caplog.text + repr(known)


@pytest.mark.parametrize("content", ['["canary-secret"]', '{"key": 7}', '{"key": "canary-secret"'])
def test_a_file_that_holds_something_else_is_a_problem_not_a_crash(
    tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "credentials.json").write_text(content)
    known = credentials(tmp_path)
    assert known.get("key") == ""
    assert "credentials.json" in known.problem
    assert "canary" not in known.problem + caplog.text


def test_a_home_that_cannot_be_read_is_a_problem_and_the_environment_still_counts(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file, not a folder")
    known = credentials(tmp_path / "home", MODEL_KEY="from environment")
    assert "cannot be read" in known.problem
    assert known.get("MODEL_KEY") == "from environment"
    with pytest.raises(StoreError):
        known.set("name", "value")
    assert known.get("name") == ""
