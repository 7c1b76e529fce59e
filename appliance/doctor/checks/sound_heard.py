"""What the microphone delivers: devices, how fast sound comes, level, dead and inverted channels, clipping, gaps."""

from __future__ import annotations

from appliance.doctor.finding import Finding, as_sentence, cannot_tell, fine, wrong
from appliance.doctor.sound_signal import Channel, channels_of, is_inverted
from appliance.doctor.sound_trial import Heard, SoundTrial

#: How far from its own rate a device may be; a busy board delivers in bursts.
_RATE_TOLERANCE = 0.06
#: Quieter than any room with a working microphone in it; speech at arm's length is 30 dB louder.
_DEAF_DBFS = -75.0
#: Share of clipped samples that a listener hears.
_CLIPPED_SHARE = 0.001
#: Faults since the start that may happen while the box starts.
_FEW_FAULTS = 5

_NOT_LISTENED = "There is no microphone to listen to."
_LOOK_AT_DEVICES = "Plug in what is missing, and choose it by its name: appliance devices"


def sound_devices(trial: SoundTrial) -> Finding:
    """Which devices are open, and what is missing."""
    info = trial.info
    if not trial.is_real:
        return cannot_tell("This box takes typed turns only, and looks at no sound card.", "appliance doctor sound")
    if info.problem or not info.microphone or not info.speaker:
        # What the card advises for each direction is one and the same thing to do.
        parts = [part for part in info.problem.split("; ") if part and not part.startswith("plug one in")]
        lacking = " and no ".join(name for name in ("microphone", "speaker") if not getattr(info, name))
        return wrong(as_sentence("; ".join(parts) or f"there is no {lacking}"), _LOOK_AT_DEVICES)
    return fine(f"Microphone: {info.microphone}. Speaker: {info.speaker}, {info.output_rate_hz} Hz.")


async def sound_frames(trial: SoundTrial) -> Finding:
    """Whether sound comes, and as fast as the device promises."""
    heard = await _heard(trial)
    if isinstance(heard, Finding):
        return heard
    if heard.sound is None:
        return wrong(
            f"No sound at all came from {trial.info.microphone} in {heard.seconds:g} seconds, not even silence.",
            "Unplug the microphone, plug it in again and restart the box.",
        )
    nominal, measured = heard.sound.format.sample_rate_hz, heard.frames_per_second
    said = f"{measured:.0f} of {nominal} frames come in a second"
    if measured and abs(measured / nominal - 1.0) > _RATE_TOLERANCE:
        return wrong(f"Only {said}." if measured < nominal else f"{said}.", "Use another USB port, without a hub.")
    channels = heard.sound.format.channels
    return fine(f"{said}, in {channels} channel{'s' if channels > 1 else ''}.")


async def sound_level(trial: SoundTrial) -> Finding:
    """Whether anything is heard, though the microphone is open."""
    if trial.is_muted:
        return fine("The microphone is closed: it was muted.")
    channels = await _channels(trial)
    if isinstance(channels, Finding):
        return channels
    levels = ", ".join(f"{channel.level_dbfs:.0f}" for channel in channels)
    loudest = max(channel.level_dbfs for channel in channels)
    if loudest <= _DEAF_DBFS:
        return wrong(
            f"The microphone is open and hears nothing: {levels} dBFS.",
            "Look whether it has a switch of its own, then raise its level: alsamixer, F4.",
        )
    return fine(f"The microphone hears the room at {levels} dBFS.")


async def sound_channels(trial: SoundTrial) -> Finding:
    """Whether a channel is dead, or the mirror image of another."""
    channels = await _channels(trial)
    if isinstance(channels, Finding):
        return channels
    heard = (await trial.heard()).sound
    if len(channels) == 1 or heard is None:
        return fine("The microphone has one channel.")
    dead = [str(number) for number, channel in enumerate(channels, 1) if channel.is_dead]
    if dead:
        return wrong(
            f"Channel {' and '.join(dead)} of {len(channels)} is dead; the box listens to another one.",
            "Look at the microphone's plug and cable; a mono one in a stereo socket is like this for ever.",
        )
    if is_inverted(heard):
        return wrong(
            "Two channels are inverted to each other: programs that mix them hear nothing.",
            "Take the first channel alone, or swap the two wires of one microphone.",
        )
    if all(channel.is_silent for channel in channels):
        return cannot_tell("All channels are silent.")
    return fine(f"All {len(channels)} channels are alive.")


async def sound_clipping(trial: SoundTrial) -> Finding:
    """Whether the microphone is set too loud."""
    channels = await _channels(trial)
    if isinstance(channels, Finding):
        return channels
    share = max(channel.clipped_share for channel in channels)
    peak = max(channel.peak_dbfs for channel in channels)
    if share > _CLIPPED_SHARE:
        return wrong(f"{share:.1%} of the sound is clipped.", "Lower the microphone's level: alsamixer, F4.")
    return fine(f"Nothing is clipped; the loudest moment had {peak:.0f} dBFS.")


async def sound_dropouts(trial: SoundTrial) -> Finding:
    """Whether sound was lost on its way, now or since the start."""
    heard = await _heard(trial)
    if isinstance(heard, Finding):
        return heard
    health = trial.health
    since = health.input_overruns + health.dropped_chunks
    words = f"{since} losses of sound and {health.output_underruns} gaps in what was played since the start"
    if heard.lost or heard.gaps or since > _FEW_FAULTS or health.output_underruns > _FEW_FAULTS:
        return wrong(f"{words}.", "See what keeps the processor busy: top")
    return fine(f"{words}.")


async def sound_echo(trial: SoundTrial) -> Finding:
    """How much of what the box plays comes back into its microphone."""
    info = trial.info
    if not (trial.can_listen and info.speaker):
        return cannot_tell("An echo needs a speaker and an open microphone.")
    if trial.is_busy:
        return cannot_tell("The box is talking with somebody.", "Ask again when it is quiet.")
    if trial.volume_percent == 0:
        return cannot_tell("The volume is zero.", "Say: volume fifty percent.")
    echo = await trial.echo()
    if echo is None:
        return cannot_tell(
            "A chirp was played and did not come back.",
            "If you did not hear it, turn the speaker up; if you did, the microphone is far away, which is good.",
        )
    if echo.loss_decibels < _LOUD_ECHO_DECIBELS:
        return wrong(
            f"The microphone hears the speaker nearly as loud as it plays (echo loss {echo.loss_decibels:.0f} dB).",
            "Move the speaker away from the microphone, or turn one of them down.",
        )
    talking_over = f" Talking over the box: {trial.duplex}." if trial.duplex else ""
    return fine(f"The echo of the speaker comes back {echo.loss_decibels:.0f} dB weaker.{talking_over}")


#: With less, what the box says covers whoever interrupts it.
_LOUD_ECHO_DECIBELS = 6.0


async def _heard(trial: SoundTrial) -> Heard | Finding:
    if trial.is_muted:
        return cannot_tell("The microphone is closed.", "Open it: say or press what mutes it once more.")
    if not trial.can_listen:
        return cannot_tell(_NOT_LISTENED)
    return await trial.heard()


async def _channels(trial: SoundTrial) -> list[Channel] | Finding:
    heard = await _heard(trial)
    if isinstance(heard, Finding):
        return heard
    return (
        channels_of(heard.sound) if heard.sound is not None else cannot_tell("No sound came that could be looked at.")
    )
