"""The plugins' door to HTTP: shaped like requests, kept to the lanes. ``contracts/sapphire`` gives it as ``core.net``.

A session belongs to one plugin, one lane and one profile: what a plugin puts into its headers and cookies is not
seen by another. The connections below are shared.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from appliance.network.blocking_exchange import BlockingExchange
from appliance.network.exchange import Exchange
from appliance.network.lane import Destination, Lane
from appliance.network.limits import Limits
from appliance.network.loop_thread import LoopThread
from appliance.network.proxy import Proxy
from appliance.network.socks_probe import probe

if TYPE_CHECKING:
    import requests

    from appliance.network.sessions import LaneSession, Profile

#: More than any box has plugins; a plugin of which nothing was heard longest loses its cookies first.
_MOST_SESSIONS = 200
_PROBE_SECONDS = 10.0
#: An address that is routed like any outside; nothing is sent to it.
_SOMEWHERE = ("10.255.255.255", 1)


class Classifies(Protocol):
    """What the door asks about hosts."""

    def classify(self, url: str) -> Destination:
        """Where ``url`` leads. Raises ``LaneRefusedError``."""
        ...

    def classify_host(self, host: object) -> Lane:
        """The lane of a host by itself."""
        ...


class KnowsDirectHosts(Protocol):
    """Hosts that plugins say are in the house."""

    def register(self, provider: Callable[[], object], owner: str) -> None:
        """Take an owner's provider instead of the one before."""
        ...

    def unregister(self, owner: str) -> None:
        """Forget an owner's hosts."""
        ...

    def hosts(self) -> Iterable[str]:
        """All of them."""
        ...


