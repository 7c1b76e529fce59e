"""Finds settings that would only be found wrong by whoever uses them, and secrets where none belongs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from appliance import models
from appliance.config import Config
from appliance.device.quiet_hours import QuietHours
from appliance.errors import ApplianceError, ConfigError
from appliance.home import shipped
from appliance.models import Purpose
from appliance.network.proxy import PROXY_PASSWORD, PROXY_USER, find_proxy
from appliance.tools.tool import Risk
from appliance.wiring import MODEL_KEY
from appliance.wiring_faces import check_backends
from appliance.wiring_setup import check_wake_words

#: A user and a password in a URL.
LOGIN = re.compile(r"//[^/\s@]*@")
#: A setting that we do not have and that would hold a secret.
_SECRET_NAME = re.compile(r"(^|_)(api_?key|key|token|secret|password|passwd|passphrase)$", re.IGNORECASE)
#: Keys of well-known services: a prefix, then a long run without a gap.
_LOOKS_SECRET = re.compile(r"\b(sk|rk|pk|ghp|gho|xoxb|hf)[-_][A-Za-z0-9_-]{16,}")


def check_meaning(key: str, value: Any) -> None:
    """Raise ``ConfigError`` when nothing can be done with that value; ``key`` is SECTION.KEY."""
    check = _CHECKS.get(key)
    if check is None:
        return
    try:
        check(value)
    except ConfigError:
        raise
    except ApplianceError as error:
        raise ConfigError(f"{key} = {value!r}: {error}") from error


def refuse_secret(key: str, text: str, redact: Callable[[str], str]) -> None:
    """Raise ``ConfigError`` for a secret, with where it belongs; the text itself is not repeated."""
    if _SECRET_NAME.search(key.partition(".")[2]):
        name = MODEL_KEY if key.startswith("think.") else "NAME"
        raise ConfigError(
            f"{key} would be a secret, and config.toml is no place for one; keep it with: appliance credential set "
            f"{name}"
        )
    problem = secret_problem(key, text, redact)
    if problem:
        raise ConfigError(problem)


def secret_problem(key: str, value: Any, redact: Callable[[str], str]) -> str:
    """What to do with the secret in a setting; "" when there is none."""
    if not isinstance(value, str):
        return ""
    if LOGIN.search(value):
        names = f"{PROXY_USER} and {PROXY_PASSWORD}" if key == "network.proxy" else MODEL_KEY
        return (
            f"{key} holds a user or a password, and config.toml is no place for one; leave it out of the URL and keep "
            f"it with: appliance credential set ({names})"
        )
    if _LOOKS_SECRET.search(value) or redact(value) != value:
        return f"{key} holds a secret, and config.toml is no place for one; keep it with: appliance credential set"
    return ""


def secret_problems(config: Config, redact: Callable[[str], str]) -> list[str]:
    """Secrets that somebody has written into the settings file."""
    found = [
        secret_problem(f"{origin.section}.{origin.key}", origin.value, redact)
        for origin in config.origins
        if origin.source == "file"
    ]
    return [problem for problem in found if problem]


def _check_weights(purpose: Purpose) -> Callable[[str], None]:
    def check(name: str) -> None:
        known = [entry for entry, weights in models.known_weights().items() if weights.purpose is purpose]
        if name not in known:
            raise ApplianceError(f"must be one of {', '.join(known)}")

    return check


def _check_language(language: str) -> None:
    known = sorted(folder.parent.name for folder in shipped("soul").glob("*/assistant.toml"))
    if language not in known:
        raise ApplianceError(f"must be one of {', '.join(known)}")


def _check_risks(pairs: tuple[str, ...]) -> None:
    for pair in pairs:
        if pair.partition("=")[2].strip() not in set(Risk):
            raise ApplianceError(f"each entry is NAME=RISK, with one of {', '.join(Risk)}")


_CHECKS: dict[str, Callable[[Any], object]] = {
    "box.language": _check_language,
    "device.quiet_hours": QuietHours.parse,
    "face.backends": check_backends,
    "hear.model": _check_weights(Purpose.HEARING),
    "listen.wake_words": check_wake_words,
    "network.proxy": lambda proxy: find_proxy(proxy, {}),
    "speak.voice": _check_weights(Purpose.VOICE),
    "tools.risks": _check_risks,
}
