"""The shipped plugin for Home Assistant, against a server that answers like the real one."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.sentence_matcher import HassilMatcher
from appliance.contracts.sapphire import core_net
from appliance.events import Outcome
from appliance.home import shipped
from appliance.network.facade import Facade
from appliance.tools.tool import Risk
from tests.contracts.home_server import TOKEN, HomeServer, thing
from tests.contracts.sapphire_rig import SapphireRig
from tests.network.facades import real_facade


@pytest.fixture
def home() -> Iterator[HomeServer]:
    """A house with Home Assistant."""
    with HomeServer() as server:
        yield server


@pytest.fixture
def facade() -> Iterator[Facade]:
    """The plugins' real way out."""
    with real_facade() as made:
        yield made


@pytest.fixture
async def box(tmp_path: Path, home: HomeServer, facade: Facade) -> AsyncIterator[SapphireRig]:
    """A box with the plugin as it ships, switched on and told where the house is."""
    made = SapphireRig(tmp_path, secrets={"HA_TOKEN": TOKEN}, network=core_net.offered(facade))
    shutil.copytree(shipped("plugins") / "home_assistant", made.shipped / "home_assistant")
    made.switch(enabled=("home_assistant",))
    made.store_settings("home_assistant", json.dumps({"url": home.url + "/"}))
    await made.load()
    assert made.sentences == []
    yield made
    await made.close()


async def says(box: SapphireRig, tool: str, outcome: Outcome = Outcome.OK, **arguments: Any) -> str:
    """What the tool answers."""
    result = await box.call(tool, **arguments)
    assert result.outcome is outcome, result.text
    return result.text


async def test_it_is_off_until_the_owner_wants_it(box: SapphireRig) -> None:
    assert set(box.names) == {"home_look", "home_areas", "home_switch", "home_light", "home_climate", "home_scene"}
    assert all(tool.risk is Risk.NETWORK for tool in box.report.tools)
    box.switch()
    await box.load()
    assert box.names == []


# ----------------------------------------------------------------------------------------------------- looking


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        (
            "",
            "Kitchen ceiling is on. Kitchen window is open or raising an alarm. "
            "Living room is at 20.5 degrees, set to 21.",
        ),
        ("outside temperature", "Outside temperature is 11.5 degrees."),
        ("the coffee machine", "Coffee machine is off."),
        ("kitchen ceiling", "Kitchen ceiling is on at 50 percent."),
        ("the kitchen window", "Kitchen window is open."),
        ("kitchen lights", "Kitchen ceiling is on at 50 percent. Counter is off."),
        ("bath fan", "Bath fan is not answering."),
    ],
)
async def test_it_tells_how_the_house_is(box: SapphireRig, name: str, answer: str) -> None:
    assert await says(box, "home_look", name=name) == answer


async def test_what_must_not_be_touched_is_not_even_known(box: SapphireRig) -> None:
    assert await says(box, "home_look", Outcome.FAILED, name="front door") == "I know nothing called front door."
    text = await says(box, "home_switch", Outcome.FAILED, name="garage door", to="on")
    assert text == "I know nothing called garage door that I can set."


async def test_it_names_the_areas_and_what_is_in_them(box: SapphireRig) -> None:
    assert await says(box, "home_areas") == "The areas are Kitchen and Living room."
    assert await says(box, "home_areas", name="kitchen") == (
        "In Kitchen there are Kitchen ceiling, Counter, Fridge and Kitchen window."
    )


@pytest.mark.contract("S-109", "S-112", "S-113")
async def test_the_model_reads_the_areas_once_they_are_known(box: SapphireRig) -> None:
    await says(box, "home_areas")
    await box.contract.save_settings("home_assistant", {"timeout": 5})
    schema = box.offered()["home_switch"]
    assert "The areas are: Kitchen, Living room." in schema["parameters"]["properties"]["name"]["description"]
    await box.load()
    assert "Kitchen, Living room" in str(box.offered()["home_light"]), "also right after a start"


# ------------------------------------------------------------------------------------------------------ acting


