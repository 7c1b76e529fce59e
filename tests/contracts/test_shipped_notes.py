"""The shipped plugin ``notes``: plain files in the home of the box, by voice and without a model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from appliance.adapters.fakes.worker_launcher import FakeWorkerLauncher
from appliance.events import Outcome
from tests.contracts.sandbox_rig import ToolRig


@pytest.fixture
async def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ToolRig]:
    """The shipped plugins in a box whose working folder is its home, as it is when it runs."""
    (tmp_path / "box").mkdir()
    monkeypatch.chdir(tmp_path / "box")
    rig = ToolRig(tmp_path, FakeWorkerLauncher(None), only_shipped=True)
    await rig.load()
    yield rig
    await rig.close()


async def write(box: ToolRig, *texts: str) -> None:
    for number, text in enumerate(texts):
        assert (await box.call("note_add", f"add-{number}", text=text)).outcome is Outcome.OK


async def test_a_note_is_a_plain_file_in_the_home(box: ToolRig, tmp_path: Path) -> None:
    assert (await box.call("note_add", text=" buy milk ")).text == "Noted, as number 1."
    assert (tmp_path / "box/user/notes/note-1.txt").read_text(encoding="utf-8") == "Buy milk\n"


async def test_notes_are_listed_newest_first(box: ToolRig) -> None:
    assert (await box.call("note_list")).text == "You have no notes."
    await write(box, "buy milk", "the plumber comes on Friday " + "and so on " * 20)
    lines = (await box.call("note_list", "call-2")).text.splitlines()
    assert lines[0] == "You have 2 notes."
    assert lines[1].startswith("Note 2: The plumber comes on Friday")
    assert lines[1].endswith("…")
    assert lines[2] == "Note 1: Buy milk"


@pytest.mark.parametrize(
    ("which", "text"),
    [
        ("last", "Call the plumber"),
        (1, "Buy milk"),
        ("1", "Buy milk"),
        ("milk", "Buy milk"),
        ("Plumber", "Call the plumber"),
        (None, "Note 2: Call the plumber\nNote 1: Buy milk"),
        ("all", "Note 2: Call the plumber\nNote 1: Buy milk"),
        ("cheese", "There is no note about cheese."),
        (7, "There is no note with the number 7."),
    ],
)
async def test_a_note_is_read_by_what_a_person_calls_it(box: ToolRig, which: object, text: str) -> None:
    await write(box, "buy milk", "call the plumber")
    assert (await box.call("note_read", which=which)).text == text


async def test_one_note_is_deleted_and_its_number_is_not_given_to_an_older_one(box: ToolRig) -> None:
    await write(box, "buy milk", "call the plumber", "buy paint")
    assert (await box.call("note_delete", which="plumber")).text == "Deleted note 2: Call the plumber"
    assert (await box.call("note_list", "call-2")).text.splitlines()[1:] == ["Note 3: Buy paint", "Note 1: Buy milk"]


@pytest.mark.parametrize("which", ["all", "", "buy", "cheese", None])
async def test_nothing_is_deleted_unless_it_is_clear_which(box: ToolRig, which: object) -> None:
    await write(box, "buy milk", "buy paint")
    answer = (await box.call("note_delete", which=which)).text
    assert answer.partition("\n")[0] in (
        "I delete one note at a time. Which one?",
        "There are 2 notes with that. Which number?",
        "There is no note for cheese, so none is deleted.",
    )
    assert (await box.call("note_list", "call-2")).text.startswith("You have 2 notes.")


async def test_an_empty_note_is_asked_about_and_an_endless_one_refused(box: ToolRig) -> None:
    assert (await box.call("note_add")).text == "What should I write down?"
    assert (await box.call("note_add", "call-2", text="x" * 3_000)).outcome is Outcome.REFUSED
    assert (await box.call("note_list", "call-3")).text == "You have no notes."


async def test_a_folder_that_cannot_be_written_is_a_failure_in_words(box: ToolRig, tmp_path: Path) -> None:
    (tmp_path / "box/user").mkdir()
    (tmp_path / "box/user/notes").write_text("in the way", encoding="utf-8")
    result = await box.call("note_add", text="buy milk")
    assert result.outcome is Outcome.FAILED
    assert "errored" not in result.text


async def test_what_the_owner_wrote_over_ssh_is_read_too(box: ToolRig, tmp_path: Path) -> None:
    folder = tmp_path / "box/user/notes"
    folder.mkdir(parents=True)
    (folder / "note-12.txt").write_bytes(b"from the shell \xff\n")
    (folder / "other.md").write_text("no note", encoding="utf-8")
    assert (await box.call("note_read", which="last")).text == "from the shell \ufffd"
    assert (await box.call("note_add", text="next")).text == "Noted, as number 13."
