"""What the benchmark of turns and its systems say to each other; run as a program, one system.

``python -m appliance.bench.turn_worker SETUP``; ``SETUP`` is a ``Setup`` as JSON. The first line of output says that it
is ready, then there is one for each line of input: a ``TurnTaken``, or a ``Floor``, as JSON. It ends when its input
does.
Nothing here may need more than the standard library: pipecat lives in an environment of its own.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from appliance.bench.paced_sound import PreparedClip

BOX, SEQUENTIAL, SENTENCES, SMART_TURN = "box", "sequential", "sentences", "smart turn"
PIPECAT, PIPECAT_TUNED = "pipecat", "pipecat, tuned"


@dataclass(frozen=True)
class Setup:
    """What a system is made of; the same for all of them. ``settings`` are for the box alone."""

    system: str
    url: str
    whisper_folder: str
    voice_file: str
    language: str
    threads: int
    home: str
    settings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TurnTaken:
    """One turn: milliseconds from the end of speech to the first sound, None when there was none.

    ``first_cpu_seconds`` is the processor time of the process until then. ``transcripts`` counts how often transcribing
    was begun, ``tool_calls`` how often a tool ran. It ``was_cut`` when the system thought that the person had finished
    before they had. ``problem`` says what failed.
    """

    heard: str
    first_milliseconds: float | None
    first_cpu_seconds: float | None = None
    transcripts: int = 1
    tool_calls: int = 0
    was_cut: bool = False
    problem: str = ""


@dataclass(frozen=True)
class Floor:
    """What nobody can save, measured beside the turns: a judgement of the turn model, the first piece of a clause."""

    turn_model_milliseconds: float = 0.0
    first_piece_milliseconds: float = 0.0


class Opened(Protocol):
    """A system that is ready."""

    async def take_turn(self, clip: PreparedClip) -> TurnTaken:
        """Hear ``clip`` in real time and answer it; returns when the whole answer is made."""
        ...

    async def take_floor(self) -> Floor:
        """See ``Floor``; only the box knows."""
        ...


async def serve(opened: AbstractAsyncContextManager[Opened]) -> None:
    """Take turns until the input ends."""
    async with opened as system:
        _write({"is_ready": True})
        while line := await asyncio.to_thread(sys.stdin.readline):
            order = json.loads(line)
            if "file" in order:
                clip = PreparedClip.load(Path(order["file"]), order["end_seconds"])
                _write(dataclasses.asdict(await system.take_turn(clip)))
            else:
                _write(dataclasses.asdict(await system.take_floor()))


def _write(value: dict[str, Any]) -> None:
    print(json.dumps(value), flush=True)


def _open(setup: Setup) -> AbstractAsyncContextManager[Opened]:
    # Each kind has libraries that the others need not have.
    if setup.system == BOX:
        from appliance.bench.turn_box import open_box_system

        return open_box_system(setup)
    if setup.system in (PIPECAT, PIPECAT_TUNED):
        from appliance.bench.turn_pipecat import open_pipecat

        return open_pipecat(setup)
    from appliance.bench.turn_loop import open_loop

    return open_loop(setup)


if __name__ == "__main__":
    asyncio.run(serve(_open(Setup(**json.loads(sys.argv[1])))))
