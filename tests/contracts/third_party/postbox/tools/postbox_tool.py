"""Three arguments; the scope imported when a call comes; a cache for each scope; no address ever shown.

Its settings are found four parents up, and its addresses in the database of another plugin.
"""

import json
import time
from pathlib import Path

from core import net
from core.credentials_manager import credentials

ENABLED = True
EMOJI = "📬"
AVAILABLE_FUNCTIONS = ["postbox_inbox", "postbox_recipients", "postbox_send"]

DEFAULTS = {"server": "", "max_letters": 5}
CACHE_TTL = 60
_cache = {}

_NOTHING = {"type": "object", "properties": {}}

TOOLS = [
    {
        "type": "function",
        "is_local": True,
        "function": {"name": "postbox_inbox", "description": "Lists the letters.", "parameters": _NOTHING},
    },
    {
        "type": "function",
        "is_local": True,
        "function": {"name": "postbox_recipients", "description": "Lists whom to write to.", "parameters": _NOTHING},
    },
    {
        "type": "function",
        "is_local": False,
        "network": True,
        "function": {
            "name": "postbox_send",
            "description": "Writes a letter.",
            "parameters": {
                "type": "object",
                "properties": {"recipient_id": {"type": "integer"}, "text": {"type": "string"}},
                "required": ["recipient_id", "text"],
            },
        },
    },
]


def _load_settings():
    path = Path(__file__).parent.parent.parent.parent / "user" / "webui" / "plugins" / "postbox.json"
    settings = DEFAULTS.copy()
    if path.exists():
        try:
            settings.update(json.loads(path.read_text()))
        except Exception:
            return DEFAULTS.copy()
    return settings


def _scope():
    try:
        from core.chat.function_manager import scope_postbox

        return scope_postbox.get()
    except ImportError:
        return "default"


def _get_cached(scope):
    entry = _cache.get(scope)
    if entry and time.time() - entry["timestamp"] < CACHE_TTL:
        return entry["data"]
    return None


def _invalidate(scope):
    _cache.pop(scope, None)


def _inbox(scope):
    cached = _get_cached(scope)
    if cached is not None:
        return f"{cached} (as of a moment ago)", True
    account = credentials.get_email_account(scope)
    if not account["address"]:
        return "No account is configured for this scope.", False
    server = _load_settings()["server"]
    response = net.post(
        f"{server}/inbox", json={"scope": scope}, auth=(account["address"], account["app_password"]), timeout=5
    )
    response.raise_for_status()
    letters = response.json()["letters"][: _load_settings()["max_letters"]]
    data = "\n".join(f"{number}. {letter}" for number, letter in enumerate(letters, start=1)) or "No letters"
    _cache[scope] = {"data": data, "timestamp": time.time()}
    return data, True


def _people():
    from plugins.notebook.tools.notebook import find_people

    return find_people()


def execute(function_name, arguments, config):
    scope = _scope()
    if scope is None:
        return "Postbox is disabled for this chat.", False
    if function_name == "postbox_inbox":
        return _inbox(scope)
    people = _people()
    if function_name == "postbox_recipients":
        return json.dumps([{"id": number, "name": name} for number, name, _ in people]), True
    if function_name == "postbox_send":
        found = next((address for number, _, address in people if number == arguments.get("recipient_id")), "")
        if not found:
            return "There is nobody with that id. List the recipients first.", False
        net.post(f"{_load_settings()['server']}/send", json={"to": found, "text": arguments["text"]}, timeout=5)
        _invalidate(scope)
        return "Sent.", True
    return f"Unknown function '{function_name}'", False
