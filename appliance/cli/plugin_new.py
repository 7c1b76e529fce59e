"""``appliance plugin new``: begin a plugin."""

from __future__ import annotations

import argparse

from appliance.cli.shared import home_of, print_json
from appliance.contracts.author.skeletons import write_skeleton
from appliance.errors import ApplianceError


def run(arguments: argparse.Namespace) -> int:
    """Write the files, and say how to go on."""
    folder = arguments.folder or home_of(arguments).plugins_folder
    try:
        files = write_skeleton(folder.absolute(), arguments.name, arguments.contract)
    except OSError as error:
        raise ApplianceError(
            f"{folder} cannot be written: {error.strerror}; name a folder of yours with --folder"
        ) from error
    if arguments.json:
        print_json([str(file) for file in files])
        return 0
    for file in files:
        print(file)
    named = arguments.name if arguments.folder is None else folder / arguments.name
    print(f"Next: appliance plugin check {named}, appliance plugin test {named}, appliance plugin dev {named}")
    return 0
