"""Joins the button to the house: what a press means when it answers no question."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from appliance import events
from appliance.approve.button_rules import (
    Fault,
    Mute,
    Shutdown,
    ShutdownCancelled,
    ShutdownCountdown,
    Silence,
    StopAll,
    Talk,
    TalkEnded,
)
from appliance.approve.button_watch import ButtonWatch
from appliance.assistant import Assistant
from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.controls import Controls
from appliance.device.settings import BoxSettings
from appliance.errors import AudioError, StoreError
from appliance.events import Event
from appliance.listen.earcons import Earcon
from appliance.ports import Priority
from appliance.speak.saying import Saying
from appliance.speak.speaker import Speaker

_LOG = logging.getLogger(__name__)


class Pressing:
    """``power_off`` switches the machine off; without it the box says that it cannot. Everything runs on the loop."""

    def __init__(
        self,
        assistant: Assistant,
        controls: Controls,
        speaker: Speaker,
        *,
        settings: BoxSettings,
        catalogue: Catalogue,
        clock: Clock,
        publish: Callable[[Event], None],
        sound: Callable[[Earcon], None],
        hold_to_talk: bool = False,
        power_off: Callable[[], None] | None = None,
    ) -> None:
        self._assistant = assistant
        self._controls = controls
        self._speaker = speaker
        self._settings = settings
        self._catalogue = catalogue
        self._publish = publish
        self._sound = sound
        self._clock = clock
        self._hold_to_talk = hold_to_talk
        self._power_off = power_off
        self._countdown: Saying | None = None
        self._muting: set[asyncio.Task[None]] = set()

    def join(self, button: ButtonWatch) -> None:
        """From now on the button does these things."""
        button.on(Talk, lambda _press: self.talk())
        button.on(TalkEnded, lambda _press: self._assistant.let_go())
        button.on(Silence, lambda _press: self._assistant.silence())
        button.on(Mute, lambda _press: self.mute())
        button.on(StopAll, lambda _press: self.stop_all())
        button.on(ShutdownCountdown, lambda countdown: self.count_down(countdown.seconds))
        button.on(ShutdownCancelled, lambda _press: self.stay_on())
        button.on(Shutdown, lambda _press: self.shut_down())
        button.on(Fault, self.tell_fault)

    def talk(self) -> None:
        """Listen, or stop what goes on. A closed microphone is not opened by what may be a push in passing."""
        if self._controls.is_muted:
            if not self._assistant.stop():
                self._speaker.say(self._catalogue.say("button.muted"))
        else:
            self._assistant.press(is_held=self._hold_to_talk)

    def mute(self) -> None:
        """Close the microphone, or open it; what the first of the two presses began is over."""
        self._assistant.stop()
        task = asyncio.get_running_loop().create_task(self._mute(not self._controls.is_muted), name="mute")
        self._muting.add(task)
        task.add_done_callback(self._muting.discard)

    async def _mute(self, muted: bool) -> None:
        try:
            await self._controls.mute(muted)
            await self._settings.keep("is_muted", muted)
        except (AudioError, StoreError) as error:
            _LOG.error("muting by the button: %s", error)

    def stop_all(self) -> None:
        """Everything that goes on ends, with a sound that says: you may let go."""
        self._assistant.stop()
        self._sound(Earcon.CLOSED)

    def count_down(self, seconds: int) -> None:
        """Say how to get out of it."""
        self._countdown = self._say("button.countdown", seconds=seconds)

    def stay_on(self) -> None:
        """It was let go in time."""
        if self._countdown is not None:
            self._countdown.withdraw()
        self._speaker.stop()
        self._say("button.stay_on")

    def shut_down(self) -> None:
        """Switch the machine off, if somebody gave us that."""
        self._say("button.cannot_shut_down" if self._power_off is None else "button.shutting_down")
        if self._power_off is not None:
            self._power_off()

    def tell_fault(self, fault: Fault) -> None:
        """Said once for each kind: a wire that comes and goes must not be talked about all day."""
        message = f"the button is {fault.reason}; nothing can be approved"
        self._publish(events.ErrorRaised("", self._clock.monotonic_seconds(), "button", message))
        self._speaker.notice(f"button-{fault.reason}", self._catalogue.say(f"button.{fault.reason}"))

    def _say(self, key: str, **fields: object) -> Saying:
        return self._speaker.say(self._catalogue.say(key, **fields), Priority.ALERT)
