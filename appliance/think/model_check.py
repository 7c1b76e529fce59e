"""Does a model endpoint work? One tiny request tells."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.errors import BrainError
from appliance.ports_think import ModelEndpoint, ModelRequest
from appliance.think.items import user_message

#: Enough for a reasoning model to come to a word.
_MAX_OUTPUT_TOKENS = 256
#: Some servers take a conversation but no tools; the box needs both.
_TOOL = {
    "type": "function",
    "name": "get_time",
    "description": "The time of day.",
    "parameters": {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
}


@dataclass(frozen=True)
class EndpointCheck:
    """Whether it works, and a sentence for the person that says so."""

    works: bool
    sentence: str


async def check_endpoint(endpoint: ModelEndpoint) -> EndpointCheck:
    """Ask for one word, with a tool on offer; raises nothing of ours."""
    request = ModelRequest(
        instructions="You are tested. Answer with one word.",
        items=(user_message("Say: ready."),),
        tools=(_TOOL,),
        max_output_tokens=_MAX_OUTPUT_TOKENS,
    )
    try:
        async for _event in endpoint.respond(request):
            pass
    except BrainError as error:
        return EndpointCheck(False, f"{endpoint.name} does not work: {error}")
    return EndpointCheck(True, f"{endpoint.name} answers.")
