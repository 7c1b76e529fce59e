"""Home Assistant by voice: how the house is, switches, lights, heating, scenes."""

import contextlib

from core.plugin_loader import plugin_loader

from plugins.home_assistant.house.client import Client, HomeError, direct_hosts
from plugins.home_assistant.house.names import area_meant, kind_of, meant, name_of
from plugins.home_assistant.house.words import listed, state_of

ENABLED = True
EMOJI = "🏠"
AVAILABLE_FUNCTIONS = ["home_look", "home_areas", "home_switch", "home_light", "home_climate", "home_scene"]

_PLUGIN = "home_assistant"
#: What can be switched on and off without harm.
_SWITCHED = ("light", "switch", "fan", "input_boolean", "media_player", "humidifier", "group")
#: What is worth telling of an area, or of the house.
_TOLD = ("light", "switch", "fan", "climate", "media_player", "sensor", "binary_sensor")
_COLDEST, _WARMEST = 5.0, 30.0
#: Switching more than this at one word is asked back first.
_MOST_AT_ONCE = 12


def _tool(name, description, properties, required=()):
    return {
        "type": "function",
        "is_local": True,
        "network": True,
        "function": {
            "name": name,
            "description": description,
            "parameters": {"type": "object", "properties": properties, "required": list(required)},
        },
    }


def _tools(areas):
    """The schemas; the names of the areas help a model to say the right one."""
    where = f" The areas are: {', '.join(areas)}." if areas else ""
    name = {"type": "string", "description": f"What people call it, or an area, such as kitchen lights.{where}"}
    return [
        _tool("home_look", "Tell how a thing, an area, or (without a name) the house is now.", {"name": name}),
        _tool("home_areas", "Name the areas of the house, or what is in one of them.", {"name": name}),
        _tool(
            "home_switch",
            "Switch a thing, or all of one kind in an area, on or off: lights, plugs, fans, media players.",
            {"name": name, "to": {"type": "string", "enum": ["on", "off", "toggle"]}},
            ("name", "to"),
        ),
        _tool(
            "home_light",
            "Set how bright a light is, or its color; 0 percent is off.",
            {
                "name": name,
                "percent": {"type": "integer", "description": "0 to 100."},
                "color": {"type": "string", "description": "An English color name, such as red or warmwhite."},
            },
            ("name",),
        ),
        _tool(
            "home_climate",
            "Set the heating to a temperature, or a thermostat on or off.",
            {
                "name": name,
                "degrees": {"type": "number", "description": "In the unit of the house."},
                "to": {"type": "string", "enum": ["heat", "cool", "auto", "off"]},
            },
        ),
        _tool("home_scene", "Set a scene, such as good night.", {"name": name}, ("name",)),
    ]


def get_tools():
    """As above, with the areas that were found last."""
    areas = plugin_loader.get_plugin_state(_PLUGIN).get("areas", [])
    return _tools([area for area in areas if isinstance(area, str)])


TOOLS = _tools(())


def _hosts():
    return direct_hosts(plugin_loader.get_plugin_settings(_PLUGIN).get("url"))


with contextlib.suppress(ImportError):
    from core.socks_proxy import register_direct_hosts

    register_direct_hosts(_hosts, owner=_PLUGIN)


def execute(function_name, arguments, config, plugin_settings, credentials):
    arguments = arguments if isinstance(arguments, dict) else {}
    answer = {
        "home_look": _look,
        "home_areas": _areas,
        "home_switch": _switch,
        "home_light": _light,
        "home_climate": _climate,
        "home_scene": _scene,
    }.get(function_name)
    if answer is None:
        return "Unknown function", False
    try:
        return answer(Client(plugin_settings, credentials.get_ha_token()), arguments)
    except HomeError as error:
        return str(error), False


# ----------------------------------------------------------------------------------------------------- looking


