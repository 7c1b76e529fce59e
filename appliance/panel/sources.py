"""What the page is made from; none of it is the page's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from appliance.control import Handler
from appliance.face.emotions import EMOTIONS
from appliance.face.overlay import OVERLAYS
from appliance.panel.feed import Feed
from appliance.ports import Json


@dataclass(frozen=True)
class Sources:
    """What the page shows. ``face`` is the table that every face is drawn from, as JSON.

    ``outside`` fetches a picture of the internet, as (media type, bytes), on another thread. Raises ``ApplianceError``.
    """

    handlers: Mapping[str, Handler]
    feed: Feed
    face: Callable[[], Json]
    outside: Callable[[str], tuple[str, bytes]]


def face_table() -> Json:
    """Every mood and every activity as numbers, by their names."""
    return {
        "moods": {emotion.value: asdict(spec) for emotion, spec in EMOTIONS.items()},
        "activities": {activity.value: asdict(spec) for activity, spec in OVERLAYS.items()},
    }
