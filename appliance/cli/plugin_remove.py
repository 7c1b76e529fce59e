"""``appliance plugin rollback`` and ``remove``: go back to the version before, take a plugin out."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses

from appliance.cli.consent import ask
from appliance.cli.plugin_install import installs_of, manager_of
from appliance.cli.plugin_told import tell_done
from appliance.cli.session import records_or_device, running_device
from appliance.cli.shared import credentials_of, home_of, print_json
from appliance.install.leavings import leavings_of, throw_away
from appliance.install.manager import PluginManager
from appliance.service_installs import Done, Live


def run(arguments: argparse.Namespace) -> int:
    """Exit code 1 when it was put back, 3 without a yes."""
    return asyncio.run({"rollback": _rollback, "remove": _remove}[arguments.action](arguments))


async def _rollback(arguments: argparse.Namespace) -> int:
    async with manager_of(arguments) as manager:
        change = await asyncio.to_thread(manager.prepare_rollback, arguments.name)
        done = await installs_of(arguments, manager).carry_out(change)
    _report(arguments, done, "rollback")
    return 1 if done.live is Live.PUT_BACK else 0


async def _remove(arguments: argparse.Namespace) -> int:
    name = arguments.name
    async with manager_of(arguments) as manager:
        leavings = leavings_of(name, home_of(arguments), credentials_of(arguments))
        is_here = await asyncio.to_thread(manager.is_here, name)
        if not is_here and not (arguments.purge and (leavings or manager.knows(name))):
            await asyncio.to_thread(manager.verify, [name])  # which says what there is
        if not arguments.json and arguments.purge:
            print("\n".join([f"{name} goes for good, with:", *(f"  - {what}" for what in leavings)]))
        if arguments.dry_run:
            _tell_dry_run(arguments, leavings)
            return 0
        ask(arguments, f"Remove {name}{' for good' if arguments.purge else ''}?")
        done = Done(name, Live.GONE, is_installed=False)
        if is_here:
            change = await asyncio.to_thread(manager.prepare_removal, name)
            done = await installs_of(arguments, manager).carry_out(change)
        if arguments.purge:
            await _purge(arguments, manager)
            done = dataclasses.replace(done, remarks=tuple(leavings))
    _report(arguments, done, "removal")
    return 0


async def _purge(arguments: argparse.Namespace, manager: PluginManager) -> None:
    """The device first lets go of it: what it still has in mind it would write again."""
    name, home, credentials = arguments.name, home_of(arguments), credentials_of(arguments)
    async with records_or_device(arguments) as control:
        await control.call("chat.forget_plugin", {"name": name})
    async with running_device(home) as device:
        if device is not None:
            await device.call("plugin.forget", {"name": name})
    await asyncio.to_thread(throw_away, name, home, credentials)
    await asyncio.to_thread(manager.forget, name)
    async with running_device(home) as device:
        if device is not None:
            await device.call("credential.changed", {})


def _tell_dry_run(arguments: argparse.Namespace, leavings: list[str]) -> None:
    if arguments.json:
        result = {"name": arguments.name, "action": "would remove", "purged": leavings if arguments.purge else []}
        print_json(result)
    else:
        print("Nothing was changed.")


def _report(arguments: argparse.Namespace, done: Done, action: str) -> None:
    if arguments.json:
        print_json({**dataclasses.asdict(done), "action": action})
    elif action == "removal" and arguments.purge:
        print(f"{done.name} is removed for good")
    else:
        tell_done(done, action)
