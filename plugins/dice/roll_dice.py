"""Rolls dice. The smallest whole example of a tool module: one file, one tool."""

import random

from kotoba.core.loop import note_tool_refusal

# What the model sees. It reads the description and nothing else when it decides whether this is the right tool.
SCHEMA = {
    "type": "function",
    "name": "roll_dice",
    "description": "Roll dice and get the result, for games or to decide something by chance. "
    "A coin flip is one die with two sides.",
    "parameters": {
        "type": "object",
        "properties": {
            "count": {"type": "integer", "description": "How many dice, 1 to 20. Default 1."},
            "sides": {"type": "integer", "description": "Sides of each die, 2 to 1000. Default 6."},
        },
        "required": [],
        "additionalProperties": False,
    },
}

# Said around the call. Rolling takes no time, so there is nothing to say while it runs or when it is done.
ANNOUNCE = "Rolling."
FAIL = "The dice did not land."

EXPRESSIONS = {"focus": "excited", "fail": "confused"}

MOST_DICE = 20
MOST_SIDES = 1000


async def execute(args, ctx):
    # Nothing between the model and this line has checked the arguments.
    args = args or {}
    try:
        count = int(args.get("count") or 1)
        sides = int(args.get("sides") or 6)
    except (TypeError, ValueError):
        note_tool_refusal(ctx)
        return "I need whole numbers: how many dice, and how many sides."
    if not 1 <= count <= MOST_DICE or not 2 <= sides <= MOST_SIDES:
        # A refusal in words only would count as a finished job; the note says that nothing was rolled.
        note_tool_refusal(ctx)
        return f"I can roll 1 to {MOST_DICE} dice with 2 to {MOST_SIDES} sides each."
    rolls = [random.SystemRandom().randint(1, sides) for _ in range(count)]
    if count == 1:
        return f"Rolled {rolls[0]} on a die with {sides} sides."
    return f"Rolled {', '.join(map(str, rolls))} with {count} dice of {sides} sides; the sum is {sum(rolls)}."
