"""Pictures of the internet for the page, through the plugins' door.

A tool may name any address for a tile, and the page loads tiles without being asked to. So only addresses outside the
house are fetched: a request to something in the house could switch it. What comes is looked at before it goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from appliance.errors import ApplianceError, NetworkError, PictureError
from appliance.ports_pictures import PictureMaker

_MOST_BYTES = 10_000_000
_PATIENCE_SECONDS = 15.0


class OutsidePictures:
    """``get`` is that of the facade's session for the outside lane, which refuses every address in the house.

    It blocks, so never on the box's loop.
    """

    def __init__(self, get: Callable[..., Any], maker: PictureMaker) -> None:
        self._get = get
        self._maker = maker

    def __call__(self, url: str) -> tuple[str, bytes]:
        """Media type and bytes. Raises ``ApplianceError``."""
        try:
            with self._get(url, timeout=_PATIENCE_SECONDS, stream=True) as answer:
                answer.raise_for_status()
                data = b"".join(_within(answer.iter_content(65_536)))
        except ApplianceError:
            raise
        except Exception as error:
            raise NetworkError(f"the picture could not be fetched: {type(error).__name__}") from error
        # Made anew: what else was in the file stays here.
        return "image/jpeg", self._maker.jpeg(data)


def _within(pieces: Iterable[bytes]) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > _MOST_BYTES:
            raise PictureError("the picture is too large to show")
        yield piece
