"""The doctor of a running box: what it looks at are the parts that are at work."""

from __future__ import annotations

from collections.abc import Sequence

from appliance.approve.button_watch import ButtonWatch
from appliance.assembly_duplex import Duplex
from appliance.assembly_ground import AtWork, Ground
from appliance.assembly_parts import SoundParts, ToolParts
from appliance.contracts.shelf import PluginShelf
from appliance.controls import Controls
from appliance.device.doctor_tool import doctor_tools
from appliance.doctor.checks.board import ButtonState
from appliance.doctor.checks.plugins import PluginState
from appliance.doctor.doctor import Doctor
from appliance.doctor.examined import Examined, Outside
from appliance.doctor.sound_trial import SoundTrial


def add_doctor(
    ground: Ground,
    at_work: AtWork,
    sound: SoundParts,
    tools: ToolParts,
    controls: Controls,
    button: ButtonWatch | None,
    duplex: Duplex | None,
) -> Doctor | None:
    """A doctor and its tool; None for a box that has no look-out of its own."""
    outside = ground.adapters.doctor
    if outside is None:
        return None
    patient = _Patient(ground, outside, at_work, sound, tools.plugins, controls, button, duplex)
    doctor = Doctor(patient.examined, ground.records.credentials.redact)
    for tool in doctor_tools(doctor, ground.catalogue):
        tools.registry.add(tool)
    return doctor


class _Patient:
    """The running box, for the doctor."""

    def __init__(
        self,
        ground: Ground,
        outside: Outside,
        at_work: AtWork,
        sound: SoundParts,
        plugins: PluginShelf,
        controls: Controls,
        button: ButtonWatch | None,
        duplex: Duplex | None,
    ) -> None:
        self._ground = ground
        self._outside = outside
        self._at_work = at_work
        self._sound = sound
        self._plugins = plugins
        self._controls = controls
        self._button = button
        self._duplex = duplex

    def examined(self) -> Examined:
        """As it is now; the room is listened to anew."""
        ground, adapters = self._ground, self._ground.adapters
        trial = SoundTrial(
            self._sound.card,
            self._sound.mixer,
            ground.clock,
            is_muted=lambda: self._controls.is_muted,
            is_busy=lambda: self._at_work.is_busy or self._sound.mixer.has_sound(),
            told_echo_loss=self._note_echo_loss,
            duplex=lambda: self._duplex.in_words if self._duplex is not None else "",
        )

        async def sound() -> SoundTrial:
            return trial

        return Examined(
            outside=self._outside,
            clock=ground.clock,
            home=ground.home,
            config=ground.config,
            sound=sound,
            synthesizer=lambda: adapters.synthesizer,
            transcriber=lambda: adapters.transcriber,
            activity=adapters.activity,
            endpoint=lambda: adapters.endpoint,
            workers=adapters.workers,
            button=self._button_state,
            plugins=self._plugin_states,
            store_notes=[note.text for note in ground.records.notes],
            settings_problems=(*ground.config.problems, *adapters.problems),
            is_running=True,
        )

    def _note_echo_loss(self, decibels: float) -> None:
        if self._duplex is not None:
            self._duplex.record.note_chirp(decibels)

    async def _button_state(self) -> ButtonState:
        if self._button is None:
            return ButtonState()
        is_fine = self._button.is_usable
        return ButtonState(self._button.name, "" if is_fine else self._button.health.partition(": ")[2])

    async def _plugin_states(self) -> Sequence[PluginState]:
        paused = self._plugins.host.quarantine.paused
        return [
            PluginState(row.name, row.is_on, row.problems, row.missing_keys, paused.get(row.name, ""))
            for row in await self._plugins.rows()
        ]
