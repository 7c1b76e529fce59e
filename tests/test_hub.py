from __future__ import annotations

import contextlib
import hashlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from appliance import hub
from appliance.errors import NetworkError, WeightsError
from appliance.ports import Json
from appliance.ports_think import HttpStream

URL = f"{hub.ADDRESS}/someone/weights/resolve/main/model.bin"
STORE = "https://store.example/blob?signature=secret"
CONTENT = bytes(range(256)) * 80_000  # a little more than two pieces


@dataclass(frozen=True)
class Answer:
    """What the hub answers: status, headers, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    async def read(self, limit_bytes: int = 1_000_000) -> bytes:
        return self.body[:limit_bytes]

    async def lines(self) -> AsyncIterator[str]:
        yield ""


class FakeHub:
    """An ``HttpDoor`` to a hub with one file, which lies in a store that serves ranges."""

    def __init__(
        self, content: bytes = CONTENT, promise: Mapping[str, str] | None = None, location: str = STORE
    ) -> None:
        self.content = content
        self.promise = {"x-linked-etag": f'"{hashlib.sha256(content).hexdigest()}"'} if promise is None else promise
        self.location = location
        self.asked: list[tuple[str, str]] = []
        self.breaks_after_bytes = len(content)

    @contextlib.asynccontextmanager
    async def stream(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Json = None,
        connect_seconds: float = 10.0,
        read_seconds: float = 60.0,
    ) -> AsyncIterator[HttpStream]:
        wanted = (headers or {}).get("range", "")
        self.asked.append((url, wanted))
        if url == URL:
            yield Answer(302, {"location": self.location, **self.promise})
        elif url.startswith("https://store.example/"):
            yield self._piece(wanted)
        else:
            raise NetworkError("nobody answers there")

    async def close(self) -> None:
        """Nothing is open."""

    def _piece(self, wanted: str) -> Answer:
        first, last = (int(number) for number in wanted.removeprefix("bytes=").split("-"))
        body = self.content[first : min(last + 1, self.breaks_after_bytes)]
        total = len(self.content)
        # An etag of the store's own kind, which must not be taken for a digest.
        return Answer(206, {"content-range": f"bytes {first}-{last}/{total}", "etag": f'"{"0" * 64}"'}, body)


async def _download(door: FakeHub, path: Path) -> list[tuple[str, int, int]]:
    told: list[tuple[str, int, int]] = []
    await hub.download(door, URL, path, lambda *entry: told.append(entry))
    return told


async def test_a_large_file_comes_in_pieces_that_are_told(tmp_path: Path) -> None:
    door = FakeHub()
    told = await _download(door, tmp_path / "model.bin")
    assert (tmp_path / "model.bin").read_bytes() == CONTENT
    assert told == [("model.bin", done, len(CONTENT)) for done in (8_000_000, 16_000_000, 20_480_000)]
    assert [url for url, _ in door.asked] == [URL, STORE, STORE, STORE]


async def test_a_small_file_is_compared_with_its_git_blob_id(tmp_path: Path) -> None:
    blob_id = hashlib.sha1(b"blob 2\0{}").hexdigest()
    await _download(FakeHub(b"{}", {"etag": f'"{blob_id}"'}), tmp_path / "config.json")
    assert (tmp_path / "config.json").read_bytes() == b"{}"
    with pytest.raises(WeightsError, match="came damaged"):
        await _download(FakeHub(b"[]", {"etag": f'"{blob_id}"'}), tmp_path / "config.json")


async def test_an_empty_file_is_a_file(tmp_path: Path) -> None:
    await _download(FakeHub(b""), tmp_path / "model.bin")
    assert (tmp_path / "model.bin").read_bytes() == b""


async def test_a_file_with_another_digest_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="came damaged"):
        await _download(FakeHub(promise={"x-linked-etag": f'"{"1" * 64}"'}), tmp_path / "model.bin")


async def test_a_file_of_another_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="20480000 bytes instead of 7"):
        await _download(FakeHub(promise={"x-linked-size": "7", "etag": '"x"'}), tmp_path / "model.bin")


async def test_a_login_page_is_not_taken_for_weights(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="not from the model hub"):
        await _download(FakeHub(b"<html>Welcome to our hotel", promise={}), tmp_path / "model.bin")


async def test_a_line_that_breaks_off_is_told(tmp_path: Path) -> None:
    door = FakeHub()
    door.breaks_after_bytes = 9_000_000
    with pytest.raises(WeightsError, match="broke off after 9000000 of 20480000 bytes"):
        await _download(door, tmp_path / "model.bin")


@pytest.mark.parametrize(
    ("location", "message"),
    [("http://store.example/blob", "not https"), ("file:///etc/passwd", "not https"), (URL, "round in circles")],
)
async def test_the_hub_cannot_lead_us_astray(tmp_path: Path, location: str, message: str) -> None:
    with pytest.raises(WeightsError, match=message):
        await _download(FakeHub(location=location), tmp_path / "model.bin")


async def test_a_refusal_is_told_without_the_signed_address(tmp_path: Path) -> None:
    class Forbidden(FakeHub):
        def _piece(self, wanted: str) -> Answer:
            return Answer(403, {})

    with pytest.raises(WeightsError, match=r"^store\.example answered 403 for /blob$"):
        await _download(Forbidden(), tmp_path / "model.bin")


async def test_a_server_without_ranges_gives_the_file_in_one(tmp_path: Path) -> None:
    class Whole(FakeHub):
        def _piece(self, wanted: str) -> Answer:
            return Answer(200, {"content-length": str(len(self.content))}, self.content)

    told = await _download(Whole(), tmp_path / "model.bin")
    assert told == [("model.bin", len(CONTENT), len(CONTENT))]
    assert (tmp_path / "model.bin").read_bytes() == CONTENT
