"""``kotoba.tools.schemas_for``: the tool modules of this box, as a model is shown them.

The modules that plugins import hold no state; this asks the tools of the box that was loaded last.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from appliance.contracts.kotoba.module_tool import KotobaTool
from appliance.tools.tool import Risk


class _Offer:
    """What plugins may look at now."""

    tools: Callable[[], Iterable[KotobaTool]] = staticmethod(tuple)


def offer(tools: Callable[[], Iterable[KotobaTool]]) -> None:
    """Let plugins see these from now on."""
    _Offer.tools = staticmethod(tools)


def schemas_for(*, allow_risk: Collection[str] | None = None) -> list[dict[str, Any]]:
    """The schemas of the tools that are available now, in the order of loading; of these risks only, else of all."""
    risks = set(Risk) if allow_risk is None else set(allow_risk)
    return [dict(tool.schema()) for tool in list(_Offer.tools()) if tool.risk in risks and _is_shown(tool)]


def _is_shown(tool: KotobaTool) -> bool:
    if not tool.available():
        return False
    try:
        tool.schema()
    except ValueError:
        return False
    return True
