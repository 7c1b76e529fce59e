"""Whom a command talks to: the running device over its socket, else a box made for this one call."""

from __future__ import annotations

import argparse
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from appliance.cli.shared import config_of, credentials_of, home_of
from appliance.clock import Clock, SystemClock
from appliance.control import Caller, Control, Handler, Json, Peer
from appliance.errors import HomeLockedError, NotRunningError, UsageError
from appliance.home import Home
from appliance.wiring import Sound, control_client, open_box, open_store

#: Another command has the home for a moment, and a device that starts answers soon.
_PATIENCE_SECONDS = 5.0
_STEP_SECONDS = 0.1


class LocalControl:
    """``Control`` of a box in this process."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self._handlers = handlers

    async def call(
        self, method: str, params: Mapping[str, Json] | None = None, on_event: Callable[[Json], None] | None = None
    ) -> Json:
        """Call the method here. Raises afterwards what ``on_event`` raised: a box is not to break over its audience."""
        handler = self._handlers.get(method)
        if handler is None:
            raise UsageError(f"{method} is only there while the device runs")
        failures: list[Exception] = []

        def emit(event: Json) -> None:
            try:
                if on_event is not None and not failures:
                    on_event(event)
            except Exception as error:
                failures.append(error)

        result = await handler(params or {}, Caller(Peer(os.geteuid(), os.getegid(), os.getpid()), emit, is_local=True))
        if failures:
            raise failures[0]
        return result


@asynccontextmanager
async def running_device(home: Home) -> AsyncIterator[Control | None]:
    """The running device, or None."""
    async with AsyncExitStack() as stack:
        try:
            device = await stack.enter_async_context(control_client(home))
        except NotRunningError:
            device = None
        yield device


@asynccontextmanager
async def device_or_home(home: Home, clock: Clock, *, is_own: bool = False) -> AsyncIterator[Control | None]:
    """The running device, or None with the home locked for us; a home in use is waited for, for some seconds.

    Raises ``HomeLockedError`` when it stays in use, and when a device runs although the caller wants its own box.
    """
    patience_ends = clock.monotonic_seconds() + _PATIENCE_SECONDS
    async with AsyncExitStack() as stack:
        while True:
            device = await stack.enter_async_context(running_device(home))
            if device is not None and is_own:
                raise HomeLockedError(
                    "the device is running and keeps its voice and its face to itself; stop it first, "
                    "or leave out --out and --face"
                )
            try:
                if device is None:
                    stack.enter_context(home.lock())
                break
            except HomeLockedError:
                if clock.monotonic_seconds() >= patience_ends:
                    raise
                await clock.sleep(_STEP_SECONDS)
        yield device


@asynccontextmanager
async def box_or_device(
    arguments: argparse.Namespace,
    *,
    has_sound: bool = False,
    record_to: Path | None = None,
    face_to: Path | None = None,
) -> AsyncIterator[Control]:
    """The running device, else a box for this call; ``record_to`` and ``face_to`` need a box of their own."""
    home, is_own = home_of(arguments), record_to is not None or face_to is not None
    async with device_or_home(home, SystemClock(), is_own=is_own) as device:
        if device is not None:
            yield device
            return
        sound = Sound.RECORDED if record_to else Sound.DEVICE if has_sound else Sound.NONE
        config, credentials = config_of(arguments), credentials_of(arguments)
        async with open_box(home, config, credentials, sound, record_to=record_to, face_to=face_to) as box:
            yield LocalControl(box.handlers)


@asynccontextmanager
async def records_or_device(arguments: argparse.Namespace) -> AsyncIterator[Control]:
    """The running device, else only the store: no sound, no plugin, no model."""
    home = home_of(arguments)
    async with device_or_home(home, SystemClock()) as device:
        if device is not None:
            yield device
            return
        async with open_store(home, credentials_of(arguments)) as handlers:
            yield LocalControl(handlers)
