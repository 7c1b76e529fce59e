"""What it costs to begin to speak: the box's voice against the same voice as piper-tts ships it.

"Line" is the way of the first line of a reply, with all that the box does there: the line cache is looked at, the first
words are made first and the silence before them is left out. "Streamed" is the voice in windows alone.

For every sentence all ways take turns in shuffled order, and a ratio is that of two times in the same turn. "First" is
the time to the first piece with a sample above -50 dBFS, so that leading silence is no sound. One way is measured twice
(``AGAIN``): when its ratio to itself leaves 0.93 to 1.07, the machine is too busy to believe the rest. The first round
only warms up.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from appliance.audio import AudioChunk
from appliance.bench.figures import Figure
from appliance.bench.intervals import Values, estimate
from appliance.clock import SystemClock
from appliance.home import Home
from appliance.ports import Synthesizer
from appliance.speak.line_cache import LineCache
from appliance.speak.line_voice import LineVoice
from appliance.wiring_speaking import compared_voices

STOCK, AGAIN, WHOLE, STREAMED, LINE, KEPT = "stock", "again", "whole", "streamed", "line", "kept"
#: Sound above -50 dBFS.
_AUDIBLE = 104
_SHORT_SECONDS, _LONG_SECONDS = 2.0, 5.0
_KEPT_LINES = 8

SENTENCES = (
    "Good night, sleep well.",
    "It is raining.",
    "The door is open.",
    "I will do that.",
    "Your tea is ready now.",
    "It is seven past three.",
    "The lamp in the hall is on.",
    "I have set a timer for ten minutes.",
    "There is nothing in your calendar today.",
    "The next train leaves at a quarter to nine.",
    "I could not find anything about that on the net.",
    "In the kitchen, the window has been open since noon.",
    "Your sister called twice, and she left you a message.",
    "Tomorrow will be sunny, with a light wind from the west.",
    "The washing machine has finished, so you can hang up the clothes.",
    "If you leave now, you will be there before the shop closes.",
    "The heating in the bedroom is set to nineteen degrees until the morning.",
    "There are four eggs left, but you will need six for that cake.",
    "I am not sure what you mean, so please say it in other words.",
    "The museum opens at ten, and on Thursdays it stays open until eight in the evening.",
    "The capital of Australia is Canberra, which is smaller than Sydney and was built to be the capital.",
    "Your alarm is set for half past six, but tomorrow is a holiday, so you could sleep longer.",
    "On the way home, the quick brown fox jumps over the lazy dog while the whole village watches from the wall.",
    "To make the dough, mix the flour with the water and the salt, and let it rest for an hour.",
    "According to the forecast, it will rain in the afternoon, and the temperature will drop to about seven degrees.",
    "The book you asked about was written in nineteen fifty three by a man who lived on a small island.",
    "When the water boils, put the noodles in, stir them once, and take the pot from the stove after nine minutes.",
    "As far as I know, the first people on that mountain needed almost two months, and only three of them came back.",
    "Close to where you are, I found three places that are still open, the nearest a ten minute walk from here.",
    "In the living room, the light has been on since yesterday evening because the switch by the door is broken.",
    "Photosynthesis is how plants turn light, water and air into sugar, and nearly all that lives depends on it.",
    "The next bus to the station leaves in four minutes, and the one after that comes in a quarter of an hour.",
)


@dataclass(frozen=True)
class Row:
    """One figure of the performance goals: the ratio of a way's time to piper-tts's, over some sentences."""

    figure: str
    name: str
    ratio: float
    low: float
    high: float
    goal: float | None
    milliseconds: float
    stock_milliseconds: float
    sentences: int


@dataclass(frozen=True)
class _Taken:
    first_seconds: float
    total_seconds: float
    sound_seconds: float


#: Sentence to the pieces of its sound.
Way = Callable[[str], AsyncIterator[AudioChunk]]


def measure(rounds: int = 5, home: Home | None = None) -> list[Row]:
    """Every figure, over so many rounds of all sentences; ``home`` is where a voice of the owner's lies."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(rounds, home or Home(Path(folder)), Path(folder) / "lines"))


