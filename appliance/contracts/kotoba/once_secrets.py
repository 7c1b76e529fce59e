"""``kotoba.core.ephemeral_secrets``: what the person typed for one use, in memory only.

Each plugin sees its own. What was put in one turn is gone when the plugin uses this in a later one; nothing puts a
secret in the place of a ``{{secret:NAME}}`` here, the tool that asked has to use it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from appliance.contracts.kotoba.doors import Doors


@dataclass
class _Kept:
    """The secrets of one plugin, of one turn."""

    turn_id: str = ""
    secrets: dict[tuple[str, str], str] = field(default_factory=dict)


_KEPT: dict[str, _Kept] = {}


def put(session_id: str | None, name: str, value: str) -> None:
    """Keep ``value`` under ``name`` for the rest of the turn; nothing outside of a call."""
    kept = _of_this_turn()
    if kept is not None and session_id and name:
        kept.secrets[session_id, name] = value


def get(session_id: str | None, name: str) -> str | None:
    """What this plugin has put under ``name`` in this turn; None when it has not."""
    kept = _of_this_turn()
    return kept.secrets.get((session_id, name)) if kept is not None and session_id else None


def clear(session_id: str | None) -> None:
    """Forget what this plugin has put for the session."""
    kept = _of_this_turn()
    if kept is not None:
        kept.secrets = {key: value for key, value in kept.secrets.items() if key[0] != session_id}


def _of_this_turn() -> _Kept | None:
    doors = Doors.here()
    if doors is None:
        return None
    kept = _KEPT.get(doors.plugin)
    if kept is None or kept.turn_id != doors.turn_id:
        kept = _KEPT[doors.plugin] = _Kept(doors.turn_id)
    return kept
