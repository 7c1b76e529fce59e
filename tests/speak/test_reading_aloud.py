from __future__ import annotations

import pytest

from appliance.events import Emotion
from appliance.speak.sentences import LONGEST_SENTENCE
from appliance.speak.speech_text import Sentence, SpeechText
from tests.speak.reading import said, speak


def test_the_handle_of_a_picture_is_not_read_out() -> None:
    assert said("Here it is (image img:0123456789ab.jpg).") == ["Here it is."]
    assert said("I saved the image img:0123456789ab.png for you.") == ["I saved the picture for you."]


# ------------------------------------------------------------------------------------------ sentences


def test_a_sentence_is_given_as_soon_as_the_next_one_begins() -> None:
    text = SpeechText()
    assert text.feed("It is noon.") == []
    assert text.feed(" ") == []
    assert text.feed("T") == [Sentence("It is noon.")]
    assert text.feed("he sun is out") == []
    assert text.end() == [Sentence("The sun is out.")]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Ask Dr. Lee. He knows.", ["Ask Doctor Lee.", "He knows."]),
        ("Come at 5 p.m. sharp. Bring tea.", ["Come at five p.m. sharp.", "Bring tea."]),
        ("It costs 3.50. Really.", ["It costs three point five zero.", "Really."]),
        ("Fruit, e.g. Apples. Nice.", ["Fruit, for example Apples.", "Nice."]),
        ("Get v1.2.3. Then restart.", ["Get v one point two point three.", "Then restart."]),
        ("Well... maybe. Fine.", ["Well… maybe.", "Fine."]),
        ("P. J. Carter came. So did I. We left.", ["P. J. Carter came.", "So did I.", "We left."]),
        ("“Really?” he asked. “Yes!” Then he left.", ["“Really?” he asked.", "“Yes!”", "Then he left."]),
        ("One line\nanother line", ["One line.", "another line."]),
        ("Use a 60 W. It is fine.", ["Use a sixty watts.", "It is fine."]),
        ("你好。世界！", ["你好。", "世界！"]),
    ],
)
def test_a_full_stop_inside_a_word_ends_no_sentence(written: str, expected: list[str]) -> None:
    assert said(written) == expected


def test_german_ordinals_end_no_sentence() -> None:
    assert said("Am 1. Mai ist frei. Gut.", language="de") == ["Am ersten Mai ist frei.", "Gut."]


def test_a_sentence_without_end_is_cut_at_a_comma() -> None:
    pieces = said("first part, " + "word " * 40 + "here, " + "word " * 60)
    assert len(pieces) > 1
    assert pieces[0].endswith("here")
    assert all(len(sentence) <= LONGEST_SENTENCE + 1 for sentence in pieces)


def test_a_word_without_end_is_cut_too() -> None:
    assert [len(sentence) for sentence in said("x" * 700)] == [300, 300, 101]


# --------------------------------------------------------------------------------------- spoken forms


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("That is the part I like.", "That is the part I like."),
        ("Mary I love you.", "Mary I love you."),
        ("Queen Elizabeth II and King George I.", "Queen Elizabeth the second and King George the first."),
        ("World War I, Part II and Rocky IV.", "World War one, Part two and Rocky four."),
        ("A USB type C plug and class X.", "A USB type C plug and class ten."),
        ("DR. Lee and mr. Smith.", "Doctor Lee and Mister Smith."),
        ("10 - 3 = 7 and 10-12 eggs.", "ten minus three equals seven and ten to twelve eggs."),
        ("It works.It really does.", "It works.It really does."),
        ("From 1914 to 1918.", "From nineteen fourteen to nineteen eighteen."),
        ("It takes 1 h, 2 hrs and 90 s.", "It takes one hour, two hours and ninety seconds."),
        ("At 2026-05-04T15:07:00Z.", "At May fourth, twenty twenty six, fifteen oh seven UTC."),
        ("Open 9:00-17:00 or 9am-5pm.", "Open nine o'clock to seventeen hundred or nine a.m. to five p.m."),
        ("It scored 3:2.", "It scored three to two."),
        ("Add ½ cup and 1 3/4 cups.", "Add one half cup and one and three quarters cups."),
        ("It costs $0.50, £2.01 or 12 €.", "It costs fifty cents, two pounds and one penny or twelve euros."),
        ("Ping 2001:db8::1 or 10.0.0.1:8080.", None),
        ("Run ./setup in ~/work.", "Run dot slash setup in home slash work."),
        ("Code 0042 on COVID-19 and B12.", "Code zero zero four two on COVID-nineteen and B twelve."),
        ("C++ and C# code.", "C++ and C sharp code."),
        ("Call +49 30 1234567.", "Call plus four nine, three zero, one two three four five six seven."),
        ("It was :) fun XD", "It was fun."),
    ],
)
def test_english_is_said_in_words(written: str, expected: str | None) -> None:
    spoken = said(written)
    assert not any(character.isdigit() for character in " ".join(spoken))
    if expected is not None:
        assert spoken == [expected]


# --------------------------------------------------------------------------------------------- markup


def test_reasoning_that_never_ends_is_not_read_aloud() -> None:
    assert said("It is noon. <think>but is it", " really?") == ["It is noon."]


def test_a_reasoning_tag_shown_as_code_is_no_reasoning() -> None:
    assert said("The `<think>` tag is old.\n`<think>` again.") == ["The think tag is old.", "think again."]


def test_a_closing_tag_alone_is_not_read_aloud() -> None:
    assert said("</think>\n\nIt is noon.") == ["It is noon."]


def test_of_code_only_the_length_is_said() -> None:
    assert said("Here:\n```python\nprint(1)\n\nprint(2)\n```\nDone.") == ["Here:", "two lines of code.", "Done."]


