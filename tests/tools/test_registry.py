"""Which tools a turn sees, and under which names."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from appliance.adapters.fakes.tool import FakeTool
from appliance.ports import Json
from appliance.tools.registry import Registry
from appliance.tools.tool import Risk, Tool


def registry(*tools: FakeTool) -> Registry:
    made = Registry()
    for tool in tools:
        made.add(tool)
    return made


def test_of_two_tools_with_one_name_the_first_stays() -> None:
    first, second = FakeTool("same", origin="box"), FakeTool("same", origin="plugin:other")
    made = Registry()

    assert made.add(first)
    assert not made.add(second)
    assert made.tools == (first,)


def test_names_are_made_legal_and_found_again_by_both() -> None:
    tool, twin = FakeTool("wetter.heute"), FakeTool("wetter heute")

    selection = registry(tool, twin).select()

    assert [schema["name"] for schema in selection.schemas] == ["wetter_heute", "wetter_heute_2"]
    assert selection.find("wetter_heute_2") is twin
    assert selection.find("wetter.heute") is tool


def test_a_name_is_never_longer_than_the_endpoint_takes() -> None:
    selection = registry(FakeTool("x" * 80), FakeTool("x" * 90)).select()

    assert [len(entry.legal_name) for entry in selection.offered] == [64, 64]
    assert len({entry.legal_name for entry in selection.offered}) == 2


def test_one_bad_schema_does_not_spoil_the_others() -> None:
    class Bad(FakeTool):
        def schema(self) -> Mapping[str, Json]:
            raise ValueError("its parameters are a list")

    selection = registry(Bad("bad"), FakeTool("good")).select()

    assert [entry.tool.name for entry in selection.offered] == ["good"]
    assert "its parameters are a list" in selection.why_not["bad"]


@pytest.mark.contract("K-044")
def test_a_tool_that_is_not_available_is_not_offered_but_known() -> None:
    tool = FakeTool("away")
    tool.is_available = False

    selection = registry(tool).select()

    assert selection.schemas == ()
    assert "not available" in selection.why_not["away"]
    assert selection.find("away") is tool
    assert selection.withheld == {}


def test_asking_for_availability_may_fail() -> None:
    class Broken(FakeTool):
        def available(self) -> bool:
            raise OSError("no")

    assert "failed" in registry(Broken("broken")).select().why_not["broken"]


def test_rules_of_the_box_and_of_the_turn_withhold_tools() -> None:
    def no_network(tool: Tool) -> str | None:
        return "this chat is private" if tool.risk is Risk.NETWORK else None

    made = Registry(rules=[lambda tool: "it is paused" if tool.name == "stuck" else None])
    for tool in (FakeTool("stuck"), FakeTool("fetch", risk=Risk.NETWORK), FakeTool("fine")):
        made.add(tool)

    selection = made.select(rules=[no_network])

    assert [entry.tool.name for entry in selection.offered] == ["fine"]
    assert selection.withheld == {"stuck": "it is paused", "fetch": "this chat is private"}
    assert [entry.tool.name for entry in made.select().offered] == ["fetch", "fine"]


@pytest.mark.contract("K-040")
def test_risk_never_removes_a_tool_by_itself() -> None:
    tools = [FakeTool(risk.value, risk=risk) for risk in Risk]

    assert [entry.tool.name for entry in registry(*tools).select().offered] == ["read", "write", "exec", "network"]


def test_a_plugin_is_taken_out_as_a_whole() -> None:
    made = registry(
        FakeTool("a", origin="plugin:x"), FakeTool("b", origin="plugin:y"), FakeTool("c", origin="plugin:x")
    )

    made.remove_origin("plugin:x")

    assert [tool.name for tool in made.tools] == ["b"]


def test_a_selection_does_not_change_when_tools_go() -> None:
    made = registry(FakeTool("a", origin="plugin:x"))
    selection = made.select()

    made.remove_origin("plugin:x")

    assert selection.find("a") is not None