def _look(home, arguments):
    name, things = _text(arguments, "name"), home.states()
    if not name:
        return _house(things)
    area = area_meant(name, _known_areas(home))
    found = _in_area(home, things, area, _TOLD) if area else meant(name, things)
    if not found:
        return f"I know nothing called {name}.", False
    if not area and len(found) > 1:
        return _which(found)
    return " ".join(f"{name_of(thing)} is {state_of(thing)}." for thing in _most_telling(found)), True


def _house(things):
    on = [name_of(thing) for thing in things if kind_of(thing) == "light" and thing["state"] == "on"]
    opened = [
        name_of(thing)
        for thing in things
        if kind_of(thing) == "binary_sensor" and state_of(thing) in ("open", "raising an alarm")
    ]
    climates = [thing for thing in things if kind_of(thing) == "climate"]
    sentences = [f"{listed(on)} {_is(on)} on." if on else "No light is on."]
    if opened:
        sentences.append(f"{listed(opened)} {_is(opened)} open or raising an alarm.")
    sentences += [f"{name_of(thing)} is {state_of(thing)}." for thing in climates[:3]]
    return " ".join(sentences), True


def _most_telling(things):
    """What is on, open or measured comes first; nobody listens to twenty sensors."""
    order = sorted(things, key=lambda thing: _TOLD.index(kind_of(thing)) if kind_of(thing) in _TOLD else 9)
    return order[:6]


def _areas(home, arguments):
    areas, name = _known_areas(home), _text(arguments, "name")
    if not areas:
        return "Home Assistant has no areas.", True
    area = area_meant(name, areas) if name else None
    if name and area is None:
        return f"There is no area {name}. There {_is(areas)} {listed(areas)}.", False
    if area is None:
        return f"The areas are {listed(areas)}.", True
    inside = [name_of(thing) for thing in _in_area(home, home.states(), area, _TOLD)]
    return f"In {area[0]} there {_is(inside)} {listed(inside)}." if inside else f"I see nothing in {area[0]}.", True


def _known_areas(home):
    """The areas; their names are kept for the descriptions of the tools."""
    areas = home.areas()
    state = plugin_loader.get_plugin_state(_PLUGIN)
    if state.get("areas") != sorted(areas):
        state.save("areas", sorted(areas))
    return areas


def _in_area(home, things, area, kinds):
    name, kind = area
    inside = set(home.areas().get(name, ()))
    wanted = (kind,) if kind else kinds
    return [thing for thing in things if thing["entity_id"] in inside and kind_of(thing) in wanted]


# ------------------------------------------------------------------------------------------------------ acting


def _switch(home, arguments):
    to = _text(arguments, "to").lower()
    if to not in ("on", "off", "toggle"):
        return "Shall I switch it on or off?", False
    found, problem = _chosen(home, arguments, _SWITCHED)
    if problem:
        return problem, False
    service = "toggle" if to == "toggle" else f"turn_{to}"
    for kind in dict.fromkeys(map(kind_of, found)):
        home.call("homeassistant" if kind == "group" else kind, service, _ids(found, kind))
    return f"{_named(found)} {_is(found)} {'switched' if to == 'toggle' else to}.", True


def _light(home, arguments):
    found, problem = _chosen(home, arguments, ("light",))
    if problem:
        return problem, False
    percent, color = _number(arguments.get("percent")), _text(arguments, "color").lower().replace(" ", "")
    if percent is None and not color:
        return f"How bright shall {_named(found)} be?", False
    if percent is not None and percent <= 0:
        home.call("light", "turn_off", _ids(found, "light"))
        return f"{_named(found)} {_is(found)} off.", True
    data = {} if percent is None else {"brightness_pct": min(round(percent), 100)}
    home.call("light", "turn_on", _ids(found, "light"), **data, **({"color_name": color} if color else {}))
    told = [f"at {data['brightness_pct']} percent"] if data else []
    return f"{_named(found)} {_is(found)} {' and '.join([*told, *([color] if color else [])])}.", True


