"""A model hub: fetch one file in pieces, and compare it with what the hub itself says of it.

The hub answers with a redirect to a store and names, on the redirect, the size and digest of the file: SHA-256
for large files, the git blob id for small ones. The store's own etag means something else and is not used.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from appliance.errors import WeightsError
from appliance.ports_think import HttpDoor

#: Told while something is fetched: file, bytes so far, bytes in all (0 when nobody knows).
Progress = Callable[[str, int, int], None]

ADDRESS = "https://huggingface.co"
#: Large enough that a slow line spends its time on data, small enough for the memory of a small board.
PIECE_BYTES = 8_000_000
_MOST_REDIRECTS = 5


async def download(door: HttpDoor, url: str, path: Path, progress: Progress) -> None:
    """Write the file at ``url`` to ``path``. Raises ``WeightsError`` when it is not what the hub promised."""
    promised: dict[str, str] = {}
    done, total = 0, 1
    with path.open("wb") as stream:
        while done < total:
            url, headers, body = await _piece(door, url, done, promised)
            total = _total_bytes(headers, done + len(body))
            if not body and done < total:
                raise WeightsError(f"{path.name} broke off after {done} of {total} bytes")
            await asyncio.to_thread(stream.write, body)
            done += len(body)
            progress(path.name, done, total)
    problem = await asyncio.to_thread(_broken_promise, path, promised)
    if problem:
        raise WeightsError(problem)


async def _piece(
    door: HttpDoor, url: str, start: int, promised: dict[str, str]
) -> tuple[str, Mapping[str, str], bytes]:
    """One piece of a file and the URL that gave it; what the hub says of the file goes into ``promised``."""
    wanted = {"range": f"bytes={start}-{start + PIECE_BYTES - 1}"}
    for _ in range(_MOST_REDIRECTS):
        async with door.stream("GET", url, headers=wanted) as answer:
            # The hub's own answer comes first; the store that it sends us to has an etag of its own kind.
            for key in ("x-linked-etag", "x-linked-size", "etag"):
                if key in answer.headers:
                    promised.setdefault(key, answer.headers[key])
            if answer.status in (301, 302, 303, 307, 308):
                url = urljoin(url, answer.headers.get("location", ""))
                if urlsplit(url).scheme != "https":
                    raise WeightsError("the model hub sent us to an address that is not https")
                continue
            if answer.status == 206 or (answer.status == 200 and start == 0):
                return url, answer.headers, await answer.read(limit_bytes=4 * PIECE_BYTES)
            raise WeightsError(f"{urlsplit(url).hostname} answered {answer.status} for {urlsplit(url).path}")
    raise WeightsError("the model hub sent us round in circles")


def _total_bytes(headers: Mapping[str, str], done: int) -> int:
    """Length of the whole file: behind the slash of ``content-range``, else ``content-length``, else what came."""
    total = headers.get("content-range", "").rpartition("/")[2] or headers.get("content-length", "")
    return int(total) if total.isdigit() else done


def _broken_promise(path: Path, promised: Mapping[str, str]) -> str:
    size = promised.get("x-linked-size", "")
    if size.isdigit() and int(size) != path.stat().st_size:
        return f"{path.name} came with {path.stat().st_size} bytes instead of {size}"
    linked, etag = (promised.get(key, "").removeprefix("W/").strip('"') for key in ("x-linked-etag", "etag"))
    if len(linked) == 64:
        is_whole = sha256(path) == linked
    elif len(etag) == 40:
        is_whole = _git_blob_id(path) == etag
    else:  # a login page of the network, for example
        return f"the answer for {path.name} is not from the model hub"
    return "" if is_whole else f"{path.name} came damaged"


def sha256(path: Path) -> str:
    """Digest of a file, in hex; reads every byte."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _git_blob_id(path: Path) -> str:
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
