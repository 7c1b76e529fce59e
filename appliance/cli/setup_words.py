"""Set-up of what the box is called, which language it speaks, and with which voice."""

from __future__ import annotations

from appliance.cli.setup_kit import Kit, Voice
from appliance.cli.setup_sound import speak_sample
from appliance.errors import ApplianceError


async def set_up_name(kit: Kit) -> None:
    """What the box calls itself."""
    now = kit.value("box.name")
    answer = await kit.terminal.ask(f"Name of the box, Enter leaves it ({now or 'that of its soul'}):")
    if answer:
        await kit.set("box.name", answer)


async def set_up_language(kit: Kit) -> None:
    """Only where there is more than one."""
    if len(kit.bench.languages) < 2:
        kit.terminal.say(f"There is one language: {', '.join(kit.bench.languages)}.")
        return
    chosen = await kit.choose(kit.bench.languages, now=kit.value("box.language"))
    if chosen is not None:
        await kit.set("box.language", chosen)


async def set_up_voice(kit: Kit) -> None:
    """Pick one, have it fetched when it is not here, and hear it."""
    language = kit.value("box.language")
    while True:
        voices = {voice.name: voice for voice in kit.bench.voices(language)}
        notes = [_note(voice) for voice in voices.values()]
        chosen = await kit.choose([*voices], notes=notes, now=kit.value("speak.voice"))
        if chosen is None:
            return
        if not voices[chosen].is_here and not await _fetched(kit, voices[chosen]):
            continue
        sample = kit.bench.catalogue(kit.config()).say("setup.sample")
        await speak_sample(kit, kit.value("audio.speaker"), chosen, sample)
        if await kit.yes("Take this voice?"):
            await kit.set("speak.voice", chosen)
            return


def _note(voice: Voice) -> str:
    if voice.is_here:
        return "here"
    return f"to be fetched, {voice.megabytes:.0f} MB" if voice.megabytes else "to be fetched"


async def _fetched(kit: Kit, voice: Voice) -> bool:
    if not await kit.yes(f"{voice.name} is not here. Fetch it now?"):
        return False
    try:
        await kit.bench.fetch(voice.name)
    except ApplianceError as error:
        kit.terminal.say(f"  {error}")
        return False
    return True
