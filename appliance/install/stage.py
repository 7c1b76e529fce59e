"""A stage: a private folder in which a plugin lies as it will lie among the plugins, before anybody has said yes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from appliance.tools.inspection import Contract as Contract
from appliance.tools.inspection import Inspection as Inspection
from appliance.tools.inspection import Inspector as Inspector
from appliance.tools.inspection import ToolFacts as ToolFacts


@dataclass(frozen=True)
class Staged:
    """A plugin on its stage. ``place`` is what is moved among the plugins, a folder or a lone file.

    ``place_name`` is its name there, ``name`` that of the plugin, ``origin`` says in words where it came from.
    ``files`` maps each path inside ("/" between) to the SHA-256 of its bytes, as a ``PluginPin`` does, and ``digest``
    is one over all of them. ``remarks`` are sentences on what was left out on the way.
    """

    place: Path
    place_name: str
    name: str
    contract: Contract
    version: str
    origin: str
    files: Mapping[str, str]
    digest: str
    remarks: tuple[str, ...] = ()
