"""``appliance plugin verify``: whether the plugins are still what was installed."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from appliance.cli.shared import complain, home_of, print_json, print_table
from appliance.clock import SystemClock
from appliance.contracts.switch import PluginSwitch
from appliance.install.places import Places
from appliance.install.recovery import finish_cut_change
from appliance.install.standing import Standing, State, chosen, standings

_WORDS = {
    State.PINNED: "as it was installed",
    State.CHANGED: "changed",
    State.MISSING: "missing",
    State.UNPINNED: "put there by hand, so nobody knows what it was",
    State.DEV: "a link: somebody works on it",
}


def run(arguments: argparse.Namespace) -> int:
    """Exit code 1 when one is not what was installed. Loads nothing, needs no device.

    A change that was cut short is finished first: the one who may do that is not always the one who starts the device.
    """
    home = home_of(arguments)
    unfinished = asyncio.run(finish_cut_change(home, PluginSwitch(home.switch_file), SystemClock()))
    if unfinished:
        complain(unfinished)
    found = chosen(standings(Places(home)), arguments.names)
    if arguments.json:
        print_json([_row(one) for one in found])
    else:
        print_table([(one.name, _version(one), _WORDS[one.state]) for one in found])
        for one in found:
            for sentence in one.sentences():
                print(f"{one.name}: {sentence}")
        if not found:
            print("no plugin lies in the home; those that come with the box are part of it")
    return 1 if unfinished or any(one.is_wrong for one in found) else 0


def _row(standing: Standing) -> dict[str, Any]:
    pin = standing.pin
    return {
        "name": standing.name,
        "place": standing.place,
        "state": standing.state.value,
        "version": pin.version if pin is not None else "",
        "digest": pin.digest if pin is not None else "",
        "origin": pin.origin if pin is not None else "",
        "signer": pin.signer if pin is not None else "",
        "changed": list(standing.changed),
        "missing": list(standing.missing),
        "extra": list(standing.extra),
        "previous": standing.older,
        "sentences": standing.sentences(),
    }


def _version(standing: Standing) -> str:
    return (standing.pin.version if standing.pin is not None else "") or "-"
