"""A model behind the OpenAI Responses API: api.openai.com, llama.cpp's server, Ollama and others like them.

Calls are stateless (``store: false``): each request carries the whole conversation, so repeating one is harmless.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from email.utils import parsedate_to_datetime
from urllib.parse import quote, urlsplit, urlunsplit

from appliance.adapters.responses_stream import AnswerReader, Progress
from appliance.adapters.sse import SseStream
from appliance.clock import Clock, within
from appliance.errors import (
    BrainBusyError,
    BrainError,
    BrainKeyError,
    BrainRequestError,
    BrainStreamError,
    BrainTimeoutError,
    BrainUnreachableError,
    ConfigError,
    LaneRefusedError,
    NetworkError,
)
from appliance.ports import Json
from appliance.ports_think import HttpDoor, HttpStream, ModelEvent, ModelRequest

#: The smallest number of output tokens that every server takes.
_FEWEST_TOKENS = 16
_MODELS_BYTES = 65_536
#: A server that asks for no longer pause than this is asked once more before the person hears of it.
_SHORT_PAUSE_SECONDS = 2.0
_ERROR_BODY_BYTES = 65_536
_ERROR_CHARACTERS = 300
#: How keys of the known services look, should a server quote one.
_KEY_SHAPE = re.compile(r"\b(?:sk|rk|pk|gsk|key)-[\w*.-]{6,}")
_VERSION = re.compile(r"v\d+\w*")


class ResponsesEndpoint:
    """Speaks to one model. ``key`` "" sends no authorization; ``reasoning_effort`` as in ``[think]``."""

    def __init__(
        self,
        door: HttpDoor,
        *,
        url: str,
        clock: Clock,
        model: str = "",
        key: str = "",
        reasoning_effort: str = "",
        connect_seconds: float = 5.0,
        first_token_seconds: float = 30.0,
        total_seconds: float = 120.0,
    ) -> None:
        self._door = door
        self._url = responses_url(url)
        self._host = urlsplit(self._url).netloc
        self._clock = clock
        self._model = model
        self._key = key.strip()
        self._reasoning_effort = reasoning_effort
        self._connect_seconds = connect_seconds
        self._first_token_seconds = first_token_seconds
        self._total_seconds = total_seconds

    @property
    def name(self) -> str:
        """Model and host, for people."""
        return f"{self._model or 'the model'} at {self._host}"

    @property
    def is_reasoning(self) -> bool:
        """Whether a reasoning effort is set and not off."""
        return self._reasoning_effort not in ("", "off")

    async def respond(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """The answer as it comes; see ``ports_think.ModelEndpoint``. No key is in any error."""
        patience = _Patience(self._clock, self._first_token_seconds, self._total_seconds)
        stream, opened = await self._open(self._body(request), patience)
        async with opened:
            reader = AnswerReader(self._short, request.max_output_tokens)
            messages = SseStream(stream.lines())
            while not reader.is_complete:
                data = await self._next(messages, patience)
                if data is None or data.strip() == "[DONE]":
                    raise BrainStreamError(self._cut_short(stream))
                events = reader.read(data)
                patience.note(reader.progress)
                for event in events:
                    yield event

    async def warm_up(self, request: ModelRequest | None) -> None:
        """See ``ports_think.ModelEndpoint``; the answer is cut off at the first sign of it."""
        patience = _Patience(self._clock, self._first_token_seconds, self._total_seconds)
        if request is None:
            await self._connect(patience)
            return
        stream, opened = await self._open_once(self._body(replace(request, max_output_tokens=_FEWEST_TOKENS)), patience)
        async with opened:
            reader = AnswerReader(self._short)
            messages = SseStream(stream.lines())
            while reader.progress is Progress.WAITING:
                data = await self._next(messages, patience)
                if data is None:
                    return
                reader.read(data)

    async def _connect(self, patience: _Patience) -> None:
        """Ask for something small, whatever the answer is: the connection stays open for the next request."""
        url = urlsplit(self._url)
        path = url.path.removesuffix("responses") + "/".join(("models", *filter(None, [quote(self._model)])))
        answer = self._door.stream(
            "GET",
            urlunsplit((url.scheme, url.netloc, path, url.query, "")),
            headers=self._headers("application/json"),
            connect_seconds=self._connect_seconds,
            read_seconds=self._first_token_seconds,
        )
        async with contextlib.AsyncExitStack() as opening:
            with self._translated(patience):
                stream = await within(self._clock, patience.seconds_left, opening.enter_async_context(answer))
                await within(self._clock, patience.seconds_left, stream.read(_MODELS_BYTES))

    def _body(self, request: ModelRequest) -> dict[str, Json]:
        body: dict[str, Json] = {"stream": True, "store": False}
        if self._model:
            body["model"] = self._model
        if request.max_output_tokens is not None:
            body["max_output_tokens"] = request.max_output_tokens
        if self._reasoning_effort:
            body["reasoning"] = {"effort": "none" if self._reasoning_effort == "off" else self._reasoning_effort}
        if self.is_reasoning:
            body["include"] = ["reasoning.encrypted_content"]
        # What changes least comes first and what is new in each request last: so one begins as the one before ended.
        body["instructions"] = request.instructions
        if request.tools:
            body["tools"] = [_tool(schema) for schema in request.tools]
        body["input"] = [dict(item) for item in request.items]
        return body

    def _headers(self, accept: str = "text/event-stream") -> dict[str, str]:
        headers = {"Accept": accept}
        if self._key:
            if not self._key.isascii() or not self._key.isprintable() or " " in self._key:
                raise BrainKeyError("the stored key has characters that no key has; store it once more")
            headers["Authorization"] = f"Bearer {self._key}"
        return headers

    async def _open(
        self, body: dict[str, Json], patience: _Patience
    ) -> tuple[HttpStream, contextlib.AsyncExitStack[bool | None]]:
        """Open the answer; once more after a short pause the server asked for, or a connection that broke at once."""
        try:
            return await self._open_once(body, patience)
        except BrainUnreachableError:
            pass
        except BrainBusyError as error:
            pause = error.retry_after_seconds
            if pause is None or pause > min(_SHORT_PAUSE_SECONDS, patience.seconds_left):
                raise
            await self._clock.sleep(pause)
        return await self._open_once(body, patience)

    async def _open_once(
        self, body: dict[str, Json], patience: _Patience
    ) -> tuple[HttpStream, contextlib.AsyncExitStack[bool | None]]:
        answer = self._door.stream(
            "POST",
            self._url,
            headers=self._headers(),
            json=body,
            connect_seconds=self._connect_seconds,
            read_seconds=self._total_seconds,  # patience below is shorter, and knows what it waits for
        )
        async with contextlib.AsyncExitStack() as opening:
            with self._translated(patience):
                entering = opening.enter_async_context(answer)
                stream = await within(self._clock, patience.seconds_left, entering)
                if stream.status != 200:
                    raw = await within(self._clock, patience.seconds_left, stream.read(_ERROR_BODY_BYTES))
                    raise self._refusal(stream, raw)
            return stream, opening.pop_all()

    @contextlib.contextmanager
    def _translated(self, patience: _Patience) -> Iterator[None]:
        """What goes wrong before an answer has begun, as our errors."""
        try:
            yield
        except TimeoutError as error:
            raise BrainTimeoutError(patience.verdict(self.name, error)) from error
        except LaneRefusedError as error:
            raise BrainRequestError(str(error)) from error
        except NetworkError as error:
            raise BrainUnreachableError(self._short(str(error))) from error

    async def _next(self, messages: SseStream, patience: _Patience) -> str | None:
        try:
            return await within(self._clock, patience.seconds_left, messages.next_message())
        except TimeoutError as error:
            raise BrainTimeoutError(patience.verdict(self.name, error)) from error
        except NetworkError as error:
            raise BrainStreamError(f"the answer of {self.name} was cut: {self._short(str(error))}") from error

    def _refusal(self, stream: HttpStream, raw: bytes) -> BrainError:
        """The error behind an HTTP status other than 200."""
        status, words = stream.status, self._short(_error_words(raw))
        said = f"{self._host} answered {status}" + (f": {words}" if words else "")
        if status in (401, 403):
            given = "does not accept the key" if self._key else "wants a key"
            return BrainKeyError(f"{self._host} {given} (status {status})")
        if status == 404:
            model = f"the model {self._model!r}" if self._model else "the model"
            return BrainRequestError(f"{self._host} has no Responses API at this address, or not {model} ({said})")
        if status == 429 or status >= 500:
            return BrainBusyError(said, retry_after_seconds=self._pause(stream.headers) if status == 429 else None)
        return BrainRequestError(said)

    def _pause(self, headers: Mapping[str, str]) -> float | None:
        """What Retry-After asks for, in seconds or as a date."""
        text = headers.get("retry-after", "")
        try:
            seconds = float(text)
        except ValueError:
            try:
                seconds = (parsedate_to_datetime(text) - self._clock.now()).total_seconds()
            except (ValueError, TypeError):
                return None
        return max(0.0, seconds) if math.isfinite(seconds) else None

    def _cut_short(self, stream: HttpStream) -> str:
        kind = stream.headers.get("content-type", "text/event-stream").split(";")[0]
        instead = "" if kind == "text/event-stream" else f"; it sent {kind} instead of an event stream"
        return f"the answer of {self.name} ended before it was complete{instead}"

    def _short(self, words: str) -> str:
        """A server's words for a log: one short line without our key or another."""
        if len(self._key) >= 4:
            words = words.replace(self._key, "***")
        words = " ".join(_KEY_SHAPE.sub("***", words).split())
        return words if len(words) <= _ERROR_CHARACTERS else words[:_ERROR_CHARACTERS] + "…"


