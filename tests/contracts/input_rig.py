"""A tool that asks for words, the desk that brings its questions to a person, and a shell that may answer them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from appliance.adapters.fakes.person import FakePerson
from appliance.approve.config import ApprovalConfig
from appliance.catalogue import Catalogue
from appliance.contracts.kotoba.contract import KotobaContract
from appliance.contracts.kotoba.discover import PluginRoot, Source
from appliance.contracts.kotoba.input_desk import InputDesk, Voices
from appliance.contracts.kotoba.module_tool import Surroundings
from appliance.contracts.switch import PluginSwitch
from appliance.home import shipped
from appliance.ports import Answer
from appliance.store.credentials import Credentials
from tests.contracts.gate import until
from tests.contracts.rig import Rig

#: What a tool of the original host does with the ending of its question.
ASK = """
from kotoba.core.interaction import note_no_run, refusal_note, request_input
card = {}
value = await request_input(ctx.session_id, args.get("label", "Your postal code"), args.get("kind", "text"),
                            timeout=args.get("seconds", 180.0), card=card)
if not value:
    note_no_run(ctx, card["verdict"])
    return f"{card['verdict']} {value!r} " + refusal_note(card["verdict"], "asking")
return f"{card['verdict']} {value}"
"""


class InputRig(Rig):
    """A box with nothing but tool modules, and a person who gives these answers."""

    def __init__(self, folder: Path, answers: Iterable[Answer] = (), *, is_shell_open: bool = True) -> None:
        super().__init__(folder)
        self.person = FakePerson(answers)
        self.shown: list[str] = []
        self.secrets = Credentials(folder / "credentials.json", {}, self.clock)
        self.desk = InputDesk(
            Voices(self.person.say, lambda *asked: self.person.ask(*asked), self.shown.append),
            clock=self.clock,
            catalogue=Catalogue.load(shipped("soul"), "en"),
            window_seconds=ApprovalConfig().window_seconds,
            is_shell_open=lambda: is_shell_open,
            hide=self.secrets.hide,
        )
        self.contract = KotobaContract(
            host=self.host,
            clock=self.clock,
            roots=[PluginRoot(self.home, Source.OWNER)],
            switch=PluginSwitch(self.switch_file),
            surroundings=Surroundings(workdir=folder / "workdir", ask_input=self.desk.ask, secrets=self.secrets),
            entry_points=lambda: (),
        )

    async def is_asked(self) -> str:
        """Wait until a question waits for a shell; its number."""
        await until(lambda: bool(self.desk.waiting))
        return self.desk.waiting[0].number
