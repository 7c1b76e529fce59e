"""The names that a tool module may import: thin modules, made from one table by one finder.

Nothing of the original host is installed; ``from kotoba.tools import ToolContext`` works all the same, at the top of
a file or inside ``execute``, in any order. The modules hold no state.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import pkgutil
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

_HERE = "appliance.contracts.kotoba"

#: Module -> name in it -> where the real thing is.
OFFERED: Mapping[str, Mapping[str, str]] = {
    "kotoba": {},
    "kotoba.tools": {
        "ToolContext": f"{_HERE}.context:ToolContext",
        "ToolResult": f"{_HERE}.returns:ToolResult",
        "ToolSpec": f"{_HERE}.tool_spec:ToolSpec",
        "discover": f"{_HERE}.tool_spec:discover",
        "register": f"{_HERE}.tool_spec:register",
        "schemas_for": f"{_HERE}.schemas:schemas_for",
    },
    "kotoba.core": {},
    "kotoba.core.deferred_exec": {
        name: f"{_HERE}.background:{name}" for name in ("NothingRan", "is_pending", "ran_nothing", "schedule")
    },
    "kotoba.core.ephemeral_secrets": {name: f"{_HERE}.once_secrets:{name}" for name in ("clear", "get", "put")},
    "kotoba.core.events": {
        name: f"{_HERE}.frames:{name}" for name in ("draws_cards", "emit_emotion", "emit_task", "has_listener")
    },
    "kotoba.core.emotions": {"VALID_EMOTIONS": f"{_HERE}.attributes:VALID_EMOTIONS"},
    "kotoba.core.interaction": {
        name: f"{_HERE}.interaction:{name}"
        for name in (
            *("APPROVED", "DECLINED", "UNANSWERED", "UNREACHABLE", "DISMISSED"),
            *("ask_approval", "request_approval", "request_input", "open_input_card", "open_link_card", "has_pending"),
            *("note_no_run", "no_run_verdict", "no_run_result", "refusal_note", "el_agent_turn"),
        )
    },
    "kotoba.core.llm": {"get_client": f"{_HERE}.background:get_client"},
    "kotoba.core.loop": {
        "note_tool_failure": f"{_HERE}.witness:note_tool_failure",
        "note_tool_refusal": f"{_HERE}.witness:note_tool_refusal",
    },
    "kotoba.core.approval": {
        "ApprovalGate": f"{_HERE}.context:Approval",
        "detect_dangerous": f"{_HERE}.asking:detect_dangerous",
    },
    "kotoba.core.quoted": {"fence": f"{_HERE}.quoted:fence"},
    "kotoba.core.sandbox": {
        name: f"{_HERE}.sandbox.offered:{name}" for name in ("backend_name", "create_sandbox", "sandbox_available_sync")
    },
    "kotoba.core.path_security": {
        "PathSecurityError": f"{_HERE}.path_security:PathSecurityError",
        "validate_within_dir": f"{_HERE}.path_security:validate_within_dir",
    },
    # Can be imported, and have nothing: the box keeps no such memory, and its soul is not a plugin's.
    "kotoba.core.user_memory": {},
    "kotoba.core.work_state": {name: f"{_HERE}.background:{name}" for name in ("get", "is_running", "set_step")},
    "kotoba.soul": {},
    "kotoba.soul.prompt": {},
}


class OfferedModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Serves the modules of the table; any other name of the same family is an ``ImportError`` that says so."""

    @classmethod
    def install(cls) -> None:
        """Serve the names from now on; a second time changes nothing."""
        if not any(isinstance(finder, cls) for finder in sys.meta_path):
            # In front: a package of that name that happens to be installed must not answer instead.
            sys.meta_path.insert(0, cls())

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """As the import system asks."""
        if fullname in OFFERED:
            is_package = any(name.startswith(f"{fullname}.") for name in OFFERED)
            return importlib.machinery.ModuleSpec(fullname, self, is_package=is_package)
        if fullname.partition(".")[0] in OFFERED:
            raise ModuleNotFoundError(
                f"this box does not offer {fullname}; it offers {', '.join(filled())}", name=fullname
            )
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Fill the module."""
        names = OFFERED[module.__name__]
        for name, place in names.items():
            setattr(module, name, pkgutil.resolve_name(place))
        module.__doc__ = f"{module.__name__}, as far as this box offers it."
        vars(module)["__all__"] = sorted(names)
        vars(module)["__getattr__"] = _Missing(module.__name__)


class _Missing:
    """The ``__getattr__`` of an offered module."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __call__(self, name: str) -> Any:
        raise AttributeError(not_offered(self._module, name))


def filled() -> list[str]:
    """The modules that hold names."""
    return [name for name, names in OFFERED.items() if names]


def not_offered(module: str, name: str) -> str:
    """The sentence for a name that an offered module does not have."""
    names = ", ".join(sorted(OFFERED.get(module, {}))) or "nothing"
    return f"this box does not offer {name} in {module}; it offers there: {names}"
