"""Sentences that plugins bring along: they ask for the plugin's own tools, and can break nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.adapters.fakes.sentence_matcher import FakeSentenceMatcher
from appliance.adapters.fakes.tool import FakeTool
from appliance.adapters.sentence_matcher import HassilMatcher
from appliance.contracts.kotoba.discover import PluginRoot, Source
from appliance.contracts.plugin_sentences import PluginSentences
from appliance.home import shipped
from appliance.ports_think import SentenceFile, SentenceMatch
from appliance.think.sentences import SENTENCE_LISTS, Match, Sentences, fixed_lists

#: The smallest file of the guide.
SMALL = """
language: en
lists:
  what: { wildcard: true }
intents:
  tide_table:
    data:
      - sentences: ["when is (high|low) tide", "show the tides for {tail:place}"]
"""

Use = Callable[..., tuple[Sentences, dict[str, tuple[str, ...]]]]


@pytest.fixture(scope="module")
def matcher() -> HassilMatcher:
    return HassilMatcher(shipped("soul") / "en" / "intents.yaml", fixed_lists(), SENTENCE_LISTS)


@pytest.fixture
def use(matcher: HassilMatcher, tmp_path: Path) -> Use:
    """The box's sentences with these of a plugin, and what is wrong with them."""

    def add(text: str, *tools: str) -> tuple[Sentences, dict[str, tuple[str, ...]]]:
        file = tmp_path / "en.yaml"
        file.write_text(text, encoding="utf-8")
        wrong = matcher.use([SentenceFile("plugin:tides", file, frozenset(tools or ["tide_table"]))])
        return Sentences(matcher), dict(wrong)

    return add


def test_a_sentence_asks_for_the_tool_of_its_plugin(use: Use) -> None:
    sentences, wrong = use(SMALL)
    assert wrong == {}
    assert sentences.match("Okay, Nabu, when is high tide?") == Match("tide_table")
    assert sentences.match("Show the tides for Cork Harbour, please.") == Match("tide_table", {"place": "cork harbour"})
    assert sentences.match("What time is it?") is not None


def test_sentences_go_away_with_their_plugin(use: Use, matcher: HassilMatcher) -> None:
    sentences, _ = use(SMALL)
    matcher.use([])
    assert sentences.match("when is high tide") is None


def test_the_spans_of_the_box_can_be_used(use: Use) -> None:
    text = SMALL.replace('"when is (high|low) tide"', '"warn me {duration:lead} before high tide"')
    sentences, _ = use(text)
    assert sentences.match("Warn me half an hour before high tide.") == Match("tide_table", {"lead": 1800})


def test_a_number_of_a_range_is_a_whole_number(use: Use) -> None:
    text = SMALL.replace("what: { wildcard: true }", "number: { range: { from: 1, to: 9 } }")
    sentences, _ = use(text.replace("when is (high|low) tide", "tide number {number:which}"))
    match = sentences.match("Tide number three.")
    assert match is not None
    assert repr(match.arguments) == "{'which': 3}"


@pytest.mark.parametrize("name", ["box_stop", "someone_elses_tool", "say_hello", "answer_yes"])
def test_sentences_for_other_tools_do_not_count_and_that_is_said(use: Use, name: str) -> None:
    sentences, wrong = use(f"{SMALL}  {name}:\n    data:\n      - sentences: [open the sluice]\n")
    assert wrong == {"plugin:tides": (f"its sentences for {name} do not count: it has no such tool",)}
    assert sentences.match("open the sluice") is None
    assert sentences.match_answer("open the sluice") == ""
    assert sentences.match("when is low tide") == Match("tide_table")


def test_no_plugin_takes_a_sentence_of_the_box(use: Use) -> None:
    text = SMALL.replace('"when is (high|low) tide"', '"(stop|what time is it|set a timer for 5 minutes|yes|no)"')
    sentences, _ = use(text)
    for words in ("Stop!", "What time is it?", "Set a timer for five minutes."):
        match = sentences.match(words)
        assert match is not None and match.tool.startswith("box_"), words
    assert sentences.match_alert("stop") == Match("box_stop", is_control=True, is_remembered=False)
    assert sentences.match_answer("no") == "no"


def test_what_a_plugin_does_waits_for_a_model_and_never_for_a_ring(use: Use) -> None:
    text = f"{SMALL}        metadata: {{ control: true, alert: true, ask: [text, 5], forget: true }}\n"
    sentences, _ = use(text)
    assert sentences.match("when is low tide") == Match("tide_table", ask=("text",), is_remembered=False)
    assert sentences.match_alert("when is low tide") is None


