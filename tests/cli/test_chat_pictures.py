"""A picture of a plugin in a whole box: seen by the model, told and shown to the person, kept, written to a file."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from tests.cli.scripted_model import ScriptedModel
from tests.cli.shell import Shell
from tests.cli.test_plugin_tools import plugin
from tests.pictures import BLUE, RED, is_like, opened, picture
from tests.responses_server import Answer, Call

#: A third party's camera that also finds pictures.
CAMERA = """from core import images as ci
from pathlib import Path
raw = (Path(__file__).parent / 'raw').read_bytes()
if arguments.get('many'):
    entries = [{'raw': raw, 'title': f'view {n}', 'page': f'https://{n}.example/'} for n in (1, 2)]
    images, tail = ci.gallery('Views', entries)
    return ci.result('Two views.\\n' + tail, images), True
return ci.result("Here's the camera.", [ci.for_chat(raw)]), True"""


def camera(shell: Shell, raw: bytes) -> None:
    plugin(shell, "camera", ("camera_look", CAMERA))
    (shell.home / "plugins/camera/tools/raw").write_bytes(raw)


def ask(shell: Shell, model: ScriptedModel, text: str, *more: str | Path) -> str:
    ran = shell("ask", "--text", text, "--set", f"think.url={model.url}", *more)
    assert ran.code == 0, ran.err
    return ran.out


@pytest.mark.contract("S-022", "S-023", "S-027", "S-028", "S-029", "S-030", "S-032", "S-036")
def test_a_picture_is_seen_told_listed_and_written_to_a_file(shell: Shell) -> None:
    camera(shell, picture(RED, (300, 200)))
    look, again = Call("camera_look", {}), Call("memory_view_image", {"image_id": ""})
    with ScriptedModel(Answer(calls=(look,)), Answer(text="The door is shut."), *[Answer(text="Yes.")] * 4) as model:
        assert "The door is shut." in ask(shell, model, "Who is at the door?")
        for _ in range(4):
            ask(shell, model, "And now?")
        seen = [json.dumps(request.body["input"]).count("data:image/jpeg") for request in model.requests]
        kept = json.dumps(model.requests[-1].body["input"])
    assert seen == [0, 1, 1, 1, 1, 0]
    assert again.name not in kept

    shown = shell("chat", "show").out
    handle = next(line.split()[1] for line in shown.splitlines() if line.startswith("pic: "))
    assert f"you: Who is at the door?\npic: {handle} (from camera_look)\nbox: The door is shut." in shown
    assert any(said in shown for said in ("I have a picture for you.", "There is a picture for you."))
    assert f"(image {handle})" in kept, "the model still knows its name"
    assert shell("chat", "image").out.startswith(f"{handle}  ")

    written = shell("chat", "image", handle, "--out", "door.jpg")
    assert written.code == 0 and written.out.endswith("written to door.jpg\n")
    with opened((shell.folder / "door.jpg").read_bytes()) as image:
        assert image.size == (300, 200) and is_like(image.getpixel((9, 9)), RED)
    as_json = shell("chat", "image", handle, "--json").json
    assert (as_json["handle"], as_json["media_type"], "data" in as_json) == (handle, "image/jpeg", False)


@pytest.mark.contract("S-053", "S-056", "S-058")
def test_a_row_is_numbered_in_the_list_and_unknown_to_the_model(shell: Shell) -> None:
    camera(shell, picture(BLUE))
    with ScriptedModel(Answer(calls=(Call("camera_look", {"many": True}),)), Answer(text="A lake.")) as model:
        said = ask(shell, model, "Show me some views.")
        given = json.dumps(model.requests[1].body["input"])
    assert "I have 2 pictures for you: Views." in said
    assert "GALLERY" not in given and "example/" not in given and "same numbers on the sheet" in given
    lines = shell("chat", "show").out.splitlines()
    at = lines.index("row: Views (from camera_look)")
    assert lines[at + 1].startswith("  1. view 1 - img:") and lines[at + 1].endswith(" - https://1.example/")
    assert lines[at + 2].startswith("  2. view 2 - img:")
    assert len(shell("chat", "image").out.splitlines()) == 3


def test_a_model_that_cannot_see_is_sent_no_picture(shell: Shell) -> None:
    camera(shell, picture())
    shell.write("config.toml", "[think]\nsees_images = false\n")
    with ScriptedModel(Answer(calls=(Call("camera_look", {}),)), Answer(text="It is there.")) as model:
        ask(shell, model, "Look.")
        given = json.dumps(model.requests[1].body["input"])
    assert "data:image" not in given and "You cannot see pictures. The user can" in given


@pytest.mark.contract("S-027")
def test_the_picture_is_on_the_faces_screen(shell: Shell) -> None:
    camera(shell, picture(RED, (300, 300)))
    with ScriptedModel(Answer(calls=(Call("camera_look", {}),)), Answer(text="It is there.")) as model:
        ask(shell, model, "Look.", "--face", shell.folder / "face.png")
    with opened((shell.folder / "face.png").read_bytes()) as image:
        assert is_like(image.getpixel((image.width // 2, image.height // 2)), RED)


def test_a_picture_that_is_not_there_is_told_in_words(shell: Shell) -> None:
    assert shell("chat", "image").out == "there are no pictures in this chat\n"
    for handle, words in (("img:000000000000.jpg", "there is no picture"), ("door", "is not the handle of a picture")):
        ran = shell("chat", "image", handle)
        assert ran.code == 1 and words in ran.err
    assert shell("chat", "image", "img:000000000000.jpg", "--out", "nowhere/a.jpg").code == 1


def test_pictures_of_a_tool_module_are_kept_too(shell: Shell) -> None:
    data = base64.b64encode(picture(kind="PNG")).decode()
    source = (
        'SCHEMA = {"type": "function", "name": "snap", "description": "x", "parameters": {"type": "object"}}\n'
        "from kotoba.tools import ToolResult\nasync def execute(args, ctx):\n"
        f'    return ToolResult("Snap.", ["data:image/png;base64,{data}"])\n'
    )
    shell.write("plugins/snap/snap.py", source)
    ran = shell("tool", "run", "snap")
    handle = ran.out.split("(image ")[1].split(")")[0]
    assert ran.out == f"(image {handle})\nSnap.\n"
    assert shell("chat", "image", handle).out.startswith(f"{handle}: image/png, ")
