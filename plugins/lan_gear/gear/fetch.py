"""A polite look at a page of a host in the house: one GET, small, soon over."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterable
from contextvars import copy_context
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TypeVar
from urllib.parse import urlsplit

_CONNECT_SECONDS, _READ_SECONDS, _WHOLE_SECONDS = 1.0, 2.0, 4.0
#: So many pages at once, and for all of them together so long.
_AT_A_TIME, _ALL_SECONDS = 16, 8.0
_PIECE_BYTES = 1024

Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Page:
    """An answer of a host. ``text`` is its beginning; header names are lower case."""

    headers: dict[str, str]
    text: str

    @property
    def title(self) -> str:
        """The title of the page, "" when there is none."""
        found = re.search(r"<title[^>]{0,100}>([^<]{0,200})<", self.text, re.IGNORECASE)
        return found[1] if found else ""


#: Fetches the first bytes of a URL in the house; None when nothing useful comes.
Fetch = Callable[[str, int], "Page | None"]


def fetch(url: str, most_bytes: int) -> Page | None:
    """GET through the LAN lane, without following redirects. None for another lane, and for all that goes wrong."""
    from core import net

    ends = time.monotonic() + _WHOLE_SECONDS
    body = bytearray()
    try:
        if net.classify(urlsplit(url).hostname) != "lan":
            return None
        answer = net.get(url, timeout=(_CONNECT_SECONDS, _READ_SECONDS), stream=True, allow_redirects=False)
        headers = {str(name).lower(): str(value) for name, value in answer.headers.items()}
        with contextlib.suppress(Exception), contextlib.closing(answer):
            for piece in answer.iter_content(_PIECE_BYTES):
                body += piece
                if len(body) >= most_bytes or time.monotonic() > ends:
                    break
    except Exception:  # a stranger's server finds ways to fail that no list names
        return None
    return Page(headers, bytes(body[:most_bytes]).decode("utf-8", "replace"))


def each(work: Callable[[Job], Result], jobs: Iterable[Job], seconds: float = _ALL_SECONDS) -> list[Result]:
    """The results of all jobs that end in time, in no order. A host that trickles is left behind with its thread."""
    waiting: SimpleQueue[Job] = SimpleQueue()
    done: SimpleQueue[Result] = SimpleQueue()
    count = 0
    for job in jobs:
        waiting.put(job)
        count += 1

    ends = time.monotonic() + seconds

    def serve() -> None:
        while time.monotonic() < ends:
            try:
                job = waiting.get_nowait()
            except Empty:
                return
            done.put(work(job))

    for _ in range(min(count, _AT_A_TIME)):
        # In a copy of our context: the host tells by it on whose behalf a request is.
        threading.Thread(target=copy_context().run, args=(serve,), name="lan_gear look", daemon=True).start()
    results: list[Result] = []
    while len(results) < count and (left := ends - time.monotonic()) > 0:
        try:
            results.append(done.get(timeout=left))
        except Empty:
            break
    return results
