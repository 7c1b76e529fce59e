"""Every check, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from appliance.clock import Clock
from appliance.doctor.check import Check, in_thread
from appliance.doctor.checks import (
    board,
    disk,
    memory,
    model,
    network,
    plugins,
    power,
    service,
    sound_heard,
    sound_server,
    speech,
    speech_weights,
    store,
    system,
)
from appliance.doctor.examined import Examined
from appliance.doctor.finding import Finding
from appliance.doctor.sound_trial import SoundTrial
from appliance.doctor.starts_file import decided
from appliance.face.config import FaceConfig
from appliance.listen.config import HearConfig
from appliance.ports_doctor import Machine
from appliance.speak.config import SpeakConfig
from appliance.think.config import ThinkConfig

#: Loading weights and running them on a small board.
_SPEECH_SECONDS = 60.0
_OUTSIDE_SECONDS = 45.0
#: Opening a sound card that hangs, and listening.
_SOUND_SECONDS = 15.0


def all_checks(examined: Examined) -> list[Check]:
    """For one box; each check makes what it needs when it runs."""
    return [
        *_sound(examined),
        *_speech(examined),
        Check("model.answers", partial(_answers, examined), is_quick=False, longest_seconds=_OUTSIDE_SECONDS),
        Check("network.lanes", partial(_lanes, examined), is_quick=False, longest_seconds=_OUTSIDE_SECONDS),
        *_machine(examined),
        *_board(examined),
        *_plugins(examined),
        *_store(examined),
        *_service(examined),
    ]


def _sound(examined: Examined) -> list[Check]:
    async def tried(look: Callable[[SoundTrial], Awaitable[Finding]]) -> Finding:
        return await look(await examined.sound())

    async def devices() -> Finding:
        return sound_heard.sound_devices(await examined.sound())

    looks = {
        "frames": sound_heard.sound_frames,
        "level": sound_heard.sound_level,
        "channels": sound_heard.sound_channels,
        "clipping": sound_heard.sound_clipping,
        "dropouts": sound_heard.sound_dropouts,
    }
    machine = examined.outside.machine
    return [
        _on_machine("sound.server", machine, sound_server.sound_server),
        _on_machine("sound.owner", machine, sound_server.sound_owner),
        Check("sound.devices", devices, longest_seconds=_SOUND_SECONDS),
        *(Check(f"sound.{name}", partial(tried, look), longest_seconds=_SOUND_SECONDS) for name, look in looks.items()),
        Check("sound.echo", partial(tried, sound_heard.sound_echo), is_quick=False, longest_seconds=_SOUND_SECONDS),
    ]


def _speech(examined: Examined) -> list[Check]:
    hear, speak = examined.config.of(HearConfig), examined.config.of(SpeakConfig)
    wanted = {hear.model: hear.model_path, speak.voice: speak.voice_path}
    voice = examined.synthesizer
    slow = partial(Check, is_quick=False, longest_seconds=_SPEECH_SECONDS)
    return [
        slow("speech.weights", _blocking(partial(speech_weights.speech_weights, examined.home.models_folder, wanted))),
        slow("speech.turns", _blocking(partial(speech_weights.turn_weights, examined.home.models_folder))),
        slow("speech.hearing", partial(speech.speech_hearing, voice, examined.transcriber, examined.clock)),
        slow("speech.activity", partial(speech.speech_activity, examined.activity, voice)),
        slow("speech.wake", partial(speech.speech_wake, examined.outside.wake_words, voice)),
    ]


def _answers(examined: Examined) -> Awaitable[Finding]:
    return model.model_answers(examined.endpoint, examined.clock)


def _lanes(examined: Examined) -> Awaitable[Finding]:
    return network.network_lanes(examined.outside.network, examined.config.of(ThinkConfig).url)


def _machine(examined: Examined) -> list[Check]:
    machine, home = examined.outside.machine, str(examined.home.folder)
    on_disk = {"disk": disk.disk_room, "files": disk.disk_files, "writing": disk.disk_writing}
    looks = {
        "journal": system.journal_lasts,
        "memory": memory.memory_room,
        "memory_controller": memory.memory_controller,
        "swap": memory.swap_on_card,
        "bits": memory.pointer_bits,
        "power": power.power_supply,
        "temperature": power.temperature,
    }
    clock: Clock = examined.clock
    return [
        Check("machine.clock", _blocking(partial(system.clock_is_set, clock, machine))),
        *(Check(f"machine.{name}", _blocking(partial(look, machine, home))) for name, look in on_disk.items()),
        *(_on_machine(f"machine.{name}", machine, look) for name, look in looks.items()),
    ]


def _board(examined: Examined) -> list[Check]:
    machine, face = examined.outside.machine, examined.config.of(FaceConfig)
    is_serial = "serial" in face.backends
    serial = partial(board.serial_boards, machine, face.serial_port, is_used=is_serial)
    return [
        _on_machine("board.groups", machine, board.user_groups),
        _on_machine("board.gpio", machine, board.gpio_pins),
        Check("board.serial", _blocking(serial)),
        Check("board.button", partial(board.button_state, examined.button)),
        Check("board.sandbox", _blocking(partial(board.sandbox, examined.workers)), longest_seconds=_SOUND_SECONDS),
    ]


def _plugins(examined: Examined) -> list[Check]:
    home = examined.home

    async def paused() -> Finding:
        quarantined = (await in_thread(partial(decided, home.starts_file))).quarantined
        return plugins.plugins_paused(await examined.plugins(), quarantined)

    async def problems() -> Finding:
        return plugins.plugin_problems(await examined.plugins())

    async def keys() -> Finding:
        return plugins.plugin_keys(await examined.plugins())

    changed = partial(plugins.plugins_changed, home.pins_file, home.plugins_folder)
    return [
        Check("plugin.problems", problems),
        Check("plugin.paused", paused),
        Check("plugin.changed", _blocking(changed)),
        Check("plugin.keys", keys),
    ]


def _store(examined: Examined) -> list[Check]:
    home = examined.home
    return [
        Check("storage.database", _blocking(partial(store.database, home.database_file))),
        Check("storage.notes", _blocking(partial(store.store_notes, examined.store_notes))),
        Check("storage.copies", _blocking(partial(store.corrupt_copies, home.folder))),
        Check("settings.values", _blocking(partial(store.settings, examined.settings_problems))),
    ]


def _service(examined: Examined) -> list[Check]:
    machine, home = examined.outside.machine, examined.home
    installed = partial(service.service_installed, machine, is_service=home.is_service)
    running = partial(service.service_running, machine, is_service=home.is_service, is_running=examined.is_running)
    return [
        Check("service.installed", _blocking(installed)),
        Check("service.running", _blocking(running)),
        Check("service.crash", _blocking(partial(service.last_crash, home.crash_folder, examined.clock))),
        Check("service.safe_mode", _blocking(lambda: service.safe_mode(decided(home.starts_file).safe_mode))),
    ]


def _on_machine(name: str, machine: Machine, look: Callable[[Machine], Finding]) -> Check:
    return Check(name, _blocking(partial(look, machine)))


def _blocking(look: Callable[[], Finding]) -> Callable[[], Awaitable[Finding]]:
    return lambda: in_thread(look)
