"""A home with a plugin manager, and plugins to bring."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from appliance.adapters.signing import LibraryEd25519
from appliance.contracts.switch import PluginSwitch
from appliance.errors import NetworkError
from appliance.home import Home
from appliance.install.manager import Outside, PluginManager
from appliance.install.packages import OwnPackages
from appliance.install.places import Places
from appliance.install.stage import Contract, Inspection, ToolFacts
from appliance.network.proxy import Proxy

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)

TIDES = """
SCHEMA = {{"type": "function", "name": "tides", "description": "Tides.", "parameters": {{"type": "object"}}}}
async def execute(args, ctx):
    return "{says}"
"""


class PlainInspector:
    """Sees names of tools and requirements, and refuses what says so."""

    def inspect(self, place: Path, taken: Mapping[str, str]) -> Inspection:
        sources = [place] if place.is_file() else sorted(place.rglob("*.py"))
        text = "\n".join(path.read_text() for path in sources)
        names = re.findall(r'"name": "(\w+)"', text)
        needs = place / "requirements.txt"
        return Inspection(
            name=place.name.removesuffix(".py"),
            contract=Contract.MODULE,
            tools=tuple(ToolFacts(name, "read", "it says so") for name in names),
            requirements=tuple(needs.read_text().split()) if needs.is_file() else (),
            refusals=tuple(f"its tool {name} is one of {taken[name]}" for name in names if name in taken),
        )


class NoFetch:
    """Nothing is on another machine."""

    def download(self, url: str, file: Path, most_bytes: int) -> None:
        raise NetworkError(f"{url} is not there")

    def proxy_for(self, url: str) -> Proxy | None:
        return None


class Manager(PluginManager):
    """The manager of a home in ``folder``; packages come from ``wheels``."""

    def __init__(self, folder: Path, wheels: Path | None = None) -> None:
        self.home = Home(folder)
        self.places = Places(self.home)
        self.switch = PluginSwitch(self.home.switch_file)
        index = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels or folder)}
        packages = OwnPackages(lambda: {**os.environ, **index})
        outside = Outside(PlainInspector(), NoFetch(), LibraryEd25519(), packages, lambda: NOON)
        super().__init__(self.home, self.switch, outside)

    def install(self, source: Path, *, enable: bool = False, downgrade: bool = False) -> None:
        """The whole way."""
        with self.at_work():
            plan = self.look_at(str(source))
            if not plan.is_here:
                self.check(plan, downgrade=downgrade)
                self.carry_out(self.prepare(plan, enable=enable))

    def rollback(self, name: str) -> None:
        """The whole way."""
        with self.at_work():
            self.carry_out(self.prepare_rollback(name))

    def remove(self, name: str) -> None:
        """The whole way."""
        with self.at_work():
            self.carry_out(self.prepare_removal(name))

    def said_by(self, name: str) -> str:
        """What the live plugin says, "" when there is none."""
        file = self.places.plugins / name / f"{name}.py"
        found = re.search(r'return "(\w+)"', file.read_text()) if file.exists() else None
        return found[1] if found else ""


def tides(folder: Path, says: str, **more: str) -> Path:
    """A plugin's folder ``tides`` below ``folder/says``."""
    place = folder / says / "tides"
    for name, text in {"tides.py": TIDES.format(says=says), "notes.txt": f"This is {says}.\n", **more}.items():
        file = place / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return place
