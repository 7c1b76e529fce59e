"""``kotoba.tools.ToolSpec`` and what would register one.

A plugin is governed by its switch, so its tools come from its files and entry points alone: registering by hand adds
nothing here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from appliance.contracts.plugin_call import current_plugin

_LOG = logging.getLogger(__name__)


def _always() -> bool:
    return True


@dataclass
class ToolSpec:
    """A tool as the original host keeps it."""

    name: str
    module: Any
    schema: dict[str, Any]
    toolset: str = "core"
    risk: str = "read"
    built_in: bool = False
    check: Callable[[], bool] = _always
    expressions: dict[str, str] | None = None


def register(spec: ToolSpec, *, allow_override: bool = True) -> None:
    """Adds nothing, and says so in the log: a tool is a file of its plugin."""
    _LOG.warning(
        "plugin %s registers %s by hand, which adds nothing: a tool is a file with SCHEMA and execute",
        current_plugin() or "(unknown)",
        getattr(spec, "name", "a tool"),
    )


def discover() -> None:
    """Nothing: the box has loaded the plugins that are switched on."""
