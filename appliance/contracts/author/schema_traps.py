"""Mistakes in what the model is shown, the same for both contracts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from appliance.contracts.author.findings import Finding, Report

_LEGAL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
#: Names of the box's own tools begin so.
RESERVED_PREFIX = "box_"
_LONGEST_DESCRIPTION = 1024


def check_name(file: str, name: str, report: Report) -> None:
    """The tool's name."""
    if name.startswith(RESERVED_PREFIX):
        report(
            Finding(file, f"the name {name} is reserved: {RESERVED_PREFIX}… are the box's own tools; name it otherwise")
        )
    elif not _LEGAL_NAME.fullmatch(name):
        report(
            Finding(
                file,
                f"the name {name!r} is not one that models take (letters, digits, _ and -, at most 64), so the model "
                "sees a changed one",
                is_fault=False,
            )
        )


def check_schema(file: str, name: str, schema: Mapping[str, Any], report: Report) -> None:
    """Description and parameters of a schema that can be sent."""
    description = schema.get("description")
    if not isinstance(description, str) or not description.strip():
        report(Finding(file, f"{name} has no description: it is all that a model reads to choose a tool"))
    elif len(description) > _LONGEST_DESCRIPTION:
        sentence = (
            f"the description of {name} has {len(description)} characters, which every request carries; shorten it"
        )
        report(Finding(file, sentence, is_fault=False))
    parameters = schema.get("parameters")
    if isinstance(parameters, Mapping):
        _check_parameters(file, name, parameters, report)


def _check_parameters(file: str, name: str, parameters: Mapping[str, Any], report: Report) -> None:
    if parameters.get("type") != "object":
        report(Finding(file, f'the "parameters" of {name} have not "type": "object", which models want'))
    properties = parameters.get("properties", {})
    if not isinstance(properties, Mapping):
        report(Finding(file, f'the "properties" of {name} are not an object'))
        return
    required = parameters.get("required")
    if required is None:
        if properties:
            sentence = f'{name} has no "required" list, so a model may leave every argument out; write [] if it may'
            report(Finding(file, sentence, is_fault=False))
    elif not isinstance(required, list):
        report(Finding(file, f'"required" of {name} is not a list of names'))
    else:
        for missing in [entry for entry in required if entry not in properties]:
            report(Finding(file, f"{name} requires {missing!r}, which its properties do not have"))
    for key, value in properties.items():
        if isinstance(value, Mapping) and not value.get("description"):
            sentence = f"the argument {key} of {name} has no description: the model has to guess what it is"
            report(Finding(file, sentence, is_fault=False))
