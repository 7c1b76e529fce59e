"""What the doctor is given: everything that it may look at, each part made only when a check asks for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from appliance.clock import Clock
from appliance.config import Config
from appliance.doctor.checks.board import ButtonState
from appliance.doctor.checks.plugins import PluginState
from appliance.doctor.sound_trial import SoundTrial
from appliance.home import Home
from appliance.network.house_network import HouseNetwork
from appliance.ports import Synthesizer, Transcriber, VoiceActivityDetector, WakeWordDetector
from appliance.ports_doctor import Machine
from appliance.ports_sandbox import WorkerLauncher
from appliance.ports_think import ModelEndpoint


@dataclass(frozen=True)
class Outside:
    """What only a look-out of its own can tell, as the wiring makes it.

    ``wake_words`` gives a detector apart from the one that is listening; it raises ``WeightsError``.
    """

    machine: Machine
    wake_words: Callable[[], WakeWordDetector]
    network: Callable[[], HouseNetwork]


async def _no_button() -> ButtonState:
    return ButtonState()


async def _no_plugins() -> Sequence[PluginState] | None:
    return None


@dataclass(frozen=True)
class Examined:
    """One box, running or not. What makes a part raises an ``ApplianceError`` where there is none.

    ``sound`` is opened at the first call and then the same. ``plugins`` gives None where they are not loaded.
    """

    outside: Outside
    clock: Clock
    home: Home
    config: Config
    sound: Callable[[], Awaitable[SoundTrial]]
    synthesizer: Callable[[], Synthesizer]
    transcriber: Callable[[], Transcriber]
    activity: Callable[[], VoiceActivityDetector]
    endpoint: Callable[[], ModelEndpoint | None]
    workers: Sequence[WorkerLauncher] = ()
    button: Callable[[], Awaitable[ButtonState]] = _no_button
    plugins: Callable[[], Awaitable[Sequence[PluginState] | None]] = _no_plugins
    store_notes: Sequence[str] = ()
    settings_problems: Sequence[str] = field(default_factory=tuple)
    is_running: bool = False
