"""Four arguments; a description made of the settings; the settings read relative to the working folder."""

import json
from pathlib import Path

from core import net

ENABLED = True
EMOJI = "⛅"
AVAILABLE_FUNCTIONS = ["weather_now"]


def _load_settings():
    path = Path("user/webui/plugins/weather.json")
    if path.exists():
        return json.loads(path.read_text())
    return {}


def get_tools():
    place = _load_settings().get("place") or "the garden"
    return [
        {
            "type": "function",
            "is_local": True,
            "function": {
                "name": "weather_now",
                "description": f"The weather in {place} as it is now.",
                "parameters": {
                    "type": "object",
                    "properties": {"days": {"type": "integer", "description": "Days to look ahead"}},
                    "required": [],
                },
            },
        }
    ]


TOOLS = get_tools()


def execute(function_name, arguments, config, plugin_settings=None):
    if function_name != "weather_now":
        return f"Unknown function '{function_name}'", False
    station = plugin_settings.get("station")
    if not station:
        return "No station is configured. Tell the user to set one.", False
    session = net.session_for(station)
    lines = []
    for day in range(1 + arguments.get("days", 0)):
        response = session.get(f"{station}/day/{day}", timeout=10)
        if response.status_code != 200:
            return f"The station answered {response.status_code}", False
        lines.append(f"Day {day}: {response.json()['degrees']} °{plugin_settings['unit']}")
    return "\n".join(lines), True
