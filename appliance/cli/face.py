"""``appliance face``: see the moods without a robot; look after a robot that shows them."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
from pathlib import Path

from appliance import wiring
from appliance.cli import face_board, face_calibrate
from appliance.cli.shared import check_writable, print_json
from appliance.clock import Clock, SystemClock
from appliance.errors import UsageError
from appliance.events import Activity, Emotion
from appliance.face.animator import still
from appliance.ports import FaceBackend, FaceState

_DEMO_SECONDS_EACH = 1.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    show = actions.add_parser("show", help="one mood")
    show.add_argument("emotion", help=", ".join(Emotion))
    show.add_argument("--activity", choices=list(Activity), default=Activity.IDLE, help="what it does meanwhile")
    show.add_argument("--out", type=Path, help="write a PNG instead of drawing on the terminal")
    sheet = actions.add_parser("sheet", help="all 14 moods on one PNG")
    sheet.add_argument("--out", type=Path, required=True)
    actions.add_parser("demo", help="all moods one after another on the terminal")
    face_calibrate.add_arguments(actions)
    face_board.add_arguments(actions)


def run(arguments: argparse.Namespace) -> int:
    """Show what was asked for."""
    if arguments.action == "sheet":
        check_writable(arguments.out)
        wiring.draw_face_sheet([(emotion.value, still(emotion)) for emotion in Emotion], arguments.out)
        _say_written(arguments)
    elif arguments.action == "demo":
        asyncio.run(play_demo(wiring.terminal_face(), SystemClock()))
    elif arguments.action == "show":
        _show(arguments)
    elif arguments.action == "calibrate":
        return face_calibrate.run(arguments)
    else:
        return face_board.run(arguments)
    return 0


async def play_demo(face: FaceBackend, clock: Clock) -> None:
    """Every mood for a moment."""
    try:
        for emotion in Emotion:
            face.apply(still(emotion))
            await clock.sleep(_DEMO_SECONDS_EACH)
    finally:
        face.park()


def _show(arguments: argparse.Namespace) -> None:
    if arguments.emotion not in set(Emotion):
        raise UsageError(f"no emotion is called {arguments.emotion!r}; there are: {', '.join(Emotion)}")
    state = still(Emotion(arguments.emotion), Activity(arguments.activity))
    if arguments.out:
        check_writable(arguments.out)
        wiring.draw_face_picture(state, arguments.out)
        _say_written(arguments)
    elif arguments.json:
        print_json(dataclasses.asdict(state))
    else:
        _draw(state)


def _draw(state: FaceState) -> None:
    wiring.terminal_face().apply(state)
    print()


def _say_written(arguments: argparse.Namespace) -> None:
    if arguments.json:
        print_json({"wrote": str(arguments.out)})
    else:
        print(f"wrote {arguments.out}")
