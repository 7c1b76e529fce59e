"""A model that costs nothing: scripted replies on loopback at a pace that is set, for the box and for its peers.

It speaks the event stream of the Responses API and that of Chat Completions, on connections that stay open, in a
thread of its own; every request gets the reply that is set at that moment, one word as one token.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from appliance.bench.connections import Connections


@dataclass(frozen=True)
class Pace:
    """How fast the model is: seconds to its first token, and tokens in a second (0: all at once)."""

    name: str
    first_seconds: float = 0.0
    tokens_per_second: float = 0.0

    def due_seconds(self, token: int) -> float:
        """When token number ``token``, counted from 0, is there, from the request on."""
        return self.first_seconds + (token / self.tokens_per_second if self.tokens_per_second else 0.0)


#: A model that needs no time, a good one on the net or on a graphics card, and one on a small machine in the house.
AT_ONCE = Pace("at once")
QUICK = Pace("150 ms, 40/s", 0.150, 40.0)
SLOW = Pace("600 ms, 12/s", 0.600, 12.0)
PACES = (QUICK, AT_ONCE, SLOW)

#: Three sentences each, with first sentences of usual length; several, so that nothing said before helps.
REPLIES = (
    "The museum opens at ten in the morning on most days. On Thursdays it stays open until eight in the evening. "
    "It is closed on public holidays and on the first of May.",
    "There are two trains that you could still take tonight. The first one leaves at a quarter to nine from platform "
    "four. The other one is slower and leaves half an hour later.",
    "Yes, the shop on the corner has what you are looking for. It is open until seven today and until noon tomorrow. "
    "They also deliver to your street for a small fee.",
    "That takes about nine minutes when the water boils already. With a little salt in the water the shell breaks less "
    "often. Put it into cold water for a minute when the time is over.",
    "Tomorrow will be mostly dry with some clouds in the afternoon. The warmest hours come around three with about "
    "nineteen degrees. Towards the evening there may be a light rain from the west.",
    "I have found four recipes with apples and cinnamon for you. The simplest of them needs no eggs and only one bowl. "
    "It has to stay in the oven for forty minutes.",
)


class StubModel:
    """Serves inside ``serving``; ``pace`` and ``reply`` may be set at any time, ``requests`` be read and reset."""

    def __init__(self) -> None:
        self.pace = QUICK
        self.reply = REPLIES[0]
        self.requests = 0
        self._port = 0
        self._is_up = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def url(self) -> str:
        """Its address; the paths below are those of the two interfaces."""
        return f"http://127.0.0.1:{self._port}/v1"

    @contextlib.contextmanager
    def serving(self) -> Iterator[None]:
        """Answer until the end of the block."""
        thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="stub model", daemon=True)
        thread.start()
        self._is_up.wait()
        try:
            yield
        finally:
            assert self._loop is not None
            self._loop.call_soon_threadsafe(self._over.set)
            thread.join()

    async def _serve(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        connections = Connections(self._talk)
        server = await asyncio.start_server(connections.accept, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        self._is_up.set()
        await self._over.wait()
        server.close()
        await connections.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = re.search(r"(?i)content-length: *(\d+)", head)
            await reader.readexactly(int(length[1]) if length else 0)
            await self._answer(head.split(" ", 2)[1], writer)

    async def _answer(self, path: str, writer: asyncio.StreamWriter) -> None:
        self.requests += 1
        began, pace, words = asyncio.get_running_loop().time(), self.pace, re.findall(r"\S+\s*", self.reply)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        is_chat = path.endswith("/chat/completions")
        before, after = ([], _chat_end()) if is_chat else (_responses_start(), _responses_end("".join(words)))
        await _write(writer, before)
        for token, word in enumerate(words):
            wait_seconds = began + pace.due_seconds(token) - asyncio.get_running_loop().time()
            if wait_seconds > 0.0:
                await asyncio.sleep(wait_seconds)
            await _write(writer, [_chat_word(word) if is_chat else _responses_word(word)])
        await _write(writer, after)
        writer.write(b"0\r\n\r\n")
        await writer.drain()


async def _write(writer: asyncio.StreamWriter, events: list[str]) -> None:
    for event in events:
        data = event.encode()
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
    await writer.drain()


# -------------------------------------------------------------------------------------------- the two interfaces

_ITEM = {"type": "message", "id": "msg_1", "role": "assistant"}
_RESPONSE = {"id": "resp_1", "object": "response", "model": "stub"}


def _named(event: dict[str, Any]) -> str:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"


def _responses_start() -> list[str]:
    item = {**_ITEM, "status": "in_progress", "content": []}
    return [
        _named({"type": "response.created", "response": {**_RESPONSE, "status": "in_progress"}}),
        _named({"type": "response.output_item.added", "output_index": 0, "item": item}),
    ]


def _responses_word(word: str) -> str:
    event = {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0}
    return _named({**event, "delta": word})


def _responses_end(text: str) -> list[str]:
    item = {**_ITEM, "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]}
    tokens = len(text.split())
    usage = {"input_tokens": 100, "output_tokens": tokens, "total_tokens": 100 + tokens}
    response = {**_RESPONSE, "status": "completed", "output": [item], "usage": usage}
    return [
        _named({"type": "response.output_item.done", "output_index": 0, "item": item}),
        _named({"type": "response.completed", "response": response}),
    ]


def _chat(delta: dict[str, str], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "chat_1", "object": "chat.completion.chunk", "created": 0, "model": "stub"}
    return f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"


def _chat_word(word: str) -> str:
    return _chat({"role": "assistant", "content": word})


def _chat_end() -> list[str]:
    return [_chat({}, "stop"), "data: [DONE]\n\n"]
