"""``appliance run``: the device. It listens and answers until it is stopped."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import signal
import sys
from collections.abc import Coroutine
from contextlib import AsyncExitStack, ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from appliance import events
from appliance.bus import Bus
from appliance.cli.leaving import CLEAN_UP_SECONDS, STOP_SECONDS, leave_now, leave_within
from appliance.cli.shared import check_writable, complain, config_of, credentials_of, home_of, print_json
from appliance.clock import SystemClock
from appliance.config import Config
from appliance.crash_file import crashes_kept
from appliance.errors import ApplianceError, HomeLockedError
from appliance.events import Event
from appliance.home import Home, shipped
from appliance.keeping.swap import finish_restore, forget_old_homes
from appliance.ports import SoundCardInfo
from appliance.ports_service import ServiceManager
from appliance.promptness import share_promptly
from appliance.service_logs import LogService
from appliance.spare_home import usable_home
from appliance.watchdog import Watchdog, starting
from appliance.wiring_service import service_manager

if TYPE_CHECKING:
    from appliance.box import Box
    from appliance.ears import Ears
    from appliance.store.credentials import Credentials

_TRY = ("what time is it?", "set a timer for one minute.", "what can you do?")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--stay", action="store_true", help="without a microphone wait for one, instead of the demo")
    parser.add_argument("--trace", type=Path, help="write every event to this file, one JSON object a line")
    parser.add_argument("--verbose", action="store_true", help="show every step that tools take")
    parser.add_argument(
        "--demo-out", type=Path, metavar="FOLDER", help="where the demo writes its files (this folder if it can)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Exit code 0 after a clean stop, or after the demo when there is nothing to hear or speak with."""
    manager = service_manager()
    _leave_it_to_the_service(home_of(arguments), manager)
    config = config_of(arguments, keep_going=True)
    check_writable(arguments.trace)
    if arguments.demo_out is not None:
        check_writable(*_demo_files(arguments.demo_out))
    for problem in config.problems:
        complain(f"{problem} (going on without it)")
    share_promptly()
    # Nothing that is loaded becomes garbage: looking through it again and again would cost a tenth of the start.
    gc.disable()
    try:
        return asyncio.run(_until_stopped(_run(arguments, home_of(arguments), config, manager), manager))
    except KeyboardInterrupt:
        return 0
    finally:
        gc.enable()


def _leave_it_to_the_service(home: Home, manager: ServiceManager) -> None:
    """Whoever calls ./run where the service is installed must not get its home, nor fight over the sound card."""
    if not home.is_service or manager.is_there:
        return
    if home.folder.exists() and home.folder.stat().st_uid == os.geteuid():
        return
    raise HomeLockedError(
        "the appliance is a service on this computer: appliance status tells how it is, sudo systemctl restart "
        "appliance starts it anew; for one of your own beside it set APPLIANCE_HOME to a folder of yours"
    )


async def _until_stopped(work: Coroutine[Any, Any, int], manager: ServiceManager) -> int:
    """Do it until SIGTERM or Ctrl-C, which is a good end; a second one does not wait for anything.

    A service ends here for certain, whatever hangs: its manager would count a kill as a failure.
    """
    loop, task = asyncio.get_running_loop(), asyncio.create_task(work, name="run")
    numbers = (signal.SIGINT, signal.SIGTERM)

    def stop() -> None:
        if manager.is_there:
            leave_within(STOP_SECONDS, 0)
        manager.stopping()
        task.cancel()
        for number in numbers:
            loop.remove_signal_handler(number)

    for number in numbers:
        loop.add_signal_handler(number, stop)
    await asyncio.wait({task})
    error = None if task.cancelled() else task.exception()
    code = 0 if task.cancelled() else 1 if error is not None else task.result()
    if manager.is_there:
        manager.stopping()
        if error is None:
            leave_now(code)
        leave_within(CLEAN_UP_SECONDS, error.exit_code if isinstance(error, ApplianceError) else code)
    if error is not None:
        raise error
    return code