def test_code_that_is_never_closed_is_not_read_aloud() -> None:
    assert said("Here:\n```python\nprint(1)\nprint(2)") == ["Here:", "two lines of code."]


def test_a_longer_fence_may_hold_a_shorter_one() -> None:
    assert said("````\n```\nsecret\n```\nsecret\n````\nDone.") == ["four lines of code.", "Done."]


def test_a_reply_that_is_only_code_is_not_silent() -> None:
    assert said("```\nls\n```") == ["one line of code."]


def test_an_empty_fence_says_nothing() -> None:
    assert said("```\n```") == []


def test_a_table_tells_its_rows_and_names_the_column_of_each_cell() -> None:
    rows = "| City | Weather |\n|:---|---:|\n| Oslo | snow |\n| Rome | |\nDone."
    assert said(rows) == ["two rows:", "City: Oslo, Weather: snow.", "City: Rome.", "Done."]


def test_a_table_of_one_row_is_not_counted() -> None:
    assert said("| City | Weather |\n|---|---|\n| Oslo | snow |") == ["City: Oslo, Weather: snow."]


def test_a_table_without_header_reads_its_cells() -> None:
    assert said("| a | b |\n| c | d |\n") == ["two rows:", "a, b.", "c, d."]


def test_a_table_without_rows_reads_its_header() -> None:
    assert said("| City | Weather |\n|---|---|\n") == ["City, Weather."]


def test_a_table_is_said_as_soon_as_the_next_line_begins() -> None:
    text = SpeechText()
    assert text.feed("| City | Weather |\n|---|---|\n| Oslo | snow |\n") == []
    assert text.feed("Do") == [Sentence("City: Oslo, Weather: snow.")]


def test_a_language_without_rules_is_left_to_its_voice() -> None:
    assert said("Il fait 21 °C.\n```\nls\n```", language="fr") == ["Il fait 21 °C."]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("- **milk**: white\n* eggs\n+ tea", ["milk: white.", "eggs.", "tea."]),
        ("1) first\n10. tenth", ["one: first.", "ten: tenth."]),
        ("> quote\n> - item", ["quote.", "item."]),
        ("Title\n=====\nText", ["Title.", "Text."]),
        ("--dry-run is a flag.", ["dash dash dry run is a flag."]),
        ("-5 °C is cold.", ["minus five degrees Celsius is cold."]),
        ("3.5 is a number.", ["three point five is a number."]),
        ("#GardenLife is nice.", ["hashtag Garden Life is nice."]),
        ("It is 2 * 3 and ~~old~~ new.", ["It is two times three and old new."]),
        ("A \\*star\\* here.", ["A star here."]),
        ("[**bold** link](http://a.b/c_d_(e)) ok", ["bold link ok."]),
        ("An <b>old</b> <!-- hidden --> page<br>line", ["An old page line."]),
        ("If a < b and c > d.", ["If a is less than b and c is greater than d."]),
        ("Tom &amp; Anna &lt;3.", ["Tom and Anna."]),
        ("A list[0] and [never closed", ["A list and never closed."]),
    ],
)
def test_markup_is_taken_out(written: str, expected: list[str]) -> None:
    assert said(written) == expected


# ---------------------------------------------------------------------------------------------- moods


def test_the_sentence_behind_a_tag_carries_its_mood() -> None:
    assert speak("[happy] Good morning. [sighs] It rains. So be it.") == [
        Sentence("Good morning.", Emotion.HAPPY),
        Sentence("It rains.", Emotion.SAD),
        Sentence("So be it."),
    ]


@pytest.mark.parametrize(
    ("written", "emotion"),
    [
        ("[laughs softly] Hi.", Emotion.HAPPY),
        ("[Nervous, whispers] Hi.", Emotion.SCARED),
        ("[drawn out] Hi.", Emotion.NEUTRAL),
        ("[determined] Hi.", Emotion.DETERMINED),
        ("[happy][sad] Hi.", Emotion.HAPPY),
        ("Well [gasps] hi.", Emotion.SURPRISED),
        ("[happy] 🎉 Hi.", Emotion.HAPPY),
        ("[happy day] Hi.", None),
        ("list[sad] hi.", None),
        ("[sad](http://a.b) hi.", None),
        ("Well, [softly] hi.", None),
        ("[3] Hi.", None),
        ("[hangry] Hi.", Emotion.NEUTRAL),
    ],
)
def test_a_bracket_is_a_tag_only_when_every_word_in_it_is_one(written: str, emotion: Emotion | None) -> None:
    assert [sentence.emotion for sentence in speak(written)] == [emotion]


def test_a_mood_that_there_is_not_ends_the_face_before_it_and_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    moods = [sentence.emotion for sentence in speak("[angry] No.\n\n[grumpily] Yes.\n\n[grumpily] Well.")]
    assert moods == [Emotion.ANGRY, Emotion.NEUTRAL, Emotion.NEUTRAL]
    assert len(caplog.records) == 1
    assert "grumpily" not in caplog.text


def test_a_tag_behind_the_last_sentence_belongs_to_nothing() -> None:
    text = SpeechText()
    assert text.feed("Bye. [happy]") + text.end() == [Sentence("Bye.")]
    assert text.feed("Hi.") + text.end() == [Sentence("Hi.")]


def test_the_same_object_takes_the_next_text() -> None:
    text = SpeechText()
    for broken in ("```\ncode", "<think>hm", "a `b", "| row", "[open", "- "):
        text.feed(broken)
        text.end()
    assert text.feed("It is noon. ") + text.end() == [Sentence("It is noon.")]
