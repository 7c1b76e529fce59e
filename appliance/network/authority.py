"""The part of a URL that says where it leads, read so strictly that every program reads it the same way.

What one parser takes for a host another takes for a user name, and what looks like a name may be a number that a C
library takes for an address. So only plain spellings pass; each other one is refused with what to write instead. What
stands behind the host (path, query, fragment) cannot change where a request goes and may hold anything printable.
"""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import NoReturn

from appliance.errors import LaneRefusedError
from appliance.network.ranges import Address

#: RFC 9110 4.1 asks everyone to understand at least this much.
LONGEST_URL = 8_000

_PORTS = {"http": 80, "https": 443}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_START = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/?#]*)", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*(?=:)", re.IGNORECASE)
#: RFC 3986 3.2.1; letters beyond ASCII are left to the library, which escapes them.
_USER_INFO = re.compile(r"(?:[\w.~!$&'()*+,;=:-]|%[0-9a-f]{2})*", re.IGNORECASE)
_ESCAPED_END = re.compile(r"%(?:2f|5c|[01][0-9a-f]|7f)", re.IGNORECASE)
_BRACKETED = re.compile(r"\[(?P<host>[^\[\]]*)\](?P<port>:.*)?", re.DOTALL)
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
_LONGEST_NAME = 253


@dataclass(frozen=True)
class Authority:
    """Where a URL leads; the fields are those of ``lane.Destination``."""

    scheme: str
    host: str
    port: int


def read_authority(url: object) -> Authority:
    """Where a URL leads. Raises ``LaneRefusedError`` with the reason and what to write; it never quotes a password."""
    scheme, authority = _split(url)
    _check_characters(authority)
    user_info, _, host_and_port = authority.rpartition("@")
    _check_user_info(user_info)
    host, port = _split_port(host_and_port)
    return Authority(scheme, _read_host(host), _read_port(port) or _PORTS[scheme])


def ascii_name(name: str) -> str:
    """A name in lower case as it will be requested: letters beyond ASCII in punycode, ideographic stops as dots.

    Raises ``ValueError`` when it has a letter that no name may have, among them full-width and circled digits.
    """
    name = name.lower()
    if name.isascii() and not name.startswith("xn--"):
        return name
    import httpx  # what it makes of a name is what will be requested

    try:
        url = httpx.URL(scheme="http", host=name)
        _ = url.host  # only here it unpacks punycode, and it cannot send what it cannot unpack
        return url.raw_host.decode("ascii")
    except (httpx.InvalidURL, UnicodeError) as error:
        raise ValueError("this name has a letter that names may not have") from error


def address_text(address: Address) -> str:
    """An address in its usual spelling; ``str`` shows an IPv4 address in an IPv6 one as the Python version likes."""
    return socket.inet_ntop(socket.AF_INET if address.version == 4 else socket.AF_INET6, address.packed)


def is_name(text: str) -> bool:
    """Whether a text in lower case is a host's name as we read one; a number is not."""
    labels = text.split(".")
    is_number = _NUMBER.fullmatch(labels[-1]) is not None
    return not is_number and len(text) <= _LONGEST_NAME and all(_LABEL.fullmatch(label) for label in labels)


def _split(url: object) -> tuple[str, str]:
    if not isinstance(url, str):
        _refuse("a URL must be text")
    if len(url) > LONGEST_URL:
        _refuse(f"the URL is longer than {LONGEST_URL:,} characters", "long values into the body of a POST")
    if _CONTROL.search(url):
        _refuse("a URL with a control character (a line end, a tab) is read differently by programs", "it without")
    start = _START.match(url)
    if start is None:
        _refuse_start(url)
    if not start["authority"]:
        _refuse("the URL names no host", "http://HOST/ with exactly two slashes")
    return start["scheme"].lower(), start["authority"]


