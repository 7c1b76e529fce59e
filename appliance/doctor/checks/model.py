"""Whether the model answers, and how soon."""

from __future__ import annotations

from collections.abc import Callable

from appliance.clock import Clock
from appliance.doctor.finding import Finding, as_sentence, fine, wrong
from appliance.errors import ConfigError
from appliance.ports_think import ModelEndpoint
from appliance.think.model_check import check_endpoint

#: Longer than this for one word, and every answer keeps people waiting.
_SLOW_SECONDS = 8.0


async def model_answers(endpoint: Callable[[], ModelEndpoint | None], clock: Clock) -> Finding:
    """One whole round trip, with a tool on offer."""
    try:
        model = endpoint()
    except ConfigError as error:
        return wrong(as_sentence(str(error)), "Set the model anew: appliance model set URL")
    if model is None:
        return fine("No model is set: the box does the simple things by itself.")
    begun = clock.monotonic_seconds()
    check = await check_endpoint(model)
    seconds = clock.monotonic_seconds() - begun
    if not check.works:
        return wrong(as_sentence(check.sentence), "See what is in the way: appliance model show; appliance net test")
    if seconds > _SLOW_SECONDS:
        return wrong(
            f"{model.name} takes {seconds:.0f} seconds for one word.",
            "Take a smaller or nearer model: appliance model set URL",
        )
    return fine(f"{model.name} answers in {seconds:.1f} seconds.")
