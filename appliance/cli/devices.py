"""``appliance devices``: microphones and speakers, by the names that the settings take."""

from __future__ import annotations

import argparse

from appliance.cli.shared import complain, print_json, print_table
from appliance.wiring import sound_devices


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No arguments of its own."""


def run(arguments: argparse.Namespace) -> int:
    """Exit code 1 when there is neither a microphone nor a speaker."""
    devices = sound_devices()
    if arguments.json:
        print_json(devices)
    elif devices:
        _print(devices)
    if not devices:
        complain("no sound device was found; plug one in, or see whether this user is in the group audio")
        return 1
    return 0


def _print(devices: list[dict[str, object]]) -> None:
    rows = [("name", "microphone", "speaker", "rate")]
    for device in devices:
        microphone = _channels(device["input_channels"], device["is_default_input"])
        speaker = _channels(device["output_channels"], device["is_default_output"])
        rows.append((str(device["name"]), microphone, speaker, f"{device['default_rate_hz']} Hz"))
    print_table(rows)
    print('\nSet audio.microphone and audio.speaker in config.toml to a name or a part of one; "" takes the default.')


def _channels(count: object, is_default: object) -> str:
    if not count:
        return "-"
    return f"{count} channels{', default' if is_default else ''}"
