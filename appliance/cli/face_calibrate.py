"""``appliance face calibrate``: tells a head where its joints' middles and limits are.

With a joint and values it sets them and ends; else a person moves one joint after the other and looks at it. What is
found is kept in the home (face.json) and on the board.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Callable, Iterable
from typing import Any

from appliance.cli.face_board import add_port, greeted_board
from appliance.cli.shared import complain, config_of, home_of, print_json, print_table
from appliance.cli.typed_keys import typed_words
from appliance.errors import UsageError
from appliance.face.config import FaceConfig
from appliance.home import Home
from appliance.ports_face import (
    JOINTS,
    LONGEST_PULSE_US,
    SHORTEST_PULSE_US,
    BoardSettings,
    FaceBoard,
    JointSettings,
)
from appliance.store.atomic_file import write_json
from appliance.wiring_faces import board_file, board_settings

#: A board that hears nothing for two seconds takes care of itself.
_PING_SECONDS = 0.5
_STEPS_US = {"+": 10, "-": -10, "]": 50, "[": -50}
_WIDEN_US = 50
_HELP = """\
+ -  10 us further, back       ] [  50 us       1480 Enter  to that pulse
n    the middle is here        a z  the lowest, the highest pulse is here
< >  allow 50 us less, more    r    turn its direction round
d9.5 Enter  microseconds for a degree           h  it bears a weight: hold it at rest
Tab  the next joint, 1 to 5 Enter: that one     s  keep everything and end    q  end"""

_VALUES = {
    "neutral": "neutral_us",
    "min": "min_us",
    "max": "max_us",
    "degrees_us": "us_per_degree",
    "reverse": "is_reversed",
    "holds": "holds",
}


def add_arguments(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The action of this file."""
    parser = actions.add_parser("calibrate", help="tell a head where its joints' middles and limits are")
    add_port(parser)
    parser.add_argument("--show", action="store_true", help="print the settings")
    parser.add_argument("--joint", choices=JOINTS, help="set values of this joint, without asking")
    parser.add_argument("--neutral", type=int, metavar="US", help="pulse at zero degrees, in microseconds")
    parser.add_argument("--min", type=int, metavar="US", help="lowest pulse")
    parser.add_argument("--max", type=int, metavar="US", help="highest pulse")
    parser.add_argument("--degrees-us", type=float, metavar="US", help="microseconds for a degree")
    parser.add_argument("--reverse", action=argparse.BooleanOptionalAction, help="it is built in the other way round")
    parser.add_argument("--holds", action=argparse.BooleanOptionalAction, help="it bears a weight")
    parser.add_argument("--brightness", type=int, metavar="0-255", help="most that the board's lights may get")


def run(arguments: argparse.Namespace) -> int:
    """Exit code 0 when the settings were shown or kept."""
    home = home_of(arguments)
    kept = board_settings(home)
    if arguments.show:
        _show(arguments, kept if kept is not None else _of_board(arguments))
        return 0
    if _given(arguments) or arguments.brightness is not None or arguments.joint:
        return _set(arguments, home, kept)
    with greeted_board(arguments) as board:
        work = Calibration(board, kept or board.settings())
        print(_HELP)
        calibrate(work, typed_words(_keeping_awake(board), _PING_SECONDS), print)
        if not work.is_kept:
            complain("nothing was kept; s keeps what was found")
            return 1
        board.store(work.settings)
        _keep(home, work.settings)
    _show(arguments, work.settings)
    return 0


class Calibration:
    """One joint after the other, word by word. A joint is not moved before it is told to."""

    def __init__(self, board: FaceBoard, settings: BoardSettings) -> None:
        self.settings = settings
        self.is_over = self.is_kept = False
        self._board = board
        self._joint = JOINTS[0]
        self._pulses = {joint: getattr(settings, joint).neutral_us for joint in JOINTS}

    def take(self, word: str) -> str:
        """Do what the word says; what to tell the person. Raises ``OSError`` when the board is gone."""
        try:
            return self._take(word)
        except ValueError as error:
            return f"that cannot be: {error}"

    @property
    def line(self) -> str:
        """The joint as it is."""
        joint = self._settings
        way = "turned round, " if joint.is_reversed else ""
        rest = "held" if joint.holds else "let go"
        return (
            f"{self._joint:11}{self._pulses[self._joint]} us   middle {joint.neutral_us}, {joint.min_us} to "
            f"{joint.max_us}, {joint.us_per_degree:g} us a degree, {way}{rest} at rest"
        )

    @property
    def _settings(self) -> JointSettings:
        settings: JointSettings = getattr(self.settings, self._joint)
        return settings

    def _take(self, word: str) -> str:
        here, joint = self._pulses[self._joint], self._settings
        if word in _STEPS_US:
            return self._move(here + _STEPS_US[word])
        match word:
            case "s" | "q":
                self.is_over, self.is_kept = True, word == "s"
                return ""
            case "\t":
                self._joint = JOINTS[(JOINTS.index(self._joint) + 1) % len(JOINTS)]
                return self.line
            case "n":
                return self._change(neutral_us=here)
            case "a":
                return self._change(min_us=here)
            case "z":
                return self._change(max_us=here)
            case "<":
                return self._change(min_us=max(SHORTEST_PULSE_US, joint.min_us - _WIDEN_US))
            case ">":
                return self._change(max_us=min(LONGEST_PULSE_US, joint.max_us + _WIDEN_US))
            case "r":
                return self._change(is_reversed=not joint.is_reversed)
            case "h":
                return self._change(holds=not joint.holds)
        return self._take_number(word)

    def _take_number(self, word: str) -> str:
        if word in JOINTS:
            self._joint = word
            return self.line
        if word.startswith("d"):
            if not word[1:].replace(".", "", 1).isdigit():
                raise ValueError("d needs a number, as d9.5")
            return self._change(us_per_degree=float(word[1:]))
        if not word.isdigit():
            return _HELP
        number = int(word)
        if 1 <= number <= len(JOINTS):
            self._joint = JOINTS[number - 1]
            return self.line
        return self._move(number)

    def _move(self, pulse_us: int) -> str:
        if not SHORTEST_PULSE_US <= pulse_us <= LONGEST_PULSE_US:
            raise ValueError(f"a pulse has {SHORTEST_PULSE_US} to {LONGEST_PULSE_US} microseconds")
        applied = self._board.move(self._joint, self._settings, pulse_us)
        if not applied:
            return "the board drives no servo: it restarted three times within a minute; look after their supply"
        self._pulses[self._joint] = applied
        return self.line if applied == pulse_us else f"{self.line}; this is its limit, < and > allow more"

    def _change(self, **values: Any) -> str:
        joint = dataclasses.replace(self._settings, **values)
        self.settings = self.settings.with_joint(self._joint, joint)
        return self.line


def calibrate(work: Calibration, words: Iterable[str], say: Callable[[str], None]) -> None:
    """Take words until one ends it, or no more come."""
    say(work.line)
    for word in words:
        answer = work.take(word)
        if work.is_over:
            return
        say(answer)


def _keeping_awake(board: FaceBoard) -> Callable[[], None]:
    def idle() -> None:
        for words in board.news():
            print(words)
        board.health()

    return idle


# ------------------------------------------------------------------------------------- without asking


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    return {name: value for option, name in _VALUES.items() if (value := getattr(arguments, option)) is not None}


def _set(arguments: argparse.Namespace, home: Home, kept: BoardSettings | None) -> int:
    """What no head can have reaches neither the board nor the file."""
    if bool(_given(arguments)) != bool(arguments.joint):
        raise UsageError("--joint needs a value to set, as --neutral 1480, and a value needs a --joint")
    if _has_board(arguments):
        with greeted_board(arguments) as board:
            settings = _changed(arguments, kept or board.settings())
            board.store(settings)
    else:
        settings = _changed(arguments, kept or BoardSettings())
    _keep(home, settings)
    _show(arguments, settings)
    return 0


def _has_board(arguments: argparse.Namespace) -> bool:
    """Servos without a microcontroller have their settings in the home only."""
    return bool(arguments.port) or "serial" in config_of(arguments).of(FaceConfig).backends


def _changed(arguments: argparse.Namespace, settings: BoardSettings) -> BoardSettings:
    try:
        if arguments.joint:
            joint = dataclasses.replace(getattr(settings, arguments.joint), **_given(arguments))
            settings = settings.with_joint(arguments.joint, joint)
        if arguments.brightness is not None:
            settings = dataclasses.replace(settings, brightness_cap=arguments.brightness)
    except ValueError as error:
        raise UsageError(f"{error}; nothing was changed") from error
    return settings


def _keep(home: Home, settings: BoardSettings) -> None:
    write_json(board_file(home), settings.data)


def _of_board(arguments: argparse.Namespace) -> BoardSettings:
    """The board's own, when there is one; else the usual ones."""
    if not _has_board(arguments):
        return BoardSettings()
    with greeted_board(arguments) as board:
        return board.settings()


def _show(arguments: argparse.Namespace, settings: BoardSettings) -> None:
    if arguments.json:
        print_json(settings.data)
        return
    rows: list[tuple[str, ...]] = [("joint", "middle", "lowest", "highest", "us a degree", "direction", "at rest")]
    for name, joint in zip(JOINTS, settings.joints, strict=True):
        pulses = (str(joint.neutral_us), str(joint.min_us), str(joint.max_us), f"{joint.us_per_degree:g}")
        rows.append((name, *pulses, "turned" if joint.is_reversed else "as built", "held" if joint.holds else "let go"))
    print_table(rows)
    print(f"lights at most {settings.brightness_cap} of 255")
    sys.stdout.flush()
