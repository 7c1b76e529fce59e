"""Where a connection really ended: a name must not lead out of its lane (DNS rebinding, 10.0.0.1.nip.io)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from appliance.errors import LaneRefusedError
from appliance.network.host_list import HostList, address_of, plain
from appliance.network.lane import Destination, Lane
from appliance.network.ranges import leads_inside

#: No machine of a house has such an address. A VPN or a name server may give them out for everything outside (RFC 2544,
#: RFC 5737, RFC 3849), so a name outside may lead there.
_NOBODYS = HostList(("198.18.0.0/15", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"))


class PeerRule:
    """Compares a name with the address it led to. Direct hosts are exempt, and so is what the owner allows.

    ``direct_hosts`` gives names and address ranges and never waits; ``allowed`` are names, ``*.example.com`` for all
    below one. Any thread.
    """

    def __init__(
        self,
        direct_hosts: Callable[[], Iterable[str]] = tuple,
        allowed: Iterable[str] = (),
        *,
        is_inside: Callable[[str], bool] = leads_inside,
    ) -> None:
        self._direct_hosts = direct_hosts
        self._allowed = tuple(map(plain, allowed))
        self._is_inside = is_inside

    def check(self, destination: Destination, peer: str) -> None:
        """Raises ``LaneRefusedError`` when a name leads into the other lane.

        An address of the house is what it is; one outside may still be a way in (NAT64).

        ``peer`` is the address at the end of a direct connection, "" when nobody knows: that is refused too.
        """
        host, direct = destination.host, HostList(self._direct_hosts())
        if host in direct or any(_covers(name, host) for name in self._allowed):
            return
        if destination.lane is Lane.LAN and address_of(host) is not None:
            return
        is_inside = peer != "" and (self._is_inside(peer) or peer in direct)
        if destination.lane is Lane.LAN and not is_inside:
            raise LaneRefusedError(
                f"{host} is a name in the house (LAN lane), but it leads outside, to {peer or 'nobody knows where'}; "
                f"nothing was sent. If that is meant, put it into rebinding_allowed under [network]"
            )
        if destination.lane is Lane.WAN and (not peer or (is_inside and peer not in _NOBODYS)):
            raise LaneRefusedError(
                f"{host} is a name outside the house (WAN lane), but it leads into it, to "
                f"{peer or 'nobody knows where'}; nothing was sent. If that machine is yours, put the name into "
                f"direct_hosts under [network]; if the name may lead anywhere, into rebinding_allowed"
            )


def _covers(name: str, host: str) -> bool:
    return host == name or (name.startswith("*.") and host.endswith(name[1:]))
