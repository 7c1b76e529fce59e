from __future__ import annotations

import pytest

from appliance.adapters.fakes.transcriber import FakeTranscriber
from appliance.audio import HEARING_FORMAT, AudioChunk
from appliance.errors import ConfigError
from appliance.listen.corrections import CorrectedTranscriber, Corrections
from appliance.ports import Transcript
from tests.listen.rig import quiet

TABLE = Corrections.parse(["nano leaf = Nanoleaf", "Row a rock = Roborock", "rock = Rock FM", "c++ = C plus plus"])


@pytest.mark.parametrize(
    ("heard", "meant"),
    [
        ("Turn the nano leaf blue.", "Turn the Nanoleaf blue."),
        ("Turn the Nano-Leaf blue.", "Turn the Nanoleaf blue."),
        ("Send the row a rock home, and the NANO LEAF.", "Send the Roborock home, and the Nanoleaf."),
        ("Play rock.", "Play Rock FM."),
        ("Play the rocket nano leaflet", "Play the rocket nano leaflet"),
        ("Teach me c++!", "Teach me C plus plus!"),
        ("", ""),
    ],
)
def test_whole_words_are_corrected_whatever_their_capitals(heard: str, meant: str) -> None:
    assert TABLE.applied(heard) == meant


def test_what_was_corrected_is_not_corrected_again() -> None:
    assert Corrections.parse(["tea = coffee", "coffee = tea"]).applied("tea or coffee") == "coffee or tea"


def test_a_backslash_in_what_is_meant_stays_what_it_is() -> None:
    assert Corrections.parse([r"back slash = \1"]).applied("a back slash here") == r"a \1 here"


@pytest.mark.parametrize("entry", ["nano leaf", "= Nanoleaf", "nano leaf =", "", "="])
def test_an_entry_that_is_none_is_named_with_an_example(entry: str) -> None:
    with pytest.raises(ConfigError, match=r'must be what is heard and what is meant, as "nano leaf = Nanoleaf"'):
        Corrections.parse([entry])


def test_what_is_corrected_twice_is_told() -> None:
    with pytest.raises(ConfigError, match="'Nano-leaf' is there twice"):
        Corrections.parse(["nano leaf = Nanoleaf", "Nano-leaf = Nano Leaf"])


async def test_every_transcript_is_corrected_with_what_holds_at_that_moment() -> None:
    inner = FakeTranscriber("turn on the nano leaf", Transcript("the nano leaf", average_log_probability=-0.3))
    table = Corrections()
    transcriber = CorrectedTranscriber(inner, lambda: table)
    sound = AudioChunk(quiet(0.5), HEARING_FORMAT)
    assert (await transcriber.transcribe(sound)).text == "turn on the nano leaf"
    table = TABLE
    corrected = await transcriber.transcribe(sound)
    assert (corrected.text, corrected.average_log_probability) == ("the Nanoleaf", -0.3)
    await transcriber.warm_up()
    transcriber.close()
    assert inner.is_warm and inner.is_closed
