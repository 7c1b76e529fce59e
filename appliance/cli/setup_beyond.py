"""Set-up of what is outside the box or fixed to it: model, button, face."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from appliance.cli.setup_kit import Kit
from appliance.clock import within
from appliance.errors import ApplianceError, ButtonError
from appliance.events import Emotion
from appliance.face.animator import still
from appliance.ports import Button, FaceBackend

_PRESS_SECONDS = 15.0
_PRESSES = 2
#: A contact bounces for some milliseconds; nobody presses twice within these.
_BOUNCE_SECONDS = 0.05


async def set_up_model(kit: Kit) -> None:
    """URL, key and name, and whether they work."""
    url, model = kit.value("think.url"), kit.value("think.model")
    question = "URL of a model, such as http://192.168.1.5:8080 or https://api.openai.com; none for none; Enter: as now"
    answer = await kit.terminal.ask(f"{question} ({url or 'none'}):")
    if answer.lower() == "none":
        kit.bench.keep_model("", "", None)
        kit.terminal.say("  No model: the box answers by itself.")
        kit.changes.append("no model")
        return
    if not answer:
        if url and await kit.yes("Test it?"):
            kit.terminal.say(f"  {(await kit.bench.check_model(url, model, None)).sentence}")
        return
    model = await kit.terminal.ask("Name of the model there, Enter lets the endpoint choose:")
    key = await kit.terminal.ask_secret("Its key, Enter for none:")
    check = await kit.bench.check_model(answer, model, key)
    kit.terminal.say(f"  {check.sentence}")
    if check.works or await kit.yes("Keep it all the same?", usual=False):
        kit.bench.keep_model(answer, model, key)
        kit.changes.append(f"the model at {answer}")


# ---------------------------------------------------------------------------------------------------- button


async def set_up_button(kit: Kit) -> None:
    """Its pin, and whether presses come."""
    now = kit.value("button.pin")
    question = 'Pin of the button as gpiozero names it ("GPIO17", "BOARD11"); none for none; Enter leaves it'
    answer = await kit.terminal.ask(f"{question} ({now or 'none'}):")
    if answer.lower() == "none":
        await kit.set("button.pin", "")
        return
    pin = answer or now
    if not pin:
        return
    is_pressed = await _is_pressed(kit, kit.bench.button(pin))
    if answer and (is_pressed or await kit.yes("Keep that pin all the same?", usual=False)):
        await kit.set("button.pin", answer)


async def _is_pressed(kit: Kit, button: Button) -> bool:
    """Whether somebody's presses came."""
    loop, edges = asyncio.get_running_loop(), asyncio.Queue[tuple[bool, float]]()

    def tell(is_pressed: bool, at_seconds: float) -> None:
        loop.call_soon_threadsafe(edges.put_nowait, (is_pressed, at_seconds))

    button.listen(tell)
    try:
        await button.open()
        if button.sample():
            kit.terminal.say("  It reads as pressed already: change button.pressed_is or button.pull, or its wires.")
        kit.terminal.say(f"  Press it now, {_PRESSES} times, within {_PRESS_SECONDS:.0f} s.")
        presses = await _count_presses(kit, edges)
    except ButtonError as error:
        kit.terminal.say(f"  {error}")
        return False
    finally:
        button.close()
    came = "One press came." if presses == 1 else f"{presses} presses came."
    kit.terminal.say(f"  {came if presses else 'No press came: look after pin and wires.'}")
    return presses > 0


async def _count_presses(kit: Kit, edges: asyncio.Queue[tuple[bool, float]]) -> int:
    """Until there are enough, or the time is over; each is shown."""
    presses, last_at = 0, float("-inf")
    ends_at = kit.clock.monotonic_seconds() + _PRESS_SECONDS
    while presses < _PRESSES:
        try:
            is_pressed, at = await within(kit.clock, ends_at - kit.clock.monotonic_seconds(), edges.get())
        except TimeoutError:
            break
        if is_pressed and at - last_at > _BOUNCE_SECONDS:
            presses += 1
        kit.terminal.show(f"  press {presses}: {'down' if is_pressed else 'up'}")
        last_at = at
    return presses


# ------------------------------------------------------------------------------------------------------ face


async def set_up_face(kit: Kit) -> None:
    """What shows it, and whether it looks happy."""
    known, now = kit.bench.known_faces, kit.value("face.backends")
    kit.terminal.say(f"  {', '.join(known)}")
    while True:
        question = "What shows the face, several with commas; none for none; Enter leaves it"
        answer = await kit.terminal.ask(f"{question} ({', '.join(now) or 'none'}):")
        names = [name.strip().lower() for name in answer.split(",") if name.strip()]
        wrong = [name for name in names if name not in (*known, "none")]
        if not wrong:
            break
        kit.terminal.say(f"  {', '.join(wrong)}: there is no such face.")
    if names == ["none"]:
        await kit.set("face.backends", "")
        return
    is_seen = await _is_seen(kit, names or now)
    if names and (is_seen or await kit.yes("Keep it all the same?", usual=False)):
        await kit.set("face.backends", ",".join(names))


async def _is_seen(kit: Kit, names: Sequence[str]) -> bool:
    """Show happy on all of them."""
    shown: list[FaceBackend] = []
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1, thread_name_prefix="face") as thread:  # backends belong to one thread
        try:
            for face in kit.bench.faces(names):
                try:
                    await loop.run_in_executor(thread, face.apply, still(Emotion.HAPPY))
                    shown.append(face)
                except OSError as error:
                    kit.terminal.say(f"  {face.name}: {error}")
            if not shown:
                kit.terminal.say("  Nothing shows it here.")
                return False
            kit.terminal.say()
            return await kit.yes(f"It looks happy now on {', '.join(face.name for face in shown)}. Do you see it?")
        except ApplianceError as error:
            kit.terminal.say(f"  {error}")
            return False
        finally:
            for face in shown:
                await loop.run_in_executor(thread, _rest, face)


def _rest(face: FaceBackend) -> None:
    with contextlib.suppress(OSError):
        face.park()
    face.close()
