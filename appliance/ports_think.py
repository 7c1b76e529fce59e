"""The needs of thinking: a model endpoint, the door to HTTP it goes through, and sentences known without a model.

The rest of the ports is in ``ports.py``; what is said there holds here too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from appliance.ports import Json


@dataclass(frozen=True)
class ModelRequest:
    """One round with the model: everything it gets (calls are stateless)."""

    instructions: str
    items: tuple[Mapping[str, Json], ...]
    tools: tuple[Mapping[str, Json], ...] = ()
    max_output_tokens: int | None = None


@dataclass(frozen=True)
class TextDelta:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True)
class OutputItem:
    """A finished item of the answer (message, function_call, reasoning), as the API gave it."""

    item: Mapping[str, Json]


@dataclass(frozen=True)
class Usage:
    """Tokens of one round; 0 where the endpoint does not say."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True)
class Completed:
    """The answer is whole; ``is_incomplete`` when the endpoint cut it for length."""

    usage: Usage = field(default_factory=Usage)
    is_incomplete: bool = False


ModelEvent = TextDelta | OutputItem | Completed


class ModelEndpoint(Protocol):
    """A model behind the OpenAI Responses API."""

    @property
    def name(self) -> str:
        """Model and host, for people."""
        ...

    @property
    def is_reasoning(self) -> bool:
        """Whether it narrates its own tool use (``reasoning_effort`` set and not off)."""
        ...

    def respond(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """The answer as it comes, ending in ``Completed``. Raises ``BrainError``."""
        ...

    async def warm_up(self, request: ModelRequest | None) -> None:
        """Be ready to answer soon: with the beginning of ``request`` computed, or with an open connection for None.

        A request is answered, and paid for where tokens cost money, as little as can be. Raises ``BrainError``.
        """
        ...


class HttpStream(Protocol):
    """An answer whose body is still coming."""

    @property
    def status(self) -> int:
        """HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Header names in lower case."""
        ...

    def lines(self) -> AsyncIterator[str]:
        """The body line by line, without line ends. Raises ``NetworkError``."""
        ...

    async def read(self, limit_bytes: int = 1_000_000) -> bytes:
        """The body, at most ``limit_bytes`` of it."""
        ...


class HttpDoor(Protocol):
    """The one door to HTTP; knows the house from the internet."""

    def stream(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Json = None,
        connect_seconds: float = 10.0,
        read_seconds: float = 60.0,
        follow_redirects: bool = False,
    ) -> AbstractAsyncContextManager[HttpStream]:
        """Send and open the answer; ``read_seconds`` is the longest silence between two pieces of it.

        Redirects are followed when asked for, and never from the house to outside it or back. Raises
        ``NetworkError`` and its kinds.
        """
        ...

    async def close(self) -> None:
        """Drop every connection."""
        ...


@dataclass(frozen=True)
class Traffic:
    """What one asker and one host exchanged on one day.

    ``day`` is an ISO date of the house, "" while nobody knew the date; ``lane`` is "lan" or "wan". Bytes are those of
    HTTP, as packed as they travelled.
    """

    day: str
    who: str
    lane: str
    host: str
    requests: int
    bytes_out: int
    bytes_in: int


class TrafficLog(Protocol):
    """Traffic that lasts; the newest months of it."""

    async def add(self, rows: Sequence[Traffic]) -> None:
        """Add to what is kept of the same day, asker, lane and host. Raises ``StoreError``."""
        ...

    async def since(self, day: str) -> list[Traffic]:
        """What is kept of ``day`` and later, oldest first. Raises ``StoreError``."""
        ...


@dataclass(frozen=True)
class SentenceMatch:
    """A sentence that was recognised: which intent, with which slots.

    ``wildcards`` names the slots that took free text; ``metadata`` is what the sentence file says beside it.
    ``owner`` is the plugin whose sentence it is, as ``plugin:<name>``; "" for one of the box.
    """

    intent: str
    slots: Mapping[str, Json]
    wildcards: frozenset[str] = frozenset()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    owner: str = ""


@dataclass(frozen=True)
class SentenceFile:
    """Sentences that a plugin brings along; only ``intents``, the names of its tools, count in them."""

    owner: str
    file: Path
    intents: frozenset[str]


class SentenceMatcher(Protocol):
    """Recognises sentences by templates."""

    def load(self) -> None:
        """Read and parse the templates once; slow, any thread. Raises ``ConfigError``."""
        ...

    def match(self, text: str, lists: Mapping[str, Mapping[str, Json]]) -> list[SentenceMatch]:
        """Every way in which the templates read the whole of ``text``; loads first when needed. Any thread.

        ``lists`` gives, for this text only, the words that a list may stand for, each with its value.
        """
        ...

    def use(self, files: Sequence[SentenceFile]) -> Mapping[str, tuple[str, ...]]:
        """Recognise the sentences of these files too, instead of those given before; slow, any thread.

        What is wrong with them comes back in sentences, by owner; a file that is broken only costs itself.
        """
        ...
