"""``appliance plugin check``: what a plugin offers, what a model sees of it, and every trap it is in."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json

from appliance.cli.plugin_place import find_plugin
from appliance.cli.shared import credentials_of, home_of, print_json
from appliance.contracts.author.checking import CheckReport, check


def run(arguments: argparse.Namespace) -> int:
    """Exit code 0 when nothing is wrong; remarks do not count."""
    path = find_plugin(arguments.plugin, home_of(arguments))
    report = asyncio.run(check(path, credentials_of(arguments)))
    if arguments.json:
        print_json({**dataclasses.asdict(report), "is_good": report.is_good})
    else:
        print_report(report)
    return 0 if report.is_good else 1


def print_report(report: CheckReport, *, shows_schemas: bool = True) -> None:
    """For a person: faults, remarks, then each tool as a model gets it."""
    for finding in report.findings:
        print(f"{'wrong' if finding.is_fault else 'note '}  {finding.place}: {finding.sentence}")
    kind = "tool module" if report.contract == "module" else "plugin tool"
    print(f"{report.name} ({kind}) {'is good' if report.is_good else 'is not good yet'}")
    for tool in report.offered:
        why_not = f", not offered now: {tool.why_not}" if tool.why_not else ""
        print(f"offers {tool.name} ({tool.risk}){why_not}{'; a model sees:' if shows_schemas else ''}")
        if shows_schemas:
            print("\n".join(f"  {line}" for line in json.dumps(tool.schema, indent=2, ensure_ascii=False).splitlines()))
