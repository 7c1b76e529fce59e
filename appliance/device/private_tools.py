"""Private chats by voice: begin one, end it, delete it.

Opening an old one needs the passphrase, which nobody should say aloud.
"""

from __future__ import annotations

from dataclasses import dataclass

from appliance.catalogue import Catalogue
from appliance.device.box_tool import Arguments, BoxTool, CannotError, flag_of
from appliance.device.controls import PrivateTalk
from appliance.errors import NoPassphraseError
from appliance.tools.tool import CallContext, Risk


def private_tools(talk: PrivateTalk, catalogue: Catalogue) -> list[BoxTool]:
    """``box_private_begin`` and ``box_private_end``; no model decides who may read what was said."""
    work = _Private(talk, catalogue)
    return [
        BoxTool(
            name="box_private_begin",
            description="Begin a private chat.",
            work=work.begin,
            catalogue=catalogue,
            risk=Risk.WRITE,
            is_offered=False,
        ),
        BoxTool(
            name="box_private_end",
            description="End the private chat and lock it, or delete it for good.",
            work=work.end,
            catalogue=catalogue,
            parameters={"is_deleted": {"type": "boolean", "description": "Delete it for good."}},
            risk=Risk.WRITE,
            is_offered=False,
        ),
    ]


@dataclass(frozen=True)
class _Private:
    talk: PrivateTalk
    catalogue: Catalogue

    async def begin(self, arguments: Arguments, context: CallContext) -> str:
        """Go on where nobody reads along."""
        if self.talk.is_private:
            return self.catalogue.say("private.already")
        try:
            await self.talk.begin_private()
        except NoPassphraseError as error:
            raise CannotError(self.catalogue.say("private.no_passphrase")) from error
        return self.catalogue.say("private.begun")

    async def end(self, arguments: Arguments, context: CallContext) -> str:
        """Back to the usual conversation."""
        is_deleted = flag_of(arguments, "is_deleted")
        if not await self.talk.end_private(is_deleted=is_deleted):
            return self.catalogue.say("private.not_private")
        return self.catalogue.say("private.deleted" if is_deleted else "private.ended")
