"""Looks at a plugin's source before it is installed: what it offers, what it could do, and why it must not come.

Nothing of a plugin is run or imported here. It is a reading, not a wall: code that wants to hide what it does can.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from appliance import __version__
from appliance.contracts.asked_keys import asked_keys
from appliance.contracts.inspected_abilities import abilities, background_of
from appliance.contracts.inspected_needs import needs_of
from appliance.contracts.inspected_tools import Found, module_tools, packaged_tools, plugin_tools
from appliance.contracts.kotoba.own_packages import FOLDER, entry_points_in
from appliance.contracts.sapphire.manifest import MANIFEST_FILE, Manifest, ManifestError, read_manifest
from appliance.contracts.syntax import parsed
from appliance.contracts.ways_out import ways_out
from appliance.tools.inspection import Contract, Inspection, ToolFacts

#: Reading a file takes about a hundred times its size in memory; no person writes that much.
_LONGEST_SOURCE_BYTES, _MOST_SOURCE_BYTES = 500_000, 2_000_000
_TESTS = "tests"
_LISTS = ("lanes", "background", "requirements", "refusals", "warnings", "will_be_able_to")
#: More than that of one text nobody reads.
_LONGEST_TEXT = 500


@dataclass
class _Look:
    """What one look has gathered."""

    place: Path
    #: Path inside the plugin -> its tree, for every file of its own that is Python.
    trees: dict[str, ast.Module] = field(default_factory=dict)
    #: Path inside the plugin -> why it is not Python.
    broken: dict[str, str] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def paths(self) -> list[Path]:
        return [self.place if self.place.is_file() else self.place / name for name in self.trees]


class PluginInspector:
    """``tools.inspection.Inspector`` for both contracts. ``app_version`` is this program's."""

    def __init__(self, app_version: str = __version__) -> None:
        self._app_version = app_version

    def inspect(self, place: Path, taken: Mapping[str, str]) -> Inspection:
        """See ``tools.inspection.Inspector``."""
        look = _read(place)
        is_tool = (place / MANIFEST_FILE).exists()
        manifest = _manifest(look) if is_tool else None
        found = _tools(look, manifest, is_tool)
        self._check_version(look, manifest)
        _check_names(look, found, taken)
        needs = needs_of(place, manifest)
        look.warnings += needs.remarks
        background = background_of(manifest)
        keys = {key.name: key.is_needed for key in asked_keys(look.paths)}
        looked = Inspection(
            name=manifest.name if manifest is not None else place.stem if place.is_file() else place.name,
            contract=Contract.TOOL if is_tool else Contract.MODULE,
            title=manifest.title if manifest is not None else "",
            description=manifest.description if manifest is not None else "",
            tools=tuple(ToolFacts(one.name, one.risk.value, one.why_risk) for one in found),
            lanes=ways_out(look.paths),
            keys=keys,
            background=background,
            requirements=needs.requirements,
            needs_app_version=_named_version(manifest),
            refusals=tuple(look.refusals),
            warnings=tuple(look.warnings),
            will_be_able_to=abilities(look.trees, found, background, keys),
        )
        return _harmless(looked)

    def _check_version(self, look: _Look, manifest: Manifest | None) -> None:
        needed = _named_version(manifest)
        if needed and _numbers(needed) > _numbers(self._app_version):
            look.refusals.append(
                f"it needs version {needed} of this program, and this is {self._app_version}; update the box first"
            )


def _read(place: Path) -> _Look:
    look = _Look(place)
    total_bytes = 0
    for name, path in _own_files(place):
        try:
            size_bytes = path.stat().st_size
            total_bytes += size_bytes
            if total_bytes > _MOST_SOURCE_BYTES:
                look.refusals.append(f"it has more than {_MOST_SOURCE_BYTES // 1_000} kB of Python to look through")
                break
            look.trees[name] = _parsed(path, size_bytes)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            look.broken[name] = f"{name}{line}: {getattr(error, 'msg', error)}"
    return look


def _parsed(path: Path, size_bytes: int) -> ast.Module:
    if size_bytes > _LONGEST_SOURCE_BYTES:
        raise ValueError(f"it is larger than {_LONGEST_SOURCE_BYTES // 1_000} kB")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an author's odd escape is no concern of the owner
        tree = parsed(path.read_bytes())
        compile(tree, str(path), "exec", dont_inherit=True)  # finds what parsing alone does not; runs nothing
    return tree


