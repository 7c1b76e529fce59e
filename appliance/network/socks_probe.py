"""Knocks at a SOCKS5 proxy: is it there, and does it take our credentials? (RFC 1928, RFC 1929)"""

from __future__ import annotations

import asyncio

from appliance.errors import NetworkProxyError
from appliance.network.proxy import Proxy

_VERSION = 5
_NO_PASSWORD, _PASSWORD, _NOTHING_FITS = 0x00, 0x02, 0xFF


class SocksCredentialsError(NetworkProxyError):
    """The proxy does not take our user and password."""


class SocksCredentialsMissingError(NetworkProxyError, ValueError):
    """The proxy wants a user and a password, and there are none."""


async def probe(proxy: Proxy, seconds: float) -> None:
    """Go as far as the proxy's word on our credentials; nothing is asked of it. Raises ``NetworkProxyError``."""
    try:
        async with asyncio.timeout(seconds):
            reader, writer = await asyncio.open_connection(proxy.host, proxy.port)
            try:
                await _greet(reader, writer, proxy)
            finally:
                writer.close()
    except TimeoutError as error:
        raise NetworkProxyError(f"the proxy {proxy.shown} did not answer within {seconds:g} s") from error
    except (OSError, asyncio.IncompleteReadError) as error:
        raise NetworkProxyError(f"the proxy {proxy.shown} cannot be used: {error}") from error


async def _greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, proxy: Proxy) -> None:
    has_credentials = bool(proxy.user or proxy.password)
    methods = [_NO_PASSWORD, _PASSWORD] if has_credentials else [_NO_PASSWORD]
    writer.write(bytes([_VERSION, len(methods), *methods]))
    version, method = await reader.readexactly(2)
    if version != _VERSION:
        raise NetworkProxyError(f"{proxy.shown} is no SOCKS5 proxy")
    if method == _NOTHING_FITS and not has_credentials:
        raise SocksCredentialsMissingError(
            f"the proxy {proxy.shown} wants a user and a password: appliance credential set PROXY_USER, PROXY_PASSWORD"
        )
    if method == _PASSWORD:
        user, password = proxy.user.encode(), proxy.password.encode()
        writer.write(bytes([1, len(user)]) + user + bytes([len(password)]) + password)
        _, status = await reader.readexactly(2)
        method = _NO_PASSWORD if status == 0 else _NOTHING_FITS
    if method != _NO_PASSWORD:
        raise SocksCredentialsError(f"the proxy {proxy.shown} does not take our user and password")