def test_a_tool_may_have_a_name_that_means_something_to_the_box(use: Use) -> None:
    sentences, _ = use(SMALL.replace("tide_table", "say_tide"), "say_tide")
    assert sentences.match("when is low tide") == Match("say_tide")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("intents: [", "cannot be read"),
        ("- a list", "cannot be read"),
        ("", "cannot be read"),
        ("language: en\nintents: {tide_table: 5}", "cannot be read"),
        ("language: en\nintents: {tide_table: {data: [{sentences: 5}]}}", "cannot be read"),
        (SMALL.replace("(high|low)", "(high|low"), "cannot be read"),
        (SMALL.replace("(high|low)", "<kind>"), "there is no rule <kind>"),
        (SMALL.replace("{tail:place}", "{harbour}"), "there is no list {harbour}"),
        (f'{SMALL}expansion_rules:\n  a: "x <b>"\n  b: "y <a>"\n'.replace("(high|low)", "<a>"), "back to itself"),
        (SMALL.replace("(high|low)", "[a]" * 300), "too many parts"),
        (SMALL + "#" * 70_000, "too large"),
        (SMALL.replace("sentences: [", "sentences: [" + '"x", ' * 301), "too many sentences"),
    ],
)
def test_a_broken_file_is_a_problem_of_its_plugin_alone(use: Use, text: str, words: str) -> None:
    sentences, wrong = use(text)
    assert words in " ".join(wrong["plugin:tides"])
    assert sentences.match("when is high tide") is None
    assert sentences.match("What time is it?") is not None


def test_a_file_that_fails_in_the_middle_of_a_turn_is_left_out(use: Use, matcher: HassilMatcher) -> None:
    sentences, _ = use(f"{SMALL}        requires_context: {{ area: {{ value: [] , slot: 5 }} }}\n")
    broken = matcher._foreign[0].parsed
    broken.slot_lists["what"] = None
    broken.intents["tide_table"].data[0].sentences[0].expression.items.append(object())
    assert sentences.match("what time is it") is not None
    assert sentences.match("when is high tide") is None
    assert sentences.match("what time is it") is not None


@pytest.mark.parametrize("slots", ["{when: soon}", "{name: [1]}", "{any: 1}"])
def test_strange_slots_break_nothing(use: Use, slots: str) -> None:
    sentences, _ = use(f"{SMALL}        slots: {slots}\n")
    match = sentences.match("when is high tide")
    assert match is not None and match.tool == "tide_table"


# ------------------------------------------------------------------------------------------- which files


def a_tool(name: str, origin: str) -> FakeTool:
    return FakeTool(name, origin=origin)


def write(folder: Path, name: str, language: str = "en") -> Path:
    file = folder / name / "sentences" / f"{language}.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(SMALL, encoding="utf-8")
    return file


async def test_files_are_found_for_the_tools_that_are_loaded(tmp_path: Path) -> None:
    home, with_box = tmp_path / "home", tmp_path / "shipped"
    mine, both = write(home, "tides"), write(home, "both")
    write(with_box, "both")
    write(with_box, "switched_off")
    write(home, "german", "de")
    named = write(with_box, "folder")
    (named.parent.parent / "plugin.json").write_text('{"name": "other_name"}', encoding="utf-8")
    matcher = FakeSentenceMatcher({})
    roots = [PluginRoot(home, Source.OWNER), PluginRoot(with_box, Source.SHIPPED)]
    found = PluginSentences(matcher, roots, "en")
    origins = ("tides", "both", "german", "other_name", "an_installed_package")
    tools = [a_tool(f"{name}_tool", f"plugin:{name}") for name in origins]

    await found.refresh([*tools, a_tool("box_time", "box")])

    assert {entry.owner: (entry.file, set(entry.intents)) for entry in matcher.files} == {
        "plugin:tides": (mine, {"tides_tool"}),
        "plugin:both": (both, {"both_tool"}),
        "plugin:other_name": (named, {"other_name_tool"}),
    }


async def test_an_owners_plugin_without_sentences_does_not_get_those_of_the_shipped_one(tmp_path: Path) -> None:
    home, with_box = tmp_path / "home", tmp_path / "shipped"
    write(with_box, "tides")
    (home / "tides").mkdir(parents=True)
    matcher = FakeSentenceMatcher({})
    roots = [PluginRoot(home, Source.OWNER), PluginRoot(with_box, Source.SHIPPED)]
    await PluginSentences(matcher, roots, "en").refresh([a_tool("tide_table", "plugin:tides")])
    assert list(matcher.files) == []


async def test_what_is_wrong_becomes_a_line_of_the_plugin(tmp_path: Path) -> None:
    matcher = FakeSentenceMatcher({"x": SentenceMatch("x", {})})
    matcher.wrong = {"plugin:tides": ("it is broken",)}
    found = PluginSentences(matcher, [], "en")
    await found.refresh([])
    assert [(problem.plugin, problem.file, problem.sentence) for problem in found.problems] == [
        ("tides", "sentences/en.yaml", "it is broken")
    ]
