"""The whole turn, from the end of speech to the first sound of the answer: the box against its peers.

Each system is a process of its own with the same weights, the same number of threads and the same scripted model; a
ratio is the median over the clips of the box's time divided by the other's for the same clip. The box takes the first
pass twice: where its second ratio to its first leaves 0.93 to 1.07, the machine is too busy to say anything. A turn
whose answer began before the person had finished counts for nobody. A peer's sound counts when it is made, the box's
only when the block of 20 ms that holds it leaves the mixer.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from appliance import models
from appliance.bench.figures import Figure
from appliance.bench.intervals import Estimate
from appliance.bench.machine import Machine, describe, throttled
from appliance.bench.peers import python_of
from appliance.bench.stub_model import StubModel
from appliance.bench.turn_clips import TurnClip, digest_of, prepare
from appliance.bench.turn_course import Conductor, Plan
from appliance.bench.turn_figures import SystemRow, again_ratio, figures, is_quiet_enough, rows
from appliance.bench.turn_system import Turn, started_systems
from appliance.bench.turn_worker import BOX, PIPECAT, PIPECAT_TUNED, SENTENCES, SEQUENTIAL, SMART_TURN, Setup
from appliance.config import BoxConfig, Config
from appliance.errors import WeightsError
from appliance.home import Home
from appliance.listen.config import HearConfig
from appliance.speak.config import SpeakConfig
from appliance.wiring_turns import clip_parts

#: What hears, best first: as pipecat does, else what is always there.
_HEARING = ("base", "tiny.en")
_MOST_THREADS = 4


@dataclass(frozen=True)
class Wanted:
    """What to measure.

    ``settings`` are those of the box that are not as usual; ``peers_folder`` holds an environment with pipecat, or is
    None. ``threads`` 0 takes all cores, at most 4.
    """

    most_clips: int | None = None
    passes: int = 3
    systems: Sequence[str] = (SEQUENTIAL, SENTENCES, SMART_TURN)
    has_other_paces: bool = True
    threads: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)
    peers_folder: Path | None = None


@dataclass(frozen=True)
class Result:
    """``again_ratio`` is the box against itself; where it is not near 1 (``is_quiet`` is False) nothing else counts.

    ``clips_sha256`` is equal where the same was heard.
    """

    machine: Machine
    weights: str
    threads: int
    clips: int
    clips_sha256: str
    passes: int
    again_ratio: Estimate
    is_quiet: bool
    figures: list[Figure]
    rows: list[SystemRow]
    #: As ``Machine.throttled``, at the end.
    throttled_after: str = ""


def measure(config: Config, home: Home, wanted: Wanted, tell: Callable[[Turn], None] = lambda _turn: None) -> Result:
    """Have all systems take their turns, and hear of each. Raises ``ApplianceError``."""
    machine, threads = describe(), wanted.threads or min(_MOST_THREADS, os.cpu_count() or 1)
    weights, whisper_folder = _hearing(config, home)
    speak = config.of(SpeakConfig)
    voice_file = models.locate(speak.voice, home.models_folder, speak.voice_path)
    stub = StubModel()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        fresh = _fresh_home(folder / "home", home)
        clips = _clips(voice_file, home, folder, wanted.most_clips)
        stack.enter_context(stub.serving())
        language = config.of(BoxConfig).language
        setup = Setup(
            BOX,
            stub.url,
            str(whisper_folder),
            str(voice_file),
            language,
            threads,
            str(fresh.folder),
            dict(wanted.settings),
        )
        pythons = dict.fromkeys((BOX, *_possible(wanted.systems, home)), sys.executable)
        if wanted.peers_folder is not None:
            pythons |= dict.fromkeys((PIPECAT, PIPECAT_TUNED), str(python_of(wanted.peers_folder)))
        systems = stack.enter_context(started_systems(pythons, setup))
        course = Conductor(systems, stub, tell).conduct(Plan(clips, wanted.passes, wanted.has_other_paces))
    again = again_ratio(course)
    return Result(
        machine,
        weights,
        threads,
        len(clips),
        digest_of(clips),
        wanted.passes,
        again,
        is_quiet_enough(again),
        figures(course),
        rows(course),
        throttled(),
    )


def _hearing(config: Config, home: Home) -> tuple[str, Path]:
    """Name and folder of the weights that all systems hear with."""
    hear = config.of(HearConfig)
    if hear.model_path:
        return Path(hear.model_path).name, Path(hear.model_path)
    for name in _HEARING:
        with contextlib.suppress(WeightsError):
            return name, models.locate(name, home.models_folder)
    return hear.model, models.locate(hear.model, home.models_folder)


def _fresh_home(folder: Path, home: Home) -> Home:
    """A home where nothing has ever been said, with the weights of the owner's, and with what can be made again."""
    fresh = Home(folder)
    folder.mkdir()
    home.cache_folder.mkdir(parents=True, exist_ok=True)
    fresh.cache_folder.symlink_to(home.cache_folder.absolute())
    if home.models_folder.exists():
        fresh.models_folder.symlink_to(home.models_folder.absolute())
    return fresh


def _possible(systems: Sequence[str], home: Home) -> list[str]:
    """Without weights of the turn model nobody can be asked by it."""
    try:
        models.locate(models.TURN_DETECTOR, home.models_folder)
    except WeightsError:
        return [name for name in systems if name != SMART_TURN]
    return list(systems)


def _clips(voice_file: Path, home: Home, folder: Path, most: int | None) -> list[TurnClip]:
    kept = home.cache_folder / "bench"
    with clip_parts(voice_file) as (voice, activity):
        return asyncio.run(prepare(voice, activity, kept, folder, most))
