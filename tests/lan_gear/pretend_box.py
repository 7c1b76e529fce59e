"""The box side of the pretend house: the plugin under a host that offers no more than the contract names.

The stand-in for the host is a few lines, to show that the plugin needs no more of it than any host of the contract
has: ``core.net`` over requests, and ``core.plugin_loader`` with a store in memory.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from dataclasses import asdict
from types import ModuleType
from typing import Any

from tests.lan_gear.pretend_house import BOX, BOX_INTERFACE, ROUTER


class _State:
    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    def get(self, key: str, default: Any = None) -> Any:
        return json.loads(self._values[key]) if key in self._values else default

    def save(self, key: str, value: Any) -> None:
        self._values[key] = json.dumps(value)


def offer_core() -> None:
    """Put the stand-in where the plugin imports from."""
    import requests

    session = requests.Session()
    session.trust_env = False
    state = _State()
    net, loader, core = ModuleType("core.net"), ModuleType("core.plugin_loader"), ModuleType("core")
    vars(net).update(classify=lambda host: "lan" if host.startswith("192.168.") else "wan", get=session.get)

    class PluginLoader:
        def get_plugin_state(self, name: str) -> _State:
            return state

    vars(loader).update(plugin_loader=PluginLoader())
    vars(core).update(net=net, plugin_loader=loader, __path__=[])
    sys.modules.update({"core": core, "core.net": net, "core.plugin_loader": loader})


def answer(order: dict[str, Any]) -> Any:
    """Do what the test asks for."""
    from plugins.lan_gear.gear.look import look
    from plugins.lan_gear.gear.rules import MEASURED, Rules
    from plugins.lan_gear.tools import lan_gear

    if order["do"] == "call":
        return lan_gear.execute(order["name"], order["arguments"], None)
    if order["do"] == "look as measured":
        return [asdict(thing) for thing in look(rules=Rules(MEASURED))]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        return sender.sendto(b"hello", (order["send to"], 9))


def main() -> None:
    """Serve until standard input ends."""
    print('"namespace"', flush=True)
    sys.stdin.readline()  # the cable is plugged in
    for command in (
        "link set lo up",
        f"link set {BOX_INTERFACE} address 00:00:5e:00:53:02 up",
        f"addr add {BOX}/22 dev {BOX_INTERFACE}",
        f"route add default via {ROUTER}",
    ):
        subprocess.run(["ip", *command.split()], check=True, capture_output=True)
    offer_core()
    print('"ready"', flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
