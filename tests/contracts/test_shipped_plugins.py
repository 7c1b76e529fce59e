"""The plugins that ship with the box: written in the public contract alone, and an example to copy."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from appliance.contracts.kotoba.contract import KotobaContract
from appliance.contracts.kotoba.discover import PluginRoot, Source
from appliance.contracts.kotoba.imports import OFFERED
from appliance.contracts.kotoba.module_tool import Surroundings
from appliance.contracts.switch import PluginSwitch
from appliance.events import Outcome
from appliance.home import shipped
from tests.contracts.rig import Rig


@pytest.fixture
async def box(tmp_path: Path) -> AsyncIterator[Rig]:
    """A box with the shipped plugins only."""
    rig = Rig(tmp_path)
    rig.contract = KotobaContract(
        host=rig.host,
        clock=rig.clock,
        roots=[PluginRoot(shipped("plugins"), Source.SHIPPED)],
        switch=PluginSwitch(tmp_path / "plugins.json"),
        surroundings=Surroundings(workdir=tmp_path / "workdir"),
    )
    await rig.load()
    yield rig
    await rig.host.close()


async def test_they_load_without_a_remark_and_are_offered(box: Rig) -> None:
    assert box.sentences == []
    assert set(box.offered()) >= {"roll_dice", "convert_units", "calculate"}


async def test_the_smallest_plugin_of_the_guide_works(rig: Rig) -> None:
    guide = (shipped("plugins") / "README.md").read_text(encoding="utf-8")
    source = guide.split("```python\n")[1].split("```")[0]
    rig.write("pong/ping.py", source)
    await rig.load()
    assert (await rig.call("ping")).text == "pong"


def test_the_guide_names_every_offered_import() -> None:
    guide = (shipped("plugins") / "README.md").read_text(encoding="utf-8")
    for module, names in OFFERED.items():
        assert not names or f"| `{module}` |" in guide
        assert all(f"`{name}`" in guide for name in names), module


def test_they_use_nothing_of_the_box_itself() -> None:
    for file in shipped("plugins").rglob("*.py"):
        assert not re.search(r"^\s*(from|import) appliance\b", file.read_text(encoding="utf-8"), re.MULTILINE), file


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        ({}, r"Rolled [1-6] on a die with 6 sides\."),
        ({"sides": 2}, r"Rolled [12] on a die with 2 sides\."),
        ({"count": 3, "sides": 4}, r"Rolled [1-4], [1-4], [1-4] with 3 dice of 4 sides; the sum is \d+\."),
        ({"count": "2"}, r"Rolled [1-6], [1-6] with 2 dice of 6 sides; the sum is \d+\."),
    ],
)
async def test_dice_land_on_their_sides(box: Rig, arguments: dict[str, Any], pattern: str) -> None:
    result = await box.call("roll_dice", **arguments)
    assert re.fullmatch(pattern, result.text)
    assert result.outcome is Outcome.OK


@pytest.mark.parametrize("arguments", [{"count": 1000}, {"sides": 1}, {"count": "many"}, {"count": -1}])
async def test_dice_that_nobody_has_are_refused(box: Rig, arguments: dict[str, Any]) -> None:
    result = await box.call("roll_dice", **arguments)
    assert result.outcome is Outcome.REFUSED


@pytest.mark.parametrize(
    ("amount", "unit", "target", "ingredient", "text"),
    [
        (2, "cups", "ml", "", "2 cups is 473.18 ml."),
        (350, "°F", "celsius", "", "350 °F is 176.67 celsius."),
        (180, "degrees Celsius", "Fahrenheit", "", "180 degrees Celsius is 356 Fahrenheit."),
        (1, "cup", "grams", "plain flour", "1 cup of plain flour is 125.39 grams."),
        (200, "g", "tbsp", "brown sugar", "200 g of brown sugar is 14.54 tbsp."),
        (1, "lb", "kg", "", "1 lb is 0.45 kg."),
        (10, "inches", "cm", "", "10 inches is 25.4 cm."),
        (1, "mg", "kilograms", "", "1 mg is 1e-06 kilograms."),
    ],
)
async def test_kitchen_units_convert(
    box: Rig, amount: float, unit: str, target: str, ingredient: str, text: str
) -> None:
    arguments: dict[str, Any] = {"amount": amount, "from_unit": unit, "to_unit": target, "ingredient": ingredient}
    assert (await box.call("convert_units", **arguments)).text == text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"amount": 1, "from_unit": "cup", "to_unit": "gram"}, "of what, for example flour"),
        ({"amount": 1, "from_unit": "cup", "to_unit": "gram", "ingredient": "gravel"}, "how heavy gravel is"),
        ({"amount": 1, "from_unit": "furlong", "to_unit": "cm"}, "I do not know the unit 'furlong'"),
        ({"amount": 1, "from_unit": "inch", "to_unit": "celsius"}, "cannot become"),
        ({"amount": "some", "from_unit": "cup", "to_unit": "ml"}, "I need an amount"),
        ({}, "I need an amount"),
    ],
)
async def test_conversions_that_make_no_sense_are_refused(box: Rig, arguments: dict[str, Any], words: str) -> None:
    result = await box.call("convert_units", **arguments)
    assert result.outcome is Outcome.REFUSED
    assert words in result.text


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("17.5 * (3 + 4) / 2", "61.25"),
        ("0.1 + 0.2", "0.3"),
        ("2 ^ 10", "1024"),
        ("-7 // 2", "-4"),
        ("6 / 3", "2"),
        ("sqrt(2)", "1.414213562"),
        ("round(2 * pi, 3)", "6.283"),
        ("123456789 * 987654321", "121932631112635269"),
    ],
)
async def test_calculations_are_exact(box: Rig, expression: str, result: str) -> None:
    answer = await box.call("calculate", expression=expression)
    assert answer.text.rpartition(" = ")[2] == result


@pytest.mark.parametrize(
    ("expression", "outcome"),
    [
        ("1 / 0", Outcome.FAILED),
        ("9 ** 9 ** 9", Outcome.FAILED),
        ("10 ** 60 * 10 ** 60", Outcome.FAILED),
        ("sqrt(-1)", Outcome.FAILED),
        ("(-1) ** 0.5", Outcome.FAILED),
        ("sqrt(1, 2)", Outcome.FAILED),
        ("__import__('os').system('true')", Outcome.REFUSED),
        ("'a' * 1000000", Outcome.REFUSED),
        ("[1] * 1000000", Outcome.REFUSED),
        ("True + True", Outcome.REFUSED),
        ("1 +", Outcome.REFUSED),
        ("(" * 150 + "1" + ")" * 150, Outcome.REFUSED),
        ("1+" * 200, Outcome.REFUSED),
        ("", Outcome.REFUSED),
    ],
)
async def test_what_is_no_calculation_ends_in_words(box: Rig, expression: str, outcome: Outcome) -> None:
    result = await box.call("calculate", expression=expression)
    assert result.outcome is outcome
    assert "errored" not in result.text
