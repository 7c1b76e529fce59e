"""Who gets anything from the page: the owner's own browser, and nobody else's."""

from __future__ import annotations

import logging

import pytest

from appliance.events import Transcribed
from tests.panel.rig import Page, page_over, told

METHODS = {"status": told({"state": "idle"}), "plugin.switch": told({"name": "x"}), "ask": told({"reply": "no"})}


async def _raw(page: Page, request: bytes) -> bytes:
    import asyncio

    reader, writer = await asyncio.open_connection("127.0.0.1", page.port)
    writer.write(request)
    await writer.drain()
    answer = await asyncio.wait_for(reader.readuntil(b"\r\n"), 10)
    writer.close()
    return answer


async def test_our_own_page_gets_what_it_asks_for() -> None:
    async with page_over(METHODS) as page:
        assert (await page.ask("status")).json() == {"result": {"state": "idle"}}
        assert (await page.browser.get(f"{page.origin}/")).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost",
        "127.0.0.1.evil.example:{port}",
        "localhost:{port}.evil",
        "localhost:1",
        "[::1]:{port}",
    ],
)
async def test_a_name_that_only_points_here_is_refused(host: str) -> None:
    async with page_over(METHODS) as page:
        given = host.format(port=page.port)
        for path in ("/", "/api/status", "/events", "/picture/img:1"):
            answer = await page.browser.get(f"{page.origin}{path}", headers={**page.mine, "Host": given, "Origin": ""})
            assert answer.status_code == 400, path
        assert (await page.ask("status", Host=given)).status_code == 400


async def test_a_request_without_a_host_or_with_two_is_refused() -> None:
    async with page_over(METHODS) as page:
        assert b" 400 " in await _raw(page, b"GET / HTTP/1.1\r\n\r\n")
        assert b" 400 " in await _raw(page, b"GET / HTTP/1.0\r\n\r\n")
        host = f"localhost:{page.port}".encode()
        twice = b"GET / HTTP/1.1\r\nHost: " + host + b"\r\nHost: " + host + b"\r\n\r\n"
        assert b" 400 " in await _raw(page, twice)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://localhost:{port}", "http://localhost:1"])
async def test_what_another_site_sends_is_refused(origin: str) -> None:
    async with page_over(METHODS) as page:
        given = origin.format(port=page.port)
        assert (await page.ask("plugin.switch", Origin=given)).status_code == 403
        answer = await page.browser.get(f"{page.origin}/events", headers={**page.mine, "Origin": given})
        assert answer.status_code == 403


async def test_what_changes_something_must_say_which_page_sent_it() -> None:
    async with page_over(METHODS) as page:
        assert (await page.ask("plugin.switch", Origin="")).status_code == 403
        assert (await page.ask("plugin.switch", Sec_Fetch_Site="cross-site", Origin="")).status_code == 403
        assert (await page.ask("plugin.switch", Sec_Fetch_Site="same-site")).status_code == 403


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
async def test_a_form_of_another_site_is_no_request_of_ours(kind: str) -> None:
    async with page_over(METHODS) as page:
        headers = {**page.mine, **({"Content-Type": kind} if kind else {})}
        answer = await page.browser.post(f"{page.origin}/api/plugin.switch", content=b'{"on": true}', headers=headers)
        assert answer.status_code == 415


@pytest.mark.parametrize("token", ["", "wrong", "wrong, wrong"])
async def test_without_the_token_there_are_only_empty_pages(token: str) -> None:
    async with page_over(METHODS) as page:
        assert (await page.ask("status", X_Panel_Token=token)).status_code == 401
        for path in ("/events", "/picture/img:1", "/face", "/outside?url=http://x.example/a.png"):
            answer = await page.browser.get(f"{page.origin}{path}", headers={"X-Panel-Token": token})
            assert answer.status_code == 401, path
            answer = await page.browser.get(f"{page.origin}{path}&x-panel-token={page.panel.token}")
            assert answer.status_code == 401, "a token in an address counts for nothing"


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "DELETE", "TRACE", "PATCH"])
async def test_no_other_site_is_ever_allowed_anything(method: str) -> None:
    async with page_over(METHODS) as page:
        headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
        answer = await page.browser.request(method, f"{page.origin}/api/status", headers=headers)
        assert answer.status_code >= 400
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "method",
    [
        "ask",
        "say",
        "press",
        "stop",
        "tool.run",
        "approval.approve",
        "approval.allow",
        "config.changed",
        "../status",
        "x",
    ],
)
async def test_the_page_can_neither_speak_nor_run_nor_approve_anything(method: str) -> None:
    async with page_over(METHODS) as page:
        answer = await page.ask(method)
        assert answer.status_code == 404


async def test_every_answer_forbids_what_a_page_does_not_need() -> None:
    async with page_over(METHODS) as page:
        answers = [
            await page.browser.get(f"{page.origin}/"),
            await page.browser.get(f"{page.origin}/nothing", headers=page.mine),
            await page.ask("status"),
            await page.ask("status", X_Panel_Token=""),
        ]
        for answer in answers:
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert "server" not in answer.headers


async def test_too_much_is_refused_whether_it_says_its_length_or_not() -> None:
    async with page_over(METHODS) as page:
        big = b'{"a": "' + b"x" * 1_000_001 + b'"}'
        headers = {**page.mine, "Content-Type": "application/json"}
        assert (await page.browser.post(f"{page.origin}/api/status", content=big, headers=headers)).status_code == 413


@pytest.mark.parametrize("body", [b"", b"[1]", b"nonsense", b'"text"', b"[" * 100_000])
async def test_a_body_that_is_no_object_is_a_sentence(body: bytes) -> None:
    async with page_over(METHODS) as page:
        headers = {**page.mine, "Content-Type": "application/json"}
        answer = await page.browser.post(f"{page.origin}/api/status", content=body, headers=headers)
        assert answer.status_code == 400
        assert answer.json()["problem"]


async def test_the_token_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with page_over(METHODS) as page:
        await page.ask("status")
        await page.browser.get(f"{page.origin}/?token={page.panel.token}")
        await page.ask("status", X_Panel_Token="wrong")
        server = [record for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))]
        assert not [record for record in server if page.panel.token in record.getMessage()]


async def test_what_happens_reaches_every_page_and_a_private_chat_keeps_its_words() -> None:
    is_private = False
    async with page_over(METHODS, hides_words=lambda: is_private) as page:
        async with page.browser.stream("GET", f"{page.origin}/events", headers=page.mine) as answer:
            lines = answer.aiter_lines()
            assert await anext(lines) == ": open"
            page.bus.publish(Transcribed("turn-1", 1.0, "what time is it"))
            is_private = True
            page.bus.publish(Transcribed("turn-2", 2.0, "my secret"))
            heard = [line async for line in _first(lines, 2)]
        assert "what time is it" in heard[0]
        assert "my secret" not in heard[1] and "turn-2" in heard[1]
        assert answer.headers["content-type"].startswith("text/event-stream")


async def _first(lines, count: int):  # type: ignore[no-untyped-def]
    async for line in lines:
        if line.startswith("data:"):
            yield line
            count -= 1
            if not count:
                return
