"""What a test writes beforehand: the answers of a model and of the network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from appliance.adapters.fakes.exchange import FakeExchange, FakeIncoming
from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.errors import NetworkConnectError
from appliance.network.exchange import Outgoing
from appliance.network.lane import Lane


class ScriptedModel:
    """A model that does what the test says, one step for each time that it is asked."""

    def __init__(self) -> None:
        self.endpoint = FakeModelEndpoint()
        self._calls = 0

    def calls(self, tool: str, /, **arguments: Any) -> None:
        """It then calls this tool."""
        self._calls += 1
        self.endpoint.answers.append(calls((tool, arguments), first_id=self._calls))

    def says(self, text: str) -> None:
        """It then says this, which ends the turn."""
        self.endpoint.answers.append(says(text))

    @property
    def tools(self) -> dict[str, Mapping[str, Any]]:
        """The tools that it was shown when it was last asked, by name."""
        if not self.endpoint.requests:
            return {}
        return {str(tool.get("name")): tool for tool in self.endpoint.requests[-1].tools}

    @property
    def results(self) -> list[str]:
        """What it was told of its calls, in order, when it was last asked."""
        items = self.endpoint.requests[-1].items if self.endpoint.requests else []
        outputs = [item.get("output") for item in items if item.get("type") == "function_call_output"]
        return [output if isinstance(output, str) else json.dumps(output) for output in outputs]


@dataclass(frozen=True)
class SentRequest:
    """What a plugin asked for through ``core.net``."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


class ScriptedNetwork:
    """Answers what plugins ask through ``core.net``; for a URL without an answer nobody is there."""

    def __init__(self) -> None:
        self.requests: list[SentRequest] = []
        self.exchange = FakeExchange(answer=self._answer)
        self._answers: list[tuple[str, FakeIncoming]] = []

    def answers(
        self,
        url: str,
        *,
        json: Any = None,
        text: str = "",
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Every request whose URL begins so gets this from now on; what was said last counts."""
        body, kind = (_as_json(json), "application/json") if json is not None else (text.encode(), "text/plain")
        all_headers = {"content-type": kind, **(headers or {})}
        answer = FakeIncoming(status=status, headers=tuple(all_headers.items()), steps=(body,), lane=Lane.LAN)
        self._answers.insert(0, (url, answer))

    def is_away(self, url: str) -> None:
        """Nobody is there any more."""
        error = NetworkConnectError(f"nobody answers at {url}")
        self._answers.insert(0, (url, FakeIncoming(error=error)))

    def _answer(self, outgoing: Outgoing) -> FakeIncoming:
        body = outgoing.body if isinstance(outgoing.body, bytes) else b"".join(outgoing.body or ())
        self.requests.append(SentRequest(outgoing.method, outgoing.url, dict(outgoing.headers), body))
        for url, answer in self._answers:
            if outgoing.url.startswith(url):
                return answer
        return FakeIncoming(error=NetworkConnectError(f"the test has no answer for {outgoing.url}: network.answers(…)"))


def _as_json(value: Any) -> bytes:
    return json.dumps(value).encode()
