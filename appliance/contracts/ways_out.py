"""How a plugin reaches other machines, as far as its source tells."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from appliance.contracts.sapphire.risk import imported_names, network_module
from appliance.contracts.syntax import parsed

_FACADE = "core.net: into the house directly, outside by the way that you set; appliance net seen shows the hosts"
_NONE = "none: its code names no way to another machine"


def ways_out(files: Iterable[Path]) -> tuple[str, ...]:
    """Sentences. Reads the disk."""
    names = {name for file in files for name in _names(file)}
    own = sorted({name.partition(".")[0] for name in names if network_module(name) and not name.startswith("core.")})
    found = [_FACADE] if any(name.startswith(("core.net", "core.socks_proxy")) for name in names) else []
    if own:
        found.append(f"connections of its own ({', '.join(own)}): they follow your proxy if they heed the environment")
    return tuple(found or [_NONE])


def _names(file: Path) -> list[str]:
    try:
        return list(imported_names(parsed(file.read_bytes())))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
