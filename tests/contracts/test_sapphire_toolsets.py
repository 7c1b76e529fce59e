"""Which tools of plugins take part in conversations."""

from __future__ import annotations

import pytest

from appliance.adapters.fakes.documents import FakeDocuments
from appliance.adapters.fakes.tool import FakeTool
from appliance.errors import UsageError
from appliance.events import Outcome
from appliance.tools.toolsets import Toolsets
from tests.contracts.sapphire_rig import SapphireRig, tool_file


async def house(box: SapphireRig) -> None:
    """Three tools of two plugins, one of them hidden, one of a tool module, and one of the box itself."""
    box.plugin(
        "garden",
        {
            "tools/water.py": tool_file("water", "return 'watered', True"),
            "tools/dig.py": tool_file("dig", "return 'dug', True", flags='"hidden": True,'),
        },
    )
    box.plugin("kitchen", {"tools/cook.py": tool_file("cook", "return 'cooked', True")})
    await box.load()
    box.registry.add(FakeTool("roll_dice", origin="plugin:dice"))
    box.registry.add(FakeTool("box_time", origin="box"))


def offered(box: SapphireRig) -> set[str]:
    return set(box.offered())


@pytest.mark.contract("S-156", "S-164", "S-174")
@pytest.mark.parametrize(
    ("names", "in_use", "expected"),
    [
        (["all"], "all", {"water", "cook", "roll_dice"}),
        (["none"], "none", set()),
        (["plugin_garden_water"], "plugin_garden_water", {"water"}),
        (["plugin_garden_dig"], "plugin_garden_dig", set()),
        (["garden"], "garden", {"water"}),
        (["plugin:dice"], "plugin:dice", {"roll_dice"}),
        (["cook"], "custom", {"cook"}),
        (["dig", "kitchen"], "custom", {"dig", "cook"}),
        (["nobody_knows"], "nobody_knows", set()),
        ([], "none", set()),
    ],
)
async def test_only_the_tools_of_the_toolset_in_use_are_offered(
    box: SapphireRig, names: list[str], in_use: str, expected: set[str]
) -> None:
    await house(box)
    assert await box.toolsets.use(names) == in_use
    assert offered(box) == expected | {"box_time"}
    assert box.toolsets.dangling == (("nobody_knows",) if in_use == "nobody_knows" else ())


@pytest.mark.contract("S-174")
async def test_a_saved_toolset_may_name_a_hidden_tool(box: SapphireRig) -> None:
    await house(box)
    await box.toolsets.save("spring", ["dig", "cook"])
    await box.toolsets.use(["spring"])
    assert offered(box) == {"dig", "cook", "box_time"}
    assert (await box.call("dig")).text == "dug"


@pytest.mark.contract("S-165")
async def test_a_hidden_tool_can_be_called_while_everything_is_in_use(box: SapphireRig) -> None:
    await house(box)
    assert "dig" not in offered(box)
    assert (await box.call("dig")).text == "dug"


@pytest.mark.contract("S-156")
async def test_a_tool_outside_of_the_toolset_does_not_run_either(box: SapphireRig) -> None:
    await house(box)
    await box.toolsets.use(["garden"])
    result = await box.call("cook")
    assert result.outcome is Outcome.REFUSED
    assert "it is not in the toolset garden" in result.text


async def test_the_choice_and_what_was_saved_last(box: SapphireRig) -> None:
    await house(box)
    await box.toolsets.save("spring", ["dig"])
    await box.toolsets.use(["spring", "cook"])
    again = Toolsets(box.documents, lambda: box.registry.tools)
    await again.load()
    assert again.in_use == "custom"
    assert set(again.tools_in_use()) == {"dig", "cook"}


async def test_a_new_tool_joins_where_it_is_named(box: SapphireRig) -> None:
    await house(box)
    box.documents.collections["toolsets"] = {"later": ["cook", "bake"]}
    await box.toolsets.load()
    await box.toolsets.use(["later"])
    assert offered(box) == {"cook", "box_time"}
    box.registry.add(FakeTool("bake", origin="plugin:oven"))
    assert offered(box) == {"cook", "bake", "box_time"}
    await box.toolsets.use(["all"])
    assert "bake" in offered(box)


async def test_custom_again_keeps_what_is_in_use(box: SapphireRig) -> None:
    await house(box)
    await box.toolsets.use(["cook", "water"])
    assert await box.toolsets.use(["custom"]) == "custom"
    assert offered(box) == {"cook", "water", "box_time"}


async def test_the_list_has_them_all(box: SapphireRig) -> None:
    await house(box)
    await box.toolsets.save("spring", ["dig"])
    await box.toolsets.use(["cook"])
    rows = {row.name: row for row in box.toolsets.rows()}
    files = {"plugin_garden_water", "plugin_garden_dig", "plugin_kitchen_cook", "plugin:dice"}
    assert set(rows) == {"all", "none", "spring", "custom"} | files
    assert rows["spring"].is_saved and rows["spring"].tools == ("dig",)
    assert rows["custom"].is_in_use and rows["custom"].tools == ("cook",)
    assert set(rows["all"].tools) == {"water", "cook", "roll_dice"}


async def test_a_toolset_that_is_forgotten_while_in_use_leaves_every_tool(box: SapphireRig) -> None:
    await house(box)
    await box.toolsets.save("spring", ["dig"])
    await box.toolsets.use(["spring"])
    await box.toolsets.delete("spring")
    assert box.toolsets.in_use == "all"
    assert box.documents.collections["toolsets"] == {}


@pytest.mark.parametrize(
    ("name", "tools", "words"),
    [
        ("all", ["cook"], "means something already"),
        ("garden", ["cook"], "means something already"),
        ("cook", ["cook"], "means something already"),
        ("", ["cook"], "begins with a letter"),
        ("spring", ["nothing"], "there is no tool nothing"),
    ],
)
async def test_a_toolset_that_makes_no_sense_is_refused(
    box: SapphireRig, name: str, tools: list[str], words: str
) -> None:
    await house(box)
    with pytest.raises(UsageError, match=words):
        await box.toolsets.save(name, tools)


async def test_unknown_names_are_said(box: SapphireRig) -> None:
    await house(box)
    with pytest.raises(UsageError, match="there is no toolset 'x'"):
        box.toolsets.row("x")
    with pytest.raises(UsageError, match="there is no saved toolset 'all'"):
        await box.toolsets.delete("all")


async def test_a_store_that_cannot_be_read_leaves_every_tool(caplog: pytest.LogCaptureFixture) -> None:
    documents = FakeDocuments()
    documents.fail_reads = True
    toolsets = Toolsets(documents, lambda: [FakeTool("cook")])
    await toolsets.load()
    assert toolsets.tools_in_use() == ("cook",)
    assert "the toolsets cannot be read" in caplog.text
