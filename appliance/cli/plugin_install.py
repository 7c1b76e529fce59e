"""``appliance plugin install``, ``update``: bring plugins, after the owner has seen what they will be able to do."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from appliance.cli.consent import ask
from appliance.cli.plugin_told import as_json, tell_done, tell_plan
from appliance.cli.session import box_or_device, device_or_home
from appliance.cli.shared import complain, config_of, credentials_of, home_of, print_json
from appliance.clock import SystemClock
from appliance.errors import ApplianceError, RefusedError, UsageError
from appliance.install.manager import PluginManager
from appliance.install.plan import Plan
from appliance.service_installs import Installs, Live
from appliance.wiring_installs import open_manager


def run(arguments: argparse.Namespace) -> int:
    """Exit code 3 when it is refused, 1 when it was put back."""
    return asyncio.run({"install": _install, "update": _update}[arguments.action](arguments))


async def _install(arguments: argparse.Namespace) -> int:
    async with manager_of(arguments) as manager:
        plan = await asyncio.to_thread(manager.look_at, arguments.source, name=arguments.name)
        result = await _bring(arguments, manager, plan)
    if result["action"] == "nothing" and arguments.enable and not arguments.dry_run:
        async with box_or_device(arguments) as control:
            row = await control.call("plugin.switch", {"name": plan.name, "on": True})
        result["live"] = (Live.LOADED if row is not None and row["is_loaded"] else Live.OFF).value
    if arguments.json:
        print_json(result)
    return 1 if result["live"] == Live.PUT_BACK.value else 0


async def _update(arguments: argparse.Namespace) -> int:
    if bool(arguments.names) == arguments.all:
        raise UsageError("name the plugins to update, or say --all")
    results: list[dict[str, Any]] = []
    async with manager_of(arguments) as manager:
        names = arguments.names or await asyncio.to_thread(manager.updatable)
        for name in names:
            try:
                results.append(await _update_one(arguments, manager, name))
            except ApplianceError as error:
                if len(names) == 1:
                    raise
                complain(f"{name}: {error}")
                results.append({"name": name, "action": "failed", "why": str(error), "live": ""})
    if arguments.json:
        print_json(results)
    elif not names:
        print("no plugin was installed from anywhere; appliance plugin install SOURCE brings one")
    is_wrong = any(result["action"] == "failed" or result["live"] == Live.PUT_BACK.value for result in results)
    return 1 if is_wrong else 0


async def _update_one(arguments: argparse.Namespace, manager: PluginManager, name: str) -> dict[str, Any]:
    source = await asyncio.to_thread(manager.source_of, name)
    plan = await asyncio.to_thread(manager.look_at, source, name=name)
    if plan.name != name:
        raise RefusedError(f"what is at {source} now is the plugin {plan.name}, not {name}")
    if plan.lost_signer and not plan.is_here:
        raise RefusedError(
            f"{name} was signed by {plan.lost_signer}, and what is at {source} now is not; "
            f"appliance plugin install {source} takes it all the same"
        )
    if plan.was_rolled_back:
        sentence = (
            f"{name} {plan.staged.version}".rstrip() + " was rolled back, so an update does not bring it again; "
            f"appliance plugin install {source} does"
        )
        if not arguments.json:
            print(sentence)
        return {**as_json(plan), "action": "nothing", "why": sentence, "live": ""}
    return await _bring(arguments, manager, plan)


async def _bring(arguments: argparse.Namespace, manager: PluginManager, plan: Plan) -> dict[str, Any]:
    """Show it, ask, and do it; what came of it."""
    if plan.is_here:
        if not arguments.json:
            print(f"{plan.name} {plan.staged.version}".rstrip() + " is installed already, exactly as it is there")
        return {**as_json(plan), "action": "nothing", "why": "", "live": ""}
    await asyncio.to_thread(manager.check, plan, downgrade=arguments.downgrade)
    if not arguments.json:
        tell_plan(plan)
    action = "update" if plan.standing is not None else "install"
    if arguments.dry_run:
        if not arguments.json:
            print("Nothing was changed.")
        return {**as_json(plan), "action": f"would {action}", "why": "", "live": ""}
    ask(arguments, f"{action.capitalize()} {plan.name}?")
    change = await asyncio.to_thread(manager.prepare, plan, enable=getattr(arguments, "enable", False))
    done = await installs_of(arguments, manager).carry_out(change)
    if not arguments.json:
        tell_done(done, action)
    return {**as_json(plan), **dataclasses.asdict(done), "action": action}


@asynccontextmanager
async def manager_of(arguments: argparse.Namespace) -> AsyncIterator[PluginManager]:
    """The plugin manager of this home, alone at work."""
    home = home_of(arguments)
    async with open_manager(home, config_of(arguments), credentials_of(arguments)) as manager:
        with manager.at_work():
            yield manager


def installs_of(arguments: argparse.Namespace, manager: PluginManager) -> Installs:
    """What carries changes out beside a device that may be running."""
    home = home_of(arguments)
    return Installs(manager, lambda: device_or_home(home, SystemClock()))
