"""What the box's own tools need from the rest of the house, each a small Protocol; the assistant meets them."""

from __future__ import annotations

from typing import Protocol

from appliance.device.entry import Due
from appliance.device.ringer import RingAnswer
from appliance.ports import AsyncCallback


class BoxControls(Protocol):
    """The knobs. Values last because the tools store them in ``settings``; this only puts them in force."""

    @property
    def volume_percent(self) -> int:
        """Volume of speech, 0 to 100."""
        ...

    def set_volume(self, percent: int) -> None:
        """Set the volume of speech; alerts keep their floor."""
        ...

    @property
    def speed(self) -> float:
        """Pace of speech; 1.0 is the voice's own."""
        ...

    def set_speed(self, speed: float) -> None:
        """Set the pace of speech."""
        ...

    @property
    def is_muted(self) -> bool:
        """Whether the microphone is closed."""
        ...

    async def mute(self, muted: bool) -> None:
        """Close the microphone, so that nothing is captured at all; or open it again."""
        ...

    @property
    def has_button(self) -> bool:
        """Whether a button can bring the box back from mute."""
        ...

    def stop_everything(self) -> None:
        """Stop what goes on in the background; the turn that asks for it goes on to its end."""
        ...

    def after_reply(self, action: AsyncCallback) -> None:
        """Do ``action`` when the reply of this turn was spoken, also when it was cut short."""
        ...


class TurnMemory(Protocol):
    """What was said lately. In a turn that asks for it, "last" is the turn before."""

    @property
    def last_heard(self) -> str:
        """What the person said last, "" at the start."""
        ...

    @property
    def last_reply(self) -> str:
        """What the box answered last, "" at the start."""
        ...

    @property
    def last_did(self) -> tuple[str, ...]:
        """What tools did last, in sentences."""
        ...

    def take_more(self) -> str:
        """The next piece of a reply that was cut short; "" when nothing is left."""
        ...

    async def new_topic(self) -> None:
        """Later turns no longer see the earlier ones. Raises ``StoreError``."""
        ...

    async def forget_last(self) -> bool:
        """Delete the last turn for good; False when there is none. Raises ``StoreError``."""
        ...


class PrivateTalk(Protocol):
    """Chats that only their owner can read again."""

    @property
    def is_private(self) -> bool:
        """Whether the chat in use is a private one."""
        ...

    async def begin_private(self) -> None:
        """Begin a private chat and go on in it. Raises ``NoPassphraseError``, ``StoreError``."""
        ...

    async def end_private(self, *, is_deleted: bool) -> bool:
        """Leave the private chat, locked or deleted for good; False when it was none. Raises ``StoreError``."""
        ...


class BoxHealth(Protocol):
    """How the box is, honestly."""

    @property
    def name(self) -> str:
        """What the box is called."""
        ...

    @property
    def microphone(self) -> str:
        """Name of the microphone, "" when there is none."""
        ...

    @property
    def model(self) -> str:
        """Name of the model, "" when none is configured."""
        ...

    @property
    def is_model_away(self) -> bool:
        """Whether the last question could not reach the model."""
        ...

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong, in sentences."""
        ...


class Ringing(Protocol):
    """What rings now (``Ringer``)."""

    @property
    def ringing(self) -> tuple[Due, ...]:
        """What rings now."""
        ...

    async def end(self, answer: RingAnswer) -> tuple[Due, ...]:
        """End the ring and return what rang; all of it is stored by then. Raises ``StoreError``."""
        ...
