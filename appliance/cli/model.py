"""``appliance model``: give the box a model, take it away, or see whether it works."""

from __future__ import annotations

import argparse
import asyncio

from appliance.cli.shared import complain, config_of, credentials_of, home_of, print_json, read_secret
from appliance.clock import SystemClock
from appliance.config_file import set_values
from appliance.errors import ApplianceError
from appliance.think.config import ThinkConfig
from appliance.think.model_check import EndpointCheck, check_endpoint
from appliance.wiring import MODEL_KEY, http_door, model_endpoint


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("show", help="which model is set, and whether it answers")
    set_one = actions.add_parser("set", help="use the model at a URL; asks for the key, hidden, and tests it")
    set_one.add_argument("url", help="such as https://api.openai.com or http://192.168.1.5:8080")
    set_one.add_argument("--model", default="", help="name of the model at that endpoint")
    set_one.add_argument("--no-key", action="store_true", help="it needs no key; do not ask, and forget the stored one")
    set_one.add_argument("--force", action="store_true", help="keep it even if it does not answer now")
    actions.add_parser("off", help="no model: the box answers by itself")


def run(arguments: argparse.Namespace) -> int:
    """Show, set or switch off."""
    return {"show": _show, "set": _set, "off": _off}[arguments.action](arguments)


def _show(arguments: argparse.Namespace) -> int:
    if not config_of(arguments).of(ThinkConfig).url:
        return _report(arguments, EndpointCheck(False, "no model is set; appliance model set URL gives the box one"))
    check = asyncio.run(_check(arguments))
    if check.works or arguments.json:
        _report(arguments, check)
    if not check.works:
        complain(check.sentence)
    return 0 if check.works else 1


def _set(arguments: argparse.Namespace) -> int:
    _use(arguments, arguments.url, arguments.model)
    # A URL that is none is refused before anybody types a key.
    config, credentials = config_of(arguments), credentials_of(arguments)
    model_endpoint(config, credentials, SystemClock(), http_door(config, credentials))
    key = "" if arguments.no_key else read_secret("key, empty for none")
    check = asyncio.run(_check(arguments, key))
    if not check.works and not arguments.force:
        raise ApplianceError(f"{check.sentence} (nothing was changed; --force keeps it all the same)")
    keep_model(arguments, arguments.url, arguments.model, key)
    _report(arguments, EndpointCheck(check.works, f"{check.sentence} A running device takes it at its next start."))
    return 0


async def check_model(arguments: argparse.Namespace, url: str, model: str, key: str | None) -> EndpointCheck:
    """Whether the model at that URL works, with ``key`` or else the stored one. Raises ``ConfigError``."""
    before = list(arguments.set)
    _use(arguments, url, model)
    try:
        return await _check(arguments, key)
    finally:
        arguments.set = before


def keep_model(arguments: argparse.Namespace, url: str, model: str, key: str | None) -> None:
    """Use that model from now on, with that key ("" forgets the stored one, None leaves it); "" is no model."""
    credentials = credentials_of(arguments)
    # First the settings: they may be the system's, which not everybody may change.
    set_values(home_of(arguments).config_file, "think", {"url": url or None, "model": model or None})
    if key is None:
        return
    if key:
        credentials.set(MODEL_KEY, key)
    else:
        # A key that was meant for another endpoint must not be sent to this one.
        credentials.remove(MODEL_KEY)
    origin = credentials.origin(MODEL_KEY)
    if origin not in ("", "file"):
        complain(f"{MODEL_KEY} is also given by {origin}, and that key is sent to {url}")


def _use(arguments: argparse.Namespace, url: str, model: str) -> None:
    arguments.set = [*arguments.set, f"think.url={url}", f"think.model={model}"]


def _off(arguments: argparse.Namespace) -> int:
    set_values(home_of(arguments).config_file, "think", {"url": None, "model": None})
    return _report(arguments, EndpointCheck(False, "No model: the box answers by itself from its next start on."))


async def _check(arguments: argparse.Namespace, key: str | None = None) -> EndpointCheck:
    """Ask the configured model, with ``key`` or else the stored one."""
    config, credentials = config_of(arguments), credentials_of(arguments)
    door = http_door(config, credentials)
    try:
        endpoint = model_endpoint(config, credentials, SystemClock(), door, key=key)
        if endpoint is None:
            return EndpointCheck(False, "no model is set")
        return await check_endpoint(endpoint)
    finally:
        await door.close()


def _report(arguments: argparse.Namespace, check: EndpointCheck) -> int:
    think = config_of(arguments).of(ThinkConfig)
    if arguments.json:
        print_json({"url": think.url, "model": think.model, "works": check.works, "sentence": check.sentence})
    else:
        print(check.sentence)
    return 0
