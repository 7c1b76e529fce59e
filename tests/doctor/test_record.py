"""The archive for somebody who helps: no secret and no word is in it, in whatever form and wherever it was put."""

from __future__ import annotations

import base64
import json
import sqlite3
import tarfile
from pathlib import Path
from urllib.parse import quote

import pytest

from appliance.doctor import record
from tests.cli.shell import Shell
from tests.doctor.test_kept_checks import FAULT, TRACEBACK

SAID = "Tell my doctor that the rash is back"
#: Secrets by where the owner keeps them; with what needs another form in a URL or in base64.
CANARIES = {
    "key": "sk-canary/Key+0001==",
    "file": "canary credential?2",
    "proxy": "canary:proxy@3",
    "plugin": "canary plugin/4",
    "setting": "hunter-canary-5",
}


def forms(secret: str) -> list[str]:
    """As it may stand in a text: itself, in a URL, in JSON, in base64."""
    return [
        secret,
        quote(secret, safe=""),
        json.dumps(secret)[1:-1],
        base64.b64encode(secret.encode()).decode().rstrip("="),
    ]


@pytest.fixture
def full_shell(shell: Shell) -> Shell:
    """A home in which secrets and words were put into every place that the archive looks at."""
    everything = [form for secret in CANARIES.values() for form in forms(secret)]
    shell.set_variable("OPENAI_API_KEY", CANARIES["key"])
    shell.set_variable("HTTPS_PROXY", "")
    shell.write("credentials.json", json.dumps({"weather:KEY": CANARIES["file"]})).chmod(0o600)
    proxy = f"http://me:{quote(CANARIES['proxy'], safe='')}@192.0.2.7:3128"
    shell.write(
        "config.toml",
        f'[network]\nproxy = "{proxy}"\n[box]\nplace = "Canary Wharf"\n[think]\nurl = "http://127.0.0.1:9"\n'
        f'[speak]\nvoice = "no voice {CANARIES["setting"]}"\n[audio]\nmicrophone = "mic {CANARIES["file"]}"\n',
    )
    shell.write("user/webui/plugins/weather.json", json.dumps({"account": {"passphrase": CANARIES["plugin"]}, "n": 1}))
    shell.write("user/webui/plugins/other.json", json.dumps({"word": CANARIES["setting"]}))
    crash = TRACEBACK.replace("hunter2", " ".join([*everything, SAID]))
    shell.write("crashes/crash-000001.txt", crash)
    shell.write("crashes/crash-000002.txt", f"{FAULT}\n{SAID} {' '.join(everything)}")
    return shell


def contents(file: Path) -> dict[str, str]:
    with tarfile.open(file) as archive:
        found = {}
        for member in archive.getmembers():
            stream = archive.extractfile(member)
            assert stream is not None and member.mode == 0o600
            found[member.name.removeprefix("appliance-doctor/")] = stream.read().decode()
        return found


def test_no_secret_and_no_word_is_in_the_archive(full_shell: Shell, tmp_path: Path) -> None:
    full_shell("chat", "list")  # makes the store
    with sqlite3.connect(full_shell.home / "appliance.db") as database:
        row = ("turn-1", "chat-1", "voice", "2026-05-04T15:07:00+00:00", json.dumps({"transcribed": 0.4}), "answered")
        database.execute(
            "INSERT INTO turn_log (turn_id, chat, origin, started_at, stages, end_reason) VALUES (?, ?, ?, ?, ?, ?)",
            row,
        )
    database.close()
    file = tmp_path / "help.tar.gz"
    ran = full_shell("doctor", "--record", "--out", file, "settings", "service", "plugin", "storage", "sound.server")
    assert ran.code == 1 and str(file) in ran.out
    assert file.stat().st_mode & 0o777 == 0o600
    found = contents(file)
    text = "\n".join([*found, *found.values()])
    for secret in CANARIES.values():
        assert [form for form in forms(secret) if form in text] == []
    for word in ("the rash", SAID, "Canary Wharf"):
        assert word not in text
    assert {"README.txt", "findings.json", "findings.txt", "settings.json", "versions.json", "turns.json"} <= set(found)
    assert "tools.py" in found["crashes/crash-000001.txt"] and "grab.py" in found["crashes/crash-000002.txt"]
    assert json.loads(found["turns.json"]) == [
        {
            "turn_id": "turn-1",
            "origin": "voice",
            "started_at": "2026-05-04T15:07:00+00:00",
            "stages": {"transcribed": 0.4},
            "end_reason": "answered",
        }
    ]
    settings = json.loads(found["settings.json"])
    assert settings["network.proxy"] == {"value": "http://…@192.0.2.7:3128", "from": "file"}
    assert settings["box.place"]["value"] == "(set)"


def test_an_archive_is_never_written_over_another_file(full_shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "help.tar.gz"
    file.write_text("mine")
    ran = full_shell("doctor", "--record", "--out", file, "machine.bits")
    assert ran.code == 1 and "is there already" in ran.err
    assert file.read_text() == "mine"


def test_the_archive_has_a_name_of_its_own_when_none_is_given(shell: Shell) -> None:
    ran = shell("doctor", "--record", "--json", "machine.bits")
    assert ran.json["archive"].startswith("appliance-doctor-") and ran.json["archive"].endswith(".tar.gz")
    assert (shell.folder / ran.json["archive"]).is_file()


def test_a_stack_keeps_where_and_what_kind_and_loses_what_was_in_it() -> None:
    kept = record.stack_only(TRACEBACK)
    assert kept.splitlines() == [
        '  File "/opt/appliance/service.py", line 10, in run',
        '  File "/home/nabu/plugins/weather/tools.py", line 7, in fetch',
        "ValueError",
    ]
    assert record.stack_only(FAULT).splitlines()[0] == "Fatal Python error: Segmentation fault"


def test_a_log_line_loses_what_is_quoted_and_all_that_a_plugin_wrote() -> None:
    def line(text: str, *, level: str = "ERROR", source: str = "appliance.speak", plugin: str = "") -> dict[str, str]:
        return {"at": "15:07", "level": level, "source": source, "text": text, "turn_id": "turn-1", "plugin": plugin}

    told = record.log_lines(
        [
            line(f"the voice failed on {SAID!r}"),
            line("it's the microphone that isn't there"),
            line(f'he said "{SAID}\nand more'),
            line(SAID, plugin="weather"),
            line(SAID, source="plugin.weather"),
            line(SAID, level="INFO"),
            line(f"broke\n{TRACEBACK}"),
        ]
    )
    assert "rash" not in told and "hunter2" not in told
    assert "the voice failed on '…'" in told and "tools.py" in told
    assert told.count("(left out)") == 2
