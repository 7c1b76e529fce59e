"""What the owner sees and does on the page, in a real browser, with a real box behind it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from appliance.events import Emotion, EmotionChanged, MuteChanged
from tests.contracts.third_party_world import install
from tests.e2e.test_first_light import scripted_model
from tests.e2e.test_plugin_by_voice import put_album
from tests.panel.browser import DESKTOP, PHONE, chromium, window
from tests.panel.served import served_box
from tests.store.private import PASSPHRASE

#: Script and markup in every place where a stranger may write.
EVIL = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>{{7*7}}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for all tests here."""
    with chromium() as opened:
        yield opened


def test_the_face_is_that_of_the_box(browser: Browser, tmp_path: Path) -> None:
    with served_box(tmp_path / "home") as served, window(browser, served.address) as seen:
        for emotion in (Emotion.HAPPY, Emotion.SCARED):
            served.tell(EmotionChanged("turn-1", 1.0, emotion, "reply"))
            seen.page.wait_for_selector(f".face[data-mood={emotion.value}]")
        served.tell(MuteChanged("", 1.0, True))
        seen.page.wait_for_selector(".face[data-activity=muted]")
        assert "microphone is off" in seen.page.inner_text(".state")
        assert seen.page.get_attribute(".face", "aria-label") == "scared, deaf: the microphone is off"
        assert not seen.complaints


def test_a_typed_turn_is_read_along_and_stays_in_its_conversation(browser: Browser, tmp_path: Path) -> None:
    with served_box(tmp_path / "home") as served, window(browser, served.address) as seen:
        served.ask("ask", text="set a timer for one minute called tea")
        seen.page.wait_for_selector(".talk .box")
        assert "tea" in seen.page.inner_text(".talk .person")
        assert seen.page.inner_text(".steps li .tool") == "box timer set"
        seen.go("chats")
        assert "tea" in seen.page.inner_text(".turns")
        seen.page.fill("[aria-label='Name of this conversation']", "kitchen")
        seen.page.click("text=Rename")
        seen.page.wait_for_selector("h3:has-text('kitchen')")
        seen.page.click("button:has-text('Clear')")
        seen.page.click("dialog button:has-text('No')")
        assert "tea" in seen.page.inner_text(".turns"), "no is no"
        seen.page.click("button:has-text('Clear')")
        seen.page.click("dialog button:has-text('Yes')")
        seen.page.wait_for_selector("text=Nothing was said in it yet.")
        assert not seen.complaints


def test_a_private_conversation_is_hidden_once_it_is_locked(browser: Browser, tmp_path: Path) -> None:
    with served_box(tmp_path / "home") as served, window(browser, served.address) as seen:
        served.ask("chat.passphrase", passphrase=PASSPHRASE)
        served.ask("ask", text="set a timer for one minute called purple elephant")
        seen.go("chats")
        assert "purple elephant" in seen.page.inner_text(".turns")
        seen.page.click("button:has-text('Make private')")
        seen.page.click("dialog button:has-text('Yes')")
        seen.page.click("button:has-text('Lock')")
        seen.page.wait_for_selector(".locked")
        assert "elephant" not in seen.page.content()
        seen.page.fill("#passphrase", "wrong")
        seen.page.click("button:has-text('Open')")
        seen.page.wait_for_selector("[role=alert]:has-text('passphrase')")
        assert "elephant" not in seen.page.content()
        seen.page.fill("#passphrase", PASSPHRASE)
        seen.page.click("button:has-text('Open')")
        seen.page.wait_for_selector(".turns:has-text('purple elephant')")


