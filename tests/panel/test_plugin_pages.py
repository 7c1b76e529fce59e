"""Addresses and pages that plugins bring along, and what these cannot reach."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.panel.browser import chromium, window
from tests.panel.served import ServedBox, served_box

_ROUTES = """
from dataclasses import dataclass

calls = 0


@dataclass
class Picture:
    body: bytes
    status_code: int = 200
    media_type: str = "image/png"


def count(**everything):
    global calls
    calls += 1
    return {"calls": calls, "kinds": sorted(everything), "settings": everything["settings"], "room": everything["room"]}


def only_what_it_needs(room, query):
    return [room, query]


async def later(request):
    return {"method": request.method, "body": await request.json()}


def picture():
    return Picture(b"png")


def refused():
    return {"why": "no"}, 418


def broken():
    raise RuntimeError("its own fault")
"""

_PAGE = """<!doctype html><title>page</title><link rel="stylesheet" href="look.css"><p id="said">waiting</p>
<script src="page.js"></script>"""

_SCRIPT = """
const said = document.getElementById("said");
let tokens = "none";
try { tokens = String(sessionStorage.length); } catch { tokens = "no storage"; }
let parents = "none";
try { parents = parent.document.title; } catch { parents = "no parent"; }
addEventListener("message", ({ data }) => {
  if (data.id === 1) {
    said.textContent = [data.result.place, tokens, parents].join(", ");
    parent.postMessage({ id: 2, keep: { place: "the attic" } }, "*");
  }
  if (data.id === 2) parent.postMessage({ id: 3, route: { method: "GET", path: "rooms/hall/count" } }, "*");
  if (data.id === 3) {
    said.textContent += ", " + data.result.settings.place;
    fetch("/api/status", { method: "POST" }).catch(() => (said.textContent += ", no fetch"));
  }
});
parent.postMessage({ id: 1, want: "settings" }, "*");
"""


def put_plugin(home: Path) -> None:
    """A plugin with addresses, a page and a secret."""
    folder = home / "plugins" / "rooms"
    (folder / "web").mkdir(parents=True)
    routes = [
        {"path": "rooms/{room}/count", "handler": "routes.py:count"},
        {"path": "/needs/{room}/", "handler": "routes.py:only_what_it_needs"},
        {"method": "post", "path": "later", "handler": "routes.py:later"},
        {"path": "picture", "handler": "routes.py:picture"},
        {"path": "refused", "handler": "routes.py:refused"},
        {"path": "broken", "handler": "routes.py:broken"},
        {"path": "outside", "handler": "../routes.py:count"},
        {"path": "", "handler": "routes.py"},
        {"method": "STEAL", "path": "x", "handler": "routes.py"},
    ]
    settings = [{"key": "place", "default": "the cellar"}, {"key": "pin", "type": "password", "default": ""}]
    manifest = {
        "name": "rooms",
        "default_enabled": True,
        "capabilities": {"routes": routes, "settings": settings, "web": True},
    }
    (folder / "plugin.json").write_text(json.dumps(manifest))
    (folder / "routes.py").write_text(_ROUTES)
    (folder / "secret.html").write_text("not a page")
    (folder / "web" / "index.html").write_text(_PAGE)
    (folder / "web" / "page.js").write_text(_SCRIPT)
    (folder / "web" / "look.css").write_text("p { color: green }")
    (folder / "web" / "notes.txt").write_text("not a kind of a page")
    (folder / "web" / "away.html").symlink_to(folder / "secret.html")


def _get(served: ServedBox, address: str, method: str = "GET", body: Any = None, **headers: str) -> httpx.Response:
    base, _, token = served.address.partition("#")
    origin = base.rstrip("/")
    sent = {"X-Panel-Token": token, "Origin": origin, **headers}
    sent = {name: value for name, value in sent.items() if value}
    with httpx.Client(trust_env=False, timeout=30) as browser:
        return browser.request(method, origin + address, json=body, headers=sent)


def test_an_address_of_a_plugin_answers_behind_the_same_checks(tmp_path: Path) -> None:
    put_plugin(tmp_path / "home")
    with served_box(tmp_path / "home") as served:
        first = _get(served, "/api/plugin/rooms/rooms/hall/count").json()
        assert first["calls"] == 1 and first["room"] == "hall" and first["settings"]["place"] == "the cellar"
        assert {"credentials", "query", "request", "room", "settings"} <= set(first["kinds"])
        assert _get(served, "/api/plugin/rooms/needs/a%20b?x=1").json() == ["a b", {"x": "1"}]
        later = _get(served, "/api/plugin/rooms/later", "POST", {"a": 1}).json()
        assert later == {"method": "POST", "body": {"a": 1}}
        shown = _get(served, "/api/plugin/rooms/picture")
        assert (shown.content, shown.headers["content-type"]) == (b"png", "image/png")
        assert _get(served, "/api/plugin/rooms/refused").status_code == 418
        broken = _get(served, "/api/plugin/rooms/broken")
        assert broken.status_code == 500 and "its own fault" in broken.json()["error"]
        assert "must be a .py file inside" in _get(served, "/api/plugin/rooms/outside").text
        for address in ("rooms/nothing", "rooms/rooms/hall", "nobody/x", "rooms/..%2f..%2fstatus"):
            assert _get(served, f"/api/plugin/{address}").status_code == 404, address
        assert _get(served, "/api/plugin/rooms/later").status_code == 404, "it takes POST only"
        for missing in ("X-Panel-Token", "Origin"):
            assert _get(served, "/api/plugin/rooms/later", "POST", {}, **{missing: ""}).status_code in (401, 403)
        assert _get(served, "/api/plugin/rooms/picture", Origin="http://evil.example").status_code == 403
        told = " ".join(served.ask("tool.problems"))
        assert "it needs a path and a handler" in told and "its method is one of" in told


def test_a_plugin_is_not_asked_more_often_than_it_should_be(tmp_path: Path) -> None:
    put_plugin(tmp_path / "home")
    with served_box(tmp_path / "home") as served:
        answers = [_get(served, "/api/plugin/rooms/picture").status_code for _ in range(31)]
        assert answers == [200] * 30 + [404]
        assert "wait a little" in _get(served, "/api/plugin/rooms/picture").json()["problem"]
        served.ask("plugin.switch", name="rooms", on=False)
        assert "is loaded" in _get(served, "/api/plugin/rooms/picture").json()["problem"]


def test_a_plugins_own_page_gets_its_settings_and_nothing_of_ours(tmp_path: Path) -> None:
    put_plugin(tmp_path / "home")
    with served_box(tmp_path / "home") as served, chromium() as browser, window(browser, served.address) as seen:
        seen.go("tools")
        seen.page.click("[data-plugin=rooms] summary")
        frame = seen.page.frame_locator("iframe.plugin-page")
        frame.locator("#said:has-text('no fetch')").wait_for()
        said = frame.locator("#said").inner_text()
        assert said == "the cellar, no storage, no parent, the attic, no fetch"
        address = seen.page.get_attribute("iframe.plugin-page", "src") or ""
        kept = {row["key"]: row["value"] for row in served.ask("plugin.info", name="rooms")["settings"]}
        assert kept["place"] == "the attic"
        folder = address.removesuffix("index.html")
        assert _get(served, address).status_code == 200
        for file in (
            "../plugin.json",
            "..%2fplugin.json",
            "%2e%2e/secret.html",
            "away.html",
            "notes.txt",
            "/etc/passwd",
            "x",
        ):
            assert _get(served, folder + file).status_code == 404, file
        guessed = folder.replace(folder.split("/")[2], "x" * 32)
        assert _get(served, guessed + "index.html", **{"X-Panel-Token": ""}).status_code in (401, 404)
        policy = _get(served, address).headers["content-security-policy"]
        assert policy.startswith("sandbox allow-scripts") and "connect-src 'none'" in policy
        assert served.address.partition("#")[2] not in address


@pytest.mark.parametrize("handle", ["..%2f..%2fetc%2fpasswd", "img:../../x", "img:%00", "img:" + "a" * 5000, "x"])
def test_no_name_of_a_picture_leads_elsewhere(tmp_path: Path, handle: str) -> None:
    with served_box(tmp_path / "home") as served:
        assert _get(served, f"/picture/{handle}").status_code in (404, 400)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "http://127.0.0.1/x.png",
        "http://localhost/x",
        "http://192.168.1.1/x",
        "javascript:x",
        "",
        "x",
    ],
)
def test_a_tile_cannot_make_the_box_ask_anything_in_the_house(tmp_path: Path, url: str) -> None:
    with served_box(tmp_path / "home") as served:
        answer = _get(served, f"/outside?url={url}")
        assert answer.status_code == 404 and answer.json()["problem"]
