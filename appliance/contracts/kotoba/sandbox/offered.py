"""``kotoba.core.sandbox``: which sandbox there is, and one of one's own.

The modules that plugins import hold no state; these ask the sandboxes of the box that was loaded last.
"""

from __future__ import annotations

import logging
from os import PathLike
from pathlib import Path

from appliance.contracts.kotoba.sandbox.sandbox import Sandbox
from appliance.contracts.kotoba.sandbox.sandboxes import AtHome, Sandboxes
from appliance.errors import SandboxError

_LOG = logging.getLogger(__name__)

_NONE = "none"
#: The contract's word for running on the machine itself.
_ON_THE_HOST = "local"


class _Offer:
    """What plugins are offered now."""

    sandboxes = Sandboxes()
    at_home: AtHome | None = None


def offer(sandboxes: Sandboxes, at_home: AtHome) -> None:
    """Let plugins use these from now on."""
    _Offer.sandboxes, _Offer.at_home = sandboxes, at_home


def backend_name() -> str:
    """``bubblewrap``, ``systemd``; ``local`` when programs run as the box's own user, ``none`` when not at all."""
    shelter = _Offer.sandboxes.look() if _Offer.at_home is not None else None
    if shelter is None:
        return _NONE
    return shelter.name if shelter.is_contained else _ON_THE_HOST


def sandbox_available_sync() -> bool:
    """Whether there is any; for ``check()``."""
    return backend_name() != _NONE


def create_sandbox(workdir: str | PathLike[str]) -> Sandbox | None:
    """A sandbox of the caller's own, who kills it; None when there is none."""
    return _sandbox(Path(workdir), None) if sandbox_available_sync() else None


async def session_sandbox(session: str | None, workdir: Path) -> Sandbox | None:
    """A sandbox that is ready, for a conversation or (None) for one context; None when there is none."""
    sandbox = _sandbox(workdir, session) if sandbox_available_sync() else None
    if sandbox is None:
        return None
    try:
        await sandbox.start()
    except SandboxError as error:
        _LOG.warning("no sandbox: %s", error)
        return None
    return sandbox


def _sandbox(workdir: Path, session: str | None) -> Sandbox | None:
    at_home = _Offer.at_home
    if at_home is None:
        return None
    return Sandbox(_Offer.sandboxes, _Offer.sandboxes.place(workdir, session), at_home)
