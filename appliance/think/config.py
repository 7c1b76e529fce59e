"""Settings of section ``[think]``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from appliance.config import setting


@dataclass(frozen=True)
class ThinkConfig:
    """The model, and how long and how often it may be asked. The key is no setting: it is a credential."""

    url: str = setting("", 'model endpoint with the Responses API ("http://192.168.1.5:8080"); "" = no model')
    model: str = setting("", 'name of the model at that endpoint; "" leaves the choice to the endpoint')
    reasoning_effort: Literal["", "off", "minimal", "low", "medium", "high"] = setting(
        "", '"" sends nothing; "off" asks a reasoning model not to reason; others: the model narrates, not the box'
    )
    max_output_tokens: int = setting(2000, "longest answer of one round, reasoning included", at_least=16)
    history_tokens: int = setting(3000, "how much of the earlier conversation the model gets", at_least=0)
    history_turns: int = setting(20, "how many earlier turns the model gets at most", at_least=0, at_most=200)
    speculate: bool = setting(
        True,
        "ask the model while you may still go on speaking, which answers sooner; when you do go on, the answer is "
        "thrown away, so some requests are made, and paid for, for nothing",
    )
    warm_prefix: Literal["auto", "off"] = setting(
        "auto",
        'get the model ready at the wake word: "auto" has one in the house read its instructions and the conversation '
        "ahead, and opens the connection to one outside, which costs no tokens",
    )
    sees_images: Literal["auto", "true", "false"] = setting(
        "auto", 'whether the model gets the pictures of tools; "auto" tries, until its endpoint refuses them'
    )
    image_memory_turns: int = setting(
        3, "in how many later turns the model gets a picture again; 0 = only in its own", at_least=0, at_most=50
    )
    connect_seconds: float = setting(5.0, "wait for a connection to the endpoint", at_least=0.1, at_most=60)
    first_token_seconds: float = setting(
        30.0, "wait for the first sign of an answer, and between pieces of its text", at_least=1, at_most=600
    )
    total_seconds: float = setting(120.0, "wait for one whole answer", at_least=1, at_most=3600)
    most_calls: int = setting(8, "tool calls in one turn; then the model must answer in words", at_least=1, at_most=50)
    most_failures: int = setting(2, "failed calls in one turn; then the model must answer in words", at_least=1)
    calls_after_failure: int = setting(3, "calls of one tool in one turn, once it has failed", at_least=1)
