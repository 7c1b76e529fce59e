"""All of the box's own tools, built from the parts that they need."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo

from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.device.about_tools import about_tools
from appliance.device.box_tool import BoxTool
from appliance.device.controls import BoxControls, BoxHealth, PrivateTalk, Ringing, TurnMemory
from appliance.device.conversation_tools import conversation_tools
from appliance.device.entry_words import EntryWords
from appliance.device.private_tools import private_tools
from appliance.device.schedule import Schedule
from appliance.device.settings import BoxSettings
from appliance.device.slow_tool import Times, slow_tools
from appliance.device.time_tools import time_tools
from appliance.device.timer_tools import timer_tools
from appliance.device.traffic_tool import TrafficToday, traffic_tools
from appliance.device.volume_tools import volume_tools
from appliance.device.why_tool import DeedTeller, Trail, why_tools


@dataclass(frozen=True)
class BoxParts:
    """What the tools work with; ``zone`` is the house's time zone (``zone.house_zone``)."""

    clock: Clock
    zone: tzinfo
    catalogue: Catalogue
    schedule: Schedule
    words: EntryWords
    ringing: Ringing
    controls: BoxControls
    memory: TurnMemory
    health: BoxHealth
    settings: BoxSettings
    snooze_seconds: float
    trail: Trail
    traffic: TrafficToday
    times: Times
    private: PrivateTalk


def box_tools(parts: BoxParts) -> list[BoxTool]:
    """Every tool of the box."""
    clock, zone, catalogue = parts.clock, parts.zone, parts.catalogue
    deeds = DeedTeller(parts.trail, clock, zone, catalogue)
    return [
        *time_tools(clock=clock, zone=zone, catalogue=catalogue),
        *timer_tools(
            schedule=parts.schedule,
            ringing=parts.ringing,
            clock=clock,
            zone=zone,
            catalogue=catalogue,
            words=parts.words,
            snooze_seconds=parts.snooze_seconds,
        ),
        *volume_tools(controls=parts.controls, settings=parts.settings, catalogue=catalogue),
        *conversation_tools(
            controls=parts.controls, memory=parts.memory, ringing=parts.ringing, catalogue=catalogue, deeds=deeds
        ),
        *private_tools(parts.private, catalogue),
        *why_tools(deeds, catalogue),
        *traffic_tools(parts.traffic, catalogue),
        *slow_tools(parts.times, parts.health, catalogue),
        *about_tools(
            controls=parts.controls,
            health=parts.health,
            schedule=parts.schedule,
            words=parts.words,
            clock=clock,
            catalogue=catalogue,
        ),
    ]