def _refuse_start(url: str) -> NoReturn:
    if url != url.strip():
        _refuse("there is white space around the URL", "it without")
    scheme = _OTHER_SCHEME.match(url)
    if scheme is None:
        _refuse("the URL does not say how to connect", "http:// or https:// in front")
    if scheme[0].lower() in _PORTS:
        _refuse("the URL names no host", f"{scheme[0].lower()}://HOST/ with exactly two slashes")
    _refuse(f"only http and https are spoken here, not {scheme[0][:20]}", "an http:// or https:// URL")


def _check_characters(authority: str) -> None:
    if any(character.isspace() for character in authority):
        _refuse("a host with white space in it is read differently by programs", "it without")
    if "\\" in authority:
        _refuse("a backslash before the path ends the host for some programs and not for others", "/ instead")
    if authority.count("@") > 1:
        _refuse("a URL with more than one @ before the path is read differently by programs", "%40 for those within")


def _check_user_info(user_info: str) -> None:
    if not _USER_INFO.fullmatch(user_info):
        _refuse("the user name or password in a URL has a character that must be escaped", "%40 for @, for example")
    if _ESCAPED_END.search(user_info):
        _refuse("a slash in a user name or password ends it for programs that unescape first; give them apart (auth=)")


def _split_port(host_and_port: str) -> tuple[str, str | None]:
    """Host, with its brackets when it has some, and the text behind the colon; None when there is no colon."""
    bracketed = _BRACKETED.fullmatch(host_and_port)
    if bracketed:
        return f"[{bracketed['host']}]", bracketed["port"][1:] if bracketed["port"] else None
    if "[" in host_and_port or "]" in host_and_port:
        _refuse("the brackets around the address are not whole", "[ADDRESS] or [ADDRESS]:PORT")
    host, colon, port = host_and_port.partition(":")
    if ":" in port:
        _refuse("there is more than one colon behind the host", "HOST:PORT, and an IPv6 address in brackets: [fd00::1]")
    return host, port if colon else None


def _read_port(text: str | None) -> int | None:
    if not text:
        return None
    port = int(text) if _PORT.fullmatch(text) else 0
    if not 1 <= port <= 65_535:
        # Not quoted: in a URL that is cut short by a slash in its password, this is the password.
        _refuse("what follows the colon behind the host is no port", "a plain number from 1 to 65535")
    return port


def _read_host(host: str) -> str:
    if "%" in host:
        _refuse_percent(host)
    if host.startswith("["):
        return _read_ipv6(host[1:-1])
    if not host:
        _refuse("the URL names no host", "it between // and the next / or :")
    try:
        name = ascii_name(host).removesuffix(".")
    except ValueError:
        _refuse(f"{_shown(host)} has a letter or digit that names may not have", "it in plain letters and digits")
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        return _read_ipv4(name)
    if not is_name(name):
        _refuse(f"{_shown(host)} is not the name of a host", "letters, digits and inner hyphens between single dots")
    return name


def _refuse_percent(host: str) -> NoReturn:
    if host.startswith("["):
        _refuse(f"{_shown(host)} carries a zone, which programs read differently", "a name or another address of it")
    _refuse("a percent escape in the host is read differently by programs", "the letter itself")


def _read_ipv4(text: str) -> str:
    try:
        return str(IPv4Address(text))
    except AddressValueError:
        _refuse(
            f"{_shown(text)} ends in a number, and programs read such a host as different addresses",
            "an address as four plain numbers (192.168.1.5)",
        )


def _read_ipv6(text: str) -> str:
    try:
        return address_text(IPv6Address(text))
    except AddressValueError:
        _refuse(f"{_shown(text)} in brackets is not an IPv6 address", "one such as [fd00::1]")


def _shown(host: str) -> str:
    """A host for a message, escaped where it could deceive the eye."""
    return ascii(host[:60])


def _refuse(why: str, instead: str = "") -> NoReturn:
    raise LaneRefusedError(f"{why}; write {instead}" if instead else why)
