"""Settings of hearing: the sound card, the ear, the transcriber."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from appliance.config import setting

#: How slowly people speak here; see ``patience.py``.
Patience = Literal["relaxed", "normal", "quick"]


@dataclass(frozen=True)
class AudioConfig:
    """Which devices carry sound, by the names that `appliance devices` lists (never by number: numbers move)."""

    microphone: str = setting("", 'name of the microphone, or part of it; "" takes the system\'s choice')
    speaker: str = setting("", 'name of the speaker, or part of it; "" takes the system\'s choice')
    noise_suppression: Literal["off", "on"] = setting(
        "off", "whether noise is taken out of what the microphone hears; most microphones for speech do that themselves"
    )
    gain_control: Literal["off", "on"] = setting(
        "off", "whether a quiet microphone is made louder; most microphones for speech do that themselves"
    )


@dataclass(frozen=True)
class ListenConfig:
    """What opens the ear, and when an utterance is over."""

    wake_words: tuple[str, ...] = setting(
        ("okay_nabu",),
        "words that open the ear: okay_nabu, hey_jarvis, alexa, hey_mycroft, "
        "or the path of a microWakeWord .json file; several may be given, [] leaves only the button",
    )
    wake_check: Literal["auto", "off"] = setting(
        "auto",
        "whether what sounds like the wake word is read by the transcriber before the ear opens: auto or off",
        is_live=True,
    )
    speech_threshold: float = setting(
        0.5, "how sure voice activity must be that somebody speaks, 0 to 1", at_least=0.1, at_most=0.95, is_live=True
    )
    minimum_speech_seconds: float = setting(
        0.2, "shorter sounds are not taken for speech", at_least=0.06, at_most=1.0, is_live=True
    )
    soft_end_seconds: float = setting(
        0.12,
        "silence after which transcribing starts ahead, to be thrown away when speech goes on",
        at_least=0.03,
        is_live=True,
    )
    patience: Literal["relaxed", "normal", "quick"] = setting(
        "normal",
        "how long the box waits for people who pause: relaxed (for slow or halting speech), normal or quick",
        is_live=True,
    )
    silence_seconds: float = setting(
        0.0,
        "silence that ends an utterance at the latest, in place of what patience says; 0 takes what patience says",
        at_least=0.2,
        at_most=5.0,
        or_zero=True,
        is_live=True,
    )
    duplex: Literal["auto", "full", "guarded", "half"] = setting(
        "auto",
        "whether people may talk over the box while it speaks: full (anybody), guarded (who speaks up), half (only "
        "with the wake word or the button), or auto: what the measured echo allows",
        is_live=True,
    )
    words: tuple[str, ...] = setting(
        (),
        "names that no dictionary has, so that they are heard, and spelt as you write them; at most 20",
        is_live=True,
    )
    corrections: tuple[str, ...] = setting(
        (),
        'words that are misheard here, each as "heard = meant" (such as "nano leaf = Nanoleaf")',
        is_live=True,
    )
    longest_utterance_seconds: float = setting(
        20.0,
        "an utterance is cut off here, for rooms where a television never stops",
        at_least=3.0,
        at_most=120.0,
        is_live=True,
    )
    no_speech_seconds: float = setting(
        5.0,
        "how long the ear waits for speech after the wake word or the button",
        at_least=1.0,
        at_most=30.0,
        is_live=True,
    )
    follow_up_seconds: float = setting(
        6.0,
        "how long the ear stays open without a wake word after the box has asked something",
        at_least=1.0,
        at_most=30.0,
        is_live=True,
    )
    earcons: bool = setting(True, "whether short sounds tell: woken, heard, closed, muted, error", is_live=True)
    earcon_volume_percent: int = setting(40, "volume of those sounds", at_least=0, at_most=100, is_live=True)


@dataclass(frozen=True)
class HearConfig:
    """How speech becomes text; the language is that of the box."""

    model: str = setting("tiny.en", "name of the whisper weights, as `appliance models list` shows them")
    model_path: str = setting("", 'folder with whisper weights of your own (CTranslate2 format); "" takes `model`')
    beam_size: int = setting(
        # With 135 clips, two thirds of them in noise, 2 is as good as 3 (base 5.1 and 5.2 % of the words wrong, tiny.en
        # 8.0 and 7.8 %), and a tenth quicker; 1 costs a point.
        2,
        "how many readings whisper follows at once: more is slower and a little better",
        at_least=1,
        at_most=10,
    )
    threads: int = setting(0, "processor cores for whisper; 0 takes all but one, at most 4", at_least=0, at_most=64)
