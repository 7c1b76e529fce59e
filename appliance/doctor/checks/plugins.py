"""Plugins: what is wrong with them, who is paused, whose files were changed, which keys they miss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from appliance.doctor.finding import Finding, as_sentence, cannot_tell, failed, fine, some_of, wrong
from appliance.errors import StoreError
from appliance.store.plugin_pins import PluginPins, digest_of, file_digests


@dataclass(frozen=True)
class PluginState:
    """One plugin as the running box sees it; ``paused`` is why nothing of it runs, "" when it may."""

    name: str
    is_on: bool = True
    problems: tuple[str, ...] = ()
    missing_keys: tuple[str, ...] = ()
    paused: str = ""


_NOT_LOADED = cannot_tell("The box does not run, so no plugin is loaded.", "Start it: appliance run")


def plugin_problems(plugins: Sequence[PluginState] | None) -> Finding:
    """What went wrong when they were loaded, or since."""
    if plugins is None:
        return _NOT_LOADED
    bad = [plugin for plugin in plugins if plugin.problems and not plugin.paused]
    if bad:
        names = some_of([plugin.name for plugin in bad])
        return wrong(
            f"Something is wrong with {names}: {as_sentence(bad[0].problems[0])}",
            f"appliance plugin info {bad[0].name}",
        )
    return fine(f"{sum(plugin.is_on for plugin in plugins)} plugins are on, and nothing is wrong with them.")


def plugins_paused(plugins: Sequence[PluginState] | None, quarantined: Mapping[str, str]) -> Finding:
    """Who has failed too often; ``quarantined`` says why, by plugin, what was decided at a start."""
    reasons = {plugin.name: plugin.paused for plugin in plugins or () if plugin.paused} | dict(quarantined)
    if reasons:
        first = next(iter(reasons))
        return wrong(
            as_sentence(f"the box has paused {some_of(list(reasons))}: {reasons[first]}"),
            f"Take another version, or switch it off: appliance plugin disable {first}",
        )
    return _NOT_LOADED if plugins is None else fine("No plugin is paused.")


def plugin_keys(plugins: Sequence[PluginState] | None) -> Finding:
    """Whose keys are missing."""
    if plugins is None:
        return _NOT_LOADED
    lacking = [plugin for plugin in plugins if plugin.is_on and plugin.missing_keys]
    if lacking:
        first = lacking[0]
        return wrong(
            f"{first.name} asks for {some_of(first.missing_keys)} in vain.",
            f"Give it: appliance credential set {first.name} {first.missing_keys[0]}",
        )
    return fine("No plugin misses a key.")


def plugins_changed(pins_file: Path, plugins_folder: Path) -> Finding:
    """Whose files are not those that were installed."""
    try:
        pins = PluginPins(pins_file).all()
    except StoreError as error:
        return failed(error)
    changed = []
    for name, pin in pins.items():
        try:
            if digest_of(file_digests(plugins_folder / pin.place)) != pin.digest:
                changed.append(name)
        except OSError:
            changed.append(name)
    if changed:
        return wrong(
            f"Files of {some_of(changed)} were changed since they were installed.",
            f"See which: appliance plugin verify {changed[0]}",
        )
    return fine(f"The files of {len(pins)} installed plugins are as they were.")
