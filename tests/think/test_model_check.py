from __future__ import annotations

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, calls, says
from appliance.errors import BrainKeyError
from appliance.think.model_check import EndpointCheck, check_endpoint


async def test_an_endpoint_that_answers_works() -> None:
    for answer in (says("Ready."), calls(("get_time", {}))):
        endpoint = FakeModelEndpoint(answer, name="tiny at box")
        assert await check_endpoint(endpoint) == EndpointCheck(True, "tiny at box answers.")
        assert endpoint.requests[0].tools


async def test_an_endpoint_that_fails_says_why() -> None:
    check = await check_endpoint(FakeModelEndpoint([BrainKeyError("box wants a key")], name="tiny at box"))
    assert check == EndpointCheck(False, "tiny at box does not work: box wants a key")
