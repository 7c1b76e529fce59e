"""New plugins: a small whole one of each contract, with a test, to be changed by its author."""

from __future__ import annotations

import json
import re
from pathlib import Path

from appliance.contracts.listing import MODULE
from appliance.errors import UsageError

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")

_MODULE = '''"""Greets people: a tool module. What a model knows of it is the description in SCHEMA."""

from kotoba.core.loop import note_tool_refusal

SCHEMA = {
    "type": "function",
    "name": "@TOOL@",
    "description": "Greet somebody by name. Use it when the user wants somebody to be greeted.",
    "parameters": {
        "type": "object",
        "properties": {"who": {"type": "string", "description": "The name of whom to greet."}},
        "required": ["who"],
        "additionalProperties": False,
    },
}

# read, write, exec or network: say what is true. All but read are recorded; exec waits for a press of the button.
RISK = "read"

# Said around a call. A tool that answers at once needs only FAIL; a slow one wants all four.
ANNOUNCE = ""
HEARTBEAT = []
COMPLETE = ""
FAIL = "I could not greet anybody."


async def execute(args, ctx):
    # Nothing checks the arguments against SCHEMA: a model may leave any of them out.
    who = str((args or {}).get("who") or "").strip()
    if not who:
        note_tool_refusal(ctx)
        return "Nobody was named. Ask the user whom to greet."
    return f"Hello, {who}!"
'''

_TOOL = '''"""Greets people: a tool file. What a model knows of it are the descriptions in TOOLS."""

ENABLED = True
EMOJI = "👋"
AVAILABLE_FUNCTIONS = ["@TOOL@"]

TOOLS = [
    {
        "type": "function",
        # True: it stays in the house, and runs in private chats too. False or "endpoint": it goes out.
        "is_local": True,
        "function": {
            "name": "@TOOL@",
            "description": "Greet somebody by name. Use it when the user wants somebody to be greeted.",
            "parameters": {
                "type": "object",
                "properties": {"who": {"type": "string", "description": "The name of whom to greet."}},
                "required": ["who"],
            },
        },
    }
]


def execute(function_name, arguments, config, plugin_settings=None):
    """(message for the model, whether it went well)."""
    if function_name != "@TOOL@":
        return "Unknown function", False
    # Nothing checks that an argument is there: a model may leave any of them out.
    who = str(arguments.get("who") or "").strip()
    if not who:
        return "Nobody was named. Ask the user whom to greet.", False
    greeting = (plugin_settings or {}).get("greeting") or "Hello"
    return f"{greeting}, {who}!", True
'''

_TEST = '''"""Run with: appliance plugin test @PLUGIN@. The arguments of the tests are fixtures of the author's kit."""


def test_it_greets(plugin):
    assert plugin.call("@TOOL@", who="Ada").text == "Hello, Ada!"


def test_without_a_name_it_says_what_is_missing(plugin):
    result = plugin.call("@TOOL@")
    assert result.outcome == "@NAMELESS@"
    assert "Nobody was named" in result.text


def test_a_model_can_use_it_and_the_box_says_the_answer(plugin, model):
    model.calls("@TOOL@", who="Ada")
    model.says("I said hello to Ada.")
    turn = plugin.ask("greet Ada for me")
    assert model.results == ["Hello, Ada!"]
    assert turn.said[-1] == "I said hello to Ada."
'''


def skeleton(name: str, contract: str) -> dict[str, str]:
    """Relative path -> text of a new plugin. Raises ``UsageError`` for a name that is none."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be the name of a plugin: small letters, digits, _ and -, a letter first, at most 40"
        )
    tool = name.replace("-", "_")
    if tool.startswith("box_"):
        raise UsageError("names that begin with box_ are the box's own; choose another")
    if contract == MODULE:
        return {f"{tool}.py": _fill(_MODULE, name), f"tests/test_{tool}.py": _test(name, "refused")}
    return {
        "plugin.json": _manifest(name, tool),
        f"tools/{tool}.py": _fill(_TOOL, name),
        f"tests/test_{tool}.py": _test(name, "failed"),
    }


def write_skeleton(folder: Path, name: str, contract: str) -> list[Path]:
    """Write a new plugin into ``folder / name``, which must not exist; its files.

    Raises ``UsageError``, ``OSError``.
    """
    files = skeleton(name, contract)
    place = folder / name
    if place.exists() or place.with_suffix(".py").exists():
        raise UsageError(f"{place} exists already; choose another name, or another --folder")
    for relative, text in files.items():
        path = place / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [place / relative for relative in files]


def _fill(template: str, name: str) -> str:
    return template.replace("@TOOL@", name.replace("-", "_")).replace("@PLUGIN@", name)


def _test(name: str, nameless: str) -> str:
    return _fill(_TEST, name).replace("@NAMELESS@", nameless)


def _manifest(name: str, tool: str) -> str:
    manifest = {
        "name": name,
        "version": "0.1.0",
        "description": "Greets people by name.",
        "short_display_name": name.replace("_", " ").replace("-", " ").capitalize(),
        "default_enabled": True,
        "capabilities": {
            "tools": [f"tools/{tool}.py"],
            "settings": [
                {
                    "key": "greeting",
                    "type": "string",
                    "label": "Greeting",
                    "default": "Hello",
                    "help": "The word before the name.",
                }
            ],
        },
    }
    return json.dumps(manifest, indent=2) + "\n"