def _own_files(place: Path) -> Iterable[tuple[str, Path]]:
    """The plugin's own Python: not its tests, and of its packages only those that are the plugin."""
    if place.is_file():
        yield place.name, place
        return
    own = {point.module.partition(".")[0] for point in entry_points_in(place)}
    for path in sorted(place.rglob("*.py")):
        parts = path.relative_to(place).parts
        is_needed_only = parts[0] == FOLDER and Path(parts[1]).stem not in own
        if _TESTS not in parts[:-1] and not is_needed_only:
            yield "/".join(parts), path


def _manifest(look: _Look) -> Manifest | None:
    try:
        manifest = read_manifest(look.place)
    except ManifestError as error:
        look.refusals.append(str(error))
        return None
    look.warnings += manifest.remarks
    if manifest.not_used:
        look.warnings.append(f"this box does nothing with: {', '.join(manifest.not_used)}")
    return manifest


def _tools(look: _Look, manifest: Manifest | None, is_tool: bool) -> list[Found]:
    """The tools; what cannot be read is refused where a tool comes from it, and told elsewhere."""
    if manifest is not None:
        found, of_tools = plugin_tools(look.place, manifest, look.trees, look.warnings.append)
        for file in manifest.tool_files:
            if not (look.place / file).resolve().is_relative_to(look.place.resolve()):
                look.refusals.append(f"its {MANIFEST_FILE} names {file}, which is outside its folder")
    elif is_tool:
        return []
    else:
        found, of_tools = module_tools(look.place, look.trees, look.warnings.append)
        found += packaged_tools(look.place, look.trees)
        of_tools |= {name for name in look.broken if "/" not in name}
    for name, sentence in look.broken.items():
        if name in of_tools:
            look.refusals.append(f"it cannot be read by this Python: {sentence}")
        else:
            look.warnings.append(f"a file of it cannot be read by this Python: {sentence}")
    if manifest is None and not found and not look.refusals:
        look.refusals.append(_why_no_tool(look))
    return found


def _why_no_tool(look: _Look) -> str:
    if any(
        isinstance(node, ast.Assign) and _assigns(node, "TOOLS") for tree in look.trees.values() for node in tree.body
    ):
        return f"it has TOOLS and no {MANIFEST_FILE}: its author must add one, or its folder is another one"
    return (
        f"there is no tool in it: neither a {MANIFEST_FILE}, nor a Python file with a SCHEMA at its top, nor a package "
        "that offers one"
    )


def _harmless(looked: Inspection) -> Inspection:
    """The same with every text fit for a terminal: what the author wrote could move the cursor or hide a line."""
    tools = tuple(replace(one, name=_plain(one.name), why_risk=_plain(one.why_risk)) for one in looked.tools)
    texts: dict[str, Any] = {name: tuple(map(_plain, getattr(looked, name))) for name in _LISTS}
    keys = {_plain(name): is_needed for name, is_needed in looked.keys.items()}
    title, description = _plain(looked.title), _plain(looked.description)
    version = _plain(looked.needs_app_version)
    return replace(
        looked, title=title, description=description, needs_app_version=version, tools=tools, keys=keys, **texts
    )


def _plain(text: str) -> str:
    seen = "".join(character if character.isprintable() else " " for character in text)
    return seen if len(seen) <= _LONGEST_TEXT else f"{seen[:_LONGEST_TEXT]}…"


def _assigns(node: ast.Assign, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)


def _check_names(look: _Look, found: Iterable[Found], taken: Mapping[str, str]) -> None:
    seen: set[str] = set()
    for one in found:
        if one.name in taken:
            look.refusals.append(f"its tool {one.name} has the name of a tool of {taken[one.name]}")
        if one.name in seen:
            look.refusals.append(f"two of its tools are named {one.name}")
        seen.add(one.name)


def _named_version(manifest: Manifest | None) -> str:
    value = manifest.raw.get("min_app_version") if manifest is not None else None
    return value.strip() if isinstance(value, str) else ""


def _numbers(version: str) -> tuple[int, ...]:
    """What can be compared of a version: its numbers up to the first part without one."""
    numbers: list[int] = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)
