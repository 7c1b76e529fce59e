"""What German grammar asks of a number: the form of "ein" before a noun, the ending of an ordinal."""

from __future__ import annotations

from appliance.speak.rules import word_list

_FEMININE_ENDINGS = ("e", "ung", "heit", "keit", "schaft", "tion", "sion", "tät", "ik", "ei")
_FEMININE = frozenset(
    word_list(
        "person nacht stadt zahl frau tür hand wand datei mail e-mail nummer schwester tochter mutter kartoffel zwiebel"
        " gabel schüssel tafel antwort nuss zeit arbeit fahrt million wahl uhrzeit prüfung bank art möglichkeit"
    )
)
_MASCULINE = frozenset(
    word_list(
        "tag monat mensch mann raum tisch apfel löffel esslöffel teelöffel becher platz punkt schritt termin wecker"
        " timer kilometer meter liter zentimeter bund euro dollar cent film titel abend morgen teil satz stock gang"
        " schuss name käse junge kunde kollege weltkrieg versuch geburtstag advent gast freund schlüssel januar"
        " februar märz april mai juni juli august september oktober november dezember montag dienstag mittwoch"
        " donnerstag freitag samstag sonntag rang sieg zug bus flug stern hinweis kaffee fehler treffer eintrag"
    )
)
_NEUTER = frozenset(word_list("auge ende gemüse gebäude interesse ei eis paar gewürze"))

_DATIVE = frozenset(word_list("in nach vor mit seit von aus bei zu ab innerhalb binnen"))
_ACCUSATIVE = frozenset(word_list("für um ohne durch gegen pro"))

#: Behind these a number with a full stop is an ordinal; with the ending that they ask for.
_ARTICLES = {
    **dict.fromkeys(word_list("der die das eine jede jedes diese dieses welche welches ins"), "e"),
    **dict.fromkeys(word_list("ein mein dein sein ihr unser kein jeder"), "er"),
    **dict.fromkeys(
        word_list(
            "am im vom zum zur beim dem den des einem einen einer jedem jeden diesem diesen dieser meinem meinen meiner"
            " seinem seinen seiner"
        ),
        "en",
    ),
}
#: Behind these it may be any number.
_PREPOSITIONS = {**dict.fromkeys(word_list("von um bis ab seit nach vor und oder"), "en"), "als": "er"}
_ENDINGS = {**_ARTICLES, **_PREPOSITIONS}


def gender(noun: str) -> str:
    """ "m", "f" or "n": known nouns, else by the ending; compounds go by their last part when it is known."""
    word = noun.lower()
    for known, found in ((_FEMININE, "f"), (_MASCULINE, "m"), (_NEUTER, "n")):
        if word in known:
            return found
    if word.endswith(_FEMININE_ENDINGS):
        return "f"
    return "m" if any(word.endswith(known) for known in _MASCULINE if len(known) > 2) else "n"


def one(noun_gender: str, before: str) -> str:
    """The form of "ein" for a noun of this gender; ``before`` is the word in front of it."""
    if before.lower() in _DATIVE:
        return "einer" if noun_gender == "f" else "einem"
    if noun_gender == "m" and before.lower() in _ACCUSATIVE:
        return "einen"
    return "eine" if noun_gender == "f" else "ein"


def is_before_ordinals(word: str) -> bool:
    """Whether a number with a full stop behind this word is an ordinal."""
    return word.lower() in _ARTICLES


def is_before_dates(word: str) -> bool:
    """Whether "3.5." behind this word is a day."""
    return word.lower() in _ENDINGS


def ordinal_ending(before: str, noun_gender: str) -> str:
    """ "e", "en", "er" or "es"."""
    known = _ENDINGS.get(before.lower())
    if known is not None:
        return known if known != "er" or noun_gender != "n" else "es"
    return {"m": "er", "f": "e", "n": "es"}[noun_gender]


def word_before(text: str) -> str:
    """The last word of ``text``, "" when a mark stands behind it."""
    words = text.split()
    return words[-1] if words and text[-1:].isspace() and words[-1][-1].isalnum() else ""
