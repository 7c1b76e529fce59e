"""The way out of the house: which proxy, from the settings, the environment and the credentials.

A proxy that is wanted and cannot be understood is an error, never "no proxy". What an error says holds no part of a
proxy's URL that could be a password.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

from appliance.errors import ConfigError

#: Names of the proxy's user and password among the credentials.
PROXY_USER = "PROXY_USER"
PROXY_PASSWORD = "PROXY_PASSWORD"

#: One proxy takes everything, whatever the scheme of a URL: the first of these that is set.
_VARIABLES = ("all_proxy", "ALL_PROXY", "https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY")
#: The one that pip itself asks first.
_PIP_VARIABLE = "PIP_PROXY"
#: Scheme as written -> scheme as spoken, and the usual port.
_SCHEMES = {
    "socks5h": ("socks5h", 1080),
    "socks5": ("socks5", 1080),
    "socks": ("socks5h", 1080),
    "http": ("http", 80),
    "https": ("https", 443),
}
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9])?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")
#: What SOCKS can carry (RFC 1929).
_LONGEST_SOCKS_BYTES = 255


@dataclass(frozen=True)
class Proxy:
    """Where everything outside goes through. ``host`` has no brackets; ``user`` and ``password`` are not encoded.

    Under both ``socks5`` and ``socks5h`` the proxy looks names up, not we.
    """

    scheme: str
    host: str
    port: int
    user: str = ""
    password: str = field(default="", repr=False)

    @property
    def shown(self) -> str:
        """The proxy for people and logs: no user, no password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def url(self) -> str:
        """The proxy for a library, credentials percent-encoded. Never for a log."""
        if not (self.user or self.password):
            return self.shown
        scheme, _, rest = self.shown.partition("://")
        return f"{scheme}://{quote(self.user, safe='')}:{quote(self.password, safe='')}@{rest}"


def find_proxy(
    wanted: str, environment: Mapping[str, str], credential: Callable[[str], str] = lambda _name: ""
) -> Proxy | None:
    """The proxy that ``[network] proxy`` asks for; None when everything goes direct.

    ``credential`` gives the user and the password where the URL has none. Raises ``ConfigError``.
    """
    if wanted == "none":
        return None
    if wanted == "environment":
        name = next((name for name in _VARIABLES if environment.get(name, "").strip()), "")
        if not name:
            return None
        proxy = parse_proxy(environment[name], f"the variable {name}")
    else:
        proxy = parse_proxy(wanted, "network.proxy")
    return _with_credentials(proxy, credential)


def parse_proxy(text: str, where: str) -> Proxy:
    """A proxy's URL; without a scheme it is an http proxy. ``where`` says whose it is, for ``ConfigError``."""
    text = text.strip()
    if "://" not in text:
        text = f"http://{text}"
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    scheme, usual_port = _SCHEMES.get(parts.scheme, ("", 0))
    if not scheme:
        raise ConfigError(f"{where} is no proxy that is understood; {_EXAMPLES}")
    if not text.isprintable() or " " in text or not _HOST.fullmatch(host) or port == 0:
        raise ConfigError(f"{where} does not name a host and a port; {_EXAMPLES}; {_ENCODED}")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ConfigError(f"{where} goes on behind the port; {_EXAMPLES}; {_ENCODED}")
    return _checked(
        Proxy(scheme, host, port or usual_port, unquote(parts.username or ""), unquote(parts.password or "")), where
    )


def with_proxy(environment: Mapping[str, str], proxy: Proxy | None) -> dict[str, str]:
    """An environment for a program of ours that speaks HTTP itself (pip), so that it takes the same way out."""
    child = {name: value for name, value in environment.items() if name not in (*_VARIABLES, _PIP_VARIABLE)}
    if proxy is not None:
        child.update(dict.fromkeys((*_VARIABLES, _PIP_VARIABLE), proxy.url))
    return child


_EXAMPLES = 'write socks5h://HOST:1080, http://HOST:3128, "none" or "environment"'
_ENCODED = "characters such as / # @ : in a password are percent-encoded, or the password goes into the credentials"


def _with_credentials(proxy: Proxy, credential: Callable[[str], str]) -> Proxy:
    user = proxy.user or credential(PROXY_USER)
    password = proxy.password or (credential(PROXY_PASSWORD) if user else "")
    return _checked(Proxy(proxy.scheme, proxy.host, proxy.port, user, password), "the credentials of the proxy")


def _checked(proxy: Proxy, where: str) -> Proxy:
    for text in (proxy.user, proxy.password):
        if not text.isprintable():
            raise ConfigError(f"{where}: user or password has characters that cannot be sent")
        if proxy.scheme.startswith("socks") and len(text.encode()) > _LONGEST_SOCKS_BYTES:
            raise ConfigError(f"{where}: user or password is longer than SOCKS can carry")
    return proxy
