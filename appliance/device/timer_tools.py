"""The tools for timers, alarms and reminders."""

from __future__ import annotations

from datetime import tzinfo

from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.device.box_tool import BoxTool
from appliance.device.controls import Ringing
from appliance.device.entry_words import EntryWords
from appliance.device.schedule import Schedule
from appliance.device.timer_asking import TimerAsking
from appliance.device.timer_setting import TimerSetting
from appliance.ports import Json
from appliance.tools.tool import Risk

_WHEN: dict[str, Json] = {
    "time": {
        "type": "string",
        "description": (
            "Time of day in 24 hours, HH:MM. When the person did not say which half of the day is meant, write a "
            'question mark behind it ("07:30?").'
        ),
    },
    "day": {
        "type": "string",
        "description": "today, tomorrow, a weekday, or a date YYYY-MM-DD; leave out for the next such time.",
    },
    "days": {
        "type": "array",
        "items": {"type": "string"},
        "description": "Weekdays on which it repeats every week, e.g. [monday, friday]; leave out when it is once.",
    },
    "in_seconds": {"type": "number", "description": "Instead of a time: seconds from now."},
}
_KIND: Json = {"type": "string", "enum": ["timer", "alarm", "reminder", "any"], "description": "What is meant."}
_NAME: Json = {"type": "string", "description": "Its name, when the person gave it one (pasta)."}


def timer_tools(
    *,
    schedule: Schedule,
    ringing: Ringing,
    clock: Clock,
    zone: tzinfo,
    catalogue: Catalogue,
    words: EntryWords,
    snooze_seconds: float,
) -> list[BoxTool]:
    """The tools around the schedule."""
    setting = TimerSetting(schedule=schedule, clock=clock, zone=zone, catalogue=catalogue, words=words)
    asking = TimerAsking(
        schedule=schedule,
        ringing=ringing,
        clock=clock,
        zone=zone,
        catalogue=catalogue,
        words=words,
        snooze_seconds=snooze_seconds,
    )
    return [
        BoxTool(
            name="box_timer_set",
            description="Start a countdown timer on this box. Several can run, each with a name.",
            work=setting.set_timer,
            catalogue=catalogue,
            parameters={"seconds": {"type": "number", "description": "Length in seconds."}, "name": _NAME},
            required=("seconds",),
            risk=Risk.WRITE,
        ),
        BoxTool(
            name="box_timer_add",
            description="Let a running timer run longer.",
            work=setting.add_time,
            catalogue=catalogue,
            parameters={"seconds": {"type": "number", "description": "Seconds to add."}, "name": _NAME},
            required=("seconds",),
            risk=Risk.WRITE,
        ),
        BoxTool(
            name="box_alarm_set",
            description="Set an alarm on this box, once or on weekdays.",
            work=setting.set_alarm,
            catalogue=catalogue,
            parameters={
                **_WHEN,
                "name": _NAME,
                "is_waking": {"type": "boolean", "description": "True when it is to wake somebody up."},
            },
            risk=Risk.WRITE,
        ),
        BoxTool(
            name="box_reminder_set",
            description="Have the box say a reminder aloud at a later moment.",
            work=setting.set_reminder,
            catalogue=catalogue,
            parameters={"text": {"type": "string", "description": "What to remind of: call mom."}, **_WHEN},
            required=("text",),
            risk=Risk.WRITE,
        ),
        BoxTool(
            name="box_timer_list",
            description="Which timers, alarms and reminders are set on this box, and how long they have left.",
            work=asking.list_entries,
            catalogue=catalogue,
            parameters={"kind": _KIND, "name": _NAME},
        ),
        BoxTool(
            name="box_timer_cancel",
            description="Cancel timers, alarms or reminders of this box.",
            work=asking.cancel,
            catalogue=catalogue,
            parameters={
                "kind": _KIND,
                "name": _NAME,
                "seconds": {"type": "number", "description": "Length of the timer that is meant."},
                "time": {"type": "string", "description": "Time of day of the alarm that is meant, HH:MM."},
                "all": {"type": "boolean", "description": "True for all of that kind."},
            },
            required=("kind",),
            risk=Risk.WRITE,
        ),
        BoxTool(
            name="box_snooze",
            description="Let what rings, or rang a moment ago, ring again later.",
            work=asking.snooze,
            catalogue=catalogue,
            parameters={"seconds": {"type": "number", "description": "Seconds until it rings again."}},
            risk=Risk.WRITE,
        ),
    ]
