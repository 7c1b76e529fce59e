"""Starts programs behind a blacklist of patterns; has no declared settings, only a file that it reads itself."""

import json
import re
import shlex
import subprocess
from pathlib import Path

ENABLED = True
EMOJI = "🛠️"
AVAILABLE_FUNCTIONS = ["workshop_run"]

TOOLS = [
    {
        "type": "function",
        "is_local": True,
        "function": {
            "name": "workshop_run",
            "description": "Runs a command.",
            "parameters": {
                "type": "object",
                "properties": {"command": {"type": "string"}, "timeout": {"type": "integer"}},
                "required": ["command"],
            },
        },
    }
]

DEFAULTS = {
    "blacklist": ["rm -rf /", "mkfs", "dd if=/dev", ":(){ :|:& };:"],
    "output_limit": 400,
}


def _load_settings():
    root = Path(__file__).parents[3]
    path = root / "user" / "webui" / "plugins" / "workshop.json"
    try:
        return {**DEFAULTS, **json.loads(path.read_text())}
    except (OSError, ValueError):
        return dict(DEFAULTS)


def _check_blacklist(command, blacklist):
    for pattern in blacklist:
        try:
            if re.search(pattern, command):
                return f"Blocked: matches '{pattern}'"
        except re.error:
            if pattern in command:
                return f"Blocked: contains '{pattern}'"
    return None


def execute(function_name, arguments, config):
    settings = _load_settings()
    command = arguments.get("command", "").strip()
    blocked = _check_blacklist(command, settings["blacklist"])
    if blocked:
        return blocked, False
    try:
        ran = subprocess.run(
            shlex.split(command), capture_output=True, text=True, timeout=min(arguments.get("timeout", 10), 30)
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"Error: {error}", False
    output = (ran.stdout + ran.stderr)[: settings["output_limit"]]
    return f"$ {command}\n{output}\nExit code: {ran.returncode}", ran.returncode == 0