@pytest.mark.parametrize(
    ("arguments", "answer", "services"),
    [
        (
            {"name": "the desk lamp", "to": "on"},
            "Desk lamp is on.",
            [("light", "turn_on", {"entity_id": ["light.desk"]})],
        ),
        ({"name": "desk", "to": "on"}, "Desk lamp is on.", [("light", "turn_on", {"entity_id": ["light.desk"]})]),
        (
            {"name": "cofee mashine", "to": "on"},
            "Coffee machine is on.",
            [("switch", "turn_on", {"entity_id": ["switch.coffee"]})],
        ),
        (
            {"name": "the kitchen lights", "to": "off"},
            "Kitchen ceiling and Counter are off.",
            [("light", "turn_off", {"entity_id": ["light.kitchen_ceiling", "light.kitchen_counter"]})],
        ),
        (
            {"name": "kitchen", "to": "off"},
            "Kitchen ceiling and Counter are off.",
            [("light", "turn_off", {"entity_id": ["light.kitchen_ceiling", "light.kitchen_counter"]})],
        ),
        (
            {"name": "coffee machine", "to": "toggle"},
            "Coffee machine is switched.",
            [("switch", "toggle", {"entity_id": ["switch.coffee"]})],
        ),
    ],
)
async def test_it_switches_what_was_meant(
    box: SapphireRig, home: HomeServer, arguments: dict[str, Any], answer: str, services: list[Any]
) -> None:
    assert await says(box, "home_switch", **arguments) == answer
    assert home.services == services


@pytest.mark.parametrize(
    ("tool", "arguments", "answer"),
    [
        ("home_switch", {"name": "bed", "to": "on"}, "Which one: Bed left or Bed right?"),
        ("home_switch", {"name": "moon", "to": "on"}, "I know nothing called moon that I can set."),
        ("home_switch", {"name": "", "to": "on"}, "Which one?"),
        ("home_switch", {"name": "desk lamp"}, "Shall I switch it on or off?"),
        ("home_switch", {"name": "bath fan", "to": "on"}, "Bath fan is not answering."),
        ("home_switch", {"name": "living room fans", "to": "on"}, "I see no fan in Living room."),
        (
            "home_light",
            {"name": "coffee machine", "percent": 50},
            "I know nothing called coffee machine that I can set.",
        ),
        ("home_light", {"name": "desk lamp"}, "How bright shall Desk lamp be?"),
        ("home_climate", {}, "To how many degrees?"),
        ("home_climate", {"degrees": 45}, "I can set Living room from 7 to 30 degrees."),
        ("home_scene", {"name": "party"}, "There is no scene called party."),
        ("home_scene", {"name": ""}, "Which scene?"),
    ],
)
async def test_what_is_not_clear_is_asked_and_nothing_moves(
    box: SapphireRig, home: HomeServer, tool: str, arguments: dict[str, Any], answer: str
) -> None:
    assert await says(box, tool, Outcome.FAILED, **arguments) == answer
    assert home.services == []


@pytest.mark.parametrize(
    ("tool", "arguments", "answer", "service"),
    [
        (
            "home_light",
            {"name": "desk lamp", "percent": 40},
            "Desk lamp is at 40 percent.",
            ("light", "turn_on", {"entity_id": ["light.desk"], "brightness_pct": 40}),
        ),
        (
            "home_light",
            {"name": "desk lamp", "percent": "120", "color": "Red"},
            "Desk lamp is at 100 percent and red.",
            ("light", "turn_on", {"entity_id": ["light.desk"], "brightness_pct": 100, "color_name": "red"}),
        ),
        (
            "home_light",
            {"name": "desk lamp", "percent": 0},
            "Desk lamp is off.",
            ("light", "turn_off", {"entity_id": ["light.desk"]}),
        ),
        (
            "home_climate",
            {"degrees": 22.5},
            "Living room is set to 22.5 degrees.",
            ("climate", "set_temperature", {"entity_id": ["climate.living"], "temperature": 22.5}),
        ),
        (
            "home_climate",
            {"name": "living room", "to": "off"},
            "Living room is off.",
            ("climate", "set_hvac_mode", {"entity_id": ["climate.living"], "hvac_mode": "off"}),
        ),
        (
            "home_scene",
            {"name": "good night"},
            "Good night is set.",
            ("scene", "turn_on", {"entity_id": ["scene.good_night"]}),
        ),
    ],
)
async def test_it_dims_heats_and_sets_scenes(
    box: SapphireRig, home: HomeServer, tool: str, arguments: dict[str, Any], answer: str, service: Any
) -> None:
    assert await says(box, tool, **arguments) == answer
    assert home.services == [service]