async def _run(arguments: argparse.Namespace, home: Home, config: Config, manager: ServiceManager) -> int:
    from appliance.wiring_ears import open_ears

    with ExitStack() as stack:
        with suppress(OSError):  # a disk that takes nothing is told by what follows
            finish_restore(home, SystemClock().now())
        home = stack.enter_context(usable_home(home))
        stack.enter_context(crashes_kept(home.crash_folder))
        trace = stack.enter_context(arguments.trace.open("w", encoding="utf-8")) if arguments.trace else None
        bus, clock, credentials = Bus(), SystemClock(), credentials_of(arguments)
        if trace is not None:
            _trace(bus, trace, arguments)
        async with open_ears(home, config, clock, bus) as ears:
            info = ears.card.info
            # A service waits for a microphone that is plugged in later; a person at a terminal wants to see it work.
            if (info.microphone and info.speaker) or arguments.stay or manager.is_there:
                await _be_a_device(home, config, credentials, ears, arguments, manager)
                return 0
        if not arguments.json:
            print(f"There is no {_missing(info)} here, so this is the demo: a recorded question.", flush=True)
        complain(info.problem)
        _collect_garbage_from_now_on()
        return await _demo(arguments, home, config, trace)


# ------------------------------------------------------------------------------------------- the device


def _trace(bus: Bus, trace: TextIO, arguments: argparse.Namespace) -> None:
    from appliance.trace import TraceFile

    lines = arguments.log.lines
    bus.subscribe(TraceFile(trace, lambda: lines.hides_words()))


async def _be_a_device(
    home: Home,
    config: Config,
    credentials: Credentials,
    ears: Ears,
    arguments: argparse.Namespace,
    manager: ServiceManager,
) -> None:
    """Load what answers, behind the ears, and live until cancelled."""
    from appliance.wiring import Sound, open_box

    async with AsyncExitStack() as stack:
        async with starting(manager, ears.clock):
            opening = open_box(home, config, credentials, Sound.DEVICE, shows_face=not arguments.json, ears=ears)
            box = await stack.enter_async_context(opening)
        _collect_garbage_from_now_on()
        await _live(box, home, config, arguments, manager)


def _collect_garbage_from_now_on() -> None:
    """What is loaded stays, and is never looked through."""
    gc.freeze()
    gc.enable()


async def _live(box: Box, home: Home, config: Config, arguments: argparse.Namespace, manager: ServiceManager) -> None:
    """Be a device until cancelled."""
    from appliance.cli.run_panel import panel_of
    from appliance.wiring import control_socket

    async with AsyncExitStack() as stack:
        arguments.log.lines.hides_words = box.hides_words
        handlers = {**box.all_handlers, **LogService(arguments.log.ring).handlers}
        panel = await stack.enter_async_context(panel_of(box, config, handlers))
        await stack.enter_async_context(control_socket(home, {**handlers, **panel}))
        if sys.stdout.isatty() and not arguments.json:
            stack.callback(box.bus.subscribe(_show_talk))
        if arguments.verbose:
            stack.callback(box.bus.subscribe(_show_step))
        is_first = await box.greet()
        if arguments.json:
            print_json(box.status())
        else:
            _introduce(box, is_first=is_first)
        sys.stdout.flush()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(box.live(partial(_is_up, home, manager)), name="box")
            tasks.create_task(_watchdog(box, manager).run(), name="watchdog")


def _is_up(home: Home, manager: ServiceManager) -> None:
    """This start was a good one."""
    manager.ready()
    if home.trouble is None:
        asyncio.get_running_loop().run_in_executor(None, forget_old_homes, home)


def _watchdog(box: Box, manager: ServiceManager) -> Watchdog:
    """What tells the service manager that this box lives."""

    def words() -> str:
        if box.controls.is_muted:
            return "muted"
        return str(box.assistant.state) if box.ear.can_hear else "waiting for a microphone"

    return Watchdog(
        manager,
        box.clock,
        arrived=lambda: box.card.health.arrived_blocks,
        can_hear=lambda: box.ear.can_hear,
        words=words,
        hanging_seconds=lambda: box.card.health.hanging_seconds,
    )


