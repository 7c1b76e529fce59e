"""Tools for talk about the talk: stop, repeat, more, new topic, forget, what was heard, what was done."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.catalogue import Catalogue
from appliance.device.box_tool import Arguments, BoxTool, flag_of
from appliance.device.controls import BoxControls, Ringing, TurnMemory
from appliance.device.entry import RingEnding
from appliance.device.ringer import RingAnswer
from appliance.device.why_tool import DeedTeller
from appliance.tools.tool import CallContext, Risk


def conversation_tools(
    *,
    controls: BoxControls,
    memory: TurnMemory,
    ringing: Ringing,
    catalogue: Catalogue,
    deeds: DeedTeller,
) -> list[BoxTool]:
    """``box_stop`` and the rest; a model gets only what it cannot do by itself."""
    talk = _Talk(controls, memory, ringing, catalogue, deeds)
    return [
        BoxTool(
            name="box_stop",
            description="Stop what rings or goes on in the background.",
            work=talk.stop,
            catalogue=catalogue,
        ),
        BoxTool(
            name="box_new_topic",
            description="Begin a new topic: what was said before is no longer part of the conversation.",
            work=talk.new_topic,
            catalogue=catalogue,
            risk=Risk.WRITE,
        ),
        BoxTool(
            name="box_forget",
            description="Delete the last exchange of this conversation for good, when the person asks to forget it.",
            work=talk.forget,
            catalogue=catalogue,
            risk=Risk.WRITE,
        ),
        BoxTool(
            name="box_repeat",
            description="Say the last answer again.",
            work=talk.repeat,
            catalogue=catalogue,
            is_offered=False,
        ),
        BoxTool(
            name="box_more",
            description="Go on with an answer that was cut short.",
            work=talk.more,
            catalogue=catalogue,
            parameters={"is_yes": {"type": "boolean", "description": "The person only said yes."}},
            is_offered=False,
        ),
        BoxTool(
            name="box_heard",
            description="Tell what was heard last.",
            work=talk.heard,
            catalogue=catalogue,
            is_offered=False,
        ),
        BoxTool(
            name="box_did",
            description="Tell what was done last.",
            work=talk.did,
            catalogue=catalogue,
            is_offered=False,
        ),
    ]


@dataclass(frozen=True)
class _Talk:
    controls: BoxControls
    memory: TurnMemory
    ringing: Ringing
    catalogue: Catalogue
    deeds: DeedTeller

    async def stop(self, arguments: Arguments, context: CallContext) -> str:
        """Silence first, then whatever else goes on."""
        await self.ringing.end(RingAnswer(RingEnding.STOPPED))
        self.controls.stop_everything()
        return self.catalogue.say("talk.stopped")

    async def repeat(self, arguments: Arguments, context: CallContext) -> str:
        """The last reply once more."""
        return self.memory.last_reply or self.catalogue.say("talk.nothing_said")

    async def more(self, arguments: Arguments, context: CallContext) -> str:
        """The rest of a reply that was cut short; "yes" without such a rest is only polite."""
        rest = self.memory.take_more()
        if rest:
            return rest
        return self.catalogue.say("talk.okay" if flag_of(arguments, "is_yes") else "talk.no_more")

    async def new_topic(self, arguments: Arguments, context: CallContext) -> str:
        """Leave what was said behind."""
        await self.memory.new_topic()
        return self.catalogue.say("talk.new_topic")

    async def forget(self, arguments: Arguments, context: CallContext) -> str:
        """Delete the last turn."""
        is_forgotten = await self.memory.forget_last()
        return self.catalogue.say("talk.forgotten" if is_forgotten else "talk.nothing_to_forget")

    async def heard(self, arguments: Arguments, context: CallContext) -> str:
        """What the person said last, as it was understood."""
        heard = self.memory.last_heard
        return self.catalogue.say("talk.heard", text=heard) if heard else self.catalogue.say("talk.nothing_heard")

    async def did(self, arguments: Arguments, context: CallContext) -> str:
        """What tools did in the last turn; when they did nothing there, the last deed in the audit trail."""
        did = self.memory.last_did
        if did:
            return self.catalogue.say("talk.did", list=" ".join(did))
        return await self.deeds.what(context.channel == "voice") or self.catalogue.say("talk.did_nothing")
