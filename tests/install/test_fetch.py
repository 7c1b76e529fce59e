"""Sources are read, fetched and cloned; what comes from far obeys the rules of what is near."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import threading
import zipfile
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.fakes.http_door import FakeAnswer, FakeHttpDoor
from appliance.errors import NetworkError, RefusedError, StoreError, UsageError
from appliance.install.fetch import DoorFetch, NoFetch
from appliance.install.source import ArchiveSource, GitSource, LocalSource, read_source
from appliance.install.stage import Contract, Staged
from appliance.install.staging import stage
from appliance.network.classifier import Classifier
from appliance.network.door import Door
from appliance.network.lane_client import LaneClient
from appliance.network.proxy import Proxy
from tests.install.evil import TOOL


class FakeFetch:
    """Gives what it was told, per URL; keeps what was asked for."""

    def __init__(self, files: Mapping[str, bytes] | None = None, proxy: Proxy | None = None) -> None:
        self.files = dict(files or {})
        self.proxy = proxy
        self.asked: list[str] = []

    def download(self, url: str, file: Path, most_bytes: int) -> None:
        self.asked.append(url)
        if url not in self.files:
            raise NetworkError("nobody answers there")
        file.write_bytes(self.files[url])

    def proxy_for(self, url: str) -> Proxy | None:
        self.asked.append(url)
        return self.proxy


GITHUB = "https://github.com/ada/dice-tools/archive/{}.zip"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://example.org/d/dice.zip", ArchiveSource("https://example.org/d/dice.zip", "dice.zip")),
        ("http://192.168.0.7/dice.py", ArchiveSource("http://192.168.0.7/dice.py", "dice.py")),
        (
            "https://example.org/all.zip#subdirectory=plugins/dice",
            ArchiveSource("https://example.org/all.zip", "all.zip", "plugins/dice"),
        ),
        (
            "https://github.com/ada/dice-tools",
            ArchiveSource(GITHUB.format("HEAD"), "dice-tools", "", "https://github.com/ada/dice-tools"),
        ),
        (
            "https://github.com/ada/dice-tools.git",
            ArchiveSource(GITHUB.format("HEAD"), "dice-tools", "", "https://github.com/ada/dice-tools"),
        ),
        (
            "https://github.com/ada/dice-tools/tree/v2",
            ArchiveSource(GITHUB.format("v2"), "dice-tools", "", "https://github.com/ada/dice-tools@v2"),
        ),
        (
            "git+https://github.com/ada/dice-tools.git@v1.2#subdirectory=dice",
            ArchiveSource(GITHUB.format("v1.2"), "dice-tools", "dice", "https://github.com/ada/dice-tools@v1.2"),
        ),
        (
            "https://github.com/ada/dice-tools/archive/refs/tags/v1.zip",
            ArchiveSource("https://github.com/ada/dice-tools/archive/refs/tags/v1.zip", "v1.zip"),
        ),
        (
            "https://gitlab.com/ada/dice",
            ArchiveSource(
                "https://gitlab.com/ada/dice/-/archive/HEAD/dice.zip", "dice", "", "https://gitlab.com/ada/dice"
            ),
        ),
        ("git+https://git.example.org/x/dice@abc123", GitSource("https://git.example.org/x/dice", "dice", "abc123")),
        ("https://git.example.org/x/dice.git", GitSource("https://git.example.org/x/dice.git", "dice")),
        ("git+file:///srv/dice.git", GitSource("file:///srv/dice.git", "dice")),
    ],
)
def test_what_an_owner_writes_is_understood(text: str, expected: object) -> None:
    assert read_source(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "ssh://git@example.org/dice",
        "git+ssh://git@example.org/dice",
        "git+http://example.org/dice",
        "ftp://example.org/dice.zip",
        "https://user:secret@example.org/dice.zip",
        "git+https://token@example.org/x/dice",
        "git+https://example.org/x/dice@--upload-pack=touch",
        "git+https://example.org/x/dice@a..b",
        "https://example.org/",
        "https://example.org/a.zip#subdirectory=../x",
        "https://example.org/a.zip#subdirectory=/x",
        "https://example.org/a.zip#egg=x",
        "https://[broken/a.zip",
        "a\x1bb",
    ],
)
def test_what_is_no_source_is_a_usage_error_without_secrets(text: str) -> None:
    with pytest.raises(UsageError) as wrong:
        read_source(text)
    assert "secret" not in str(wrong.value)


def test_a_path_that_is_there_wins_over_what_it_looks_like(tmp_path: Path) -> None:
    odd = tmp_path / "a#subdirectory=b"
    odd.mkdir()
    assert read_source(str(odd)) == LocalSource(odd)


def test_where_it_came_from_is_told_without_the_query(tmp_path: Path) -> None:
    url = "https://example.org/dice.zip?token=secret"
    staged = stage(url, tmp_path / "stage", fetch=FakeFetch({url: _zip({"roll.py": TOOL})}))
    assert staged.origin == "https://example.org/dice.zip"


# ------------------------------------------------------------------------------------------------------- local


def test_a_lone_file_is_a_tool_module_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "roll.py").write_bytes(TOOL)
    staged = stage(str(tmp_path / "roll.py"), tmp_path / "stage", fetch=NoFetch())
    assert (staged.name, staged.place_name, staged.contract) == ("roll", "roll.py", Contract.MODULE)
    assert staged.place.read_bytes() == TOOL
    assert sorted(path.name for path in (tmp_path / "stage").iterdir()) == ["roll.py"]


def test_another_name_can_be_given(tmp_path: Path) -> None:
    (tmp_path / "roll.py").write_bytes(TOOL)
    assert stage(str(tmp_path / "roll.py"), tmp_path / "stage", fetch=NoFetch(), name="dice").place_name == "dice.py"


@pytest.mark.parametrize("name", ["..", "", "a/b", ".x", "_x", "a b", "x" * 65, "é"])
def test_a_name_that_no_plugin_can_have_is_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "dice"
    folder.mkdir()
    (folder / "plugin.json").write_text(f'{{"name": "{name}", "version": "1"}}')
    with pytest.raises(RefusedError, match="cannot be the name of a plugin"):
        stage(str(folder), tmp_path / "stage", fetch=NoFetch())


def test_the_manifest_names_a_plugin_of_the_second_contract(tmp_path: Path) -> None:
    folder = tmp_path / "repo-main"
    (folder / "tools").mkdir(parents=True)
    (folder / "plugin.json").write_text('{"name": "weather", "version": "2.1"}')
    staged = stage(str(folder), tmp_path / "stage", fetch=NoFetch())
    assert (staged.name, staged.version, staged.place_name) == ("weather", "2.1", "weather")
    assert staged.contract is Contract.TOOL


def test_a_plugin_one_folder_down_is_found_and_what_lies_beside_it_is_told(tmp_path: Path) -> None:
    archive = tmp_path / "repo.zip"
    archive.write_bytes(_zip({"repo-main/README.md": b"hi", "repo-main/weather/plugin.json": b'{"name": "weather"}'}))
    staged = stage(str(archive), tmp_path / "stage", fetch=NoFetch())
    assert sorted(staged.files) == ["plugin.json"]
    assert staged.remarks == ("only the folder weather is installed, not README.md beside it",)


def test_of_several_plugins_one_must_be_named(tmp_path: Path) -> None:
    archive = tmp_path / "repo.zip"
    archive.write_bytes(_zip({"r/a/plugin.json": b'{"name": "a"}', "r/b/plugin.json": b'{"name": "b"}'}))
    with pytest.raises(UsageError, match=r"several plugins \(a, b\): name one behind it, #subdirectory=NAME"):
        stage(str(archive), tmp_path / "stage", fetch=NoFetch())
    staged = stage(f"{archive}#subdirectory=b", tmp_path / "stage", fetch=NoFetch())
    assert (staged.name, staged.origin) == ("b", f"{archive}#subdirectory=b")


@pytest.mark.parametrize("content", ["{", "[]", '{"name": 7}', "\udcff"])
def test_a_manifest_that_cannot_be_read_is_refused(tmp_path: Path, content: str) -> None:
    folder = tmp_path / "dice"
    folder.mkdir()
    (folder / "plugin.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(RefusedError):
        stage(str(folder), tmp_path / "stage", fetch=NoFetch())
    assert not (tmp_path / "stage").exists()


def test_nothing_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is nothing to install at"):
        stage(str(tmp_path / "gone"), tmp_path / "stage", fetch=NoFetch())


def test_a_stage_is_never_used_twice(tmp_path: Path) -> None:
    (tmp_path / "stage").mkdir()
    (tmp_path / "stage" / "mine").write_text("x")
    (tmp_path / "roll.py").write_bytes(TOOL)
    with pytest.raises(StoreError):
        stage(str(tmp_path / "roll.py"), tmp_path / "stage", fetch=NoFetch())
    assert (tmp_path / "stage" / "mine").exists()


def test_a_text_file_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_text("hello")
    with pytest.raises(RefusedError, match="neither a zip, a tar, a wheel"):
        stage(str(tmp_path / "x.zip"), tmp_path / "stage", fetch=NoFetch())


# ------------------------------------------------------------------------------------------------------- wheels


def test_a_wheel_becomes_packages_of_a_plugin_of_its_own(tmp_path: Path) -> None:
    wheel = tmp_path / "Dice_Tools-1.2-py3-none-any.whl"
    wheel.write_bytes(_wheel())
    staged = stage(str(wheel), tmp_path / "stage", fetch=NoFetch())
    assert (staged.name, staged.version, staged.contract) == ("dice-tools", "1.2", Contract.MODULE)
    assert "site-packages/dice_tools/roll.py" in staged.files
    assert "site-packages/dice_tools-1.2.dist-info/entry_points.txt" in staged.files
    assert sorted(path.name for path in (tmp_path / "stage").iterdir()) == ["dice-tools"]


def test_what_a_wheel_would_install_elsewhere_is_left_out_and_told(tmp_path: Path) -> None:
    wheel = tmp_path / "dice_tools-1.2-py3-none-any.whl"
    data = "dice_tools-1.2.data"
    wheel.write_bytes(_wheel({f"{data}/scripts/roll": b"#!x", f"{data}/purelib/more.py": b""}))
    staged = stage(str(wheel), tmp_path / "stage", fetch=NoFetch())
    assert "site-packages/more.py" in staged.files
    assert not [name for name in staged.files if "scripts" in name or ".data" in name]
    assert staged.remarks == ("its scripts are left out: a plugin installs nothing outside its folder",)


@pytest.mark.parametrize("tags", ["cp311-cp311-linux_aarch64", "py2-none-any", "py3-none-linux_x86_64"])
def test_a_wheel_for_one_kind_of_machine_is_refused(tmp_path: Path, tags: str) -> None:
    wheel = tmp_path / f"dice_tools-1.2-{tags}.whl"
    wheel.write_bytes(_wheel())
    with pytest.raises(RefusedError, match="made for one kind of machine or Python"):
        stage(str(wheel), tmp_path / "stage", fetch=NoFetch())


def test_a_wheel_without_metadata_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "dice_tools-1.2-py3-none-any.whl"
    wheel.write_bytes(_zip({"dice_tools/roll.py": TOOL}))
    with pytest.raises(RefusedError, match="dist-info"):
        stage(str(wheel), tmp_path / "stage", fetch=NoFetch())


# -------------------------------------------------------------------------------------------------- other machines


def test_an_archive_is_fetched_through_the_door_of_the_box(tmp_path: Path) -> None:
    packed = _zip({"dice-1.0/roll.py": TOOL})
    with _serving({"/dice-1.0.zip": packed}) as base:
        staged = asyncio.run(_staged_through_the_door(f"{base}/dice-1.0.zip", tmp_path / "stage"))
    assert (staged.name, sorted(staged.files)) == ("dice", ["roll.py"])
    assert sorted(path.name for path in (tmp_path / "stage").iterdir()) == ["dice"]


def test_a_repository_of_a_forge_is_fetched_as_an_archive_and_named_after_it(tmp_path: Path) -> None:
    fetch = FakeFetch({GITHUB.format("HEAD"): _zip({"dice-tools-0a1b2c3d4e/roll.py": TOOL})})
    staged = stage("https://github.com/ada/dice-tools", tmp_path / "stage", fetch=fetch)
    assert (staged.name, staged.origin) == ("dice-tools", "https://github.com/ada/dice-tools")


def test_an_evil_archive_from_far_is_refused_as_from_near(tmp_path: Path) -> None:
    url = "https://example.org/dice.zip"
    with pytest.raises(RefusedError, match="leads out of its folder"):
        stage(url, tmp_path / "stage", fetch=FakeFetch({url: _zip({"../up.py": b""})}))
    assert list(tmp_path.iterdir()) == []


def test_a_host_that_does_not_answer_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(NetworkError):
        stage("https://example.org/dice.zip", tmp_path / "stage", fetch=FakeFetch())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (FakeAnswer(status=404), NetworkError, "example.org has nothing there"),
        (FakeAnswer(status=500), NetworkError, "example.org answers with status 500"),
        (FakeAnswer(lines=["x" * 101]), RefusedError, "is larger than"),
        (FakeAnswer(lines=["x"], headers={"content-length": "50"}), NetworkError, "sent 1 of 50 bytes"),
        (FakeAnswer(error=NetworkError("no way")), NetworkError, "no way"),
    ],
)
def test_what_a_host_does_wrong_is_said(tmp_path: Path, answer: FakeAnswer, error: type[Exception], words: str) -> None:
    fetch = DoorFetch(FakeHttpDoor(answer), _in_a_loop, lambda _url: None)
    with pytest.raises(error, match=words):
        fetch.download("https://example.org/dice.zip?token=secret", tmp_path / "x", 100)
    assert not (tmp_path / "x").exists()


# ------------------------------------------------------------------------------------------------------------- git


def test_a_repository_is_cloned_without_running_anything_of_it(tmp_path: Path) -> None:
    repository = _repository(tmp_path)
    fetch = FakeFetch()
    staged = stage(f"git+file://{repository}", tmp_path / "stage", fetch=fetch)
    assert (staged.name, sorted(staged.files)) == ("dice", ["roll.py"])
    assert fetch.asked == [], "a folder of this machine takes no lane"
    assert not (tmp_path / "hooked").exists()
    assert sorted(path.name for path in (tmp_path / "stage").iterdir()) == ["dice"]


def test_a_tag_or_a_commit_can_be_named(tmp_path: Path) -> None:
    repository = _repository(tmp_path)
    (repository / "roll.py").write_bytes(TOOL + b"# newer\n")
    _git(repository, "tag", "v1")
    _git(repository, "commit", "--quiet", "-am", "newer")
    old = stage(f"git+file://{repository}@v1", tmp_path / "stage", fetch=FakeFetch())
    assert (old.place / "roll.py").read_bytes() == TOOL


def test_a_link_in_a_repository_is_refused(tmp_path: Path) -> None:
    repository = _repository(tmp_path)
    (repository / "link.py").symlink_to("/etc/passwd")
    _git(repository, "add", ".")
    _git(repository, "commit", "--quiet", "-m", "link")
    with pytest.raises(RefusedError, match=r"link\.py' is a link"):
        stage(f"git+file://{repository}", tmp_path / "stage", fetch=FakeFetch())


def test_a_repository_that_is_too_large_is_refused_while_it_comes(tmp_path: Path) -> None:
    repository = _repository(tmp_path)
    for number in range(6):
        (repository / f"{number}.bin").write_bytes(bytes(9_000_000))
    _git(repository, "add", ".")
    _git(repository, "commit", "--quiet", "-m", "large")
    with pytest.raises(RefusedError, match="larger than 50 MB"):
        stage(f"git+file://{repository}", tmp_path / "stage", fetch=FakeFetch())
    assert not (tmp_path / "stage").exists()


def test_what_git_says_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(NetworkError) as failed:
        stage(f"git+file://{tmp_path}/gone", tmp_path / "stage", fetch=FakeFetch())
    assert str(failed.value).startswith(f"git cannot bring git+file://{tmp_path}/gone: ")
    assert "\n" not in str(failed.value)
    assert list(tmp_path.iterdir()) == []


def test_git_takes_the_proxy_of_the_lane(tmp_path: Path) -> None:
    """Nobody listens at the proxy, so git fails there and asks no name server."""
    proxy = Proxy("http", "127.0.0.1", 9)
    fetch = FakeFetch(proxy=proxy)
    with pytest.raises(NetworkError, match=r"127\.0\.0\.1"):
        stage("git+https://git.invalid/x/dice", tmp_path / "stage", fetch=fetch)
    assert fetch.asked == ["https://git.invalid/x/dice"]


# ------------------------------------------------------------------------------------------------------------- small


async def _staged_through_the_door(url: str, into: Path) -> Staged:
    loop = asyncio.get_running_loop()
    door = Door(LaneClient(Classifier()))
    fetch = DoorFetch(door, lambda work: asyncio.run_coroutine_threadsafe(work, loop).result(), lambda _url: None)
    try:
        return await asyncio.to_thread(stage, url, into, fetch=fetch)
    finally:
        await door.close()


def _in_a_loop(work: Coroutine[Any, Any, bytes]) -> bytes:
    return asyncio.run(work)


def _zip(members: Mapping[str, bytes]) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return whole.getvalue()


def _wheel(more: Mapping[str, bytes] | None = None) -> bytes:
    records = "dice_tools-1.2.dist-info"
    return _zip(
        {
            "dice_tools/__init__.py": b"",
            "dice_tools/roll.py": TOOL,
            f"{records}/METADATA": b"Metadata-Version: 2.1\nName: dice-tools\nVersion: 1.2\nRequires-Dist: tinyhtml\n",
            f"{records}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{records}/entry_points.txt": b"[kotoba.tools]\nroll = dice_tools.roll\n",
            f"{records}/RECORD": b"",
            **(more or {}),
        }
    )


def _repository(tmp_path: Path) -> Path:
    repository = tmp_path / "dice"
    repository.mkdir()
    (repository / "roll.py").write_bytes(TOOL)
    _git(repository, "init", "--quiet", "--initial-branch=main")
    _git(repository, "add", ".")
    _git(repository, "commit", "--quiet", "-m", "first")
    hook = repository / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hooked\n")
    hook.chmod(0o755)
    return repository


def _git(repository: Path, *words: str) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(repository), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *identity, "-C", str(repository), *words], check=True, env=environment)


@contextmanager
def _serving(files: Mapping[str, bytes]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = files.get(self.path)
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_words: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
