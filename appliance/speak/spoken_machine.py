"""What machines write: addresses, paths, names in code, identifiers; the words for them by language."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from appliance.speak import number_words, number_words_de, number_words_es
from appliance.speak.rules import Rule, rule

_TOP_DOMAINS = "com|org|net|io|dev|info|edu|gov|eu|de|at|uk|fr|es|mx|ch|nl|ca|au|app|ai|local|lan|home|internal"
_FILE_ENDINGS = (
    "py|txt|pdf|md|json|toml|yaml|yml|xml|csv|tsv|html|js|ts|css|sh|c|h|cpp|rs|go|java|log|conf|cfg|ini|zip|tar|gz|xz"
    "|bz2|7z|deb|whl|png|jpe?g|gif|svg|wav|mp3|mp4|ogg|flac|docx?|xlsx?|pptx?|db|sqlite|onnx|bin|iso|img|service"
)
_HOST = rf"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:{_TOP_DOMAINS})"
#: Nobody remembers a hash that is read out; its start is enough to recognise it.
_HASH_CHARACTERS_SAID = 4
_NOT_IN_WORD = r"(?<![\w.@/-])"
#: The handle of a picture of ours, which a model may repeat: nobody can do anything with it by ear.
_PICTURE = r"img:[0-9a-f]{12}\.(?:png|jpg)\b"


@dataclass(frozen=True)
class MachineWords:
    """The signs in addresses and names, as one language calls them."""

    dot: str
    slash: str
    at: str
    plus: str
    dash: str
    underscore: str
    colon: str
    double_colon: str
    port: str
    hashtag: str
    the_picture: str
    picture_nouns: str
    digits: Callable[[str], str]
    cardinal: Callable[[int], str]


ENGLISH = MachineWords(
    dot="dot",
    slash="slash",
    at="at",
    plus="plus",
    dash="dash",
    underscore="underscore",
    colon="colon",
    double_colon="double colon",
    port="port",
    hashtag="hashtag",
    the_picture="the picture",
    picture_nouns="(?:the )?(?:image|picture|photo)",
    digits=number_words.digits,
    cardinal=number_words.cardinal,
)
GERMAN = MachineWords(
    dot="Punkt",
    slash="Schrägstrich",
    at="ät",
    plus="Plus",
    dash="Minus",
    underscore="Unterstrich",
    colon="Doppelpunkt",
    double_colon="zwei Doppelpunkte",
    port="Port",
    hashtag="Hashtag",
    the_picture="das Bild",
    picture_nouns="(?:das )?(?:Bild|Foto)",
    digits=number_words_de.digits,
    cardinal=number_words_de.cardinal,
)
SPANISH = MachineWords(
    dot="punto",
    slash="barra",
    at="arroba",
    plus="más",
    dash="guion",
    underscore="guion bajo",
    colon="dos puntos",
    double_colon="doble dos puntos",
    port="puerto",
    hashtag="hashtag",
    the_picture="la imagen",
    picture_nouns="(?:la )?(?:imagen|foto)",
    digits=number_words_es.digits,
    cardinal=number_words_es.cardinal,
)


def machine_rules(words: MachineWords) -> tuple[Rule, ...]:
    """The rules for everything here, with the words of one language."""
    say = _Machine(words)
    return (
        rule(rf"\s*\((?:{words.picture_nouns} )?{_PICTURE}\)", ""),
        rule(rf"\b(?:{words.picture_nouns} )?{_PICTURE}", words.the_picture, ignore_case=True),
        rule(r"\{[^{}]*\}", _json),
        rule(
            r"(?:https?|ftp)://(?:[^\s/@]*@)?(?P<host>[^\s/:?#<>()]+?)(?:[:/?#][^\s<>]*?)?(?=[.,;:!?)>]*(?:\s|$))",
            say.url,
        ),
        rule(rf"(?P<name>[\w.+-]+)@(?P<host>{_HOST})\b", say.email, ignore_case=True),
        rule(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", say.hash_start, ignore_case=True),
        rule(r"\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b", say.mac, ignore_case=True),
        rule(r"(?<![\w:])(?=\S*::)[0-9a-f:]{3,39}(?![\w:])", say.ipv6, ignore_case=True),
        rule(r"(?<![\w:])(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?![\w:])", say.ipv6, ignore_case=True),
        rule(
            rf"\b(?P<host>localhost|(?:\d{{1,3}}\.){{3}}\d{{1,3}}|{_HOST}):(?P<port>\d{{2,5}})\b",
            say.port,
            ignore_case=True,
        ),
        rule(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)", say.ipv4),
        rule(
            rf"{_NOT_IN_WORD}(?:www\.)?(?P<host>{_HOST})(?:/[\w./-]*\w)?/?(?![\w-])(?!\.\w)",
            say.url,
            ignore_case=True,
        ),
        rule(r"(?<![\w/.€$£¥%°²³])(?P<start>~|\.{1,2})?(?P<path>(?:/[\w.+-]*\w)+)/?(?![\w/])", say.path),
        rule(rf"\b[\w-]+(?:\.(?:{_FILE_ENDINGS}))+\b", lambda match: say.dots(match.group()).strip()),
        rule(r"\b[0-9a-f]{7,64}\b", say.hash_start),
        rule(r"(?<![\w.-])(?P<dashes>--?)(?P<name>[A-Za-z][\w-]*)", say.flag),
        rule(r"(?<!\w)#(?P<tag>[A-Za-z]\w*)", lambda match: f"{words.hashtag} {_humps(match['tag'])}"),
        rule(r"(?<!\w)@(\w+)", rf"{words.at} \1"),
        rule(r"\b(?!mmHg\b)[a-z]{2,}[a-z0-9]*(?:[A-Z][a-z0-9]+)+\b", lambda match: _humps(match.group())),
        rule(r"(?<=[^\W_])_+(?=[^\W_])", " "),
        rule(r"_", " "),
    )


class _Machine:
    """Says what the rules found."""

    def __init__(self, words: MachineWords) -> None:
        self._words = words

    def dots(self, text: str) -> str:
        return text.replace(".", f" {self._words.dot} ")

    def url(self, match: re.Match[str]) -> str:
        # The host tells where it leads; the rest cannot be followed by ear.
        host = match["host"].removeprefix("www.")
        return self._address(host) if re.fullmatch(r"(?:\d+\.){3}\d+", host) else self.dots(host)

    def email(self, match: re.Match[str]) -> str:
        words = self._words
        name = match["name"].replace("+", f" {words.plus} ").replace("_", f" {words.underscore} ")
        return f"{self.dots(name.replace('-', f' {words.dash} '))} {words.at} {self.dots(match['host'])}"

    def port(self, match: re.Match[str]) -> str:
        return f"{self._address(match['host'])} {self._words.port} {self._words.digits(match['port'])}"

    def ipv4(self, match: re.Match[str]) -> str:
        return self._address(match.group())

    def ipv6(self, match: re.Match[str]) -> str:
        colons = {"::": self._words.double_colon, ":": self._words.colon}
        parts = re.findall(r"::|:|[0-9a-f]+", match.group().lower())
        return " ".join(colons.get(part) or self._words.digits(part) for part in parts)

    def mac(self, match: re.Match[str]) -> str:
        return " ".join(self._words.digits(pair) for pair in re.split("[:-]", match.group()))

    def path(self, match: re.Match[str]) -> str:
        dot = self._words.dot
        start = {"~": "home ", ".": f"{dot} ", "..": f"{dot} {dot} "}.get(match["start"] or "", "")
        parts = (part for part in match["path"].split("/") if part)
        return start + " ".join(f"{self._words.slash} {self.dots(part).strip()}" for part in parts)

    def hash_start(self, match: re.Match[str]) -> str:
        found = match.group()
        has_both = any(c.isdigit() for c in found) and any(c.isalpha() for c in found)
        return self._words.digits(found[:_HASH_CHARACTERS_SAID].upper()) if has_both else found

    def flag(self, match: re.Match[str]) -> str:
        dashes = " ".join([self._words.dash] * len(match["dashes"]))
        return f"{dashes} {match['name'].replace('-', ' ')}"

    def _address(self, host: str) -> str:
        return f" {self._words.dot} ".join(self._octet(part) if part.isdigit() else part for part in host.split("."))

    def _octet(self, part: str) -> str:
        return self._words.digits(part) if len(part) == 3 else self._words.cardinal(int(part))


def _humps(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)


def _json(match: re.Match[str]) -> str:
    return re.sub(r"\s+", " ", re.sub(r'[{}"\[\]]', " ", match.group()).replace(":", " "))
