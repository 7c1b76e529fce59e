"""Short sentences to be spoken."""

_UNITS = {"°C": "degrees", "°F": "degrees Fahrenheit", "%": "percent", "W": "watts", "kWh": "kilowatt hours"}
#: States of sensors that only say yes or no, by what they measure: (yes, no).
_YES_NO = {
    **dict.fromkeys(("door", "window", "opening", "garage_door"), ("open", "closed")),
    **dict.fromkeys(("motion", "occupancy", "presence"), ("active", "quiet")),
    **dict.fromkeys(("moisture", "smoke", "gas", "problem", "safety"), ("raising an alarm", "fine")),
    "battery": ("low", "fine"),
    "connectivity": ("connected", "away"),
}
_MOST_NAMES = 5


def listed(names, last="and"):
    """``A, B and C``; a long list is cut."""
    names = list(names)
    if len(names) > _MOST_NAMES:
        names = [*names[: _MOST_NAMES - 1], f"{len(names) - _MOST_NAMES + 1} more"]
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else "".join(names)


def state_of(thing):
    """``on``, ``21.5 degrees``, ``open``: what stands behind "is"."""
    state, attributes = str(thing.get("state", "unknown")), thing.get("attributes", {})
    domain = thing["entity_id"].partition(".")[0]
    if state in ("unavailable", "unknown"):
        return "not answering" if state == "unavailable" else "not known"
    if domain == "binary_sensor":
        yes, no = _YES_NO.get(attributes.get("device_class"), ("on", "off"))
        return yes if state == "on" else no
    if domain == "climate":
        return _climate(state, attributes)
    if domain == "light" and state == "on" and isinstance(attributes.get("brightness"), int | float):
        return f"on at {round(attributes['brightness'] / 255 * 100)} percent"
    unit = attributes.get("unit_of_measurement")
    return f"{state} {_UNITS.get(unit, unit)}" if unit else state.replace("_", " ")


def _climate(state, attributes):
    now, target = attributes.get("current_temperature"), attributes.get("temperature")
    parts = [f"at {now:g} degrees" if isinstance(now, int | float) else state.replace("_", " ")]
    if isinstance(target, int | float) and state != "off":
        parts.append(f"set to {target:g}")
    elif state == "off" and len(parts[0]) > 3:
        parts.append("and off" if parts[0] != "off" else "")
    return ", ".join(filter(None, parts))
