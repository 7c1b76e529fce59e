"""The measured echo lasts, for the devices with which it was measured."""

from __future__ import annotations

import pytest

from appliance.adapters.fakes.documents import FakeDocuments
from appliance.adapters.fakes.echo_canceller import FakeEchoCanceller
from appliance.adapters.fakes.sound_card import FakeSoundCard
from appliance.echo_record import EchoRecord
from appliance.listen.duplex import DuplexSoundCard
from appliance.listen.echo_meter import DuplexMode, EchoFigure, EchoMeter

GOOD = EchoFigure(loss_decibels=10.0, left_decibels=45.0, played_dbfs=-22.0)


def a_card(speaker: str = "speaker") -> DuplexSoundCard:
    return DuplexSoundCard(FakeSoundCard(speaker=speaker), FakeEchoCanceller(), EchoMeter())


async def test_what_was_measured_is_known_to_the_next_start() -> None:
    documents, card = FakeDocuments(), a_card()
    card.meter.remember(GOOD)
    await EchoRecord(documents, card).keep()
    again = a_card()
    await EchoRecord(documents, again).load()
    assert again.meter.figure == GOOD


async def test_another_loudspeaker_has_another_echo() -> None:
    documents, card = FakeDocuments(), a_card()
    card.meter.remember(GOOD)
    await EchoRecord(documents, card).keep()
    other = a_card("another speaker")
    await EchoRecord(documents, other).load()
    assert other.meter.figure is None and other.meter.mode is DuplexMode.HALF


@pytest.mark.parametrize("document", [None, 7, {}, {"devices": "fake microphone | speaker", "loss_decibels": "much"}])
async def test_a_document_that_makes_no_sense_is_no_figure(document: object) -> None:
    documents, card = FakeDocuments(), a_card()
    if document is not None:
        await documents.put("sound", "echo", document)
    await EchoRecord(documents, card).load()
    assert card.meter.figure is None


async def test_a_figure_that_hardly_changed_is_not_written_again() -> None:
    documents, card = FakeDocuments(), a_card()
    record = EchoRecord(documents, card)
    card.meter.remember(GOOD)
    await record.keep()
    await documents.delete("sound", "echo")
    card.meter.remember(EchoFigure(10.0, 46.0, -22.0))
    await record.keep()
    assert await documents.get("sound", "echo") is None
    card.meter.remember(EchoFigure(10.0, 20.0, -22.0))
    await record.keep()
    assert await documents.get("sound", "echo") is not None


async def test_the_chirp_of_the_doctor_counts_where_nothing_else_is_known() -> None:
    card = a_card()
    record = EchoRecord(FakeDocuments(), card)
    record.note_chirp(40.0)
    assert card.meter.figure is not None and card.meter.figure.mode is DuplexMode.FULL
    assert card.meter.mode is DuplexMode.GUARDED, "until the canceller knows the room"
    card.meter.remember(GOOD)
    record.note_chirp(3.0)
    assert card.meter.figure == GOOD
