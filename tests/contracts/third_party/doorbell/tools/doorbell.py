"""A tool that shares its daemon's module, whichever of the two is opened first."""

import importlib

from core.plugin_loader import plugin_loader

ENABLED = True
EMOJI = "🔔"
AVAILABLE_FUNCTIONS = ["doorbell_ring", "doorbell_who"]

_NOTHING = {"type": "object", "properties": {}}
TOOLS = [
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "doorbell_ring",
            "description": "Rings the bell.",
            "parameters": {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]},
        },
    },
    {
        "type": "function",
        "is_local": True,
        "function": {"name": "doorbell_who", "description": "Says who rang last.", "parameters": _NOTHING},
    },
]


def _daemon():
    return importlib.import_module("plugins.doorbell.daemon")


def execute(function_name, arguments, config):
    daemon = _daemon()
    if not daemon.is_listening():
        return "Nobody listens to the bell.", False
    if function_name == "doorbell_ring":
        daemon.ring(arguments["who"])
        daemon.settle()
        return f"Rang at the {daemon.door}.", True
    if function_name == "doorbell_who":
        count = plugin_loader.get_plugin_state("doorbell").get("count", 0)
        return f"{daemon.last_ring} rang last; {count} in all", True
    return "Unknown function", False
