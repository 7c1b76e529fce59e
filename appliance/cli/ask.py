"""``appliance ask``: one whole turn, from a recording or from a text."""

from __future__ import annotations

import argparse
import asyncio
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

from appliance import errors
from appliance.cli.session import box_or_device
from appliance.cli.shared import check_writable, complain, print_json
from appliance.errors import ApplianceError, BrainError, UsageError

#: Ends of a turn that are nobody's failure, in words.
_ENDINGS = {
    "nothing_heard": "nothing that could be understood was heard in it",
    "stopped": "the turn was stopped before it was answered",
    "barged_in": "somebody spoke to the box before this was answered",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("wav", nargs="?", type=Path, help="a recorded question (PCM WAV)")
    parser.add_argument("--text", help="a typed question instead")
    parser.add_argument("--voice", action="store_true", help="speak the answer to a typed question, as in a voice turn")
    parser.add_argument("--out", type=Path, help="write what is spoken to this WAV instead of playing it")
    parser.add_argument("--trace", type=Path, help="write every event to this file, one JSON object a line")
    parser.add_argument("--face", type=Path, help="write the face at the end to this PNG")


def run(arguments: argparse.Namespace) -> int:
    """Exit code 0 when a reply was given."""
    if (arguments.wav is None) == (arguments.text is None):
        raise UsageError("give a WAV file or --text, one of them")
    if arguments.text is not None and not arguments.text.strip():
        raise UsageError("--text is empty")
    check_writable(arguments.out, arguments.trace, arguments.face)
    return asyncio.run(_ask(arguments))


async def _ask(arguments: argparse.Namespace) -> int:
    is_voiced = arguments.wav is not None or arguments.voice
    params: dict[str, Any] = {"voice": arguments.voice}
    if arguments.wav is not None:
        params["wav"] = str(arguments.wav.resolve())
    else:
        params["text"] = arguments.text
    with ExitStack() as stack:
        trace = stack.enter_context(arguments.trace.open("w", encoding="utf-8")) if arguments.trace else None
        watcher = Watcher(trace, shows_text=not is_voiced and not arguments.json)
        async with box_or_device(
            arguments, has_sound=is_voiced, record_to=arguments.out, face_to=arguments.face
        ) as control:
            report = await control.call("ask", params, watcher)
    watcher.end_line()
    if arguments.json:
        print_json({**report, "did": watcher.did(report["turn_id"])})
    elif is_voiced:
        print_turn(report, watcher.did(report["turn_id"]))
    return 0 if tell_what_failed(report, is_voiced=is_voiced) else 1


def print_turn(report: dict[str, Any], did: list[str]) -> None:
    """What was heard, done and said."""
    if report["heard"]:
        print(f"heard  {report['heard']}")
    for line in did:
        print(f"did    {line}")
    if report["said"] or report["reply"]:
        print(f"said   {report['said'] or report['reply']}")


def tell_what_failed(report: dict[str, Any], *, is_voiced: bool) -> bool:
    """Say on standard error why a turn gave no reply; True when it gave one."""
    if report["reason"] != "answered":
        complain(_in_words(report["problem"]) or _ENDINGS.get(report["reason"], f"the turn is {report['reason']}"))
        return False
    if is_voiced and not report["said"]:
        complain("the reply could not be heard; appliance devices shows the speakers, --out writes it to a WAV")
        return False
    return True


def _in_words(problem: str) -> str:
    """A report's problem without the name of our own error; of a model's failure also what to do."""
    kind, _, sentence = problem.partition(": ")
    known = getattr(errors, kind, None)
    if not (isinstance(known, type) and issubclass(known, ApplianceError)):
        return problem
    return f"{sentence}; appliance model show tests the model" if issubclass(known, BrainError) else sentence


class Watcher:
    """Takes what a turn emits: text to show as it comes, events for the trace, what tools did."""

    def __init__(self, trace: TextIO | None, *, shows_text: bool) -> None:
        self._did: list[tuple[str, str]] = []
        self._trace = trace
        self._shows_text = shows_text
        self._column = 0

    def __call__(self, event: dict[str, Any]) -> None:
        if "text" in event and self._shows_text:
            print(event["text"], end="", flush=True)
            self._column += len(event["text"])
        fact = event.get("trace")
        if fact is None:
            return
        if fact["event"] == "ToolFinished":
            self._did.append((fact["turn_id"], f"{fact['tool']} ({fact['outcome']})"))
        if self._trace is not None:
            self._trace.write(json.dumps(fact, ensure_ascii=False) + "\n")
            self._trace.flush()

    def did(self, turn_id: str) -> list[str]:
        """What tools did in that turn; a running device also tells of the turn before it, which it ends first."""
        return [said for turn, said in self._did if turn == turn_id]

    def end_line(self) -> None:
        """End the line of a text that was shown."""
        if self._column:
            print()
            self._column = 0
