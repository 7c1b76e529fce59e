"""``appliance panel``: how to open the page of the running device in a browser."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import socket
from urllib.parse import urlsplit

from appliance.cli.session import running_device
from appliance.cli.shared import home_of, print_json
from appliance.errors import NotRunningError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No arguments of its own."""


def run(arguments: argparse.Namespace) -> int:
    """Print the address with its token, and the tunnel to it."""
    return asyncio.run(_panel(arguments))


async def _panel(arguments: argparse.Namespace) -> int:
    async with running_device(home_of(arguments)) as device:
        if device is None:
            raise NotRunningError("no device runs on this home, so there is no page")
        address = (await device.call("panel.address"))["address"]
    port = urlsplit(address).port
    tunnel = f"ssh -L {port}:localhost:{port} {getpass.getuser()}@{socket.gethostname()}"
    if arguments.json:
        print_json({"address": address, "tunnel": tunnel})
        return 0
    print("On your own computer, in a terminal that stays open:")
    print(f"  {tunnel}")
    print("Then in its browser (the part behind # is a secret, and new with every start of the device):")
    print(f"  {address}")
    return 0
