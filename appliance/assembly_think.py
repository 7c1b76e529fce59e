"""Builds what thinks: the brains, and what gets the model ready before a turn is meant."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.assembly_ground import Ground
from appliance.assembly_parts import SoundParts, ToolParts, make_model_brain, make_offline_brain
from appliance.config import BoxConfig
from appliance.drafts import Drafts
from appliance.first_request import FirstRequest
from appliance.memory import Memory
from appliance.ports_think import ModelEndpoint
from appliance.think.brain import Brain
from appliance.think.config import ThinkConfig
from appliance.think.drafted_endpoint import DraftedEndpoint
from appliance.think.offline_brain import OfflineBrain
from appliance.think.writing_pace import WritingPace
from appliance.warm_model import WarmModel


@dataclass(frozen=True)
class Thinkers:
    """What is None is not there, or not wanted by the owner."""

    offline: OfflineBrain
    model: Brain | None = None
    drafts: Drafts | None = None
    warm_model: WarmModel | None = None


def make_thinkers(ground: Ground, tools: ToolParts, memory: Memory, sound: SoundParts) -> Thinkers:
    offline = make_offline_brain(ground)
    if ground.adapters.endpoint is None:
        return Thinkers(offline)
    return _with_model(ground, ground.adapters.endpoint, offline, tools, memory, sound)


def _with_model(
    ground: Ground,
    model_endpoint: ModelEndpoint,
    offline: OfflineBrain,
    tools: ToolParts,
    memory: Memory,
    sound: SoundParts,
) -> Thinkers:
    think, clock, is_local = ground.config.of(ThinkConfig), ground.clock, ground.adapters.is_model_local
    pace = WritingPace(model_endpoint, clock)
    sound.speaker.is_written_fast = lambda: pace.is_fast
    endpoint = DraftedEndpoint(pace)
    ground.stack.push_async_callback(endpoint.close)
    brain = make_model_brain(ground, endpoint, tools.pictures, memory)
    first = FirstRequest(
        brain,
        memory=memory,
        offline=offline,
        hooks=tools.plugins.tools.beside.turn,
        registry=tools.registry,
        why_not_in=tools.plugins.why_not_in,
        is_model_local=is_local,
    )
    drafts = Drafts(
        endpoint,
        first,
        sound.speaker,
        clock=clock,
        publish=ground.bus.publish,
        language=ground.config.of(BoxConfig).language,
    )
    warm_model = WarmModel(endpoint, first, clock, is_model_local=is_local)
    ground.stack.push_async_callback(warm_model.close)
    return Thinkers(
        offline,
        brain,
        drafts if think.speculate else None,
        warm_model if think.warm_prefix == "auto" else None,
    )
