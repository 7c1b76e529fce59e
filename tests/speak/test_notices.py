from __future__ import annotations

from appliance.adapters.fakes.person import FakePerson
from appliance.clock import FakeClock, settle
from appliance.ports import Priority
from appliance.speak.notices import Notices


class Box:
    """Notices to a person who hears nothing until the test says so."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.person = FakePerson(hears_at_once=False)
        self.may_speak = True
        self.notices = Notices(lambda text: self.person.say(text, Priority.NOTICE), lambda: self.may_speak, self.clock)

    @property
    def said(self) -> list[str]:
        return [text for text, _ in self.person.said]


async def test_notices_are_said_one_after_another() -> None:
    box = Box()
    box.notices.add("a", "First.")
    box.notices.add("b", "Second.")
    await settle()
    assert box.said == ["First."]
    box.person.playbacks[0].finish()
    await settle()
    assert box.said == ["First.", "Second."]
    box.person.playbacks[1].finish()
    await settle()


async def test_a_key_is_told_once_for_all() -> None:
    box = Box()
    box.notices.add("a", "First.")
    await settle()
    box.person.playbacks[0].finish()
    await settle()
    box.notices.add("a", "First, in other words.")
    await box.clock.advance(60.0)
    assert box.said == ["First."]


async def test_a_notice_waits_for_its_moment() -> None:
    box = Box()
    box.may_speak = False
    box.notices.add("a", "First.")
    await box.clock.advance(3600.0)
    assert box.said == []
    box.may_speak = True
    await box.clock.advance(2.0)
    assert box.said == ["First."]
    box.person.playbacks[0].finish()
    await settle()


async def test_a_notice_nobody_heard_is_tried_three_times_and_then_given_up() -> None:
    box = Box()
    box.notices.add("a", "First.")
    await settle()
    for tried in (1, 2, 3):
        assert box.said == ["First."] * tried
        box.person.playbacks[-1].finish("")
        await box.clock.advance(2.0)
    assert box.said == ["First."] * 3


async def test_closing_forgets_what_waits() -> None:
    box = Box()
    box.may_speak = False
    box.notices.add("a", "First.")
    await settle()
    await box.notices.close()
    box.may_speak = True
    await box.clock.advance(60.0)
    assert box.said == []
