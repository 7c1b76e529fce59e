"""Texts that nobody ends a sentence with: who says "set a timer for" has something to add."""

from __future__ import annotations

from collections.abc import Mapping

#: What whisper puts behind speech that breaks off.
_BREAKS = ("...", "…", "-", "–", ",", ":")
_ENDS = ".?! "
#: Last words of a sentence that goes on. Words that may also be the last one of a whole sentence ("turn it on",
#: "mach es an") are not among them.
_LINKS: Mapping[str, str] = {
    "en": "a an and as at because but by every for from how if in into my of or our than the their to very with your",
    "de": "als das dass dein deine deinen dem den der des die ein eine einem einen einer für im in ins mein meine "
    "meinen oder sehr und unser unsere vom von weil wenn wie zum zur",
    "es": "a al aunque con cuando de del el en la las los mi mis muy o para pero por porque que si sin su sus tu tus "
    "un una unas unos y",
}


def is_unfinished(text: str, language: str) -> bool:
    """Whether something must follow; the box knows it of the end of English, German and Spanish sentences."""
    text = text.strip()
    if text.endswith(_BREAKS):
        return True
    words = text.rstrip(_ENDS).lower().split()
    return bool(words) and words[-1] in _LINKS.get(language, "").split()
