"""Connections, one pool for each lane, proxy and set of certificates: nothing passes from one into another."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.errors import NetworkError, NetworkTlsError
from appliance.network.inflate import ACCEPTED
from appliance.network.lane import Lane
from appliance.network.proxy import Proxy

if TYPE_CHECKING:
    import httpx

#: Idle connections are kept this long, so that most turns need no new TLS handshake.
_KEEP_CONNECTION_SECONDS = 120.0
#: Sets of certificates are few; a plugin that makes up new ones shall not fill the memory.
_MOST_POOLS = 8


@dataclass(frozen=True)
class TlsKey:
    """Whom to believe, and who we are; see ``exchange.Outgoing``."""

    verify: bool = True
    ca_file: str = ""
    client_certificate: tuple[str, str] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class PoolKey:
    """What a connection may be used again for. ``proxy`` None is direct; the LAN lane never has one."""

    lane: Lane
    proxy: Proxy | None = None
    tls: TlsKey = TlsKey()


@dataclass
class Pool:
    """One httpx client. After ``retire`` nobody gets it any more; its last user closes it."""

    client: httpx.AsyncClient
    users: int = 0
    is_retired: bool = False

    def retire(self) -> None:
        self.is_retired = True


class Pools:
    """Makes, lends and closes pools. One event loop owns it."""

    def __init__(self, most_connections: int) -> None:
        self._most_connections = most_connections
        self._pools: dict[PoolKey, Pool] = {}
        self._contexts: dict[TlsKey, ssl.SSLContext] = {}
        self._making = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def borrow(self, key: PoolKey) -> AsyncIterator[Pool]:
        """The pool for ``key``; raises ``NetworkError`` when it cannot be made, and never gives another instead."""
        async with self._making:
            pool = self._pools.pop(key, None)
            if pool is None or pool.is_retired:
                pool = await self._make(key)
            self._pools[key] = pool  # the newest stands last
            pool.users += 1
            await self._drop_the_unwanted(key)
        try:
            yield pool
        finally:
            pool.users -= 1
            if pool.is_retired and pool.users == 0:
                await pool.client.aclose()

    async def close(self) -> None:
        """Drop every connection, used or not."""
        pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            pool.retire()
            await pool.client.aclose()

    async def _drop_the_unwanted(self, newest: PoolKey) -> None:
        """Those of a proxy that is not used any more, and those that too many others came after."""
        surplus = len(self._pools) - _MOST_POOLS
        for position, key in enumerate([*self._pools]):
            is_old_way = key.lane is newest.lane and key.proxy != newest.proxy
            if is_old_way or position < surplus:
                pool = self._pools.pop(key)
                pool.retire()
                if pool.users == 0:
                    await pool.client.aclose()

    async def _make(self, key: PoolKey) -> Pool:
        # In a thread: importing httpx and reading the certificates takes longer than the loop may stand still.
        contexts = await asyncio.to_thread(self._tls_contexts, key)
        return Pool(_make_client(key, *contexts, self._most_connections))

    def _tls_contexts(self, key: PoolKey) -> tuple[ssl.SSLContext, ssl.SSLContext | None]:
        """For the other side, and for a proxy that is itself spoken to in TLS."""
        to_proxy = key.proxy is not None and key.proxy.scheme == "https"
        return self._tls_context(key.tls), self._tls_context(TlsKey()) if to_proxy else None

    def _tls_context(self, key: TlsKey) -> ssl.SSLContext:
        if key not in self._contexts:
            if len(self._contexts) >= _MOST_POOLS:
                self._contexts.clear()
            self._contexts[key] = _make_tls_context(key)
        return self._contexts[key]


def _make_tls_context(key: TlsKey) -> ssl.SSLContext:
    import httpx

    try:
        if key.verify and key.ca_file:
            is_folder = Path(key.ca_file).is_dir()
            file, folder = (None, key.ca_file) if is_folder else (key.ca_file, None)
            context = ssl.create_default_context(cafile=file, capath=folder)
        else:
            context = httpx.create_ssl_context(verify=key.verify, trust_env=False)
        if key.client_certificate is not None:
            certificate, private_key = key.client_certificate
            context.load_cert_chain(certificate, private_key or None)
    except OSError as error:  # ssl.SSLError is one
        what = "the client's certificate" if key.client_certificate is not None else "the file of authorities"
        raise NetworkTlsError(f"{what} cannot be used: {error.strerror or type(error).__name__}") from error
    return context


def _make_client(
    key: PoolKey, context: ssl.SSLContext, proxy_context: ssl.SSLContext | None, most_connections: int
) -> httpx.AsyncClient:
    import httpx

    # Their INFO line holds whole URLs.
    for library in ("httpx", "httpcore"):
        logging.getLogger(library).setLevel(logging.WARNING)
    proxy = key.proxy
    try:
        return httpx.AsyncClient(
            verify=context,
            trust_env=False,
            proxy=httpx.Proxy(proxy.url, ssl_context=proxy_context) if proxy is not None else None,
            follow_redirects=False,
            http2=False,
            timeout=None,  # ours wrap every wait
            limits=httpx.Limits(
                max_connections=most_connections,
                # Not fewer: httpcore compares this with all its connections, not with the idle ones, so under a crowd
                # of callers a smaller number closes each connection after its first answer.
                max_keepalive_connections=most_connections,
                keepalive_expiry=_KEEP_CONNECTION_SECONDS,
            ),
            headers={"User-Agent": "appliance", "Accept-Encoding": ACCEPTED},
            cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=[])),
        )
    except (ImportError, ValueError, httpx.InvalidURL):
        # Never a direct try instead of a proxy; and the proxy's URL may hold a password.
        raise NetworkError("the HTTP client cannot be made; is the proxy's URL right?") from None