def _climate(home, arguments):
    degrees, to = _number(arguments.get("degrees")), _text(arguments, "to").lower()
    if degrees is None and to not in ("heat", "cool", "auto", "off"):
        return "To how many degrees?", False
    found, problem = _chosen(home, {"name": _text(arguments, "name") or "heating"}, ("climate",))
    if problem:
        return problem, False
    ids = _ids(found, "climate")
    if to:
        home.call("climate", "set_hvac_mode", ids, hvac_mode=to)
    if degrees is None:
        return f"{_named(found)} {_is(found)} {'off' if to == 'off' else f'on {to}'}.", True
    coldest, warmest = _bounds(found)
    if not coldest <= degrees <= warmest:
        return f"I can set {_named(found)} from {coldest:g} to {warmest:g} degrees.", False
    home.call("climate", "set_temperature", ids, temperature=degrees)
    return f"{_named(found)} {_is(found)} set to {degrees:g} degrees.", True


def _bounds(found):
    """What all of them take, and no slip of the ear makes dangerous; a house in Fahrenheit shows it by its bounds."""
    lows = [low for thing in found if (low := _number(thing["attributes"].get("min_temp"))) is not None]
    highs = [high for thing in found if (high := _number(thing["attributes"].get("max_temp"))) is not None]
    coldest, warmest = max(lows, default=_COLDEST), min(highs, default=_WARMEST)
    return (coldest, warmest) if coldest > _WARMEST else (max(coldest, _COLDEST), min(warmest, _WARMEST))


def _scene(home, arguments):
    name = _text(arguments, "name")
    found = meant(name, [thing for thing in home.states() if kind_of(thing) == "scene"])
    if not found:
        return f"There is no scene called {name}." if name else "Which scene?", False
    if len(found) > 1:
        return _which(found)
    home.call("scene", "turn_on", _ids(found, "scene"))
    return f"{name_of(found[0])} is set.", True


# ------------------------------------------------------------------------------------------------------- small


def _chosen(home, arguments, kinds):
    """The things to act on, or a sentence why there are none: never more than was clearly meant."""
    name = _text(arguments, "name")
    if not name:
        return [], "Which one?"
    things = [thing for thing in home.states() if kind_of(thing) in kinds]
    if name == "heating" and kinds == ("climate",):
        found = things
    else:
        found = meant(name, things)
        area = area_meant(name, _known_areas(home)) if not _is_exact(name, found) else None
        if area:
            # "The kitchen" alone, to be switched, is its lights: nobody means the fridge.
            kind = area[1] or ("light" if "light" in kinds else kinds[0])
            found = _in_area(home, things, (area[0], kind), kinds)
            if not found:
                return [], f"I see no {kind.replace('_', ' ')} in {area[0]}."
        elif len(found) > 1:
            return [], _which(found)[0]
    if not found:
        return [], f"I know nothing called {name} that I can set."
    there = [thing for thing in found if thing["state"] != "unavailable"]
    if not there:
        return [], f"{_named(found)} {_is(found)} not answering."
    if len(there) > _MOST_AT_ONCE:
        return [], f"Those would be {len(there)} things at once. Please name fewer."
    return there, ""


def _is_exact(name, found):
    return len(found) == 1 and name_of(found[0]).casefold() == name.casefold()


def _which(found):
    return f"Which one: {listed(map(name_of, found), 'or')}?", False


def _named(found):
    """``Desk lamp``, ``Desk lamp and Floor lamp``, ``5 lights``."""
    kinds = set(map(kind_of, found))
    if len(found) > 3:
        kind = next(iter(kinds)).replace("_", " ") if len(kinds) == 1 else "thing"
        return f"{len(found)} {kind}{'es' if kind.endswith('ch') else 's'}"
    return listed(map(name_of, found))


def _is(found):
    return "is" if len(found) == 1 else "are"


def _ids(found, kind):
    return [thing["entity_id"] for thing in found if kind_of(thing) == kind]


def _text(arguments, key):
    value = arguments.get(key)
    return value.strip() if isinstance(value, str) else ""


def _number(value):
    try:
        return None if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
