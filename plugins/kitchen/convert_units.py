"""Converts units of the kitchen, from volume to weight too. Shows how a tool uses a neighbour file."""

import math

from kotoba.core.loop import note_tool_refusal

from .units import UnitError, convert

SCHEMA = {
    "type": "function",
    "name": "convert_units",
    "description": "Convert an amount between kitchen units: volumes (cup, tablespoon, ml), weights (g, oz, lb), "
    "lengths (cm, inch) and temperatures (celsius, fahrenheit). With an ingredient it also turns a volume into a "
    "weight and back, for example cups of flour into grams. Cups and spoons are US sizes.",
    "parameters": {
        "type": "object",
        "properties": {
            "amount": {"type": "number", "description": "How much, for example 2.5."},
            "from_unit": {"type": "string", "description": "The unit it is given in, for example cup."},
            "to_unit": {"type": "string", "description": "The unit that is wanted, for example gram."},
            "ingredient": {"type": "string", "description": "What is measured, when volume and weight are mixed."},
        },
        "required": ["amount", "from_unit", "to_unit"],
        "additionalProperties": False,
    },
}

# The answer is there at once: lines around it would only delay it.
FAIL = "I could not work that out."


async def execute(args, ctx):
    args = args or {}
    ingredient = str(args.get("ingredient") or "").strip()
    try:
        amount = float(args.get("amount"))
        if not math.isfinite(amount):
            raise ValueError
        result = convert(amount, args.get("from_unit"), args.get("to_unit"), ingredient)
    except (TypeError, ValueError) as error:
        note_tool_refusal(ctx)
        return str(error) if isinstance(error, UnitError) else "I need an amount, a unit, and the unit that is wanted."
    what = f" of {ingredient}" if ingredient else ""
    return f"{_spoken(amount)} {args['from_unit']}{what} is {_spoken(result)} {args['to_unit']}."


def _spoken(number):
    """Two decimals where they matter, none where they do not: 473.18, 2.5, 180."""
    return f"{number:.2f}".rstrip("0").rstrip(".") if abs(number) >= 0.1 else f"{number:.3g}"
