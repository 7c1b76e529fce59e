"""What plugins of the second contract reach of the box: the system, the event bus, the plugin loader."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from appliance.contracts.sapphire.turn_hooks import Moment
from tests.contracts.gate import until
from tests.contracts.sapphire_rig import SapphireRig, tool_file

SYSTEM = "from core.api_fastapi import get_system\nsystem = get_system()\n"


async def test_a_plugin_can_speak_and_be_silent(box: SapphireRig) -> None:
    heard: list[dict[str, Any]] = []
    box.beside.events.subscribe("tts_stopped", heard.append)
    await box.load_tool(f"{SYSTEM}system.tts.speak('Dinner.')\nsystem.tts.stop()\nreturn 'ok', True")
    assert (await box.call()).text == "ok"
    assert box.doors.asked == ["say Dinner.", "silence"]
    await until(lambda: heard == [{"type": "tts_stopped", "data": None}])


async def test_the_chat_in_use_has_a_name_and_can_be_emptied(box: SapphireRig) -> None:
    body = (
        f"{SYSTEM}sessions = system.llm_chat.session_manager\nname = sessions.get_active_chat_name()\n"
        "sessions.clear()\nreturn f\"Chat '{name}' has been reset.\", True"
    )
    await box.load_tool(body)
    assert (await box.call()).text == "Chat 'Kitchen' has been reset."
    assert box.doors.asked == ["clear"]


async def test_a_turn_does_not_end_itself_but_a_task_or_a_daemon_may_end_it(box: SapphireRig) -> None:
    await box.load_tool(f"{SYSTEM}system.cancel_generation()\nreturn 'ok', True")
    await box.call()
    assert box.doors.asked == []
    await asyncio.to_thread(box.beside.system.cancel_generation)
    assert box.doors.asked == ["stop"]


async def test_what_is_not_here_says_so_and_a_look_first_finds_nothing(box: SapphireRig) -> None:
    await box.load_tool(
        f"{SYSTEM}assert not hasattr(system, 'agent_manager') and not hasattr(system.tts, 'set_voice')\n"
        "return system.tts.generate_audio_data('x')"
    )
    assert (await box.call()).text == (
        "Error executing probe: system.tts.generate_audio_data is not on this box; there is speak, stop"
    )


async def test_a_module_that_is_not_here_says_what_there_is(box: SapphireRig) -> None:
    await box.load_tool("from core.personas import current")
    text = (await box.call()).text
    assert "this box does not offer core.personas; it offers core.api_fastapi, " in text


async def test_the_toolset_in_use_can_be_asked_for_and_changed(box: SapphireRig) -> None:
    body = (
        f"{SYSTEM}fm = system.llm_chat.function_manager\nbefore = fm.get_current_toolset_info()\n"
        "fm.update_enabled_functions(['none'])\nreturn str((before, fm.get_enabled_function_names())), True"
    )
    await box.load_tool(body)
    assert (await box.call()).text == "({'name': 'all', 'function_count': 1, 'functions': ['probe']}, [])"
    assert box.offered() == {}


async def test_a_hook_has_the_system_once_the_box_is_up(box: SapphireRig) -> None:
    source = "def pre_chat(event):\n    event.input = str(event.metadata['system'] is not None)\n"
    box.plugin("p", {"h.py": source}, capabilities={"tools": [], "hooks": {"pre_chat": "h.py"}})
    await box.load()
    assert (await box.beside.turn.before_chat(Moment("t", "c"), "?")).text == "True"
    box.doors.is_open = False
    assert (await box.beside.turn.before_chat(Moment("t", "c"), "?")).text == "False"


# ---------------------------------------------------------------------------------------------------- event bus

LISTENER = tool_file(
    "probe",
    "return str(HEARD), True",
    "from core.event_bus import Events, publish, subscribe",
    "HEARD = []",
    "END = subscribe(Events.MIND_CHANGED, lambda event: HEARD.append(event['data']))",
)


async def test_plugins_hear_of_each_other(box: SapphireRig) -> None:
    box.plugin("ears", {"tools/probe.py": LISTENER})
    body = "publish(Events.MIND_CHANGED, {'kind': 'memory'})\nreturn 'ok', True"
    box.plugin("mouth", {"tools/tell.py": tool_file("tell", body, "from core.event_bus import Events, publish")})
    await box.load()
    await box.call("tell")
    heard = box.tool("probe").facts.module.HEARD
    await until(lambda: heard == [{"kind": "memory"}])
    box.tool("probe").facts.module.END()
    await box.call("tell")
    await box.beside.events.close()
    assert heard == [{"kind": "memory"}]


async def test_a_listener_goes_with_its_plugin_and_one_that_fails_costs_itself(
    box: SapphireRig, caplog: pytest.LogCaptureFixture
) -> None:
    box.plugin("ears", {"tools/probe.py": LISTENER.replace("HEARD.append(event['data'])", "1 / 0")})
    await box.load()
    heard: list[dict[str, Any]] = []
    box.beside.events.subscribe("*", heard.append)
    threading.Thread(target=box.beside.events.publish, args=("mind_changed",)).start()
    await until(lambda: len(heard) == 1)
    assert "plugin ears failed to hear of mind_changed: ZeroDivisionError" in caplog.text
    box.switch(disabled=("ears",))
    await box.load()
    caplog.clear()
    box.beside.events.publish("mind_changed")
    await until(lambda: len(heard) == 2)
    assert caplog.text == ""


async def test_an_event_that_is_not_known_here_says_which_are(box: SapphireRig) -> None:
    await box.load_tool("from core.event_bus import Events\nreturn Events.MOON_ROSE")
    assert "this box has no event MOON_ROSE; it has TTS_STOPPED, " in (await box.call()).text


async def test_a_plugin_that_is_refused_is_told_to_the_others(box: SapphireRig) -> None:
    heard: list[dict[str, Any]] = []
    box.beside.events.subscribe("plugin_load_error", heard.append)
    box.plugin("a", {"tools/t.py": tool_file("same", "return 'a', True")})
    box.plugin("b", {"tools/t.py": tool_file("same", "return 'b', True")})
    await box.load()
    await until(lambda: len(heard) == 1)
    assert heard[0]["data"]["plugin"] == "b"
