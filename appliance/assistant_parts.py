"""What the assistant is made of, and how it reports a turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from appliance.bus import Bus
from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.contracts.sapphire.turn_hooks import TurnHooks
from appliance.controls import Health
from appliance.drafts import Drafts
from appliance.events import EndReason
from appliance.listen.ear import Ear
from appliance.listen.earcons import Earcon
from appliance.listen.hearer import Hearer
from appliance.memory import Memory
from appliance.ports import AsyncCallback
from appliance.speak.narrator import Narrator
from appliance.speak.speaker import Speaker
from appliance.think.brain import Brain
from appliance.think.offline_brain import OfflineBrain
from appliance.tools.registry import Registry
from appliance.tools.runner import Runner
from appliance.tools.tool import Tool
from appliance.warm_model import WarmModel


@dataclass
class Windows:
    """How long the ear stays open, by what opened it, in seconds; the owner may change it at any time."""

    addressed_seconds: float = 5.0
    follow_up_seconds: float = 6.0


@dataclass(frozen=True)
class TurnReport:
    """How a turn went."""

    turn_id: str
    reason: EndReason
    heard: str = ""
    reply: str = ""
    said: str = ""
    wants_answer: bool = False
    problem: str = ""


class Alarm(Protocol):
    """Whatever may ring while no turn is on."""

    @property
    def is_ringing(self) -> bool:
        """Whether something rings, also between two bursts."""
        ...

    def pause(self) -> None:
        """Be silent for now: the person begins to speak. Ringing goes on after their turn."""
        ...

    def dismiss(self) -> bool:
        """Stop ringing for good; False when nothing rings."""
        ...


@dataclass(frozen=True)
class Parts:
    """What the assistant is made of; ``wiring.py`` chooses each."""

    clock: Clock
    bus: Bus
    catalogue: Catalogue
    ear: Ear
    hearer: Hearer
    offline: OfflineBrain
    model: Brain | None
    is_reasoning: bool
    speaker: Speaker
    narrator: Narrator
    sound: Callable[[Earcon], None]
    registry: Registry
    refresh_tools: AsyncCallback
    runner: Runner
    memory: Memory
    alarm: Alarm
    health: Health
    #: What plugins have a say in.
    hooks: TurnHooks
    #: Awaited when a turn is over (muting waits for its own announcement).
    after_turn: AsyncCallback
    #: Awaited behind a spoken turn in which somebody was heard (who can be told now what rang in an empty room).
    when_heard: AsyncCallback
    #: Whether the model is in the house; one that is not answers in no private chat.
    is_model_local: bool = False
    #: Why a tool has no part in a chat (its id), in words; None when it has.
    why_not_in: Callable[[Tool, str], str | None] = lambda _tool, _chat: None
    #: None where no model is asked ahead.
    drafts: Drafts | None = None
    #: None where no model is warmed up.
    warm_model: WarmModel | None = None
    windows: Windows = field(default_factory=Windows)
    longest_reply_sentences: int = 6
