"""``appliance plugin pack`` and ``sign``: make of a folder what others can install and trust."""

from __future__ import annotations

import argparse
from pathlib import Path

from appliance.cli.shared import print_json
from appliance.install.pack import pack
from appliance.install.signature import sign
from appliance.install.signers import new_key


def run(arguments: argparse.Namespace) -> int:
    """Write the zip, or the signature."""
    return {"pack": _pack, "sign": _sign}[arguments.action](arguments)


def _pack(arguments: argparse.Namespace) -> int:
    out = arguments.out or Path(f"{arguments.folder.resolve().name.removesuffix('.py')}.zip")
    pack(arguments.folder, out)
    if arguments.json:
        print_json({"wrote": str(out)})
    else:
        print(f"wrote {out}; appliance plugin install {out} installs it")
    return 0


def _sign(arguments: argparse.Namespace) -> int:
    from appliance.wiring_installs import signature_scheme

    scheme = signature_scheme()
    public = new_key(arguments.key, scheme) if arguments.new_key else None
    file = sign(arguments.folder, arguments.key, scheme)
    if arguments.json:
        print_json({"wrote": str(file), "public_key": str(public) if public is not None else ""})
        return 0
    print(f"wrote {file}")
    if public is not None:
        print(f"wrote {arguments.key} and {public}; who trusts you puts the latter into installed/signers of the home")
    return 0
