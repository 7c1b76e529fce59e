"""The pictures of a chat on the command line: which there are, what was shown in a turn, one of them as a file."""

from __future__ import annotations

import argparse
import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from appliance.cli.shared import check_writable, print_json, print_table
from appliance.control import Control
from appliance.errors import ApplianceError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``chat image``."""
    parser.add_argument("handle", nargs="?", default="", help="such as img:0123456789ab.jpg; lists them when left out")
    parser.add_argument("--chat", default="", help="list those of this chat, by name or id")
    parser.add_argument("--out", type=Path, help="the file that gets the picture")


async def run(arguments: argparse.Namespace, control: Control) -> int:
    """List the pictures, or write one to a file."""
    check_writable(arguments.out)
    if not arguments.handle:
        _print_list(arguments, await control.call("chat.images", {"chat": arguments.chat}))
        return 0
    image = await control.call("chat.image", {"handle": arguments.handle})
    data = base64.b64decode(image.pop("data"))
    image["size_bytes"] = len(data)
    if arguments.out is not None:
        try:
            arguments.out.write_bytes(data)
        except OSError as error:
            raise ApplianceError(f"{arguments.out} cannot be written: {error.strerror}") from error
        image["file"] = str(arguments.out)
    if arguments.json:
        print_json(image)
    else:
        where = f", written to {arguments.out}" if arguments.out is not None else "; --out FILE writes it to a file"
        print(f"{image['handle']}: {image['media_type']}, {_size(len(data))}{where}")
    return 0


def shown_lines(turn: Mapping[str, Any]) -> list[str]:
    """What tools showed in a turn, each on a line, rows of pictures with their numbers."""
    lines: list[str] = []
    for item in turn.get("items", ()):
        if item.get("type") == "shown":
            lines += [f"pic: {picture['handle']} (from {item['tool']})" for picture in item["pictures"]]
            for gallery in item["galleries"]:
                lines.append(f"row: {gallery['title'] or 'pictures'} (from {item['tool']})")
                lines += [f"  {number}. {_tile(tile)}" for number, tile in enumerate(gallery["tiles"], start=1)]
    return lines


def _tile(tile: Mapping[str, str]) -> str:
    """What can be looked at, and where it comes from."""
    parts = (tile["title"], tile["handle"] or tile["thumb"], tile["full"], tile["page"])
    return " - ".join(dict.fromkeys(filter(None, parts)))


def _print_list(arguments: argparse.Namespace, rows: list[Mapping[str, Any]]) -> None:
    if arguments.json:
        print_json(rows)
    elif not rows:
        print("there are no pictures in this chat")
    else:
        print_table(
            [(row["handle"], _size(row["size_bytes"]), row["created_at"][:16].replace("T", " ")) for row in rows]
        )


def _size(size_bytes: int) -> str:
    return f"{max(1, round(size_bytes / 1000))} kB"