def _introduce(box: Box, *, is_first: bool) -> None:
    """Who is there. The first time, also how to begin."""
    info, facts = box.card.info, box.facts
    words = ", ".join(facts.wake_phrases)
    print(f"microphone  {info.microphone or 'none yet: waiting for one'}")
    print(f"speaker     {info.speaker or 'none yet: waiting for one'}")
    print(f"wake word   {words or 'none'}")
    print(f"button      {box.button.name if box.button is not None else 'none: what is risky is refused'}")
    print(f"brain       {facts.model or 'its own; appliance model set URL gives it a model'}")
    for problem in filter(None, (info.problem, *facts.plugin_problems(), *box.soul.problems)):
        print(f"problem     {problem}")
    if is_first:
        wake = f"{facts.wake_phrases[0].capitalize()}, " if facts.wake_phrases else "(press) "
        print("Try:")
        for question in _TRY:
            print(f'  "{wake}{question}"')
    print(_how_to_press(box) if box.button is not None and sys.stdin.isatty() else "listening")


def _how_to_press(box: Box) -> str:
    if box.button is None or box.button.name != "Enter":
        return (
            "Press the button to talk, to stop and to allow; hold it to refuse and to stop everything. Ctrl-C ends it."
        )
    return (
        "Enter talks, stops, ends what you say, and allows; no and Enter refuses and stops everything. Ctrl-C ends it."
    )


def _show_talk(event: Event) -> None:
    """On a terminal, what is heard and said."""
    match event:
        case events.Transcribed(text=text) if text:
            print(f"\r\x1b[Kyou: {text}")
        case events.ReplySentenceSpoken(text=text):
            print(f"\r\x1b[Kbox: {text}")


def _show_step(event: Event) -> None:
    """What tools do: a line when an action begins and when it is done, one for each look at something."""
    match event:
        case events.StepStarted(tool=tool, kind=kind):
            print(f"step   {tool} ({kind}) begins", file=sys.stderr, flush=True)
        case events.StepDone(tool=tool, mark=mark, note=note):
            print(f"step   {tool} {mark}{f': {note}' if note else ''}", file=sys.stderr, flush=True)
        case events.Peeked(tool=tool) if tool:
            print(f"look   {tool}", file=sys.stderr, flush=True)


# ----------------------------------------------------------------------------------------------- the demo


async def _demo(arguments: argparse.Namespace, home: Home, config: Config, trace: TextIO | None) -> int:
    """The shipped question through the same code; what was spoken and shown goes into two files."""
    from appliance.cli.ask import Watcher
    from appliance.cli.session import LocalControl
    from appliance.wiring import Sound, open_box

    reply, face = _demo_files(_demo_folder(arguments, home))
    credentials, question = credentials_of(arguments), shipped("soul") / "demo.wav"
    watcher = Watcher(trace, shows_text=False)
    async with open_box(home, config, credentials, Sound.RECORDED, record_to=reply, face_to=face) as box:
        report = await LocalControl(box.handlers).call("ask", {"wav": str(question)}, watcher)
    _show_demo(arguments, report, watcher.did(report["turn_id"]), (reply, face))
    if report["reason"] != "answered":
        raise ApplianceError(f"the demo turn ended as {report['reason']} {report['problem']}".strip())
    return 0


def _missing(info: SoundCardInfo) -> str:
    names = [name for name, found in (("microphone", info.microphone), ("speaker", info.speaker)) if not found]
    return " and no ".join(names)


def _demo_folder(arguments: argparse.Namespace, home: Home) -> Path:
    """Where the person is, if anything can be written there."""
    if arguments.demo_out is not None:
        return Path(arguments.demo_out)
    try:
        check_writable(*_demo_files(Path()))
        return Path()
    except ApplianceError as error:
        complain(f"{error}; the demo writes into {home.cache_folder}")
        return home.cache_folder


def _demo_files(folder: Path) -> tuple[Path, Path]:
    """Of the reply and of the face."""
    return folder / "demo-reply.wav", folder / "demo-face.png"


def _show_demo(arguments: argparse.Namespace, report: dict[str, Any], did: list[str], files: tuple[Path, Path]) -> None:
    if arguments.json:
        print_json({**report, "did": did, "wrote": [str(file.resolve()) for file in files]})
        return
    from appliance.cli.ask import print_turn

    print_turn(report, did)
    print(f"wrote  {files[0]} and {files[1]}")
    print("With a microphone and a speaker it listens; until then, appliance talk --silent takes what you type.")
