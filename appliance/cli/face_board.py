"""``appliance face monitor``, ``flash`` and ``park``: what a person does with a face that is a device."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from appliance import wiring_board
from appliance.cli.session import running_device
from appliance.cli.shared import config_of, home_of, print_json
from appliance.clock import SystemClock
from appliance.errors import ApplianceError
from appliance.face.config import FaceConfig
from appliance.home import Home
from appliance.ports import FaceBackend
from appliance.ports_face import BoardHealth, BoardInfo, FaceBoard
from appliance.wiring_faces import configured_faces

_PING_SECONDS, _LOOK_SECONDS = 1.0, 0.1
#: Longer than a board that was reset needs to greet and to lie down.
_PARK_SECONDS = 10.0

#: Prints one fact: its name, the fact, and the line for a person.
Tell = Callable[[str, object, str], None]


def add_arguments(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The actions of this file."""
    monitor = actions.add_parser("monitor", help="what a board with a face says, until Ctrl-C")
    add_port(monitor)
    monitor.add_argument("--trace", action="store_true", help="every frame on the wire, in words")
    flash = actions.add_parser("flash", help="put the firmware on a board")
    add_port(flash)
    flash.add_argument("--programmer", default="arduino", help="avrdude's name of it (arduino: the board's own loader)")
    flash.add_argument("--baud", type=int, help="pace of the board's loader: 115200, for old Nanos 57600")
    flash.add_argument("--build", action="store_true", help="build the firmware anew, even when it was built before")
    actions.add_parser("park", help="put every face to rest and dark, after a device that was killed")


def add_port(parser: argparse.ArgumentParser) -> None:
    """``--port``."""
    parser.add_argument("--port", default="", help="the board's serial port (face.serial_port, else the only one)")


def run(arguments: argparse.Namespace) -> int:
    """One of the actions of this file."""
    if arguments.action == "monitor":
        return _monitor(arguments)
    return _flash(arguments) if arguments.action == "flash" else _park(arguments)


# ------------------------------------------------------------------------------------------- the board


@contextmanager
def sentences(home: Home) -> Iterator[None]:
    """What goes wrong with a board is said in a sentence; the device that has it is named."""
    try:
        yield
    except BrokenPipeError:
        raise  # Who reads what we print went away, not the board.
    except OSError as error:
        hint = ""
        if "in use" in str(error) and is_running(home):
            hint = ": the device is running and drives the face; stop it first"
        raise ApplianceError(f"{error}{hint}") from error


@contextmanager
def greeted_board(arguments: argparse.Namespace, on_frame: Callable[[str], None] | None = None) -> Iterator[FaceBoard]:
    """The board, parked at the end. Raises ``ApplianceError``."""
    with sentences(home_of(arguments)):
        board = wiring_board.open_board(port_of(arguments), on_frame or (lambda _words: None))
        try:
            yield board
        finally:
            with suppress(OSError):
                board.park()
            board.close()


def port_of(arguments: argparse.Namespace) -> str:
    """The port that is meant. Raises ``OSError`` when it is not clear."""
    return wiring_board.board_port(arguments.port or config_of(arguments).of(FaceConfig).serial_port)


def is_running(home: Home) -> bool:
    """Whether the device runs on this home."""

    async def ask() -> bool:
        async with running_device(home) as device:
            return device is not None

    return asyncio.run(ask())


# --------------------------------------------------------------------------------------------- monitor


def _monitor(arguments: argparse.Namespace) -> int:
    tell = _telling_json if arguments.json else _telling_lines

    def on_frame(words: str) -> None:
        if arguments.trace:
            tell("frame", words, words)

    with suppress(KeyboardInterrupt):
        is_first = True
        while True:
            try:
                with greeted_board(arguments, on_frame) as board:
                    is_first = False
                    watch(board, tell, time.sleep)
            except ApplianceError as error:
                if is_first:
                    raise
                tell("lost", str(error), f"{error}; trying again")
                time.sleep(_PING_SECONDS)
    return 0


def watch(board: FaceBoard, tell: Tell, sleep: Callable[[float], None]) -> None:
    """Tell what the board is and says, and how it is once a second. Raises ``OSError`` when it is gone."""
    tell("board", dataclasses.asdict(board.info), _introduced(board.info))
    while True:
        health = board.health()
        tell("health", dataclasses.asdict(health), _how_it_is(health))
        for _ in range(round(_PING_SECONDS / _LOOK_SECONDS)):
            for words in board.news():
                tell("event", words, words)
            sleep(_LOOK_SECONDS)


def _telling_json(name: str, fact: object, _words: str) -> None:
    print(json.dumps({name: fact}, ensure_ascii=False), flush=True)


def _telling_lines(name: str, _fact: object, words: str) -> None:
    print(f"{name:7}{words}", flush=True)


def _introduced(info: BoardInfo) -> str:
    parts = f"{info.servos} servos, {info.pixels} lights{', a button' if info.has_button else ''}"
    return f"{info.port}: firmware {info.firmware}, {parts}, {info.moods} moods; started by {info.last_start}"


def _how_it_is(health: BoardHealth) -> str:
    supply = f"{health.supply_volts:.2f} V" if health.supply_volts else "supply unknown"
    errors = f"{health.damaged_frames} damaged frames, {health.dropped_bytes} dropped bytes"
    return f"up {health.uptime_seconds:.0f} s, {health.doing}, {supply}, {errors}"


# ----------------------------------------------------------------------------------------------- flash


def _flash(arguments: argparse.Namespace) -> int:
    home = home_of(arguments)
    with sentences(home):
        port = port_of(arguments)
        wiring_board.check_port(port)
        image = wiring_board.build_firmware(home, anew=arguments.build)
        if not arguments.json:
            print(f"writing {image} to {port}", flush=True)
        wiring_board.write_firmware(image, port, arguments.programmer, arguments.baud)
    with greeted_board(arguments) as board:
        info = board.info
    if arguments.json:
        print_json(dataclasses.asdict(info))
    else:
        print(_introduced(info))
    return 0


# ------------------------------------------------------------------------------------------------ park


def _park(arguments: argparse.Namespace) -> int:
    if os.environ.get("SERVICE_RESULT") == "success":
        return 0  # systemd calls this behind the service, which has parked them itself.
    home = home_of(arguments)
    if is_running(home):
        raise ApplianceError("the device is running and drives the face; it parks it when it ends")
    # A wrong setting elsewhere must not leave a head as it is.
    faces = configured_faces(config_of(arguments, keep_going=True), home, SystemClock(), shows_terminal=False)
    results = parked(faces.backends, _PARK_SECONDS)
    if arguments.json:
        print_json(results)
        return 0
    for name, problem in results.items():
        print(f"{name}: {f'not parked: {problem}' if problem else 'parked'}")
    for problem in faces.problems:
        print(f"not parked: {problem}")
    if not faces.backends and not faces.problems:
        print("no face is configured that could be parked; see face.backends in appliance config")
    return 0


def parked(faces: Sequence[FaceBackend], seconds: float) -> dict[str, str]:
    """Park all at the same time; each name with what was wrong, "" when nothing was. One that hangs is left behind."""
    problems = {face.name: "it does not answer" for face in faces}

    def park(face: FaceBackend) -> None:
        try:
            wiring_board.park_face(face)
            problems[face.name] = ""
        except Exception as error:
            problems[face.name] = str(error)

    threads = [threading.Thread(target=park, args=(face,), daemon=True) for face in faces]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=seconds)
    return dict(problems)