class Facade:
    """See the module. Any thread but the network's own; its methods block, so never the box's loop.

    ``make_exchange`` is called on the network's own loop, when the first request comes. ``who`` is whose code runs in
    the calling thread ("plugin:weather"), ``is_private`` whether that happens in a private chat. ``proxy`` is the way
    out of now, None for direct. ``hosts_changed`` is called, in any thread and more often than needed, when a plugin
    has named direct hosts or everything begins anew: the belt takes it from there.
    """

    def __init__(
        self,
        make_exchange: Callable[[], Exchange],
        classifier: Classifies,
        direct_hosts: KnowsDirectHosts,
        *,
        who: Callable[[], str] = lambda: "plugin",
        is_private: Callable[[], bool] = lambda: False,
        proxy: Callable[[], Proxy | None] = lambda: None,
        hosts_changed: Callable[[], None] = lambda: None,
        limits: Limits | None = None,
    ) -> None:
        self._thread = LoopThread()
        self._exchange = BlockingExchange(make_exchange, self._thread)
        self._classifier = classifier
        self._direct_hosts = direct_hosts
        self._who = who
        self._is_private = is_private
        self._proxy = proxy
        self._hosts_changed = hosts_changed
        self._limits = limits or Limits()
        self._lock = threading.Lock()
        self._sessions: dict[tuple[str, Lane, Profile], LaneSession] = {}
        #: Under which names a plugin has registered direct hosts.
        self._owners: dict[str, set[str]] = {}
        #: The proxy that was tried, and what it said.
        self._tried: tuple[Proxy, Exception | None] | None = None

    def request(self, method: str, url: str, profile: str = "plain", **options: Any) -> requests.Response:
        """Send a request by the lane of its URL; options as in ``requests.request``.

        Raises the errors of ``facade_errors``, which are requests' and httpx's too.
        """
        return self.session_for(url, profile).request(method, url, **options)

    def get(self, url: str, params: Any = None, **options: Any) -> requests.Response:
        """GET."""
        return self.request("GET", url, params=params, **options)

    def options(self, url: str, **options: Any) -> requests.Response:
        """OPTIONS."""
        return self.request("OPTIONS", url, **options)

    def head(self, url: str, **options: Any) -> requests.Response:
        """HEAD; as in requests it follows no redirect by itself."""
        return self.request("HEAD", url, **{"allow_redirects": False, **options})

    def post(self, url: str, data: Any = None, json: Any = None, **options: Any) -> requests.Response:
        """POST."""
        return self.request("POST", url, data=data, json=json, **options)

    def put(self, url: str, data: Any = None, **options: Any) -> requests.Response:
        """PUT."""
        return self.request("PUT", url, data=data, **options)

    def patch(self, url: str, data: Any = None, **options: Any) -> requests.Response:
        """PATCH."""
        return self.request("PATCH", url, data=data, **options)

    def delete(self, url: str, **options: Any) -> requests.Response:
        """DELETE."""
        return self.request("DELETE", url, **options)

    def session_for(self, url: str, profile: str = "plain") -> LaneSession:
        """The caller's session for the lane of ``url``, always the same one. Raises ``RefusedUrlError``."""
        from appliance.network.facade_errors import translated_url

        with translated_url():
            lane = self._destination(url).lane
        return self._session(lane, profile)

    def wan_session(self, profile: str = "browser") -> LaneSession:
        """The caller's session for what is outside the house."""
        return self._session(Lane.WAN, profile)

    def classify(self, host: object) -> str:
        """ "lan" or "wan"."""
        self._direct_hosts.hosts()
        return self._classifier.classify_host(host).value

    def local_ip(self) -> str:
        """The box's own address in the house; the loopback address when it has none."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unsent:
            try:
                unsent.connect(_SOMEWHERE)
                return str(unsent.getsockname()[0])
            except OSError:
                return "127.0.0.1"

    def register_direct_hosts(self, fn: Callable[[], object], owner: str | None = None) -> None:
        """Hosts that ``fn`` names are in the house; replaces what the owner (default: its module) had named."""
        who = self._who()
        owner = owner or getattr(fn, "__module__", None) or who
        with self._lock:
            self._owners.setdefault(who, set()).add(owner)
        self._direct_hosts.register(fn, owner)
        # Elsewhere and a little later: the plugin may be in the middle of its import, and asking it may take long.
        threading.Thread(target=self._ask_for_hosts, name="direct hosts", daemon=True).start()

    def unregister_direct_hosts(self, owner: str) -> None:
        """Forget an owner's hosts."""
        self._direct_hosts.unregister(owner)
        self._hosts_changed()

    def direct_hosts(self) -> set[str]:
        """All hosts that are in the house although they do not look it."""
        return set(self._direct_hosts.hosts())

    def clear_session_cache(self) -> None:
        """Begin anew: sessions, connections, belt, what is known of the proxy. What is under way is finished."""
        with self._lock:
            self._sessions.clear()
            self._tried = None
        self._hosts_changed()
        self._exchange.renew()

    def forget(self, who: str) -> None:
        """A plugin is unloaded: drop its sessions, and the direct hosts it named under whatever owner."""
        with self._lock:
            for key in [key for key in self._sessions if key[0] == who]:
                del self._sessions[key]
            owners = self._owners.pop(who, set())
        for owner in owners:
            self.unregister_direct_hosts(owner)

    def try_proxy(self) -> None:
        """Knock at the SOCKS proxy; nothing when there is none, or when it has let us in before.

        Raises ``SocksRefusedError`` when it does not take our credentials (again without asking until
        ``clear_session_cache``), ``ProxyFailedError`` when it is not there, ``ValueError`` when it wants credentials
        and we have none.
        """
        from appliance.network.facade_errors import SocksRefusedError, translated

        proxy = self._proxy()
        if proxy is None or not proxy.scheme.startswith("socks"):
            return
        if self._tried is None or self._tried[0] != proxy:
            refused: Exception | None = None
            try:
                with translated():
                    self._thread.submit(lambda: probe(proxy, _PROBE_SECONDS))
            except (SocksRefusedError, ValueError) as error:
                refused = error
            self._tried = (proxy, refused)
        if self._tried[1] is not None:
            raise self._tried[1]

    def close(self) -> None:
        """Drop every connection and end the network's thread."""
        self._exchange.close()

    def _ask_for_hosts(self) -> None:
        self._direct_hosts.hosts()
        self._hosts_changed()

    def _destination(self, url: str) -> Destination:
        # Here we may wait for what a plugin has just registered; the classifier, on a loop too, takes what is known.
        self._direct_hosts.hosts()
        return self._classifier.classify(url)

    def _session(self, lane: Lane, profile: str) -> LaneSession:
        from appliance.network.requests_adapter import Gate, LaneAdapter
        from appliance.network.sessions import LaneSession, Profile

        key = (self._who(), lane, Profile(profile))
        with self._lock:
            session = self._sessions.pop(key, None)
            if session is None:
                gate = Gate(self._destination, key[0], self._is_private)
                session = LaneSession(LaneAdapter(lane, self._exchange, gate, self._limits), key[2])
            # Last in the line: the first has been silent longest.
            self._sessions[key] = session
            while len(self._sessions) > _MOST_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
        return session
