"""``core.credentials_manager``: how plugins get at secrets, by the names under which the owner keeps them here.

=====================  ==============================================================================
``HA_TOKEN``           the token of Home Assistant
``SSH_SERVERS``        a JSON list of {name, host, user, port, key_path, enabled}; no secret in it
``email.<scope>``      a JSON object: address, imap_server, imap_port, smtp_server, smtp_port, auth_type
``email.<scope>.password``    the password of that account
``bitcoin.<scope>``    a JSON object: label; ``bitcoin.<scope>.wif`` is its key
``<SERVICE>_API_KEY``  the key of a service or of a model
=====================  ==============================================================================

A secret that is kept for the plugin that asks comes before one that is kept for all.
"""

from __future__ import annotations

import json
import re
from typing import Any

from appliance.contracts.asked_keys import service_key_name
from appliance.contracts.plugin_call import current_plugin
from appliance.store.credentials import Credentials

_EMAIL: dict[str, Any] = {
    "address": "",
    "auth_type": "password",
    "imap_server": "",
    "imap_port": 993,
    "smtp_server": "",
    "smtp_port": 465,
}
_SSH: dict[str, Any] = {"name": "", "host": "", "user": "", "port": 22, "key_path": "", "enabled": True}
#: The names that the network package reads them by.
_PROXY_USER, _PROXY_PASSWORD = "PROXY_USER", "PROXY_PASSWORD"


class PluginCredentials:
    """The credentials manager, the same for every plugin. What is missing is "", {} or []; nothing raises."""

    def __init__(self, secrets: Credentials) -> None:
        self._secrets = secrets

    def get_ha_token(self) -> str:
        """The token of Home Assistant."""
        return self._secret("HA_TOKEN")

    def get_ssh_servers(self) -> list[dict[str, Any]]:
        """Every configured server."""
        servers = _parsed(self._secret("SSH_SERVERS"), [])
        return [{**_SSH, **server} for server in servers if isinstance(server, dict)]

    def get_email_account(self, scope: str = "default") -> dict[str, Any]:
        """The account of a scope, whole even when nothing is configured."""
        account = {**_EMAIL, **_parsed(self._secret(f"email.{scope}"), {})}
        return {**account, "app_password": self._secret(f"email.{scope}.password")}

    def list_email_accounts(self) -> list[dict[str, Any]]:
        """Scope and address of every account."""
        names = dict.fromkeys((*self._secrets.of_plugin(current_plugin()), *self._secrets.names))
        scopes = [name.removeprefix("email.") for name in names if re.fullmatch(r"email\.[^.]+", name)]
        return [{"scope": scope, "address": self.get_email_account(scope)["address"]} for scope in scopes]

    def has_email_account(self, scope: str = "default") -> bool:
        """Whether that account is configured."""
        return bool(self.get_email_account(scope)["address"])

    def get_bitcoin_wallet(self, scope: str = "default") -> dict[str, Any]:
        """The wallet of a scope."""
        wallet = {"label": "", **_parsed(self._secret(f"bitcoin.{scope}"), {})}
        return {**wallet, "wif": self._secret(f"bitcoin.{scope}.wif")}

    def get_gcal_account(self, scope: str = "default") -> dict[str, Any]:
        """Always empty: this box has no way to log in there."""
        return {}

    def get_gcal_tokens_snapshot(self, scope: str = "default") -> dict[str, Any]:
        """Always empty, as above."""
        return {}

    def has_gcal_account(self, scope: str = "default") -> bool:
        """Never."""
        return False

    def has_gcal_tokens(self, scope: str = "default") -> bool:
        """Never."""
        return False

    def get_env_var_name(self, service: str) -> str:
        """The name under which the key of a service is kept."""
        return service_key_name(str(service))

    def get_service_api_key(self, service: str) -> str:
        """The key of a service."""
        return self._secret(self.get_env_var_name(service))

    def get_llm_api_key(self, provider: str) -> str:
        """The key of a model's provider."""
        return self._secret(self.get_env_var_name(provider))

    def has_socks_credentials(self) -> bool:
        """Whether the proxy has a user and a password."""
        return bool(self._secret(_PROXY_USER) and self._secret(_PROXY_PASSWORD))

    def _secret(self, name: str) -> str:
        """What the owner keeps for the plugin that asks, else for all; "" when there is none."""
        return self._secrets.get(f"{current_plugin()}:{name}") or self._secrets.get(name)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"the credentials manager of this box does not offer {name}; secrets are changed by their owner, with: "
            "appliance credential set NAME"
        )


def _parsed(text: str, otherwise: Any) -> Any:
    """The JSON value of the kind of ``otherwise``; that itself when it is something else."""
    try:
        value = json.loads(text) if text else otherwise
    except (ValueError, RecursionError):
        return otherwise
    return value if isinstance(value, type(otherwise)) else otherwise