async def _measure(rounds: int, home: Home, lines_folder: Path) -> list[Row]:
    with compared_voices(home) as voices:
        lines = LineCache(lines_folder / "kept", voices.streamed, 100.0)
        empty = LineCache(lines_folder / "empty", voices.streamed, 100.0)
        await lines.prepare(SENTENCES[:_KEPT_LINES])
        ways: dict[str, Way] = {
            STOCK: partial(_spoken, voices.stock),
            AGAIN: partial(_spoken, voices.stock),
            WHOLE: partial(_spoken, voices.whole),
            STREAMED: partial(_spoken, voices.streamed),
            LINE: partial(_line, LineVoice(voices.streamed, SystemClock(), empty)),
            KEPT: partial(_line, LineVoice(voices.streamed, SystemClock(), lines)),
        }
        return _rows(await _taken(ways, rounds))


async def _taken(ways: dict[str, Way], rounds: int) -> list[dict[str, list[_Taken]]]:
    """For every sentence, what each way took in each round."""
    chance = random.Random(1)
    taken: list[dict[str, list[_Taken]]] = [{name: [] for name in ways} for _ in SENTENCES]
    for number in range(rounds + 1):
        for index in chance.sample(range(len(SENTENCES)), len(SENTENCES)):
            names = [name for name in ways if name != KEPT or index < _KEPT_LINES]
            for name in chance.sample(names, len(names)):
                one = await _time(ways[name](SENTENCES[index]))
                if number > 0:
                    taken[index][name].append(one)
    return taken


async def _time(pieces: AsyncIterator[AudioChunk]) -> _Taken:
    began = time.perf_counter()
    first = 0.0
    sound = 0.0
    async for piece in pieces:
        if not first and np.abs(piece.samples.astype(np.int32)).max(initial=0) > _AUDIBLE:
            first = time.perf_counter() - began
        sound += piece.duration_seconds
    return _Taken(first, time.perf_counter() - began, sound)


async def _spoken(voice: Synthesizer, sentence: str) -> AsyncIterator[AudioChunk]:
    async for chunk in voice.synthesize(sentence):
        yield chunk.audio


async def _line(voice: LineVoice, sentence: str) -> AsyncIterator[AudioChunk]:
    synthesis = voice.begin(sentence, in_haste=True)
    for index in itertools.count():
        chunk = await voice.piece(synthesis, index, sentence, "")
        if chunk is None:
            return
        yield chunk.audio


def figures(rows: list[Row]) -> list[Figure]:
    """Those of the rows that have a goal."""
    return [
        Figure(
            row.figure,
            row.name,
            "piper-tts, the same sentence",
            row.ratio,
            row.goal,
            row.low,
            row.high,
            own=row.milliseconds,
            peer=row.stock_milliseconds,
        )
        for row in rows
        if row.goal is not None
    ]


# ---------------------------------------------------------------------------------------------- figures


def _rows(taken: list[dict[str, list[_Taken]]]) -> list[Row]:
    seconds = [statistics.median(one.sound_seconds for one in ways[STOCK]) for ways in taken]
    every = list(range(len(taken)))
    long = [index for index in every if seconds[index] >= _LONG_SECONDS]
    short = [index for index in every if seconds[index] <= _SHORT_SECONDS]

    def row(
        figure: str, name: str, way: str, which: list[int], goal: float | None = None, *, total: bool = False
    ) -> Row:
        def of(one: _Taken) -> float:
            return one.total_seconds if total else one.first_seconds

        def milliseconds(of_way: str) -> float:
            medians = [statistics.median(of(one) for one in taken[index][of_way]) for index in which]
            return 1000 * statistics.median(medians)

        ratios = [
            statistics.median(of(own) / of(stock) for own, stock in zip(ways[way], ways[STOCK], strict=True))
            for ways in (taken[index] for index in which)
        ]
        found = estimate(np.array(ratios), _median)
        own, stock = milliseconds(way), milliseconds(STOCK)
        return Row(figure, name, found.value, found.low, found.high, goal, own, stock, len(which))

    return [
        row("A/A", "first, the same again", AGAIN, every),
        row("", "first, whole without spinning threads", WHOLE, every),
        row("", "first, streamed", STREAMED, every),
        row("", "first, streamed, 5 s and more", STREAMED, long),
        row("P8", "first, line, 5 s and more", LINE, long, 0.15),
        row("P9", "first, line, 2 s and less", LINE, short, 0.60),
        row("P10", "first, kept line", KEPT, list(range(_KEPT_LINES)), 0.05),
        row("", "total, whole without spinning threads", WHOLE, every, total=True),
        row("", "total, streamed", STREAMED, every, total=True),
        row("", "total, line, 5 s and more", LINE, long, total=True),
    ]


def _median(ratios: Values) -> float:
    return float(np.median(ratios))
