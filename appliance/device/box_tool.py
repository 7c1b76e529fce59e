"""The one shape of the box's own tools: a function on our loop that returns a sentence."""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from appliance.catalogue import Catalogue
from appliance.errors import ApplianceError, StoreError
from appliance.events import Outcome
from appliance.ports import Json
from appliance.tools.tool import CallContext, Expressions, Risk, ToolResult, VoiceLines

_LOG = logging.getLogger(__name__)

_BUDGET_SECONDS = 10.0

Arguments = Mapping[str, Json]
#: Does the work and returns what is said. Raises ``CannotError`` when it cannot, ``StoreError`` when nothing lasts.
Work = Callable[[Arguments, CallContext], Awaitable[str]]


class CannotError(ApplianceError):
    """The tool cannot do what was asked; ``str`` is the sentence for the person."""


@dataclass(frozen=True)
class BoxTool:
    """A tool of the box; see ``tools.tool.Tool``.

    ``parameters`` are JSON-schema properties. What ``is_offered`` to no model is for the offline brain alone: a
    model repeats and goes on by itself.
    """

    name: str
    description: str
    work: Work
    catalogue: Catalogue
    parameters: Mapping[str, Json] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    risk: Risk = Risk.READ
    is_offered: bool = True
    origin: str = "box"
    toolset: str = "box"
    expressions: Expressions = field(default_factory=Expressions)
    voice_lines: VoiceLines = field(default_factory=VoiceLines)
    is_interactive: bool = False
    is_risk_declared: bool = True

    def schema(self) -> Mapping[str, Json]:
        """Responses API function form."""
        return {
            "type": "function",
            "name": self.name,
            "description": self.description,
            "parameters": {
                "type": "object",
                "properties": dict(self.parameters),
                "required": list(self.required),
                "additionalProperties": False,
            },
        }

    def available(self) -> bool:
        """Whether a model gets it."""
        return self.is_offered

    def budget_seconds(self, arguments: Arguments, context: CallContext) -> float | None:
        """Ten seconds; nothing here takes long."""
        return _BUDGET_SECONDS

    async def invoke(self, arguments: Arguments, context: CallContext) -> ToolResult:
        """Do it; a failure is a sentence too.

        ``error`` stays empty, the log has it: a result with an ``error`` was written for a model, by the runner.
        """
        try:
            return ToolResult(await self.work(arguments, context))
        except CannotError as error:
            return ToolResult(str(error), Outcome.FAILED)
        except StoreError as error:
            _LOG.error("%s: %s", self.name, error)
            return ToolResult(self.catalogue.say("device.not_stored"), Outcome.FAILED)
        except Exception:
            _LOG.exception("the box's own tool %s failed", self.name)
            return ToolResult(self.catalogue.say("device.broken"), Outcome.FAILED)

    def timed_out(self, seconds: float) -> ToolResult:
        """The result when the budget ran out."""
        _LOG.error("%s: no end after %g s", self.name, seconds)
        return ToolResult(self.catalogue.say("device.broken"), Outcome.FAILED)


def number_of(arguments: Arguments, name: str) -> float | None:
    """A number argument; None when it is missing or is no finite number (a model may write it as text)."""
    value = arguments.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def text_of(arguments: Arguments, name: str, longest: int = 200) -> str:
    """A text argument without blanks around it; "" when it is missing or is no text."""
    value = arguments.get(name)
    return " ".join(value.split())[:longest] if isinstance(value, str) else ""


def flag_of(arguments: Arguments, name: str, default: bool = False) -> bool:
    """A yes-or-no argument."""
    value = arguments.get(name, default)
    return value.strip().lower() in ("true", "yes", "on", "1") if isinstance(value, str) else bool(value)
