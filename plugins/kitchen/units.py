"""Units of the kitchen. A neighbour of the tools in this folder: it has no SCHEMA, so it is no tool itself."""

# One of each in the base unit of its kind: millilitre, gram, centimetre.
VOLUMES = {
    "millilitre": 1.0,
    "centilitre": 10.0,
    "decilitre": 100.0,
    "litre": 1000.0,
    "teaspoon": 4.92892,
    "tablespoon": 14.7868,
    "fluid ounce": 29.5735,
    "cup": 236.588,
    "pint": 473.176,
    "quart": 946.353,
    "gallon": 3785.41,
}
WEIGHTS = {"milligram": 0.001, "gram": 1.0, "kilogram": 1000.0, "ounce": 28.3495, "pound": 453.592}
LENGTHS = {"millimetre": 0.1, "centimetre": 1.0, "metre": 100.0, "inch": 2.54, "foot": 30.48}
TEMPERATURES = ("celsius", "fahrenheit", "kelvin")

# Other spellings, without the plural: "grams" is found as "gram".
SPELLINGS = {
    "ml": "millilitre",
    "milliliter": "millilitre",
    "cl": "centilitre",
    "centiliter": "centilitre",
    "dl": "decilitre",
    "deciliter": "decilitre",
    "l": "litre",
    "liter": "litre",
    "tsp": "teaspoon",
    "tbsp": "tablespoon",
    "fl oz": "fluid ounce",
    "pt": "pint",
    "qt": "quart",
    "gal": "gallon",
    "mg": "milligram",
    "g": "gram",
    "gramme": "gram",
    "kg": "kilogram",
    "kilo": "kilogram",
    "oz": "ounce",
    "lb": "pound",
    "mm": "millimetre",
    "millimeter": "millimetre",
    "cm": "centimetre",
    "centimeter": "centimetre",
    "m": "metre",
    "meter": "metre",
    "in": "inch",
    "inche": "inch",
    "ft": "foot",
    "feet": "foot",
    "c": "celsius",
    "f": "fahrenheit",
    "k": "kelvin",
}

# Grams in one millilitre, loosely filled, as a cook would measure it.
DENSITIES = {
    "water": 1.0,
    "milk": 1.03,
    "cream": 1.0,
    "oil": 0.92,
    "butter": 0.96,
    "honey": 1.42,
    "flour": 0.53,
    "sugar": 0.85,
    "brown sugar": 0.93,
    "powdered sugar": 0.51,
    "salt": 1.22,
    "rice": 0.85,
    "oats": 0.38,
    "cocoa": 0.42,
}


class UnitError(ValueError):
    """The conversion makes no sense; the text says why, for the person."""


def convert(value, unit, target, ingredient=""):
    """``value`` of ``unit`` in ``target``. An ingredient lets volumes become weights and back."""
    unit, target = find(unit), find(target)
    if unit in TEMPERATURES and target in TEMPERATURES:
        return _from_celsius(_to_celsius(value, unit), target)
    for kind in (VOLUMES, WEIGHTS, LENGTHS):
        if unit in kind and target in kind:
            return value * kind[unit] / kind[target]
    if unit in VOLUMES and target in WEIGHTS:
        return value * VOLUMES[unit] * _density(ingredient) / WEIGHTS[target]
    if unit in WEIGHTS and target in VOLUMES:
        return value * WEIGHTS[unit] / _density(ingredient) / VOLUMES[target]
    raise UnitError(f"A {unit} cannot become a {target}.")


def find(name):
    """The unit of that name, whatever its spelling. Raises ``UnitError``."""
    word = " ".join(str(name).lower().replace("°", " ").replace("degrees", " ").replace(".", "").split())
    for candidate in (word, word.removesuffix("s")):
        unit = SPELLINGS.get(candidate, candidate)
        if unit in VOLUMES or unit in WEIGHTS or unit in LENGTHS or unit in TEMPERATURES:
            return unit
    raise UnitError(f"I do not know the unit {name!r}.")


def _density(ingredient):
    if not ingredient:
        raise UnitError("To turn a volume into a weight I need to know of what, for example flour.")
    word = str(ingredient).lower().strip()
    # "plain flour" is flour, "brown sugar" is not just sugar: the longest name that fits counts.
    fitting = [known for known in DENSITIES if known in word]
    if not fitting:
        raise UnitError(f"I do not know how heavy {ingredient} is. I know {', '.join(DENSITIES)}.")
    return DENSITIES[max(fitting, key=len)]


def _to_celsius(value, unit):
    return {"celsius": value, "fahrenheit": (value - 32) * 5 / 9, "kelvin": value - 273.15}[unit]


def _from_celsius(value, unit):
    return {"celsius": value, "fahrenheit": value * 9 / 5 + 32, "kelvin": value + 273.15}[unit]
