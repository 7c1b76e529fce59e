"""What a person is asked, in the box's own words: made from the record, never from what a model says about it.

A name, an argument or a tool's own question is a stranger's text: it is cut short, and nothing hidden and no markup of
speech stays in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from appliance.approve.hidden import visible
from appliance.approve.operands import command_lines
from appliance.approve.record import RequestRecord
from appliance.approve.request import preview_of, without_named_secrets
from appliance.catalogue import Catalogue
from appliance.ports import Json

_LONGEST_NAME = 40
_LONGEST_ACTION = 120
#: More arguments than fit into so many letters are only counted.
_LONGEST_ARGUMENTS = 60
_LONGEST_SCREEN = 4_000
#: Marks that the voice takes for tags, markup or the end of our own sentence.
_MARKS = re.compile(r"[\[\](){}<>*_`~#|\\\"“”«»!?;:\n]+|\.(?=\s|$)")


def spoken_name(tool: str) -> str:
    """A tool's name as words."""
    return spoken(re.sub(r"[\W_]+", " ", tool), _LONGEST_NAME) or "?"


def spoken(text: str, longest: int) -> str:
    """A stranger's text, safe to stand inside a sentence of ours."""
    words = " ".join(_MARKS.sub(" ", visible(text)).split())
    return words if len(words) <= longest else f"{words[: longest - 1].rstrip()}…"


def is_named(tool: str, heard: str) -> bool:
    """Whether the tool's name is in what was heard: its words in order, without digits, which a voice says as words.

    A name without letters was heard when the first sentence was.
    """
    name, said = _words_of(spoken_name(tool)), iter(_words_of(heard))
    return all(word in said for word in name) if name else bool(re.search(r"[.?!]", heard))


def spoken_question(
    catalogue: Catalogue,
    record: RequestRecord,
    *,
    is_again: bool = False,
    has_button: bool = True,
    hears_no: bool = False,
) -> str:
    """The question; it names the tool first. ``hears_no`` when a spoken no would be heard.

    ``KeyError`` when the language lacks a sentence.
    """
    key = f"ask.press{'_again' if is_again else ''}{'_or_say' if hears_no else ''}"
    press = catalogue.say(key) if has_button else ""
    name = spoken_name(record.tool)
    if is_again:
        return f"{catalogue.say('ask.again', tool=name)} {press}".strip()
    sentences = [_opening(catalogue, record, name)]
    if record.danger is not None:
        sentences.append(catalogue.say("ask.danger", danger=catalogue.say(f"danger.{record.danger.value}")))
    if record.follows:
        sentences.append(catalogue.say("ask.follows", source=spoken_name(record.follows)))
    if not record.action:
        sentences.append(_what(catalogue, record))
    return " ".join(filter(None, (*sentences, press)))


def screen_lines(record: RequestRecord) -> dict[str, Json]:
    """Everything about a request, for whoever may answer it from a shell: secrets and hidden characters are gone."""
    words = record.as_json()
    return {
        "id": record.request_id,
        "tool": visible(record.tool),
        "origin": visible(record.request.origin),
        "risk": record.request.risk.value,
        "arguments": preview_of(words["arguments"])[:_LONGEST_SCREEN],
        "action": visible(record.action)[:_LONGEST_SCREEN],
        "executable": visible(record.operands.executable),
        "working folder": visible(record.operands.workdir),
        "files": {visible(path): digest for path, digest in record.operands.files.items()},
        "danger": words["danger"],
        "follows": visible(record.follows),
        "asked twice": record.is_two_step,
        "channel": record.request.channel,
        "plugin": record.plugin_digest[:12],
    }


def _opening(catalogue: Catalogue, record: RequestRecord, name: str) -> str:
    if record.action:
        return catalogue.say("ask.action", tool=name, action=spoken(record.action, _LONGEST_ACTION))
    return catalogue.say("ask.call", tool=name)


def _what(catalogue: Catalogue, record: RequestRecord) -> str:
    """The program with the number of its words; without one the arguments, when they are short enough to be heard."""
    arguments: Mapping[str, Json] = json.loads(record.request.arguments_json)
    words = next(filter(None, command_lines(arguments)), None)
    if words is not None:
        program = spoken(words[0].rpartition("/")[2], _LONGEST_NAME)
        count = len(words) - 1
        key = {0: "ask.program", 1: "ask.program_one"}.get(count, "ask.program_with")
        return catalogue.say(key, program=program, count=count)
    if not arguments:
        return ""
    values = without_named_secrets(arguments)
    text = ", ".join(f"{name} {_value(value)}" for name, value in values.items())
    if len(text) <= _LONGEST_ARGUMENTS:
        return catalogue.say("ask.arguments", arguments=spoken(text, _LONGEST_ARGUMENTS))
    return catalogue.say("ask.many_arguments")


def _value(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _words_of(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text.casefold())
