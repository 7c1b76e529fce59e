"""The box's own tools: time, timers, alarms, reminders, volume, mute, talk about the talk, health.

They are tools like any other (``tools.tool.Tool``), for the model and for the offline brain alike. What they
return is a sentence that can be said as it is. ``box.box_tools`` builds them all from the parts they need.

Around them: ``schedule`` (what is due when, and survives a power cut), ``ringer`` (what ringing sounds like and
how it ends), ``moments`` (when "at six" is), ``quiet_hours``, ``settings`` (volume, pace, mute).
"""
