"""Words of the person that reach a plugin without a model.

A voice command is a handler of ``pre_chat`` that is asked only when its words were said. Whisper writes a capital, a
full stop and an "um" that nobody means: both the trigger and what was heard are brought to one spelling first.
Politeness stays, for ``exact`` is exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from appliance.contracts.sapphire.hooks import Function, HookEvent
from appliance.contracts.sapphire.manifest import VoiceCommand
from appliance.think.pre_pass import plain_words

#: Priorities that a command gets when it answers instead of the model: in front of its band.
_FIRST_SHIPPED, _FIRST_OWNER = 19, 119

_FITS: dict[str, Callable[[str, str], bool]] = {
    "exact": lambda said, trigger: said == trigger,
    "starts_with": lambda said, trigger: said.startswith(trigger),
    "contains": lambda said, trigger: trigger in said,
}


def problem_of(command: VoiceCommand) -> str:
    """Half a sentence why it cannot be used; "" when it can."""
    if not any(trigger.strip() for trigger in command.triggers):
        return "it has no triggers"
    if command.match not in (*_FITS, "regex"):
        return f"its match {command.match!r} is none of exact, starts_with, contains, regex"
    try:
        for trigger in command.triggers if command.match == "regex" else ():
            re.compile(trigger)
    except re.error as error:
        return f"{error.pattern!r} is no regular expression: {error}"
    return ""


def was_said(command: VoiceCommand, text: str) -> bool:
    """Whether ``text``, as it was heard or typed, is this command. A stranger's expression: on the plugin's side."""
    plain = plain_words(text)
    triggers = [trigger for trigger in command.triggers if trigger.strip()]
    if command.match == "regex":
        return any(re.search(trigger, form, re.IGNORECASE) for trigger in triggers for form in (text, plain))
    bare = " ".join(text.lower().split())
    fits = _FITS[command.match]
    return any(
        (words and fits(plain, words)) or fits(bare, " ".join(trigger.lower().split()))
        for trigger in triggers
        for words in (plain_words(trigger),)
    )


def asked_when_said(command: VoiceCommand, function: Function) -> Function:
    """The handler behind its words."""

    def pre_chat(event: HookEvent) -> object:
        return function(event) if was_said(command, event.input) else None

    return pre_chat


def priority_of(command: VoiceCommand, plugin_priority: int, *, is_shipped: bool) -> int:
    """Where it stands among the handlers."""
    if not command.is_bypassing_model:
        return plugin_priority
    return min(plugin_priority, _FIRST_SHIPPED if is_shipped else _FIRST_OWNER)
