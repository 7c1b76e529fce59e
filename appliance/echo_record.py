"""The measured echo is kept over restarts, so that a box which is switched on knows at once whether it may listen while
it speaks.
"""

from __future__ import annotations

import logging

from appliance.errors import StoreError
from appliance.listen.duplex import DuplexSoundCard
from appliance.listen.echo_meter import EchoFigure
from appliance.ports import Json
from appliance.store.shapes import Documents

_LOG = logging.getLogger(__name__)

#: Collection and key of the document.
_PLACE = ("sound", "echo")
#: A figure that differs by less is not written again.
_NEWS_DECIBELS = 3.0


class EchoRecord:
    """The figure in the store. It holds for the devices with which it was measured, and for no others."""

    def __init__(self, documents: Documents, card: DuplexSoundCard) -> None:
        self._documents = documents
        self._card = card
        self._kept: EchoFigure | None = None

    async def load(self) -> None:
        """Have the meter know what was measured before."""
        try:
            document = await self._documents.get(*_PLACE)
        except StoreError as error:
            _LOG.warning("the echo has to be measured anew: %s", error)
            return
        figure = _figure_of(document, self._devices)
        if figure is not None and self._card.meter.figure is None:
            self._kept = figure
            self._card.meter.remember(figure)

    async def keep(self) -> None:
        """Store what is measured by now, when it is news."""
        figure = self._card.meter.figure
        if figure is None or (self._kept is not None and _is_alike(figure, self._kept)):
            return
        self._kept = figure
        document = {
            "devices": self._devices,
            "loss_decibels": round(figure.loss_decibels, 1),
            "left_decibels": round(figure.left_decibels, 1),
            "played_dbfs": round(figure.played_dbfs, 1),
        }
        try:
            await self._documents.put(*_PLACE, document)
        except StoreError as error:
            _LOG.warning("the measured echo is not kept: %s", error)

    def note_chirp(self, loss_decibels: float) -> None:
        """The doctor played a chirp, and it came back so much weaker: better than nothing, where nothing is known."""
        meter = self._card.meter
        if meter.figure is None:
            meter.remember(EchoFigure(loss_decibels, loss_decibels))

    @property
    def _devices(self) -> str:
        info = self._card.info
        return f"{info.microphone} | {info.speaker}"


def _figure_of(document: Json, devices: str) -> EchoFigure | None:
    if not isinstance(document, dict) or document.get("devices") != devices:
        return None
    try:
        return EchoFigure(*(float(document[name]) for name in ("loss_decibels", "left_decibels", "played_dbfs")))
    except (KeyError, TypeError, ValueError):
        return None


def _is_alike(one: EchoFigure, other: EchoFigure) -> bool:
    return one.mode is other.mode and abs(one.left_decibels - other.left_decibels) < _NEWS_DECIBELS