class _Patience:
    """How long the next wait may last.

    The answer must begin within the first limit and be whole within the second. Between pieces of text the first
    holds again; a model that reasons or writes a call may be silent longer.
    """

    def __init__(self, clock: Clock, first_token_seconds: float, total_seconds: float) -> None:
        self._clock = clock
        self._silence_seconds = first_token_seconds
        self._end = clock.monotonic_seconds() + total_seconds
        self._next = clock.monotonic_seconds() + first_token_seconds
        self._total_seconds = total_seconds
        self._progress = Progress.WAITING

    @property
    def seconds_left(self) -> float:
        return max(0.0, min(self._next, self._end) - self._clock.monotonic_seconds())

    def note(self, progress: Progress) -> None:
        """A message came."""
        self._progress = progress
        if progress is Progress.WORKING:
            self._next = self._end
        elif progress is Progress.WRITING:
            self._next = self._clock.monotonic_seconds() + self._silence_seconds

    def verdict(self, name: str, error: TimeoutError) -> str:
        """What took too long, for the log."""
        if isinstance(error, NetworkError):
            return str(error)
        if self._clock.monotonic_seconds() >= self._end:
            return f"{name} needed longer than {self._total_seconds:g} s for its answer"
        silent = "did not begin to answer" if self._progress is Progress.WAITING else "fell silent in mid-answer"
        return f"{name} {silent} for {self._silence_seconds:g} s"


def responses_url(url: str) -> str:
    """Where to post, from what a person typed: with or without ``/v1``, ``/responses`` or a slash at the end.

    Raises ``ConfigError`` for anything else.
    """
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise ConfigError(
            f"the model's URL must start with http:// or https:// and name a host, like http://192.168.1.5:8080; "
            f"it starts with {url.strip()[:8]!r}"
        )
    path = parts.path.rstrip("/").removesuffix("/responses").rstrip("/")
    if not _VERSION.fullmatch(path.rpartition("/")[2]):
        path += "/v1"
    return urlunsplit((parts.scheme, parts.netloc, f"{path}/responses", parts.query, ""))


def _tool(schema: Mapping[str, Json]) -> dict[str, Json]:
    """A tool as given. Without an explicit ``strict`` the API, and llama.cpp, would make every argument mandatory."""
    is_function = schema.get("type", "function") == "function"
    return {"type": "function", "strict": False, **schema} if is_function else dict(schema)


def _error_words(raw: bytes) -> str:
    """The message in an error body: JSON of one of the usual shapes, else the text itself unless it is a page."""
    text = raw.decode("utf-8", errors="replace").strip()
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return "" if text.startswith("<") else text
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        error = error.get("message") or error.get("code") or ""
    return str(error)
