"""What machines write: addresses, paths, names in code, identifiers. In English."""

from __future__ import annotations

import re

from appliance.speak.number_words import cardinal, digits
from appliance.speak.rules import Rule, rule

_TOP_DOMAINS = "com|org|net|io|dev|info|edu|gov|eu|de|uk|fr|es|ch|nl|ca|au|app|ai|local|lan|home|internal"
_FILE_ENDINGS = (
    "py|txt|pdf|md|json|toml|yaml|yml|xml|csv|tsv|html|js|ts|css|sh|c|h|cpp|rs|go|java|log|conf|cfg|ini|zip|tar|gz|xz"
    "|bz2|7z|deb|whl|png|jpe?g|gif|svg|wav|mp3|mp4|ogg|flac|docx?|xlsx?|pptx?|db|sqlite|onnx|bin|iso|img|service"
)
_HOST = rf"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:{_TOP_DOMAINS})"
#: Nobody remembers a hash that is read out; its start is enough to recognise it.
_HASH_CHARACTERS_SAID = 4
_NOT_IN_WORD = r"(?<![\w.@/-])"


def _dots(text: str) -> str:
    return text.replace(".", " dot ")


def _url(match: re.Match[str]) -> str:
    # The host tells where it leads; the rest cannot be followed by ear.
    return _dots(match["host"].removeprefix("www."))


def _email(match: re.Match[str]) -> str:
    name = match["name"].replace("+", " plus ").replace("_", " underscore ").replace("-", " dash ")
    return f"{_dots(name)} at {_dots(match['host'])}"


def _port(match: re.Match[str]) -> str:
    return f"{_address(match['host'])} port {digits(match['port'])}"


def _address(host: str) -> str:
    return " dot ".join(_octet(part) if part.isdigit() else part for part in host.split("."))


def _octet(part: str) -> str:
    return digits(part) if len(part) == 3 else cardinal(int(part))


def _ipv6(match: re.Match[str]) -> str:
    colons = {"::": "double colon", ":": "colon"}
    parts = re.findall(r"::|:|[0-9a-f]+", match.group().lower())
    return " ".join(colons.get(part) or digits(part) for part in parts)


def _mac(match: re.Match[str]) -> str:
    return " ".join(digits(pair) for pair in re.split("[:-]", match.group()))


def _path(match: re.Match[str]) -> str:
    start = {"~": "home ", ".": "dot ", "..": "dot dot "}.get(match["start"] or "", "")
    return start + " ".join(f"slash {_file_name(part)}" for part in match["path"].split("/") if part)


def _file_name(name: str) -> str:
    return _dots(name).strip()


def _hash(match: re.Match[str]) -> str:
    found = match.group()
    has_both = any(c.isdigit() for c in found) and any(c.isalpha() for c in found)
    return digits(found[:_HASH_CHARACTERS_SAID].upper()) if has_both else found


def _flag(match: re.Match[str]) -> str:
    dashes = " ".join(["dash"] * len(match["dashes"]))
    return f"{dashes} {match['name'].replace('-', ' ')}"


def _hump(match: re.Match[str]) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", match.group())


def _json(match: re.Match[str]) -> str:
    return re.sub(r"\s+", " ", re.sub(r'[{}"\[\]]', " ", match.group()).replace(":", " "))


#: The handle of a picture of ours, which a model may repeat: nobody can do anything with it by ear.
_PICTURE = r"img:[0-9a-f]{12}\.(?:png|jpg)\b"

RULES: tuple[Rule, ...] = (
    rule(rf"\s*\((?:image |picture )?{_PICTURE}\)", ""),
    rule(rf"\b(?:the )?(?:(?:image|picture|photo) )?{_PICTURE}", "the picture", ignore_case=True),
    rule(r"\{[^{}]*\}", _json),
    rule(r"(?:https?|ftp)://(?:[^\s/@]*@)?(?P<host>[^\s/:?#<>()]+?)(?:[:/?#][^\s<>]*?)?(?=[.,;:!?)>]*(?:\s|$))", _url),
    rule(rf"(?P<name>[\w.+-]+)@(?P<host>{_HOST})\b", _email, ignore_case=True),
    rule(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", _hash, ignore_case=True),
    rule(r"\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b", _mac, ignore_case=True),
    rule(r"(?<![\w:])(?=\S*::)[0-9a-f:]{3,39}(?![\w:])", _ipv6, ignore_case=True),
    rule(r"(?<![\w:])(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?![\w:])", _ipv6, ignore_case=True),
    rule(
        rf"\b(?P<host>localhost|(?:\d{{1,3}}\.){{3}}\d{{1,3}}|{_HOST}):(?P<port>\d{{2,5}})\b", _port, ignore_case=True
    ),
    rule(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)", lambda match: _address(match.group())),
    rule(rf"{_NOT_IN_WORD}(?:www\.)?(?P<host>{_HOST})(?:/[\w./-]*\w)?/?(?![\w-])", _url, ignore_case=True),
    rule(r"(?<![\w/])(?P<start>~|\.{1,2})?(?P<path>(?:/[\w.+-]*\w)+)/?(?![\w/])", _path),
    rule(rf"\b[\w-]+(?:\.(?:{_FILE_ENDINGS}))+\b", lambda match: _file_name(match.group())),
    rule(r"\b[0-9a-f]{7,64}\b", _hash),
    rule(r"(?<![\w-])(?P<dashes>--?)(?P<name>[A-Za-z][\w-]*)", _flag),
    rule(r"(?<!\w)#(?P<tag>[A-Za-z]\w*)", lambda match: "hashtag " + re.sub(r"(?<=[a-z])(?=[A-Z])", " ", match["tag"])),
    rule(r"(?<!\w)@(\w+)", r"at \1"),
    rule(r"\b[a-z]{2,}[a-z0-9]*(?:[A-Z][a-z0-9]+)+\b", _hump),
    rule(r"(?<=[^\W_])_+(?=[^\W_])", " "),
    rule(r"_", " "),
)
