"""``appliance config``: every setting with its value, where it comes from and what it does."""

from __future__ import annotations

import argparse
import re
from typing import Any

from appliance.cli.shared import complain, config_of, home_of, print_json, print_table
from appliance.errors import UsageError
from appliance.soul_settings import with_soul

#: A user and a password in a URL.
_LOGIN = re.compile(r"//[^/\s]*@")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("prefix", nargs="?", default="", help="only keys that begin so, such as listen or speak.volume")


def run(arguments: argparse.Namespace) -> int:
    """Print the settings; wrong ones are named on standard error and make exit code 78."""
    config = with_soul(config_of(arguments, keep_going=True), home_of(arguments))
    chosen = [o for o in config.origins if f"{o.section}.{o.key}".startswith(arguments.prefix)]
    if not chosen:
        raise UsageError(f"no setting begins with {arguments.prefix!r}; appliance config lists all")
    if arguments.json:
        entries = {f"{o.section}.{o.key}": {"value": _shown(o.value), "from": o.source, "help": o.help} for o in chosen}
        print_json({"file": str(home_of(arguments).config_file), "settings": entries, "problems": config.problems})
    else:
        print(f"# {home_of(arguments).config_file}")
        print_table([(f"{o.section}.{o.key}", repr(_shown(o.value)), o.source, o.help) for o in chosen])
    for problem in config.problems:
        complain(problem)
    return 78 if config.problems else 0


def _shown(value: Any) -> Any:
    return _LOGIN.sub("//…@", value) if isinstance(value, str) else value
