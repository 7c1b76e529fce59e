"""Standing permissions: given by the owner from a shell, for one tool of one plugin in exactly one version.

Never by a voice, a model or the button, and never for what is dangerous, irreversible or follows a stranger's words.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from appliance.approve.config import ApprovalConfig
from appliance.approve.dangerous import danger_in
from appliance.approve.operands import texts_in
from appliance.approve.policy import is_two_step
from appliance.approve.requests import PluginDigest
from appliance.approve.shell_words import has_shell_syntax
from appliance.clock import Clock
from appliance.errors import RefusedError, StoreError, UsageError
from appliance.ports import Json
from appliance.store.canonical_json import canonical_json
from appliance.store.grants import Grant, StoredGrants
from appliance.tools.tool import ApprovalRequest, Tool, ToolCall


class GrantRecord(Protocol):
    """Where it is written down that a permission was given or taken back."""

    async def permission(self, grant: Grant, verdict: str, uid: int) -> None:
        """Durable when this returns; ``verdict`` is granted or revoked. Raises ``StoreError``."""
        ...


@dataclass(frozen=True)
class GrantState:
    """A permission, and in words why it does not count any more ("" when it does)."""

    grant: Grant
    why_void: str = ""


class Grants:
    """The permissions that stand."""

    def __init__(
        self,
        stored: StoredGrants,
        record: GrantRecord,
        config: ApprovalConfig,
        *,
        clock: Clock,
        plugin_digest: PluginDigest,
    ) -> None:
        self._stored = stored
        self._record = record
        self._config = config
        self._clock = clock
        self._plugin_digest = plugin_digest

    async def covering(self, request: ApprovalRequest) -> Grant | None:
        """The permission under which this call may run; the caller has ruled that one may. Raises ``StoreError``."""
        for grant in await self._stored.all():
            is_meant = (grant.origin, grant.tool) == (request.origin, request.call.name)
            if is_meant and _covers_arguments(grant, request) and not await self._why_void(grant):
                return grant
        return None

    async def allow(self, tool: Tool, arguments: Mapping[str, Json] | None, *, days: float | None, uid: int) -> Grant:
        """Let the tool run with these arguments, or with any (None). Raises ``RefusedError``, ``StoreError``."""
        arguments_json = None if arguments is None else _canonical(arguments)
        self._refuse_unfit(tool, arguments)
        digest = await asyncio.to_thread(self._plugin_digest, tool.origin)
        if not digest:
            raise RefusedError(f"the files of {tool.origin} cannot be read, so it is not known what would be allowed")
        if days is not None and not self._clock.is_trusted():
            raise RefusedError("the clock is not set yet, so the permission's end is not known; try again later")
        grant = await self._stored.add(
            origin=tool.origin,
            tool=tool.name,
            plugin_digest=digest,
            arguments_json=arguments_json,
            uid=uid,
            days=days,
        )
        try:
            await self._record.permission(grant, "granted", uid)
        except StoreError:
            await self._stored.remove(grant.number)
            raise
        return grant

    async def revoke(self, name: str, *, uid: int) -> list[Grant]:
        """Take back the permission of that number, or all for the tool of that name; those that went.

        Raises ``UsageError`` when there is none, ``StoreError``.
        """
        gone = [grant for grant in await self._stored.all() if name in (str(grant.number), grant.tool)]
        if not gone:
            raise UsageError(f"there is no standing permission {name!r}; appliance approval list shows them")
        for grant in gone:
            await self._stored.remove(grant.number)
        for grant in gone:
            await self._record.permission(grant, "revoked", uid)
        return gone

    async def states(self) -> list[GrantState]:
        """Every permission, the void ones too. Raises ``StoreError``."""
        return [GrantState(grant, await self._why_void(grant)) for grant in await self._stored.all()]

    def _refuse_unfit(self, tool: Tool, arguments: Mapping[str, Json] | None) -> None:
        danger = None if arguments is None else danger_in(arguments)
        if danger is not None:
            raise RefusedError(
                f"a call like this is asked about every time ({danger.value}); no standing permission covers it"
            )
        call = ToolCall("", tool.name, arguments or {})
        if is_two_step(self._config, ApprovalRequest("", call, tool.origin, tool.risk, "{}", "", "", "text")):
            raise RefusedError(f"{tool.name} cannot be undone (approval.two_step), so it is asked about every time")

    async def _why_void(self, grant: Grant) -> str:
        if grant.expires_at and not self._clock.is_trusted():
            return "the clock is not set, so it is not known whether it has expired"
        if grant.is_expired(self._clock.now()):
            return f"expired at {grant.expires_at}"
        if await asyncio.to_thread(self._plugin_digest, grant.origin) != grant.plugin_digest:
            return "the plugin was changed since"
        return ""


def _covers_arguments(grant: Grant, request: ApprovalRequest) -> bool:
    """Exactly those; "any" are none in which a shell would find a second command."""
    if grant.arguments_json is not None:
        return grant.arguments_json == request.arguments_json
    return not any(map(has_shell_syntax, texts_in(dict(request.call.arguments))))


def _canonical(arguments: Mapping[str, Json]) -> str:
    try:
        return canonical_json(dict(arguments))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"these arguments are not JSON: {error}") from error
