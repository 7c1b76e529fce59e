"""Works out a calculation exactly, which language models are bad at. Shows both notes: refused and failed."""

import ast
import math
import operator

from kotoba.core.loop import note_tool_failure, note_tool_refusal

SCHEMA = {
    "type": "function",
    "name": "calculate",
    "description": "Work out an arithmetic expression exactly: + - * / // % **, brackets, sqrt, round, abs, min, max "
    "and pi. Use it for every calculation with more than one digit.",
    "parameters": {
        "type": "object",
        "properties": {"expression": {"type": "string", "description": "For example 17.5 * (3 + 4) / 2"}},
        "required": ["expression"],
        "additionalProperties": False,
    },
}

FAIL = "The numbers did not work out."

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
FUNCTIONS = {"sqrt": math.sqrt, "round": round, "abs": abs, "min": min, "max": max}
CONSTANTS = {"pi": math.pi}

LONGEST_EXPRESSION = 200
# 9 ** 9 ** 9 would keep the processor busy for hours: a tool that blocks cannot be stopped from outside.
LARGEST_POWER = 64
LARGEST_NUMBER = 1e50


class NotArithmetic(ValueError):
    """The expression holds something other than numbers and operators."""


async def execute(args, ctx):
    expression = str((args or {}).get("expression") or "").replace("^", "**").replace("×", "*").replace("÷", "/")
    try:
        if not expression or len(expression) > LONGEST_EXPRESSION:
            raise NotArithmetic
        result = _value(ast.parse(expression.strip(), mode="eval").body)
    except (NotArithmetic, SyntaxError):
        # The arguments were read and declined; nothing was calculated.
        note_tool_refusal(ctx)
        return "I can only work out numbers with + - * / ** and brackets."
    except (ArithmeticError, ValueError, TypeError) as error:
        # It ran and did not succeed.
        note_tool_failure(str(error))
        return f"That has no result: {error}."
    return f"{expression} = {_written(result)}"


def _value(node):
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _bounded(number)
        case ast.Name(id=name) if name in CONSTANTS:
            return CONSTANTS[name]
        case ast.UnaryOp(op=operation, operand=operand) if type(operation) in OPERATORS:
            return OPERATORS[type(operation)](_value(operand))
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left), _value(right))
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in OPERATORS:
            return _bounded(OPERATORS[type(operation)](_value(left), _value(right)))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            return _bounded(FUNCTIONS[name](*map(_value, arguments)))
    raise NotArithmetic


def _power(base, exponent):
    if abs(exponent) > LARGEST_POWER:
        raise OverflowError("the exponent is too large")
    result = base**exponent
    if isinstance(result, complex):
        raise ValueError("it is not a real number")
    return _bounded(result)


def _bounded(number):
    if abs(number) > LARGEST_NUMBER:
        raise OverflowError("the number is too large")
    return number


def _written(number):
    """Whole numbers without a point, others with at most ten digits: 0.1 + 0.2 is 0.3."""
    if isinstance(number, float) and not number.is_integer():
        return f"{number:.10g}"
    return str(int(number))
