"""``appliance config``: every setting with its value, where it comes from and what it does; and changing one."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from appliance.cli.config_checks import LOGIN, secret_problems
from appliance.cli.config_set import Change, change_setting, in_words
from appliance.cli.shared import complain, config_of, credentials_of, home_of, print_json, print_table
from appliance.config import Config, Origin, load
from appliance.errors import UsageError
from appliance.soul_settings import with_soul

_USAGE = """appliance config [SECTION]
       appliance config set SECTION.KEY VALUE
       appliance config unset SECTION.KEY
       appliance config check"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.usage = _USAGE
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORDS",
        help="the beginning of the settings to show, such as listen or speak.volume; or set, unset, check",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the settings, or change one; wrong ones are named on standard error and make exit code 78."""
    match arguments.words:
        case ["set", str(key), str(text), *more]:
            # A list may be given as several words, a sentence without quotes too.
            return _change(arguments, key, (", " if _is_list(key) else " ").join([text, *more]))
        case ["unset", str(key)]:
            return _change(arguments, key, None)
        case ["check"]:
            return _check(arguments)
        case ["set" | "unset", *_]:
            raise UsageError(f"usage: {_USAGE}")
        case [] | [_]:
            return _show(arguments, arguments.words[0] if arguments.words else "")
    raise UsageError(f"usage: {_USAGE}")


def _change(arguments: argparse.Namespace, key: str, text: str | None) -> int:
    change = asyncio.run(change_setting(arguments, key, text))
    if arguments.json:
        print_json(
            {
                "file": str(home_of(arguments).config_file),
                "key": change.key,
                "value": _plain(change),
                "holds": change.holds,
            }
        )
    else:
        print(in_words(home_of(arguments), change))
    return 0


def _plain(change: Change) -> Any:
    return list(change.value) if isinstance(change.value, tuple) else change.value


def _is_list(key: str) -> bool:
    section, _, name = key.partition(".")
    return any((o.section, o.key) == (section, name) and isinstance(o.value, tuple) for o in load(None, {}).origins)


def _check(arguments: argparse.Namespace) -> int:
    config = config_of(arguments, keep_going=True)
    problems = _problems(arguments, with_soul(config, home_of(arguments)))
    if arguments.json:
        print_json({"file": str(home_of(arguments).config_file), "problems": problems})
    elif not problems:
        print("every setting makes sense")
    for problem in problems:
        complain(problem)
    return 78 if problems else 0


def _show(arguments: argparse.Namespace, prefix: str) -> int:
    config = with_soul(config_of(arguments, keep_going=True), home_of(arguments))
    chosen = [o for o in config.origins if f"{o.section}.{o.key}".startswith(prefix)]
    if not chosen:
        raise UsageError(f"no setting begins with {prefix!r}; appliance config lists all")
    problems = _problems(arguments, config)
    if arguments.json:
        entries = {f"{o.section}.{o.key}": _entry(o) for o in chosen}
        print_json({"file": str(home_of(arguments).config_file), "settings": entries, "problems": problems})
    else:
        print(f"# {home_of(arguments).config_file}")
        print_table([(f"{o.section}.{o.key}", repr(_shown(o.value)), o.source, _about(o)) for o in chosen])
    for problem in problems:
        complain(problem)
    return 78 if problems else 0


def _entry(origin: Origin) -> dict[str, Any]:
    holds = "at once" if origin.is_live else "at the next start"
    return {"value": _shown(origin.value), "from": origin.source, "help": origin.help, "holds": holds}


def _about(origin: Origin) -> str:
    return f"{origin.help} (a change holds at once)" if origin.is_live else origin.help


def _problems(arguments: argparse.Namespace, config: Config) -> list[str]:
    return [*config.problems, *secret_problems(config, credentials_of(arguments).redact)]


def _shown(value: Any) -> Any:
    return LOGIN.sub("//…@", value) if isinstance(value, str) else value
