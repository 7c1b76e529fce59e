"""The tool that tells time and date, here and anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.device.box_tool import Arguments, BoxTool, CannotError, text_of
from appliance.device.time_words import say_clock, say_date, say_day
from appliance.think.spoken_numbers import to_words
from appliance.think.time_zones import find_zone
from appliance.tools.tool import CallContext


def time_tools(*, clock: Clock, zone: tzinfo, catalogue: Catalogue) -> list[BoxTool]:
    """``box_time``."""
    teller = _TimeTeller(clock, zone, catalogue)
    return [
        BoxTool(
            name="box_time",
            description=(
                "The time and date now, here or in another place of the world. Use it whenever the answer depends on "
                "the present time."
            ),
            work=teller.tell,
            catalogue=catalogue,
            parameters={
                "place": {"type": "string", "description": "City, country or IANA time zone; leave out for here."},
                "what": {
                    "type": "string",
                    "enum": ["time", "date", "both"],
                    "description": "What to tell; time when left out.",
                },
                "day": {"type": "string", "enum": ["today", "tomorrow"], "description": "With date: which day."},
            },
        )
    ]


@dataclass(frozen=True)
class _TimeTeller:
    clock: Clock
    zone: tzinfo
    catalogue: Catalogue

    async def tell(self, arguments: Arguments, context: CallContext) -> str:
        """A sentence with the time, the date or both."""
        if not self.clock.is_trusted():
            raise CannotError(self.catalogue.say("time.not_set"))
        here = self.clock.now().astimezone(self.zone)
        is_spoken = context.channel == "voice"
        place = text_of(arguments, "place")
        if place:
            return self._there(place, here, is_spoken)
        if text_of(arguments, "day").lower() == "tomorrow":
            return self.catalogue.say(
                "time.tomorrow", date=say_date(here.date() + timedelta(days=1), is_spoken=is_spoken)
            )
        what = text_of(arguments, "what")
        clock, date = say_clock(here, is_spoken=is_spoken), say_date(here.date(), is_spoken=is_spoken)
        if what == "date":
            return self.catalogue.say("time.date", date=date, year=_say_year(here, is_spoken))
        return self.catalogue.say("time.both" if what == "both" else "time.now", clock=clock, date=date)

    def _there(self, place: str, here: datetime, is_spoken: bool) -> str:
        name = find_zone(place)
        try:
            there = here.astimezone(ZoneInfo(name or ""))
        except (ZoneInfoNotFoundError, ValueError):
            raise CannotError(self.catalogue.say("time.unknown_place", place=_say_place(place))) from None
        key = "time.now_there" if there.date() == here.date() else "time.now_there_other_day"
        day = say_day(there.date(), here.date(), is_spoken=is_spoken)
        return self.catalogue.say(key, place=_say_place(place), clock=say_clock(there, is_spoken=is_spoken), day=day)


def _say_place(place: str) -> str:
    """``Asia/Ho_Chi_Minh`` and ``new york`` as names: ``Ho Chi Minh``, ``New York``."""
    city = place.partition(",")[0].rpartition("/")[2].replace("_", " ")
    return " ".join(
        word.upper() if word in ("uk", "la", "utc", "gmt") else word[:1].upper() + word[1:] for word in city.split()
    )


def _say_year(moment: datetime, is_spoken: bool) -> str:
    """``twenty twenty-six``: the voice reads 2026 as two thousand and twenty-six, which takes longer to hear."""
    century, year = divmod(moment.year, 100)
    return f"{to_words(century)} {to_words(year)}" if is_spoken and year > 9 and century < 100 else str(moment.year)
