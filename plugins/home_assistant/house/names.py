"""Which thing of the house somebody means: names as people say them, against names as they were typed once."""

import difflib
import re

#: Words that tell nothing of which one is meant.
_EMPTY = frozenset(("the", "a", "an", "my", "our", "your", "in", "of", "on", "at", "and", "please", "all"))
#: What people call a kind of thing.
_KINDS = {
    "light": ("light", "lights", "lamp", "lamps", "lighting"),
    "switch": ("switch", "switches", "plug", "plugs", "socket", "outlet"),
    "fan": ("fan", "fans"),
    "climate": ("heating", "heater", "thermostat", "thermostats", "climate", "radiator"),
    "media_player": ("player", "speaker", "speakers"),
    "scene": ("scene", "scenes"),
}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words}
#: Likeness of two names, 0 to 1, from which one may be a misheard form of the other.
_LIKENESS = 0.8


def name_of(thing):
    """What the owner calls it."""
    name = thing.get("attributes", {}).get("friendly_name")
    return str(name).strip() if name else thing["entity_id"].partition(".")[2].replace("_", " ")


def kind_of(thing):
    """Its domain."""
    return thing["entity_id"].partition(".")[0]


def meant(name, things):
    """The things that best fit ``name``: one, several that fit alike, or none."""
    wanted = words_of(name)
    if not wanted:
        return []
    ranked = [(_fit(wanted, thing), thing) for thing in things]
    best = max((fit for fit, _thing in ranked), default=0.0)
    return [thing for fit, thing in ranked if fit == best] if best > 0 else []


def area_meant(name, areas):
    """The area, and the kind of thing in it ("" for any), that ``name`` stands for; None when it is none.

    "kitchen", "the kitchen lights", "lights in the kitchen".
    """
    wanted = words_of(name)
    kinds = {_KIND_OF[word] for word in wanted if word in _KIND_OF}
    rest = [word for word in wanted if word not in _KIND_OF]
    if not rest or len(kinds) > 1:
        return None
    names = {area: words_of(area) for area in areas}
    found = [area for area, words in names.items() if words == rest]
    if not found:
        close = difflib.get_close_matches(" ".join(rest), [" ".join(words) for words in names.values()], 1, _LIKENESS)
        found = [area for area, words in names.items() if [" ".join(words)] == close]
    return (found[0], next(iter(kinds), "")) if found else None


def words_of(text):
    """The words that tell something."""
    words = re.findall(r"[^\W_]+", str(text).casefold())
    return [word for word in words if word not in _EMPTY] or words


def _fit(wanted, thing):
    """How well a thing fits, 0 for not at all."""
    own = words_of(name_of(thing))
    if own == wanted:
        return 4.0
    if sorted(own) == sorted(wanted):
        return 3.9
    kind = kind_of(thing)
    # "Desk lamp" for the light "Desk": its kind need not be in its name.
    bare = [word for word in wanted if _KIND_OF.get(word) != kind]
    own_bare = [word for word in own if _KIND_OF.get(word) != kind]
    is_other_kind = any(_KIND_OF.get(word, kind) != kind for word in wanted) and not set(wanted) <= set(own)
    if is_other_kind:
        return 0.0
    if bare and bare == own_bare:
        return 3.5
    if bare and set(bare) <= set(own):
        return 2.0 + len(bare) / max(len(own), len(bare))
    likeness = difflib.SequenceMatcher(None, " ".join(wanted), " ".join(own), autojunk=False).ratio()
    return likeness if likeness >= _LIKENESS else 0.0
