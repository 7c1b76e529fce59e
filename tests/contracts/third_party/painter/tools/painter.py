"""Five arguments; a key from the credentials; a job that is asked for, waited for and fetched; a picture at the end."""

import requests
from core import images as ci
from core import net

EMOJI = "🎨"
AVAILABLE_FUNCTIONS = ["painter_paint"]

TOOLS = [
    {
        "type": "function",
        "network": True,
        "function": {
            "name": "painter_paint",
            "description": "Paints a picture of what is described.",
            "parameters": {
                "type": "object",
                "properties": {"prompt": {"type": "string"}, "seed": {"type": "integer"}},
                "required": ["prompt"],
            },
        },
    }
]


def execute(function_name, arguments, config, plugin_settings, credentials):
    server = plugin_settings["server"].rstrip("/")
    headers = {"Authorization": f"Bearer {credentials.get_service_api_key('painter')}"}
    try:
        job = net.post(f"{server}/prompt", json=arguments, headers=headers, timeout=10).json()["id"]
        done = net.get(f"{server}/history/{job}", headers=headers, timeout=10).json()
        raw = net.get(f"{server}/view", params={"file": done["file"]}, headers=headers, timeout=10).content
    except requests.exceptions.ConnectionError:
        return f"The machine at {server} is not reachable. Tell the user to switch it on.", False
    try:
        picture = ci.for_chat(raw)
    except ci.ImageError as error:
        return f"The machine painted no picture: {error}", False
    text = f"Painted it, seed={arguments.get('seed', 1)}"
    return ci.result(text, [picture], display_only=plugin_settings["for_eyes_only"]), True
