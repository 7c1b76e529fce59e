"""What a client may ask about approval: what waits for an answer, answering it, and the permissions that stand.

A yes takes somebody with the authority for it; a no, and taking a permission back, is everybody's who may call at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from appliance.approve.office import Office
from appliance.approve.question import screen_lines
from appliance.control import Caller, Handler
from appliance.errors import UsageError
from appliance.ports import Json
from appliance.store.grants import Grant
from appliance.tools.registry import Registry

_MOST_DAYS = 3650


class ApprovalService:
    """Serves the desk."""

    def __init__(self, office: Office, registry: Registry) -> None:
        self._office = office
        self._registry = registry

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """Method name to handler."""
        return {
            "approval.pending": self.pending,
            "approval.approve": self.approve,
            "approval.deny": self.deny,
            "approval.allow": self.allow,
            "approval.revoke": self.revoke,
            "approval.list": self.list,
        }

    async def pending(self, _params: Mapping[str, Json], _caller: Caller) -> Json:
        """Every request that waits for an answer, with all that it is about; the one asked about comes first."""
        asked = self._office.asker.asked
        return [
            {**screen_lines(record), "is_asked": asked is not None and record.request_id == asked.request_id}
            for record in self._office.asker.pending
        ]

    async def approve(self, params: Mapping[str, Json], caller: Caller) -> Json:
        """Say yes to the request ``{"id"}``; ``{"ended"}`` is what became of the question."""
        who = self._office.authority.check(caller)
        return {"ended": await self._office.asker.approve(_text(params, "id"), who)}

    async def deny(self, params: Mapping[str, Json], caller: Caller) -> Json:
        """Say no to the request ``{"id"}``."""
        request_id = _text(params, "id")
        if not self._office.asker.deny(request_id, f"owner:{caller.peer.uid}"):
            raise UsageError(f"no request {request_id!r} waits for an answer; it may have expired")
        return {"ended": "declined"}

    async def allow(self, params: Mapping[str, Json], caller: Caller) -> Json:
        """Let ``{"tool"}`` run with ``{"arguments"}`` or ``{"any": true}``, for ``{"days"}`` (null for ever)."""
        self._office.authority.check(caller)
        name, arguments, days = _text(params, "tool"), params.get("arguments"), params.get("days")
        if (params.get("any") is True) == (arguments is not None):
            raise UsageError("either these arguments are allowed, or any")
        if arguments is not None and not isinstance(arguments, dict):
            raise UsageError("the arguments of a tool are one JSON object, such as '{\"sides\": 6}'")
        if days is not None and (not isinstance(days, int | float) or not 0 < days <= _MOST_DAYS):
            raise UsageError(f"a number of days from 1 to {_MOST_DAYS} is wanted, not {days!r}")
        tool = next((tool for tool in self._registry.tools if tool.name == name), None)
        if tool is None:
            raise UsageError(f"there is no tool {name!r}; appliance tool list shows them")
        return _as_json(await self._office.grants.allow(tool, arguments, days=days, uid=caller.peer.uid))

    async def revoke(self, params: Mapping[str, Json], caller: Caller) -> Json:
        """Take back the permission with the number ``{"name"}``, or all of the tool of that name."""
        gone = await self._office.grants.revoke(_text(params, "name"), uid=caller.peer.uid)
        return [_as_json(grant) for grant in gone]

    async def list(self, _params: Mapping[str, Json], _caller: Caller) -> Json:
        """Every standing permission; ``why_void`` is "" for those that count."""
        return [{**_as_json(state.grant), "why_void": state.why_void} for state in await self._office.grants.states()]


def _as_json(grant: Grant) -> dict[str, Json]:
    return asdict(grant)


def _text(params: Mapping[str, Json], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{name} is missing, or is not a text")
    return value.strip()
