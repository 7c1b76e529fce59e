"""Set-up of everything that sounds: microphone with a level meter, speaker, wake word."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

from appliance.audio import HEARING_FORMAT, AudioChunk, join
from appliance.cli.level_meter import Judgement, LevelMeter, Verdict
from appliance.cli.setup_kit import Kit
from appliance.clock import within
from appliance.device.tone import Tone, burst
from appliance.errors import ApplianceError
from appliance.ports import SoundCard
from appliance.ports_doctor import TappedSound
from appliance.speak.mixer import Lane, Mixer

_MEASURE_SECONDS = 5.0
_WAKE_SECONDS = 6.0
#: A card that delivers nothing is given up so much later.
_PATIENCE_SECONDS = 5.0
_LONGEST_SAMPLE_SECONDS = 60.0


async def set_up_microphone(kit: Kit) -> None:
    """Pick one by name, and see its level."""
    names = _names(kit, "input_channels")
    if not names:
        kit.terminal.say("No microphone was found. Plug one in; this user must be in the group audio.")
        return
    while True:
        chosen = await kit.choose(names, notes=_channels(kit, names), now=kit.value("audio.microphone"))
        wanted = kit.value("audio.microphone") if chosen is None else chosen
        judgement = await _measured(kit, wanted)
        if chosen is None:
            return
        is_good = judgement is None or judgement.verdict is Verdict.GOOD
        if is_good or await kit.yes("Take it all the same?", usual=False):
            await kit.set("audio.microphone", chosen)
            return


async def set_up_speaker(kit: Kit) -> None:
    """Pick one by name, and hear it."""
    names = _names(kit, "output_channels")
    if not names:
        kit.terminal.say("No speaker was found. Plug one in; this user must be in the group audio.")
        return
    while True:
        chosen = await kit.choose(names, now=kit.value("audio.speaker"))
        wanted = kit.value("audio.speaker") if chosen is None else chosen
        is_heard = await _is_heard(kit, wanted)
        if chosen is None:
            return
        if is_heard or await kit.yes("Take it all the same?", usual=False):
            await kit.set("audio.speaker", chosen)
            return


async def set_up_wake_word(kit: Kit) -> None:
    """Pick one, and say it."""
    now = kit.value("listen.wake_words")
    chosen = await kit.choose(kit.bench.known_wake_words, now=now[0] if now else "")
    words: Sequence[str] = now if chosen is None else (chosen,)
    if words:
        await _try_wake_word(kit, words)
    if chosen is not None:
        await kit.set("listen.wake_words", chosen)


async def speak_sample(kit: Kit, speaker: str, voice: str, text: str) -> bool:
    """Speak on that speaker with that voice, or give a tone when the voice is not here; False when nothing plays."""
    try:
        synthesizer = kit.bench.voice(voice)
    except ApplianceError as error:
        kit.terminal.say(f"  (a tone instead of words: {error})")
        synthesizer = None
    rate_hz = synthesizer.sample_rate_hz if synthesizer is not None else HEARING_FORMAT.sample_rate_hz
    mixer = Mixer(rate_hz, volume_percent=kit.value("speak.volume_percent"))
    try:
        async with _opened(kit, "", speaker, mixer) as card:
            if not card.info.speaker:
                kit.terminal.say(f"  {card.info.problem or 'it cannot be opened'}")
                return False
            clip = mixer.open_clip(Lane.SPEECH, text)
            if synthesizer is None:
                clip.write(burst(Tone.TIMER, 1.0, mixer.sample_rate_hz))
            else:
                async for piece in synthesizer.synthesize(text):
                    clip.write(piece.audio)
            clip.end()
            with contextlib.suppress(TimeoutError):
                await within(kit.clock, _LONGEST_SAMPLE_SECONDS, clip.finished())
            return True
    finally:
        if synthesizer is not None:
            synthesizer.close()


# ------------------------------------------------------------------------------------------------ microphone


async def _measured(kit: Kit, microphone: str) -> Judgement | None:
    """What the meter says; None when nobody wants to know."""
    answer = await kit.terminal.ask(f"Enter, then speak for {_MEASURE_SECONDS:.0f} s as you will later (s skips this):")
    if answer.lower().startswith("s"):
        return None
    meter, every_channel = LevelMeter(), list[AudioChunk]()
    async with _opened(kit, microphone, "", _silence()) as card:
        if not card.info.microphone:
            kit.terminal.say(f"  {card.info.problem or 'it cannot be opened'}")
            return Judgement(Verdict.DEAD, "")
        if isinstance(card, TappedSound):
            card.tap(every_channel.append)
        async for chunk in _sound(kit, card, _MEASURE_SECONDS):
            kit.terminal.show(meter.hear(chunk))
    tapped = join(every_channel, every_channel[0].format) if every_channel else None
    judgement = meter.judge(tapped)
    kit.terminal.say(f"  {judgement.sentence}")
    return judgement


async def _sound(kit: Kit, card: SoundCard, seconds: float) -> AsyncIterator[AudioChunk]:
    """So much sound of the microphone; less when it stops to deliver."""
    chunks, left = card.chunks(), seconds
    while left > 0.0:
        try:
            chunk = await within(kit.clock, _PATIENCE_SECONDS, anext(chunks))
        except (StopAsyncIteration, TimeoutError):
            return
        left -= chunk.duration_seconds
        yield chunk


@contextlib.asynccontextmanager
async def _opened(kit: Kit, microphone: str, speaker: str, mixer: Mixer) -> AsyncIterator[SoundCard]:
    card = kit.bench.card(microphone, speaker)
    await card.open(mixer.render)
    try:
        mixer.set_sample_rate(card.info.output_rate_hz)
        mixer.on_ready = card.output_ready
        yield card
    finally:
        await card.close()


def _silence() -> Mixer:
    return Mixer(HEARING_FORMAT.sample_rate_hz)


def _names(kit: Kit, direction: str) -> list[str]:
    return list(dict.fromkeys(str(device["name"]) for device in kit.bench.sound_devices() if device[direction]))


def _channels(kit: Kit, names: Sequence[str]) -> list[str]:
    found: dict[str, Any] = {str(device["name"]): device["input_channels"] for device in kit.bench.sound_devices()}
    return [f"{found[name]} channels" for name in names]


# --------------------------------------------------------------------------------------------------- speaker


async def _is_heard(kit: Kit, speaker: str) -> bool:
    while True:
        key = "setup.speaker" if speaker else "setup.speaker_default"
        text = kit.bench.catalogue(kit.config()).say(key, speaker=speaker)
        if not await speak_sample(kit, speaker, kit.value("speak.voice"), text):
            return False
        answer = (await kit.terminal.ask("Did you hear it? [Y/n, a: again]")).lower()
        if not answer.startswith("a"):
            return not answer.startswith("n")


# ------------------------------------------------------------------------------------------------- wake word


async def _try_wake_word(kit: Kit, words: Sequence[str]) -> None:
    detector = kit.bench.wake_words(words)
    phrase = " or ".join(f'"{phrase}"' for phrase in detector.phrases)
    while True:
        question = f"Enter, then say {phrase} within {_WAKE_SECONDS:.0f} s (s skips this):"
        if (await kit.terminal.ask(question)).lower().startswith("s"):
            return
        heard: list[AudioChunk] = []
        found = ""
        async with _opened(kit, kit.value("audio.microphone"), "", _silence()) as card:
            if not card.info.microphone:
                kit.terminal.say(f"  {card.info.problem or 'the microphone cannot be opened'}")
                return
            async for chunk in _sound(kit, card, _WAKE_SECONDS):
                heard.append(chunk)
                found = detector.detect(chunk) or ""
                if found:
                    break
        detector.reset()
        if found:
            kit.terminal.say(f'  Heard "{found}".')
            return
        kit.terminal.say(f"  Not recognised. {await _understood(kit, heard)}")
        if not await kit.yes("Once more?"):
            return


async def _understood(kit: Kit, heard: Sequence[AudioChunk]) -> str:
    """What a transcriber makes of it: whether the microphone or the word is to blame."""
    if not heard:
        return "No sound came from the microphone."
    try:
        transcriber = kit.bench.transcriber(kit.config())
    except ApplianceError:
        return ""
    try:
        transcript = await transcriber.transcribe(join(heard))
    except ApplianceError as error:
        return str(error)
    finally:
        transcriber.close()
    return f'What I understood: "{transcript.text}"' if transcript.text else "No words were understood either."
