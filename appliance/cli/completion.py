"""``appliance completion``: what makes the Tab key of a shell know the commands.

The script is made once, from the same parsers that read the command line, and answers by itself: on a small board even
starting Python would take longer than anybody waits behind a Tab. Names that change come from short lists that a
device writes when they do; only chats are asked for.
"""

from __future__ import annotations

import argparse
import asyncio

from appliance.cli.completion_script import scripts
from appliance.cli.completion_tree import tree_of
from appliance.cli.session import running_device
from appliance.cli.shared import home_of
from appliance.errors import ApplianceError, UsageError
from appliance.name_lists import read_names

_HOW = """how to use it:
  bash   appliance completion bash | sudo tee /usr/share/bash-completion/completions/appliance
  zsh    appliance completion zsh > ~/.zfunc/_appliance      (with fpath+=~/.zfunc before compinit)
  fish   appliance completion fish > ~/.config/fish/completions/appliance.fish"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.epilog = _HOW
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("shell", choices=["bash", "zsh", "fish", "names"], metavar="SHELL", help="bash, zsh or fish")
    parser.add_argument("kind", nargs="?", default="", help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    """Print the script; ``names KIND`` is for the script itself."""
    if arguments.shell == "names":
        print("\n".join(asyncio.run(_names(arguments))))
        return 0
    if arguments.kind:
        raise UsageError(f"one shell at a time, and not {arguments.kind!r}")
    from appliance.cli.main import whole_parser

    print(scripts(tree_of(whole_parser()))[arguments.shell], end="")
    return 0


async def _names(arguments: argparse.Namespace) -> list[str]:
    """What may stand there now; nothing where that would take long to find out."""
    home = home_of(arguments)
    if arguments.kind != "chat":
        return read_names(home.runtime_folder, arguments.kind)
    try:
        async with running_device(home) as device:
            return [str(chat["name"]) for chat in await device.call("chat.list")] if device is not None else []
    except ApplianceError:
        return []
