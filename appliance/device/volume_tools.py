"""The tools for volume, pace and mute.

They count as reading: they change nothing outside the box, and they must work when no audit row can be written.
"""

from __future__ import annotations

from dataclasses import dataclass

from appliance.catalogue import Catalogue
from appliance.device.box_tool import Arguments, BoxTool, CannotError, flag_of, number_of, text_of
from appliance.device.controls import BoxControls
from appliance.device.settings import FASTEST, SLOWEST, BoxSettings
from appliance.tools.tool import CallContext

_VOLUME_STEP = 10
_LOWEST_BY_STEP = 10
_SPEED_STEP = 0.15


def volume_tools(*, controls: BoxControls, settings: BoxSettings, catalogue: Catalogue) -> list[BoxTool]:
    """``box_volume``, ``box_speech_rate``, ``box_mute``."""
    knobs = _Knobs(controls, settings, catalogue)
    return [
        BoxTool(
            name="box_volume",
            description="Set, change or tell the volume of this box's voice. Without arguments it tells the volume.",
            work=knobs.volume,
            catalogue=catalogue,
            parameters={
                "percent": {"type": "number", "description": "0 to 100."},
                "change": {"type": "string", "enum": ["up", "down"], "description": "Instead: a step."},
            },
        ),
        BoxTool(
            name="box_speech_rate",
            description="Set, change or tell how fast this box speaks. Without arguments it tells the pace.",
            work=knobs.speech_rate,
            catalogue=catalogue,
            parameters={
                "percent": {"type": "number", "description": "Of the usual pace: 50 to 200."},
                "change": {"type": "string", "enum": ["slower", "faster", "normal"], "description": "Instead: a step."},
            },
        ),
        BoxTool(
            name="box_mute",
            description="Close this box's microphone, or open it again. Only when the person asks for it.",
            work=knobs.mute,
            catalogue=catalogue,
            parameters={"muted": {"type": "boolean", "description": "True closes the microphone."}},
            required=("muted",),
        ),
    ]


@dataclass(frozen=True)
class _Knobs:
    """Each method puts a value in force, stores it and returns what is said about it."""

    controls: BoxControls
    settings: BoxSettings
    catalogue: Catalogue

    async def volume(self, arguments: Arguments, context: CallContext) -> str:
        """Set, step or tell the volume."""
        now = self.controls.volume_percent
        percent, change = number_of(arguments, "percent"), text_of(arguments, "change")
        if change in ("up", "down"):
            wanted = now + (_VOLUME_STEP if change == "up" else -_VOLUME_STEP)
            # "Quieter" never ends in silence: somebody would have to guess how to be heard again.
            wanted = min(100, max(min(now, _LOWEST_BY_STEP), wanted))
            key = "volume.set" if wanted != now else "volume.top" if change == "up" else "volume.bottom"
        elif percent is not None:
            if not 0 <= percent <= 100:
                raise CannotError(self.catalogue.say("volume.not_understood"))
            wanted, key = round(percent), "volume.set"
        else:
            return self.catalogue.say("volume.now", percent=now)
        return await self._set_volume(wanted, key)

    async def speech_rate(self, arguments: Arguments, context: CallContext) -> str:
        """Set, step or tell the pace of speech."""
        now = self.controls.speed
        percent, change = number_of(arguments, "percent"), text_of(arguments, "change")
        steps = {"slower": now - _SPEED_STEP, "faster": now + _SPEED_STEP, "normal": 1.0}
        if change not in steps and percent is None:
            return self.catalogue.say("speed.now", percent=round(now * 100))
        wanted = round(min(FASTEST, max(SLOWEST, steps[change] if change in steps else (percent or 0.0) / 100)), 2)
        if wanted == now and change in ("slower", "faster"):
            return self.catalogue.say("speed.limit_slow" if change == "slower" else "speed.limit_fast")
        self.controls.set_speed(wanted)
        await self.settings.keep("speed", wanted)
        return self.catalogue.say("speed.normal" if wanted == 1.0 else "speed.set", percent=round(wanted * 100))

    async def mute(self, arguments: Arguments, context: CallContext) -> str:
        """Close the microphone behind the reply that says how to open it; or open it."""
        is_wanted = flag_of(arguments, "muted", default=True)
        if not is_wanted:
            key = "mute.off" if self.controls.is_muted else "mute.not_muted"
            await self.controls.mute(False)
            # Stored in any case: a command without the device knows only what is stored.
            await self.settings.keep("is_muted", False)
            return self.catalogue.say(key)
        if self.controls.is_muted:
            return self.catalogue.say("mute.already")
        self.controls.after_reply(lambda: self.controls.mute(True))
        await self.settings.keep("is_muted", True)
        return self.catalogue.say("mute.on_button" if self.controls.has_button else "mute.on")

    async def _set_volume(self, wanted: int, key: str) -> str:
        if wanted > 0:
            self.controls.set_volume(wanted)
            await self.settings.keep("volume_percent", wanted)
            return self.catalogue.say(key, percent=wanted)
        # What is said about it must still be heard.
        self.controls.after_reply(self._silence)
        await self.settings.keep("volume_percent", 0)
        return self.catalogue.say("volume.off")

    async def _silence(self) -> None:
        self.controls.set_volume(0)
