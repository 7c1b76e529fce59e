"""Rules of the house that a reader of the code relies on; these tests read the code itself."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import typing
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import appliance.adapters.fakes
from appliance import (
    clock,
    config,
    control,
    errors,
    ports,
    ports_doctor,
    ports_face,
    ports_logs,
    ports_pictures,
    ports_privacy,
    ports_sandbox,
    ports_service,
    ports_speaking,
    ports_think,
)
from appliance.store import shapes
from appliance.think import brain
from appliance.tools import tool

ROOT = Path(__file__).resolve().parent.parent
LONGEST_FILE_LINES = 450

#: Files whose Protocols are needs of the core.
PORT_MODULES = (
    ports,
    ports_doctor,
    ports_face,
    ports_logs,
    ports_pictures,
    ports_privacy,
    ports_sandbox,
    ports_service,
    ports_speaking,
    ports_think,
    control,
    shapes,
    tool,
    brain,
)


def _protocols(module: ModuleType) -> list[type]:
    return [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and value.__module__ == module.__name__ and getattr(value, "_is_protocol", False)
    ]


PORTS = [port for module in PORT_MODULES for port in _protocols(module)]


def _fakes() -> list[type]:
    """Every class of the fakes folder; the fake clock lives beside the real one."""
    found: list[type] = [clock.FakeClock]
    for entry in pkgutil.iter_modules(appliance.adapters.fakes.__path__):
        module = importlib.import_module(f"appliance.adapters.fakes.{entry.name}")
        found += [value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__]
    return [fake for fake in found if inspect.isclass(fake)]


@pytest.mark.parametrize("port", PORTS, ids=lambda port: port.__name__)
def test_every_port_has_a_fake_that_some_test_uses(port: type) -> None:
    fitting = [fake for fake in _fakes() if not misfit(port, fake)]
    assert fitting, f"no class in appliance/adapters/fakes has all of {port.__name__}: {', '.join(_members(port))}"
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    modules = sorted({fake.__module__ for fake in fitting})
    assert any(module in text for module in modules for text in tests), f"no test uses {' or '.join(modules)}"


def test_a_fake_that_lacks_a_method_or_a_parameter_does_not_count() -> None:
    class Port(typing.Protocol):
        @property
        def name(self) -> str: ...

        async def ask(self, question: str, seconds: float) -> str: ...

    class Whole:
        def __init__(self) -> None:
            self.name = "whole"

        async def ask(self, question: str, seconds: float, *, asked: int = 0) -> str:
            return question

    class Nameless:
        ask = Whole.ask

    class Hasty(Whole):
        async def ask(self, question: str) -> str:  # type: ignore[override]
            return question

    class Blocking(Whole):
        def ask(self, question: str, seconds: float) -> str:  # type: ignore[override]
            return question

    assert misfit(Port, Whole) == ""
    assert misfit(Port, Nameless) == "name"
    assert misfit(Port, Hasty) == "ask"
    assert misfit(Port, Blocking) == "ask"


def test_no_file_is_longer_than_a_reader_holds_in_mind() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in [ROOT / "run", *(ROOT / "appliance").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    }
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_FILE_LINES} == {}


@pytest.mark.parametrize("section", config.SECTIONS)
def test_every_setting_says_what_it_does(section: str) -> None:
    module, _, name = config.SECTIONS[section].partition(":")
    kind = getattr(importlib.import_module(module), name)
    assert [spec.name for spec in fields(kind) if len(spec.metadata.get("help", "")) < 10] == []


def test_every_error_says_what_it_means_and_stands_in_the_tree() -> None:
    own = [value for value in vars(errors).values() if inspect.isclass(value) and value.__module__ == errors.__name__]
    assert errors.ApplianceError in own
    assert [error.__name__ for error in own if not (error.__doc__ or "").strip()] == []
    tree = errors.__doc__ or ""
    assert [error.__name__ for error in own if error.__name__ not in tree] == []
    assert [error.__name__ for error in own if not issubclass(error, errors.ApplianceError)] == []


def misfit(port: type, fake: type) -> str:
    """The first member of ``port`` that ``fake`` lacks or takes other parameters for; "" when it has all."""
    attributes = _instance_attributes(fake)
    for name in _members(port):
        wanted, given = vars(port).get(name), inspect.getattr_static(fake, name, None)
        if given is None and name not in attributes:
            return name
        if inspect.isfunction(wanted) and inspect.isfunction(given) and not _accepts(given, wanted):
            return name
    return ""


def _members(port: type) -> list[str]:
    return [name for name in [*vars(port), *vars(port).get("__annotations__", {})] if not name.startswith("_")]


def _accepts(given: Any, wanted: Any) -> bool:
    """Whether ``given`` can be called, and awaited, in the same way as ``wanted``."""
    if inspect.iscoroutinefunction(wanted) != inspect.iscoroutinefunction(given):
        return False
    ours, theirs = inspect.signature(given).parameters, inspect.signature(wanted).parameters
    extra = [parameter for name, parameter in ours.items() if name not in theirs]
    is_optional = all(
        parameter.default is not parameter.empty or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        for parameter in extra
    )
    is_open = any(parameter.kind is parameter.VAR_KEYWORD for parameter in extra)
    return is_optional and (is_open or set(theirs) <= set(ours))


def _instance_attributes(kind: type) -> set[str]:
    """Names that the class and its bases declare, or set on ``self``."""
    names: set[str] = set()
    for base in kind.__mro__[:-1]:
        names |= set(vars(base).get("__annotations__", {}))
        try:
            source = ast.parse(inspect.cleandoc("\n" + inspect.getsource(base)))
        except (OSError, TypeError, SyntaxError):
            continue
        for node in ast.walk(source):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                names.add(node.attr)
    return names
