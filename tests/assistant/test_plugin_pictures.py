"""A third party's plugin, put into its folder and asked by voice: its words and its pictures both arrive."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from appliance.adapters.fakes.face import FakeScreen
from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.events import EndReason, LineKind, Narrated
from tests.assistant.conftest import MakeRig
from tests.contracts.third_party_world import install

#: Pictures for the fake maker.
BEACH, FOREST = b"picture of a beach", b"picture of a forest"


def put_album(home: Path) -> None:
    """What the owner did: the plugin's folder, its setting, and two photos."""
    install("album", home / "plugins")
    trip = home / "photos" / "trip"
    trip.mkdir(parents=True)
    (trip / "beach.jpg").write_bytes(BEACH)
    (trip / "forest.jpg").write_bytes(FOREST)
    # Its thread takes real time, and the world of this test takes none.
    settings = {"folder": str(home / "photos"), "budget_seconds": 80000}
    file = home / "user" / "webui" / "plugins" / "album.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(settings))
    home.chmod(0o700)


@pytest.mark.contract("S-001", "S-023", "S-027", "S-028", "S-053", "S-058")
async def test_the_photos_of_an_album_are_told_shown_and_seen_by_the_model(make_rig: MakeRig, tmp_path: Path) -> None:
    put_album(tmp_path)
    screen = FakeScreen()
    model = FakeModelEndpoint(calls(("album_browse", {"folder": "trip"})), says("It was a sunny trip."))
    rig = await make_rig(model=model, faces=[screen])
    assert await rig.control.call("tool.problems") == []

    await rig.asks("Show me the trip.")

    lines = [fact.text for fact in rig.told(Narrated) if fact.kind in (LineKind.ANNOUNCE, LineKind.COMPLETE)]
    assert rig.endings == [EndReason.ANSWERED]
    assert len(lines) == 2 and "album" in lines[0]
    assert rig.said == [*lines, "It was a sunny trip.", "I have two pictures for you: trip."]

    parts = [part for item in model.requests[1].items for part in item.get("content", ()) if isinstance(part, dict)]
    assert [part["type"] for part in parts].count("input_image") == 1, "one sheet"
    (output,) = [item["output"] for item in model.requests[1].items if item["type"] == "function_call_output"]
    assert "1. beach — img:" in output and "2. forest — img:" in output
    assert "GALLERY" not in output

    (turn,) = await rig.control.call("chat.show")
    (shown,) = [item for item in turn["items"] if item["type"] == "shown"]
    tiles = shown["galleries"][0]["tiles"]
    assert [tile["title"] for tile in tiles] == ["beach", "forest"]
    kept = [await rig.control.call("chat.image", {"handle": tile["handle"]}) for tile in tiles]
    assert [base64.b64decode(picture["data"]) for picture in kept] == [BEACH, FOREST]

    await rig.close()  # The face has a thread and a time of its own.
    assert screen.pictures[-1].startswith(b"picture sheet of 2")
