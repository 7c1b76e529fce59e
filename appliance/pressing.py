"""Joins the button to the house: what a press means when it answers no question."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from appliance import events
from appliance.approve.button_rules import (
    Deny,
    Fault,
    Mute,
    Shutdown,
    ShutdownCancelled,
    ShutdownCountdown,
    Silence,
    StopAll,
    Talk,
    TalkEnded,
    Unclear,
)
from appliance.approve.button_watch import ButtonWatch
from appliance.assistant import Assistant
from appliance.catalogue import Catalogue
from appliance.clock import Clock, within
from appliance.controls import Controls
from appliance.device.settings import BoxSettings
from appliance.errors import AudioError, PowerError, StoreError
from appliance.events import Event
from appliance.listen.earcons import Earcon
from appliance.ports import Power, Priority
from appliance.speak.saying import Saying
from appliance.speak.speaker import Speaker

_LOG = logging.getLogger(__name__)

#: The machine goes down when the farewell has been heard; so long, when the speaker does not come to its end.
_LONGEST_FAREWELL_SECONDS = 10.0


class Pressing:
    """Without ``power`` the box says that it may not switch the machine off. Everything runs on the loop."""

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
        power: Power | None = None,
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
        self._power = power
        self._countdown: Saying | None = None
        #: The request for which a calm press was asked, which is done once.
        self._helped_with = ""
        self._was_refused = False
        self._tasks: set[asyncio.Task[None]] = set()

    def join(self, button: ButtonWatch) -> None:
        """From now on the button does these things."""
        button.on(Talk, lambda _press: self.talk())
        button.on(TalkEnded, lambda _press: self._assistant.let_go())
        button.on(Silence, lambda _press: self._assistant.silence())
        button.on(Mute, lambda _press: self.mute())
        button.on(Deny, lambda _press: self.refuse())
        button.on(StopAll, lambda _press: self.stop_all())
        button.on(ShutdownCountdown, lambda countdown: self.count_down(countdown.seconds))
        button.on(ShutdownCancelled, lambda _press: self.stay_on())
        button.on(Shutdown, lambda _press: self.shut_down())
        button.on(Unclear, lambda unclear: self.ask_for_one_press(unclear.request_id))
        button.on(Fault, self.tell_fault)

    def press_on_face(self, action: str) -> None:
        """A button on the face: "talk", "mute" or "stop". It is never the answer to a question."""
        match action:
            case "talk":
                self._talk(is_held=False)  # Such a button does not tell when it is let go.
            case "mute":
                self.mute()
            case "stop":
                self.stop_all()

    def talk(self) -> None:
        """Listen, or stop what goes on. A closed microphone is not opened by what may be a push in passing."""
        self._talk(is_held=self._hold_to_talk)

    def mute(self) -> None:
        """Close the microphone, or open it; what the first of the two presses began is over."""
        self._assistant.stop()
        self._begin(self._mute(not self._controls.is_muted), "mute")

    def _talk(self, *, is_held: bool) -> None:
        if self._controls.is_muted:
            if not self._assistant.stop():
                self._speaker.say(self._catalogue.say("button.muted"))
        else:
            self._assistant.press(is_held=is_held)

    async def _mute(self, muted: bool) -> None:
        try:
            await self._controls.mute(muted)
            await self._settings.keep("is_muted", muted)
        except (AudioError, StoreError) as error:
            _LOG.error("muting by the button: %s", error)

    def refuse(self) -> None:
        """A hold says no, and stops everything next: what it did is told behind that."""
        self._was_refused = True

    def stop_all(self) -> None:
        """Everything that goes on ends, with a sound that says: you may let go."""
        self._assistant.stop()
        self._sound(Earcon.CLOSED)
        if self._was_refused:
            self._was_refused = False
            self._speaker.say(self._catalogue.say("approve.declined"), Priority.APPROVAL)

    def ask_for_one_press(self, request_id: str) -> None:
        """What was neither yes nor no makes the button wait for calm; a person who hurries would not get there."""
        if request_id != self._helped_with:
            self._helped_with = request_id
            self._speaker.say(self._catalogue.say("button.unclear"), Priority.APPROVAL)

    def count_down(self, seconds: int) -> None:
        """Say how to get out of it; or that there is nothing to get out of."""
        if self._power is None:
            self._say("button.cannot_shut_down")
        else:
            self._countdown = self._say("button.countdown", seconds=seconds)

    def stay_on(self) -> None:
        """It was let go in time."""
        if self._countdown is not None:
            self._countdown.withdraw()
            self._countdown = None
            self._speaker.stop()
            self._say("button.stay_on")

    def shut_down(self) -> None:
        """Say so, and when that was heard, switch the machine off."""
        self._countdown = None
        if self._power is not None:
            self._begin(self._shut_down(self._power), "shut down")

    async def _shut_down(self, power: Power) -> None:
        farewell = self._say("button.shutting_down")
        with contextlib.suppress(TimeoutError):
            await within(self._clock, _LONGEST_FAREWELL_SECONDS, farewell.finished())
        try:
            await power.off()
        except PowerError as error:
            _LOG.error("%s", error)
            self._publish(events.ErrorRaised("", self._clock.monotonic_seconds(), "power", str(error)))
            self._say("button.shutdown_failed")

    def tell_fault(self, fault: Fault) -> None:
        """Said once for each kind: a wire that comes and goes must not be talked about all day."""
        message = f"the button is {fault.reason}; nothing can be approved"
        self._publish(events.ErrorRaised("", self._clock.monotonic_seconds(), "button", message))
        self._speaker.notice(f"button-{fault.reason}", self._catalogue.say(f"button.{fault.reason}"))

    def _say(self, key: str, **fields: object) -> Saying:
        return self._speaker.say(self._catalogue.say(key, **fields), Priority.ALERT)

    def _begin(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
