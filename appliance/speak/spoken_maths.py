"""Formulas, in English: LaTeX, powers, roots, signs of comparison before a number."""

from __future__ import annotations

import re

from appliance.speak.rules import Rule, rule

#: What LaTeX writes with a backslash; every other name is read as it is ("\\pi", "\\alpha").
_LATEX = {
    "times": "times",
    "cdot": "times",
    "div": "divided by",
    "pm": "plus or minus",
    "le": "is less than or equal to",
    "leq": "is less than or equal to",
    "ge": "is greater than or equal to",
    "geq": "is greater than or equal to",
    "ne": "is not equal to",
    "neq": "is not equal to",
    "approx": "is about",
    "to": "to",
    "rightarrow": "to",
    "infty": "infinity",
    "sum": "the sum of",
    "int": "the integral of",
    "in": "in",
    "left": "",
    "right": "",
    "quad": "",
}
_SIGNS = {
    "π": "pi",
    "∞": "infinity",
    "∑": "the sum of",
    "∫": "the integral of",
    "∈": "is in",
    "∪": "union",
    "∩": "intersection",
    "∀": "for all",
    "∃": "there is",
    "∴": "therefore",
    "∛": "the cube root of ",
    "√": "the square root of ",
    "∝": "is proportional to",
}
_BOUNDS = {"<": "less than", ">": "more than", "≤": "at most", "≥": "at least", "<=": "at most", ">=": "at least"}
_SMALL = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
_RAISED = str.maketrans(_SMALL, "0123456789-")
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def _power(match: re.Match[str]) -> str:
    power = match["power"].translate(_RAISED).strip("()")
    if power in ("2", "3"):
        return " squared" if power == "2" else " cubed"
    return f" to the power of {power.replace('-', 'minus ')}"


def _minus(formula: str) -> str:
    return re.sub(r"(?<!\^)-", " minus ", formula)


def _footnote_or_power(match: re.Match[str]) -> str:
    """Behind a word a small 1 points to a note, which nobody hears."""
    return "" if match["power"] == "¹" else _power(match)


#: Before anything else: braces are markup to the other rules.
LATEX: tuple[Rule, ...] = (
    rule(r"\b[A-Z]:(?:\\[\w.-]+)+", lambda match: match.group().replace("\\", " ")),
    rule(r"\\(?:text|mathrm|mathbf|boxed|operatorname)\{([^{}]*)\}", r"\1"),
    rule(r"(?<=\^)\{([^{}]*)\}", r"\1"),
    rule(r"\\sqrt\{([^{}]*)\}", r"the square root of \1"),
    rule(r"\\d?frac\{([^{}]*)\}\{([^{}]*)\}", lambda match: f"{_minus(match[1])} over {_minus(match[2])}"),
    rule(r"\\([A-Za-z]+)(?![A-Za-z:\\])", lambda match: f" {_LATEX.get(match[1], match[1])} "),
    rule(r"\$\$([^$]+)\$\$|(?<!\w)\$(?![\d\s])([^$]*[^$\s])\$(?!\d)", lambda match: f" {match[1] or match[2]} "),
)
#: Before measures: "10^8 m/s".
POWERS: tuple[Rule, ...] = (
    rule(r"(?<=[\w)])\s?\^\s?(?P<power>\(-?\w+\)|-?\w+)", _power),
    rule(r"(?<!\S)([<>≤≥]=?)\s?(?=[$€£]?\d)(?<!\w\s[<>≤≥]\s)(?<!\w\s[<>≤≥]=\s)", lambda match: f"{_BOUNDS[match[1]]} "),
    rule("[₀-₉]", lambda match: match.group().translate(_LOWERED)),
)
#: Behind measures: "m²" is a unit, "x²" is a power.
REST: tuple[Rule, ...] = (
    rule(rf"(?<=[^\W\d_][^\W\d_])(?P<power>[{_SMALL}]+)", _footnote_or_power),
    rule(rf"(?<=[\w)])(?P<power>[{_SMALL}]+)", _power),
    rule("[" + "".join(_SIGNS) + "]", lambda match: f" {_SIGNS[match.group()]} "),
)
