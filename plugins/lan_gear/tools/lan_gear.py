"""What is on the home network, what is new, and where a thing is."""

import json
import threading
import time

from plugins.lan_gear.gear.find import records_like, things_like
from plugins.lan_gear.gear.look import NoNetworkError, look
from plugins.lan_gear.gear.memory import recall, remember
from plugins.lan_gear.gear.words import lines, told, told_found, told_new

ENABLED = True
EMOJI = "📡"
AVAILABLE_FUNCTIONS = ["lan_gear_look", "lan_gear_find"]

_FORM = {
    "type": "string",
    "enum": ["words", "brief", "data"],
    "description": "words (default): a sentence, then every thing; brief: the sentence alone; data: JSON.",
}
TOOLS = [
    {
        "type": "function",
        "is_local": True,
        "network": True,
        "function": {
            "name": "lan_gear_look",
            "description": "Look at what is on the home network now: routers, printers, cameras, TVs, speakers, "
            "storage, hubs, computers, lights; and what is new since yesterday. Takes some seconds.",
            "parameters": {
                "type": "object",
                "properties": {
                    "about": {
                        "type": "string",
                        "enum": ["all", "new"],
                        "description": "all (default), or only what is new.",
                    },
                    "scan": {
                        "type": "boolean",
                        "description": "Also knock at every address. Only when the person asks for a scan.",
                    },
                    "form": _FORM,
                },
                "required": [],
            },
        },
    },
    {
        "type": "function",
        "is_local": True,
        "network": True,
        "function": {
            "name": "lan_gear_find",
            "description": "Find one thing on the home network: its name and address, or where it was last seen.",
            "parameters": {
                "type": "object",
                "properties": {
                    "what": {
                        "type": "string",
                        "description": "A kind or a name, for example printer, living room TV, Brother.",
                    },
                    "form": _FORM,
                },
                "required": ["what"],
            },
        },
    },
]

#: A question right after a look is answered from that look.
_FRESH_SECONDS = 60.0
_NO_NETWORK = "I am not on a network now, so there is nothing to see."
_lock = threading.Lock()
_last = {"at": None, "things": []}


def execute(function_name, arguments, config):
    arguments = arguments if isinstance(arguments, dict) else {}
    answer = {"lan_gear_look": _look, "lan_gear_find": _find}.get(function_name)
    if answer is None:
        return "Unknown function", False
    try:
        return answer(arguments), True
    except NoNetworkError:
        return _NO_NETWORK, False
    except OSError as error:
        return f"I could not look at the network: {error.strerror or 'the system refused'}.", False


def _look(arguments):
    things, news, now = _see(scan=str(arguments.get("scan", False)).lower() in ("true", "1", "yes"))
    form = arguments.get("form")
    if form == "data":
        return _data(things, news)
    is_about_new = arguments.get("about") == "new"
    text = told_new(things, news, now) if is_about_new else told(things, news, now)
    shown = news.new if is_about_new else things
    return text if form == "brief" or not shown else f"{text}\n\n{lines(shown, news.new)}"


def _find(arguments):
    what = str(arguments.get("what") or "").strip()
    if not what:
        return "Which thing shall I find? Name a kind, such as printer, or a name."
    with _lock:
        is_fresh = _last["at"] is not None and time.monotonic() - _last["at"] < _FRESH_SECONDS
        things = list(_last["things"])
    if not is_fresh:
        things, _news, _now = _see()
    found, past = things_like(what, things), []
    if not found:
        past = records_like(what, recall(_store()))
    if arguments.get("form") == "data":
        return json.dumps({"things": [_row(thing) for thing in found], "last_seen": past[:3]}, ensure_ascii=False)
    text = told_found(what, found, past, time.time())
    return text if arguments.get("form") == "brief" or not found else f"{text}\n\n{lines(found, ())}"


def _see(scan=False):
    """One look, remembered; with what is new and the time of it."""
    things, now = look(scan=scan), time.time()
    with _lock:
        _last.update(at=time.monotonic(), things=things)
    return things, remember(_store(), things, now), now


def _store():
    from core.plugin_loader import plugin_loader

    return plugin_loader.get_plugin_state("lan_gear")


def _data(things, news):
    new = {thing.address for thing in news.new}
    rows = [
        {**_row(thing), "first_seen": news.first_seen[thing.address], "is_new": thing.address in new}
        for thing in things
    ]
    return json.dumps({"things": rows, "new_since": news.since}, ensure_ascii=False)


def _row(thing):
    return {
        "name": thing.name,
        "kind": thing.kind,
        "also": list(thing.also),
        "confidence": thing.confidence,
        "address": thing.address,
        "addresses": list(thing.addresses),
        "lane": thing.lane,
        "model": thing.model,
        "mac": thing.mac,
        "host_name": thing.host_name,
        "evidence": [
            {"source": item.source, "says": item.says, "kind": item.kind, "weight": item.weight}
            for item in thing.evidence
        ],
    }
