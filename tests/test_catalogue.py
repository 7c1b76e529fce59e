"""The box's own sentences: the files are read right, and the code and the files know the same ones."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance import errors
from appliance.catalogue import Catalogue
from appliance.config import load
from appliance.errors import ConfigError
from appliance.home import shipped

ROOT = Path(__file__).resolve().parent.parent
ENGLISH = Catalogue.load(shipped("soul"), "en")
TABLES = {key.partition(".")[0] for key in ENGLISH.keys}

#: A key as it stands in the code; in an f-string a field is written as ``{}``.
_KEY = re.compile(r"(?P<table>[a-z_{}]+)\.(?P<name>[a-z_{}]*[a-z}])")
#: What looks like a key and is the name of a file.
_FILE_KINDS = frozenset({"toml", "json", "py", "db", "wav", "bak"})
#: What looks like a key and is a setting.
_SETTINGS = frozenset(f"{origin.section}.{origin.key}" for origin in load(None, {}).origins)


def catalogue(folder: Path, **files: str) -> Catalogue:
    """A catalogue of language xx made of these files."""
    (folder / "xx").mkdir()
    for name, text in files.items():
        (folder / "xx" / f"{name}.toml").write_text(text, encoding="utf-8")
    return Catalogue.load(folder, "xx")


# ----------------------------------------------------------------------------------------------- reading it


def test_a_sentence_is_found_by_table_and_name_and_filled(tmp_path: Path) -> None:
    sentences = catalogue(tmp_path, one='[door]\nopen = "The {name} is open."\n', two='[light]\non = "On."\n')

    assert sentences.language == "xx"
    assert sentences.keys == {"door.open", "light.on"}
    assert sentences.say("door.open", name="door") == "The door is open."
    assert sentences.say("light.on", name="unused") == "On."


def test_forms_take_turns_so_that_it_does_not_sound_like_a_recording(tmp_path: Path) -> None:
    sentences = catalogue(tmp_path, one='[door]\nopen = ["Open.", "It is open."]\nshut = ["Shut.", "It is shut."]\n')

    assert [sentences.say("door.open") for _ in range(3)] == ["Open.", "It is open.", "Open."]
    assert sentences.say("door.shut") == "Shut.", "each sentence takes its own turns"
    assert sentences.forms("door.open") == ("Open.", "It is open.")


def test_a_sentence_that_is_not_there_is_a_fault_of_ours(tmp_path: Path) -> None:
    sentences = catalogue(tmp_path, one='[door]\nopen = "The {name} is open."\n')

    with pytest.raises(KeyError, match=r"door\.shut"):
        sentences.say("door.shut")
    with pytest.raises(KeyError, match="name"):
        sentences.say("door.open")


def test_a_language_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(ConfigError, match=r"no sentences for language 'xx'; there are: .*en"):
        Catalogue.load(shipped("soul"), "xx")


# --------------------------------------------------------------------------------- the code and the files


def sources() -> Iterator[tuple[str, ast.AST]]:
    """Every file of the program with its syntax tree."""
    for path in sorted((ROOT / "appliance").rglob("*.py")):
        yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


def keys_in_code() -> dict[str, str]:
    """Every text in the code that is, or makes, a key of one of our tables; with where it stands."""
    found: dict[str, str] = {}
    for name, tree in sources():
        for node in ast.walk(tree):
            key = _KEY.fullmatch(_text(node) or "")
            if key is None or key["name"] in _FILE_KINDS or key[0] in _SETTINGS:
                continue
            if key["table"] in TABLES or ("{}" in key["table"] and key["name"] != "{}"):
                found.setdefault(key[0], f"{name}:{getattr(node, 'lineno', 0)}")
    return found


def test_every_sentence_that_the_code_says_is_there() -> None:
    missing = {key: place for key, place in keys_in_code().items() if "{}" not in key and key not in ENGLISH.keys}
    assert missing == {}


def test_every_family_of_sentences_that_the_code_says_is_there() -> None:
    families = {key: place for key, place in keys_in_code().items() if "{}" in key and not key.startswith("{}")}
    missing = {
        key: place
        for key, place in families.items()
        if key.partition(".")[0] in TABLES and not any(_pattern(key).fullmatch(known) for known in ENGLISH.keys)
    }
    assert missing == {}


def test_no_sentence_is_there_that_nobody_says() -> None:
    said_by_intent = re.compile(r"offline\.say_\w+")  # The code says "offline.{}", the sentences file names them.
    patterns = [_pattern(key) for key in keys_in_code() if key != "offline.{}"]
    intents = (shipped("soul") / "en" / "intents.yaml").read_text(encoding="utf-8")
    unsaid = [
        key
        for key in sorted(ENGLISH.keys)
        if not any(pattern.fullmatch(key) for pattern in patterns)
        and not (said_by_intent.fullmatch(key) and f"{key.partition('.')[2]}:" in intents)
    ]
    assert unsaid == []


def test_every_error_of_the_model_has_its_sentence() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.BrainError)]
    assert len(kinds) > 5
    assert [kind.__name__ for kind in kinds if kind.sentence_key not in ENGLISH.keys] == []


def calls_of_say() -> list[tuple[str, str, set[str]]]:
    """Every call of ``say`` with a key written out: where, which key, which fields it fills."""
    found: list[tuple[str, str, set[str]]] = []
    for name, tree in sources():
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "say"):
                continue
            fields = {keyword.arg for keyword in node.keywords if keyword.arg is not None}
            for key in _keys_of(node.args[0]) if node.args else ():
                if key in ENGLISH.keys:
                    found.append((f"{name}:{node.lineno}", key, fields))
    return found


def test_the_code_fills_every_field_of_a_sentence() -> None:
    calls = calls_of_say()
    assert len(calls) > 50
    unfilled = [
        f"{place} says {key} without {field}" for place, key, fields in calls for field in sorted(_fields(key) - fields)
    ]
    assert unfilled == []


def test_the_code_fills_no_field_that_a_sentence_does_not_have() -> None:
    """Where one call says one of two sentences, either may lack a field; where it says one, a field is a mistake."""
    calls = calls_of_say()
    places = [place for place, _, _ in calls]
    unused = [
        f"{place} fills {field} of {key}, which has no such field"
        for place, key, fields in calls
        if places.count(place) == 1
        for field in sorted(fields - _fields(key))
    ]
    assert unused == []


@pytest.mark.parametrize("key", sorted(ENGLISH.keys))
def test_every_form_of_a_sentence_can_be_said(key: str) -> None:
    forms = ENGLISH.forms(key)
    assert forms
    for form in forms:
        assert form == form.strip() != ""
        assert form.format(**dict.fromkeys(_fields(key), "three")).count("{") == 0
        assert not set("*_`#<>[]") & set(form), "markup is not spoken"


def _fields(key: str) -> set[str]:
    """The fields in any form of a sentence."""
    return {name for form in ENGLISH.forms(key) for _, name, _, _ in string.Formatter().parse(form) if name}


def _text(node: ast.AST) -> str | None:
    """A text in the code; what an f-string fills in is ``{}``."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


def _keys_of(node: ast.AST) -> list[str]:
    """The keys that an argument may be: a text, or one of two."""
    if isinstance(node, ast.IfExp):
        return [*_keys_of(node.body), *_keys_of(node.orelse)]
    text = _text(node)
    return [text] if text is not None else []


def _pattern(key: str) -> re.Pattern[str]:
    return re.compile(r"\w*".join(map(re.escape, key.split("{}"))))
