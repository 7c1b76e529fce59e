"""Places whose time of day the box knows, from the time zone database's own city names."""

from __future__ import annotations

import functools
import unicodedata
import zoneinfo

#: Names that people use and the database does not have, or has under another spelling.
_ALSO = {
    "new york": "new york city,nyc,boston,washington,washington dc,miami,philadelphia,atlanta,east coast,florida",
    "chicago": "dallas,houston,austin,texas,minneapolis,new orleans",
    "denver": "salt lake city,colorado",
    "los angeles": "la,san francisco,seattle,san diego,las vegas,portland,silicon valley,west coast,california",
    "toronto": "ottawa",
    "vancouver": "british columbia",
    "sao paulo": "brazil,rio,rio de janeiro,brasilia",
    "buenos aires": "argentina",
    "santiago": "chile",
    "bogota": "colombia",
    "lima": "peru",
    "caracas": "venezuela",
    "mexico city": "mexico",
    "london": "england,uk,britain,great britain,united kingdom,manchester,scotland,edinburgh,wales",
    "dublin": "ireland",
    "paris": "france,lyon,marseille",
    "berlin": "germany,munich,hamburg,cologne,frankfurt",
    "madrid": "spain,barcelona",
    "rome": "italy,milan,naples",
    "amsterdam": "netherlands,holland,rotterdam",
    "brussels": "belgium",
    "zurich": "switzerland,geneva,basel,bern",
    "vienna": "austria",
    "copenhagen": "denmark",
    "stockholm": "sweden",
    "oslo": "norway",
    "helsinki": "finland",
    "athens": "greece",
    "warsaw": "poland,krakow",
    "prague": "czech republic,czechia",
    "budapest": "hungary",
    "bucharest": "romania",
    "sofia": "bulgaria",
    "kyiv": "ukraine,kiev",
    "moscow": "russia,saint petersburg",
    "lisbon": "portugal,porto",
    "tokyo": "japan,osaka,kyoto",
    "seoul": "korea,south korea",
    "shanghai": "china,beijing,peking,shenzhen",
    "hong kong": "hongkong",
    "taipei": "taiwan",
    "kolkata": "india,mumbai,delhi,new delhi,bangalore,calcutta",
    "karachi": "pakistan",
    "dhaka": "bangladesh",
    "bangkok": "thailand",
    "ho chi minh": "vietnam,saigon,hanoi",
    "manila": "philippines",
    "jakarta": "indonesia",
    "kuala lumpur": "malaysia",
    "dubai": "emirates,abu dhabi",
    "riyadh": "saudi arabia",
    "tehran": "iran",
    "baghdad": "iraq",
    "jerusalem": "israel,tel aviv",
    "cairo": "egypt",
    "lagos": "nigeria",
    "nairobi": "kenya",
    "johannesburg": "south africa,cape town",
    "casablanca": "morocco",
    "algiers": "algeria",
    "sydney": "canberra",
    "melbourne": "victoria",
    "auckland": "new zealand,wellington",
    "honolulu": "hawaii",
    "reykjavik": "iceland",
}

#: Areas of the database whose last part is a place; the rest ("Etc", "SystemV", "US") are rules or old names.
_AREAS = frozenset(
    ("Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")
)
#: Old names of whole countries at the top of the database that people do say.
_COUNTRIES = frozenset(
    ("Cuba", "Egypt", "Iceland", "Iran", "Israel", "Jamaica", "Japan", "Poland", "Portugal", "Singapore", "Turkey")
)


@functools.cache
def places() -> dict[str, str]:
    """Spoken place, in canonical words, to its zone (``tokyo``: ``Asia/Tokyo``); empty without a database."""
    known: dict[str, str] = {"utc": "UTC", "greenwich": "UTC", "gmt": "UTC"}
    for zone in sorted(zoneinfo.available_timezones()):
        area, _, city = zone.partition("/")
        if (area in _AREAS and city) or zone in _COUNTRIES:
            known.setdefault(_spoken(zone.rpartition("/")[2]), zone)
    for city, others in _ALSO.items():
        if city in known:
            known |= dict.fromkeys(others.split(","), known[city])
    return known


def find_zone(place: str) -> str | None:
    """The zone of a place as a person or a model names it ("New York", "Asia/Tokyo"); None when unknown."""
    wanted = place.strip()
    if wanted in zoneinfo.available_timezones():
        return wanted
    # "Lisbon, Portugal": the first part is the city.
    return places().get(_spoken(wanted.partition(",")[0]).removeprefix("the "))


def _spoken(name: str) -> str:
    """``Port-au-Prince`` as heard after the pre-pass: ``port au prince``."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return " ".join(plain.replace("_", " ").replace("-", " ").replace(".", " ").lower().split())
