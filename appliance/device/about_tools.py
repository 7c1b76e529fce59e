"""Tools that tell about the box itself: how it is, what it can do, who it is."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.device.box_tool import Arguments, BoxTool
from appliance.device.controls import BoxControls, BoxHealth
from appliance.device.entry_words import EntryWords
from appliance.device.schedule import Schedule
from appliance.tools.tool import CallContext


def about_tools(
    *,
    controls: BoxControls,
    health: BoxHealth,
    schedule: Schedule,
    words: EntryWords,
    clock: Clock,
    catalogue: Catalogue,
) -> list[BoxTool]:
    """``box_health``, ``box_help``, ``box_who``."""
    about = _About(controls, health, schedule, words, clock, catalogue)
    return [
        BoxTool(
            name="box_health",
            description="How this box is: microphone, model, clock, what is set, what is wrong.",
            work=about.health_report,
            catalogue=catalogue,
        ),
        BoxTool(
            name="box_help",
            description="What a person can ask this box for.",
            work=about.help,
            catalogue=catalogue,
            is_offered=False,
        ),
        BoxTool(
            name="box_who",
            description="What this box is called.",
            work=about.who,
            catalogue=catalogue,
            is_offered=False,
        ),
    ]


@dataclass(frozen=True)
class _About:
    controls: BoxControls
    health: BoxHealth
    schedule: Schedule
    words: EntryWords
    clock: Clock
    catalogue: Catalogue

    async def health_report(self, arguments: Arguments, context: CallContext) -> str:
        """The honest answer to "how are you?": what is wrong comes first."""
        wrong = [*self.health.problems]
        if not self.clock.is_trusted():
            wrong.append(self.catalogue.say("about.clock_not_set"))
        ears, model = self._ears(wrong), self._model(wrong)
        first = self.catalogue.say("about.not_fine" if wrong else "about.fine")
        waiting = self.schedule.waiting
        is_set = [self.catalogue.say("about.running", names=self.words.count(waiting))] if waiting else []
        return " ".join([first, *wrong, *ears, *model, *is_set])

    async def help(self, arguments: Arguments, context: CallContext) -> str:
        """What can be asked for now."""
        has_model = bool(self.health.model) and not self.health.is_model_away
        return self.catalogue.say("about.can_with_model" if has_model else "about.can")

    async def who(self, arguments: Arguments, context: CallContext) -> str:
        """The name."""
        return self.catalogue.say("about.who", name=self.health.name)

    def _ears(self, wrong: list[str]) -> list[str]:
        if not self.health.microphone:
            wrong.append(self.catalogue.say("about.no_microphone"))
            return []
        if self.controls.is_muted:
            return [self.catalogue.say("about.muted")]
        return [self.catalogue.say("about.microphone", name=self.health.microphone)]

    def _model(self, wrong: list[str]) -> list[str]:
        if not self.health.model:
            return [self.catalogue.say("about.no_model")]
        if self.health.is_model_away:
            wrong.append(self.catalogue.say("about.model_away", name=self.health.model))
            return []
        return [self.catalogue.say("about.model", name=self.health.model)]
