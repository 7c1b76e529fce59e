"""What the shipped plugins are in a whole box: their sentences without a model, and where their programs run."""

from __future__ import annotations

import pytest

from appliance.think.sentences import Match
from tests.assistant.conftest import MakeRig


async def test_sentences_come_and_go_with_their_plugin(make_rig: MakeRig) -> None:
    rig = await make_rig()
    assert rig.box.offline.match("What are my notes?") is None

    await rig.control.call("plugin.switch", {"name": "notes", "on": True})
    await rig.control.call("plugin.switch", {"name": "lan_gear", "on": True})
    assert rig.box.offline.match("What are my notes?") == Match("note_list")
    assert rig.box.offline.match("Where is the printer?") is not None

    await rig.control.call("plugin.switch", {"name": "notes", "on": False})
    assert rig.box.offline.match("What are my notes?") is None
    assert rig.box.offline.match("Where is the printer?") is not None


async def test_a_note_is_taken_without_a_model(make_rig: MakeRig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = await make_rig()
    monkeypatch.chdir(rig.home.folder)  # as it is when the box runs
    await rig.control.call("plugin.switch", {"name": "notes", "on": True})

    assert (await rig.types("Take a note."))["reply"] == "What should I write down?"
    assert (await rig.types("Buy milk and eggs."))["reply"] == "Noted, as number 1."
    assert (rig.home.folder / "user/notes/note-1.txt").read_text(encoding="utf-8") == "Buy milk and eggs\n"


async def test_broken_sentences_are_a_line_in_the_list(make_rig: MakeRig) -> None:
    rig = await make_rig()
    folder = rig.home.plugins_folder / "tides"
    (folder / "sentences").mkdir(parents=True)
    (folder / "tide.py").write_text("SCHEMA = {'type': 'function'}\nasync def execute(a, c): return 'high'", "utf-8")
    (folder / "sentences/en.yaml").write_text("intents: [", "utf-8")

    await rig.control.call("plugin.reload", {"name": "tides"})

    rows = {row["name"]: row for row in await rig.control.call("plugin.list")}
    assert "cannot be read" in " ".join(rows["tides"]["problems"])
    assert rig.box.offline.match("What time is it?") is not None


async def test_status_says_which_sandbox_there_is(make_rig: MakeRig) -> None:
    rig = await make_rig()
    assert rig.box.status()["sandbox"] == "none: plugins cannot run programs in a sandbox here"
