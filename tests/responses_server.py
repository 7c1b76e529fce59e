"""A Responses API server for tests: scripted answers over real HTTP on loopback, faults on demand.

It speaks the whole event sequence of the API, so that the ``openai`` package's own client can read it. In a test::

    async with ResponsesServer([Answer(text="Hello."), Answer(status=500)]) as server:
        server.url, server.requests

As a program, ``python tests/responses_server.py script.json`` prints its URL and serves until it is stopped. The script
is a list of answers, or ``{"key": "…", "answers": […]}``; an answer is an object with the fields of ``Answer``
(``calls`` as ``[{"name": …, "arguments": {…}}]``). After the last answer of a script, the last one is repeated.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import itertools
import json
import re
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from appliance.bench.connections import Connections


@dataclass(frozen=True)
class Call:
    """A function call that the scripted model makes; ``arguments`` may be raw text, to be broken."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    call_id: str = ""


@dataclass(frozen=True)
class Answer:
    """One scripted answer.

    ``pieces`` are the text deltas (else ``text`` word by word). ``fault`` is one of

    - ``silent``: the request is taken and nothing ever comes back;
    - ``hang_up``: the connection is closed without a word;
    - ``cut``: the connection is closed after ``fault_after`` events; ``end``: the body ends there properly;
    - ``stall``: nothing more comes after ``fault_after`` events, the connection stays;
    - ``broken_json``: the event there is not JSON;
    - ``failed``, ``error``: the stream ends with that event (``error_code``, ``error_message``).

    ``dialect`` "sparse" leaves out ids, indexes, usage and all events that are not needed, as small servers do;
    "late" gives items only in ``response.completed``, "early" only before it.
    ``write_bytes`` cuts the body into writes of that size; ``line_end`` may be CRLF.
    """

    text: str = ""
    pieces: Sequence[str] = ()
    calls: Sequence[Call] = ()
    reasoning: str = ""
    input_tokens: int = 100
    cached_tokens: int = 0
    is_incomplete: bool = False
    first_pause_seconds: float = 0.0
    pause_seconds: float = 0.0
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    error_code: str = "server_error"
    error_message: str = "scripted failure"
    fault: str = ""
    fault_after: int = 4
    dialect: str = "full"
    write_bytes: int = 0
    line_end: str = "\n"

    @property
    def deltas(self) -> list[str]:
        """The text as it is streamed."""
        return list(self.pieces) or re.findall(r"\S+\s*", self.text)


@dataclass(frozen=True)
class ReceivedRequest:
    """What a client sent; ``body`` is the parsed JSON. ``connection`` counts connections from 1."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    connection: int
    #: The body as it came.
    raw: bytes = b""


class ResponsesServer:
    """Serves the script on a free loopback port. With ``key``, requests must carry it."""

    def __init__(self, answers: Sequence[Answer] = (), *, key: str = "") -> None:
        self.answers = list(answers)
        self.requests: list[ReceivedRequest] = []
        self.key = key
        self.connections = 0
        self._server: asyncio.Server | None = None
        self._connections = Connections(self._connection)

    async def __aenter__(self) -> ResponsesServer:
        self._server = await asyncio.start_server(self._connections.accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_error: object) -> None:
        assert self._server is not None
        self._server.close()
        await self._connections.close()
        await self._server.wait_closed()

    @property
    def open_connections(self) -> int:
        """How many clients are connected now."""
        return len(self._connections)

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        number = self.connections
        while request := await _read_request(reader, number):
            self.requests.append(request)
            if not await self._answer(request, reader, writer):
                return

    async def _answer(
        self, request: ReceivedRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request; whether the connection stays."""
        if request.path.split("?")[0] != "/v1/responses" or request.method != "POST":
            return await _send_error(writer, 404, "not_found_error", f"no route {request.path}")
        if self.key and request.headers.get("authorization") != f"Bearer {self.key}":
            sent = request.headers.get("authorization", "nothing")
            return await _send_error(writer, 401, "invalid_api_key", f"Incorrect API key provided: {sent}")
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer.fault == "hang_up":
            return False
        if answer.fault == "silent":
            await reader.read()  # until the client gives up
            return False
        if answer.status != 200:
            return await _send_error(
                writer, answer.status, answer.error_code, answer.error_message, answer.headers, answer.body
            )
        return await _stream(answer, request, reader, writer)


async def _read_request(reader: asyncio.StreamReader, connection: int) -> ReceivedRequest | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.split("\r\n")
    method, path, _version = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    return ReceivedRequest(method, path, headers, json.loads(raw or "null"), connection, raw)