async def test_a_crowd_is_not_switched_at_one_word(box: SapphireRig, home: HomeServer) -> None:
    for number in range(20):
        home.things[f"light.k{number}"] = thing(f"light.k{number}", f"Spot {number}", "off")
        home.areas["Kitchen"].append(f"light.k{number}")
    answer = await says(box, "home_switch", Outcome.FAILED, name="kitchen lights", to="on")
    assert answer == "Those would be 22 things at once. Please name fewer."
    assert home.services == []


# -------------------------------------------------------------------------------------------- when it goes wrong


async def test_a_wrong_token_is_said_and_never_shown(box: SapphireRig, home: HomeServer, tmp_path: Path) -> None:
    home.broken = 401
    text = await says(box, "home_look", Outcome.FAILED)
    assert text == "Home Assistant does not accept my token. It may have been deleted there."


async def test_a_house_that_does_not_answer_is_said(box: SapphireRig, home: HomeServer) -> None:
    await box.contract.save_settings("home_assistant", {"url": "http://127.0.0.1:9"})
    assert await says(box, "home_look", Outcome.FAILED) == "I cannot reach Home Assistant at 127.0.0.1."
    await box.contract.save_settings("home_assistant", {"url": home.url})
    home.broken = 500
    text = await says(box, "home_switch", Outcome.FAILED, name="desk lamp", to="on")
    assert text == "Home Assistant did not do that. It answered with error 500."


async def test_without_a_token_or_an_address_it_says_what_to_do(tmp_path: Path, facade: Facade) -> None:
    box = SapphireRig(tmp_path, network=core_net.offered(facade))
    shutil.copytree(shipped("plugins") / "home_assistant", box.shipped / "home_assistant")
    box.switch(enabled=("home_assistant",))
    await box.load()
    text = await says(box, "home_look", Outcome.FAILED)
    assert text == "I have no token for Home Assistant. Set one with: appliance credential set HA_TOKEN"
    await box.contract.save_settings("home_assistant", {"url": ""})
    assert (await says(box, "home_look", Outcome.FAILED)).startswith("Home Assistant has no address yet.")
    await box.close()


@pytest.mark.contract("S-089")
async def test_its_address_counts_as_in_the_house_unless_it_is_the_way_from_outside(
    box: SapphireRig, facade: Facade
) -> None:
    for url, lane in (
        ("https://ha.my-house.example.net", "lan"),
        ("https://abc.ui.nabu.casa", "wan"),
        ("https://other.example.net", "lan"),
    ):
        await box.contract.save_settings("home_assistant", {"url": url})
        await box.load()
        assert facade.classify(url.removeprefix("https://")) == lane


async def test_in_a_private_chat_the_house_still_listens(box: SapphireRig, home: HomeServer) -> None:
    box.is_private = True
    assert await says(box, "home_switch", name="desk lamp", to="on") == "Desk lamp is on."


# --------------------------------------------------------------------------------------------------- sentences


@pytest.mark.parametrize(
    ("sentence", "intent", "slots"),
    [
        ("turn on the desk lamp", "home_switch", {"to": "on", "name": "desk lamp"}),
        ("switch the kitchen lights off", "home_switch", {"to": "off", "name": "kitchen lights"}),
        ("set the heating to 21 degrees", "home_climate", {"degrees": 21}),
        ("activate the movie time scene", "home_scene", {"name": "movie time"}),
        ("how is the house", "home_look", {}),
        ("which rooms are there", "home_areas", {}),
    ],
)
def test_its_sentences_need_no_model(sentence: str, intent: str, slots: dict[str, Any]) -> None:
    matcher = HassilMatcher(shipped("plugins") / "home_assistant" / "sentences" / "en.yaml", {})
    found = [match.slots for match in matcher.match(sentence, {"percent": {}}) if match.intent == intent]
    wanted = {name: str(value) for name, value in slots.items()}
    assert wanted in [{name: str(given[name]).strip() for name in slots} for given in found]
