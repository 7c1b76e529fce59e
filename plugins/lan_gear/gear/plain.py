"""What strangers call themselves, made fit to be spoken, shown and given to a model."""

from __future__ import annotations

import re
import unicodedata

#: The longest name that is worth saying.
LONGEST_NAME = 48
#: More of a stranger's text is never looked at, so that a long one costs no more than a short one.
_LONGEST_READ = 400
#: Letters and digits of all scripts, and what stands in honest names. No angle brackets, no braces: they mark up.
_OTHER = re.compile(r"[^\w \-.,:;'’&+()/#@°!]")
#: The serial number that many announcements append to a name.
_SERIAL = re.compile(
    r"[\s\-_:]*[\[(]?(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}[\])]?$|[\s\-_:]*[\[(]?[0-9A-Fa-f]{8,32}[\])]?$"
)


def plain(text: object, longest: int = LONGEST_NAME) -> str:
    """``text`` on one line, without control characters and markup, at most ``longest`` characters."""
    known = unicodedata.normalize("NFKC", str(text)[:_LONGEST_READ])
    printable = "".join(letter if letter.isprintable() else " " for letter in known)
    return " ".join(_OTHER.sub(" ", printable).split())[:longest].strip()


def without_serial(name: str) -> str:
    """``name`` without a serial number or hardware address at its end, unless nothing is left then."""
    return _SERIAL.sub("", name) or name


def from_bytes(data: bytes | None, longest: int = LONGEST_NAME) -> str:
    """Plain text of bytes that claim to be UTF-8."""
    return plain((data or b"")[:_LONGEST_READ].decode("utf-8", "replace"), longest)
