"""Secrets: where they come from, where they are kept, and masking them in every text that leaves us."""

from __future__ import annotations

import base64
import json
import logging
import os
import re
import threading
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, quote_plus

from appliance.clock import Clock, SystemClock
from appliance.durable import sync_folder
from appliance.errors import StoreError, UsageError
from appliance.home import Home
from appliance.store.atomic_file import read_json, write_json

_LOG = logging.getLogger(__name__)

MASK = "[secret]"

#: A secret of one plugin has the plugin's name before a colon.
_NAME = re.compile(r"([A-Za-z0-9_][A-Za-z0-9_.-]{0,63}:)?[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
#: Environment variables that hold a secret by their name, whether we ever use them or not.
_SECRET_VARIABLE = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?$", re.IGNORECASE)
#: Masking shorter ones would mask ordinary words and numbers everywhere.
_SHORTEST_MASKED = 4
_SHORTEST_MASKED_VARIABLE = 8
#: The unit loads a whole folder under the name "keys".
_UNIT_PREFIX = "keys_"


class Credentials:
    """The secrets, by name: systemd's credentials folder, then the environment, then our file (0600).

    Reads everything once when made; ``problem`` then says what was wrong with our file, "" when nothing was.
    ``get``, ``hide`` and ``redact`` may be called from any thread; ``set`` and ``remove`` block on the disk. No method
    ever puts a secret into a log or an exception.
    """

    def __init__(self, file: Path, environment: Mapping[str, str], clock: Clock) -> None:
        self._file = file
        self._clock = clock
        self._lock = threading.Lock()
        self._environment = dict(environment)
        self._asked_for: frozenset[str] = frozenset()
        self._from_systemd = _read_folder(environment.get("CREDENTIALS_DIRECTORY", ""))
        self._from_file, self.problem = self._read_file()
        self._pattern = self._make_pattern()

    def get(self, name: str) -> str:
        """The secret; "" when there is none. From now on it is masked, whatever its name is."""
        secret = self._from_systemd.get(name) or self._environment.get(name) or self._from_file.get(name, "")
        self.hide(secret)
        return secret

    def hide(self, secret: str) -> None:
        """Mask this one too from now on, wherever it came from; nothing happens for ""."""
        if secret and secret not in self._asked_for:
            with self._lock:
                self._asked_for = self._asked_for | {secret}
                self._pattern = self._make_pattern()

    def origin(self, name: str) -> str:
        """Where that secret comes from: systemd, environment, file; "" when there is none."""
        places = (("systemd", self._from_systemd), ("environment", self._environment), ("file", self._from_file))
        return next((place for place, secrets in places if secrets.get(name)), "")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the secrets that systemd or our file holds."""
        return tuple(sorted({*self._from_systemd, *self._from_file}))

    def of_plugin(self, plugin: str) -> dict[str, str]:
        """The secrets that the owner keeps for one plugin, by their names without the plugin's."""
        prefix = f"{plugin}:"
        return {
            name.removeprefix(prefix): secret for name, secret in self._from_file.items() if name.startswith(prefix)
        }

    def read_again(self) -> None:
        """Our file has been changed by somebody else."""
        secrets, problem = self._read_file()
        with self._lock:
            self._from_file, self.problem = secrets, problem
            self._pattern = self._make_pattern()

    def set(self, name: str, value: str) -> None:
        """Keep a secret in our file; durable when this returns. Raises ``UsageError``, ``StoreError``."""
        if not _NAME.fullmatch(name):
            raise UsageError("the name of a credential has letters, digits, '_', '-' and '.' only")
        if not value or value != value.strip() or not value.isprintable():
            raise UsageError(f"the value for {name} is empty, has spaces around it, or holds a line end")
        self._change({**self._from_file, name: value})

    def remove(self, name: str) -> bool:
        """Remove a secret from our file, and from the copy before it; False when it holds none of that name."""
        if name not in self._from_file:
            return False
        self._change({key: value for key, value in self._from_file.items() if key != name})
        return True

    def redact(self, text: str) -> str:
        """``text`` with every known secret masked, also where it is written as JSON, URL or base64."""
        return self._pattern.sub(MASK, text) if self._pattern is not None else text

    def _change(self, secrets: dict[str, str]) -> None:
        with self._lock:
            write_json(self._file, secrets)
            if not self._from_file.items() <= secrets.items():
                # Whoever takes a secret out or replaces it wants the old one gone, from the generation before too.
                self._file.with_name(f"{self._file.name}.bak").unlink(missing_ok=True)
                sync_folder(self._file.parent)
            self._from_file = secrets
            self._pattern = self._make_pattern()

    def _read_file(self) -> tuple[dict[str, str], str]:
        if self._file.parent.is_dir() and not os.access(self._file.parent, os.X_OK):
            return {}, ""  # Somebody else's home: the secrets are none of ours, and its device speaks for it.
        try:
            value, problem = read_json(self._file, self._clock.now())
            if self._file.exists() and self._file.stat().st_mode & 0o077:
                _LOG.warning("%s could be read by others; it is made readable for its owner only", self._file)
                self._file.chmod(0o600)
        except (StoreError, OSError) as error:
            _LOG.error("%s", error)
            return {}, str(error)  # A disk that fails must not keep the box from talking.
        if value is None:
            return {}, problem
        if not isinstance(value, dict) or not all(isinstance(entry, str) for entry in value.values()):
            problem = f"{self._file} must hold one JSON object of texts; it is not used"
            _LOG.error("%s", problem)
            return {}, problem
        return value, problem

    def _make_pattern(self) -> re.Pattern[str] | None:
        secrets = {*self._from_systemd.values(), *self._from_file.values(), *self._asked_for}
        known = {secret for secret in secrets if len(secret) >= _SHORTEST_MASKED}
        known |= {
            value
            for name, value in self._environment.items()
            if _SECRET_VARIABLE.search(name) and len(value) >= _SHORTEST_MASKED_VARIABLE
        }
        forms = {form for secret in known for form in _forms(secret)}
        longest_first = sorted(forms, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest_first))) if forms else None


def _forms(secret: str) -> set[str]:
    """How a secret may be written in a request, a log line or an error."""
    encoded = base64.b64encode(secret.encode()).decode()
    return {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        quote(secret, safe=""),
        quote_plus(secret),
        encoded.rstrip("="),
        encoded.rstrip("=").replace("+", "-").replace("/", "_"),
    }


def _read_folder(folder: str) -> dict[str, str]:
    """systemd's ``LoadCredential=``: one file for each secret."""
    if not folder:
        return {}
    try:
        files = list(Path(folder).iterdir())
    except OSError:
        return {}  # What it starts behind the service is told of the folder, and may not look into it.
    secrets = {}
    for file in files:
        try:
            # It puts the name of the folder that the unit names before each.
            secrets[file.name.removeprefix(_UNIT_PREFIX)] = file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            _LOG.warning("credential %s cannot be read: %s", file.name, type(error).__name__)
    return secrets


def credentials_of(home: Home) -> Credentials:
    """The secrets of a home."""
    return Credentials(home.folder / "credentials.json", os.environ, SystemClock())