def test_a_setting_kept_on_the_page_changes_what_the_model_reads_in_the_next_turn(
    browser: Browser, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    install("weather", home / "plugins")
    with scripted_model(tmp_path, {"text": "One."}, {"text": "Two."}) as model, served_box(home, model) as served:
        served.ask("plugin.switch", name="weather", on=True)
        before = json.dumps(served.ask("tool.why", name="weather_now"))
        with window(browser, served.address) as seen:
            seen.go("tools")
            seen.page.click("[data-plugin=weather] summary")
            seen.page.wait_for_selector("[data-plugin=weather] form")
            seen.page.fill("#set-weather-place", "Reykjavik")
            seen.page.click("button:has-text('Keep settings')")
            seen.page.wait_for_selector("text=describe themselves anew")
        after = json.dumps(served.ask("tool.why", name="weather_now"))
    assert "Reykjavik" not in before and "Reykjavik" in after


def test_a_plugin_that_is_switched_off_takes_its_tools_along(browser: Browser, tmp_path: Path) -> None:
    with served_box(tmp_path / "home") as served, window(browser, served.address) as seen:
        seen.go("tools")
        seen.page.click("[aria-label='Switch off dice']")
        seen.page.click("dialog button:has-text('Yes')")
        seen.page.wait_for_selector("[aria-label='Switch on dice']")
        assert "roll_dice" not in [tool["name"] for tool in served.ask("tool.list")]
        seen.page.click("[aria-label='Switch on dice']")
        seen.page.wait_for_selector("[aria-label='Switch off dice']")
        assert "roll_dice" in [tool["name"] for tool in served.ask("tool.list")]


def test_a_secret_is_written_and_never_read_back(browser: Browser, tmp_path: Path) -> None:
    home = tmp_path / "home"
    plugin = home / "plugins" / "safe"
    (plugin / "tools").mkdir(parents=True)
    fields = [
        {"key": "pin", "type": "password", "label": "Pin"},
        {"key": "mode", "type": "string", "options": ["slow", "fast"], "default": "slow", "label": "Mode"},
        {
            "key": "danger",
            "type": "boolean",
            "label": "Danger",
            "confirm": {"values": [True], "title": "Really?", "warnings": ["It bites."], "buttonLabel": "I know"},
        },
    ]
    manifest = {"name": "safe", "default_enabled": True, "capabilities": {"settings": fields}}
    (plugin / "plugin.json").write_text(json.dumps(manifest))
    with served_box(home) as served, window(browser, served.address) as seen:
        seen.go("tools")
        seen.page.click("[data-plugin=safe] summary")
        seen.page.fill("[data-plugin=safe] input[type=password]", "4711-secret")
        seen.page.select_option("[data-plugin=safe] select", "fast")
        seen.page.check("[data-plugin=safe] input[type=checkbox]")
        seen.page.click("button:has-text('Keep settings')")
        assert "It bites." in seen.page.inner_text("dialog")
        seen.page.click("dialog button:has-text('I know')")
        seen.page.wait_for_selector("text=It is set.")
        assert "4711" not in seen.page.content()
        kept = {row["key"]: row["value"] for row in served.ask("plugin.info", name="safe")["settings"]}
    assert kept == {"pin": "set", "mode": "fast", "danger": True}
    assert "4711-secret" in (home / "user" / "webui" / "plugins" / "safe.json").read_text()


@pytest.mark.parametrize("place", ["now", "chats", "tools", "house", "health"])
def test_what_strangers_wrote_is_text_everywhere(browser: Browser, tmp_path: Path, place: str) -> None:
    home = tmp_path / "home"
    put_album(home, tmp_path / "photos")
    evil = home / "plugins" / "evil.py"
    evil.write_text(
        f"EVIL = {EVIL!r}\n"
        "SCHEMA = {'type': 'function', 'name': 'evil', 'description': EVIL, 'parameters': {'type': 'object'}}\n"
        "ANNOUNCE = HEARTBEAT = COMPLETE = FAIL = EVIL\nRISK = 'read'\n"
        "async def execute(args, ctx):\n    return EVIL\n"
    )
    manifest = {"name": "broken", "title": EVIL, "description": EVIL, "version": EVIL, "capabilities": EVIL}
    (home / "plugins" / "broken").mkdir()
    (home / "plugins" / "broken" / "plugin.json").write_text(json.dumps(manifest))
    tile = {"thumb": "javascript:alert(1)", "title": EVIL, "page": "javascript:alert(1)"}
    gallery = f"{EVIL}\n<!--GALLERY:{json.dumps({'title': EVIL, 'items': [tile]})}-->"
    (home / "plugins" / "tiles").mkdir()
    (home / "plugins" / "tiles" / "plugin.json").write_text(
        json.dumps({"name": "tiles", "default_enabled": True, "capabilities": {"tools": ["tiles.py"]}})
    )
    (home / "plugins" / "tiles" / "tiles.py").write_text(
        "ENABLED = True\nEMOJI = ''\nAVAILABLE_FUNCTIONS = ['tiles_show']\n"
        "TOOLS = [{'type': 'function', 'is_local': True, 'function': {'name': 'tiles_show', 'description': 'x', "
        "'parameters': {'type': 'object', 'properties': {}}}}]\n"
        f"def execute(function_name, arguments, config):\n    return {gallery!r}, True\n"
    )
    answers = (
        {"calls": [{"name": "evil"}, {"name": "tiles_show"}]},
        {"text": f"{EVIL} [x](javascript:alert(1)) `{EVIL}`"},
    )
    with scripted_model(tmp_path, *answers) as model, served_box(home, model) as served:
        served.ask("ask", text=EVIL)
        served.ask("chat.rename", chat=served.ask("chat.list")[0]["chat"], name=EVIL[:70])
        with window(browser, served.address) as seen:
            seen.go(place)
            for _ in range(2):  # what is inside comes with the opening
                seen.page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
                seen.page.evaluate("fetch('/').then(() => new Promise(requestAnimationFrame))")
            assert seen.page.title() == "Appliance"
            assert not seen.page.locator("main script, main img[onerror], main [onclick]").count()
            assert not seen.page.locator("a[href^='javascript']").count()
            assert not [asked for asked in seen.asked if not asked.startswith(("http://localhost:", "blob:"))]
            if place == "chats":
                assert EVIL[:20] in seen.page.inner_text(".turns")


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_nothing_keeps_a_person_out(browser: Browser, tmp_path: Path, size: tuple[int, int], colours: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    with served_box(tmp_path / "home") as served:
        served.ask("ask", text="set a timer for one minute")
        with window(browser, served.address, size, color_scheme=colours) as seen:
            for place in ("now", "chats", "tools", "house", "health"):
                seen.go(place)
                if place == "tools":
                    seen.page.click("[data-plugin=home_assistant] summary")
                    seen.page.wait_for_selector("[data-plugin=home_assistant] form")
                found = Axe().run(seen.page).response["violations"]
                grave = [
                    (one["id"], one["nodes"][0]["html"][:200])
                    for one in found
                    if one["impact"] in ("serious", "critical")
                ]
                assert not grave, place
                width = seen.page.evaluate("document.documentElement.scrollWidth")
                assert width <= size[0], f"{place} is wider than the screen"


def test_the_keyboard_reaches_everything(browser: Browser, tmp_path: Path) -> None:
    with served_box(tmp_path / "home") as served, window(browser, served.address) as seen:
        seen.page.keyboard.press("Tab")
        reached = set()
        for _ in range(12):
            reached.add(seen.page.evaluate("document.activeElement.textContent"))
            seen.page.keyboard.press("Tab")
        assert {"Now", "Chats", "Tools", "House", "Health"} <= reached


def test_an_old_address_says_what_to_do(browser: Browser, tmp_path: Path) -> None:
    with served_box(tmp_path / "home") as served:
        page = browser.new_context().new_page()
        page.goto(served.address.partition("#")[0])
        page.wait_for_selector("text=appliance panel prints the address")
        page.goto(served.address.partition("#")[0] + "#" + "x" * 32)
        page.reload()
        page.wait_for_selector("text=the token is missing or an old one")
        page.context.close()