async def _send_error(
    writer: asyncio.StreamWriter,
    status: int,
    code: str,
    message: str,
    headers: Mapping[str, str] | None = None,
    body: str | None = None,
) -> bool:
    if body is None:
        error = {"message": message, "type": "scripted", "param": None, "code": code}
        body = json.dumps({"error": error})
    head = {"Content-Type": "application/json", **(headers or {}), "Content-Length": str(len(body.encode()))}
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    writer.write(f"HTTP/1.1 {status} Scripted\r\n{lines}\r\n{body}".encode())
    await writer.drain()
    return True


async def _stream(
    answer: Answer, request: ReceivedRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    head = {"Content-Type": "text/event-stream; charset=utf-8", "Transfer-Encoding": "chunked", **answer.headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    writer.write(f"HTTP/1.1 200 OK\r\n{lines}\r\n".encode())
    if answer.body is not None:
        await _write_chunk(writer, answer.body.encode(), answer.write_bytes)
    else:
        async for message in _paced(answer, _events(answer, request.body)):
            if message is None:
                if answer.fault == "stall":
                    await reader.read()
                if answer.fault != "end":
                    return False
                break
            await _write_chunk(writer, message.replace("\n", answer.line_end).encode(), answer.write_bytes)
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


async def _write_chunk(writer: asyncio.StreamWriter, data: bytes, write_bytes: int) -> None:
    size = write_bytes or len(data)
    for start in range(0, len(data), size):
        part = data[start : start + size]
        writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        await writer.drain()


async def _paced(answer: Answer, events: Iterator[dict[str, Any]]) -> AsyncIterator[str | None]:
    """Events as server-sent messages, with the script's pauses and faults; None where the stream breaks off."""
    await asyncio.sleep(answer.first_pause_seconds)
    for number, event in enumerate(events):
        if event["type"].endswith(".delta"):
            await asyncio.sleep(answer.pause_seconds)
        if number == answer.fault_after and answer.fault in ("cut", "end", "stall"):
            yield None
            return
        data = json.dumps(event, ensure_ascii=False)
        if number == answer.fault_after and answer.fault == "broken_json":
            data = data[: len(data) // 2]
        if number == answer.fault_after and answer.fault == "error":
            failure = {"code": answer.error_code, "message": answer.error_message, "param": None}
            data = json.dumps({"type": "error", "sequence_number": number, **failure})
            yield f"event: error\ndata: {data}\n\n"
            return
        yield f"event: {event['type']}\ndata: {data}\n\n"


# ---------------------------------------------------------------------------------------- the event sequence


def _events(answer: Answer, request: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of one answer in the API's order, numbered; a dialect leaves some of it out."""
    numbers = itertools.count()
    response = _response(request)
    yield {"type": "response.created", "response": response, "sequence_number": next(numbers)}
    yield {"type": "response.in_progress", "response": response, "sequence_number": next(numbers)}
    items = _items(answer, tag=response["id"].removeprefix("resp_"))
    for index, item in enumerate(items):
        for event in _item_events(answer, item, index):
            shown = _in_dialect(answer.dialect, {**event, "sequence_number": next(numbers)})
            if shown is not None:
                yield shown
    yield _last_event(answer, response, items, next(numbers))


def _last_event(
    answer: Answer, response: dict[str, Any], items: list[dict[str, Any]], sequence_number: int
) -> dict[str, Any]:
    status = "failed" if answer.fault == "failed" else "incomplete" if answer.is_incomplete else "completed"
    final = {**response, "status": status, "output": items, "usage": _usage(answer)}
    if status == "failed":
        final["error"] = {"code": answer.error_code, "message": answer.error_message}
    if status == "incomplete":
        final["incomplete_details"] = {"reason": "max_output_tokens"}
    if answer.dialect in ("sparse", "early"):
        final = {"id": response["id"], "object": "response", "status": status}
    return {"type": f"response.{status}", "response": final, "sequence_number": sequence_number}


def _in_dialect(dialect: str, event: dict[str, Any]) -> dict[str, Any] | None:
    kind = event["type"]
    if dialect == "late":
        return event if kind == "response.output_text.delta" else None
    if dialect != "sparse":
        return event
    if kind == "response.output_text.delta":
        return {"type": kind, "delta": event["delta"]}
    if kind == "response.output_item.done":
        return {"type": kind, "item": {name: value for name, value in event["item"].items() if name != "id"}}
    return None


def _items(answer: Answer, tag: str) -> list[dict[str, Any]]:
    """The finished items: reasoning, message, calls."""
    items: list[dict[str, Any]] = []
    if answer.reasoning:
        sealed = f"sealed-{answer.reasoning}"
        items.append({"type": "reasoning", "id": f"rs_{tag}", "summary": [], "encrypted_content": sealed})
    if answer.deltas:
        part = {"type": "output_text", "text": "".join(answer.deltas), "annotations": [], "logprobs": []}
        items.append(
            {"type": "message", "id": f"msg_{tag}", "status": "completed", "role": "assistant", "content": [part]}
        )
    for number, call in enumerate(answer.calls, 1):
        arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(dict(call.arguments))
        items.append(
            {
                "type": "function_call",
                "id": f"fc_{tag}_{number}",
                "call_id": call.call_id or f"call_{tag}_{number}",
                "status": "completed",
                "name": call.name,
                "arguments": arguments,
            }
        )
    return items


def _item_events(answer: Answer, item: dict[str, Any], index: int) -> Iterator[dict[str, Any]]:
    """From ``output_item.added`` to ``output_item.done``."""
    started = {**item, "status": "in_progress"}
    where: dict[str, Any] = {"output_index": index, "item_id": item["id"]}
    kind = item["type"]
    if kind == "reasoning":
        started = {name: value for name, value in item.items() if name != "encrypted_content"}
    elif kind == "message":
        started["content"] = []
    else:
        started["arguments"] = ""
    yield {"type": "response.output_item.added", "output_index": index, "item": started}
    if kind == "message":
        yield from _text_events(answer, item["content"][0], where)
    elif kind == "function_call":
        half = len(item["arguments"]) // 2
        for delta in (item["arguments"][:half], item["arguments"][half:]):
            yield {"type": "response.function_call_arguments.delta", **where, "delta": delta}
        yield {
            "type": "response.function_call_arguments.done",
            **where,
            "name": item["name"],
            "arguments": item["arguments"],
        }
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _text_events(answer: Answer, part: dict[str, Any], where: dict[str, Any]) -> Iterator[dict[str, Any]]:
    where = {**where, "content_index": 0}
    yield {"type": "response.content_part.added", **where, "part": {**part, "text": ""}}
    for delta in answer.deltas:
        yield {"type": "response.output_text.delta", **where, "delta": delta, "logprobs": []}
    yield {"type": "response.output_text.done", **where, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **where, "part": part}


_RESPONSE_NUMBERS = itertools.count(1)


def _response(request: Mapping[str, Any]) -> dict[str, Any]:
    """A response object before anything is in it; it repeats the request, as the API does."""
    tools = [{"strict": True, "description": None, **tool} for tool in request.get("tools", [])]
    return {
        "id": f"resp_{next(_RESPONSE_NUMBERS):06d}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": request.get("instructions"),
        "max_output_tokens": request.get("max_output_tokens"),
        "max_tool_calls": None,
        "metadata": {},
        "model": request.get("model", "scripted"),
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": request.get("reasoning", {}).get("effort"), "summary": None},
        "service_tier": "default",
        "store": request.get("store", True),
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": tools,
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": None,
        "user": None,
    }


def _usage(answer: Answer) -> dict[str, Any]:
    output_tokens = len(answer.deltas) + 10 * len(answer.calls)
    return {
        "input_tokens": answer.input_tokens,
        "input_tokens_details": {"cached_tokens": answer.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": answer.input_tokens + output_tokens,
    }


# -------------------------------------------------------------------------------------------- as a program


def read_script(text: str) -> ResponsesServer:
    """A server from a JSON script; ``ValueError`` or ``TypeError`` when it is none."""
    script = json.loads(text)
    script = {"answers": script} if isinstance(script, list) else script
    answers = [_answer_from(entry) for entry in script["answers"]]
    return ResponsesServer(answers, key=script.get("key", ""))


def _answer_from(entry: Mapping[str, Any]) -> Answer:
    known = {spec.name for spec in dataclasses.fields(Answer)}
    if unknown := set(entry) - known:
        raise ValueError(f"an answer has no {', '.join(sorted(unknown))}; there are: {', '.join(sorted(known))}")
    calls = [Call(**call) for call in entry.get("calls", [])]
    return Answer(**{**entry, "calls": calls})


async def _serve_for_ever(script: str) -> None:
    async with read_script(script) as server:
        print(server.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve_for_ever(Path(sys.argv[1]).read_text(encoding="utf-8")))
