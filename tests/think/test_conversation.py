from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.ports_think import ModelRequest
from appliance.store.shapes import TurnRecord
from appliance.think.conversation import Conversation
from appliance.think.items import assistant_message, call_output, message_text, user_message
from appliance.think.token_budget import TokenBudget


def call(call_id: str, name: str = "get_time") -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": "{}"}


def turn(user: str, reply: str, *items: Any, heard: str | None = None, turn_id: str = "t") -> TurnRecord:
    whole = (user_message(user), *items, assistant_message(reply))
    return TurnRecord(turn_id, user, reply, reply if heard is None else heard, whole)


def texts(items: tuple[Any, ...]) -> list[str]:
    return [message_text(item) for item in items if item["type"] == "message"]


def test_turns_come_oldest_first_with_their_calls() -> None:
    history = [turn("One?", "First."), turn("Two?", "Second.", call("a"), call_output("a", "noon"))]
    items = Conversation().items(history)
    assert [item["type"] for item in items] == [*["message"] * 3, "function_call", "function_call_output", "message"]
    assert texts(items) == ["One?", "First.", "Two?", "Second."]


def test_a_reply_that_was_cut_is_kept_as_far_as_it_was_heard() -> None:
    history = [turn("Tell me.", "It was a dark night. The wind blew.", heard="It was a dark night.")]
    assert texts(Conversation().items(history)) == ["Tell me.", "It was a dark night."]


def test_tags_and_marks_that_are_not_spoken_do_not_make_a_reply_cut() -> None:
    reply = "[happily] It is **five** o'clock."
    assert texts(Conversation().items([turn("Time?", reply, heard="It is five o'clock.")])) == ["Time?", reply]


def test_a_turn_that_was_stopped_early_keeps_only_what_was_heard() -> None:
    stopped = TurnRecord("t", "Tell me.", "", "It was", ())
    silent = TurnRecord("t", "And now?", "", "", ())
    assert texts(Conversation().items([stopped, silent])) == ["Tell me.", "It was", "And now?", "…"]


def test_a_turn_of_the_offline_brain_without_items_is_told_in_words() -> None:
    assert texts(Conversation().items([TurnRecord("t", "Time?", "Noon.", "Noon.", ())])) == ["Time?", "Noon."]


def test_a_call_is_never_sent_without_its_output_or_the_other_way_round() -> None:
    history = [turn("Time?", "Noon.", call("a"), call("b"), call_output("b", "noon"), call_output("c", "lost"))]
    pairs = [item.get("call_id") for item in Conversation().items(history) if "call_id" in item]
    assert pairs == ["b", "b"]


def test_reasoning_ids_thoughts_and_pictures_of_earlier_turns_are_left_out() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
    picture = {"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": "data:,"}]}
    message = {**assistant_message("<think>Long thoughts.</think>Noon."), "id": "msg_1", "status": "completed"}
    record = TurnRecord("t", "Time?", "<think>Long thoughts.</think>Noon.", "Noon.", (reasoning, picture, message))
    items = Conversation().items([record])
    assert list(items) == [user_message("Time?"), assistant_message("Noon.")]


def test_the_oldest_turns_go_first_and_whole() -> None:
    history = [turn(f"Question {n} {'x' * 400}", f"Answer {n}") for n in range(10)]
    items = Conversation(history_tokens=500).items(history)
    assert 0 < len(items) < 20 and len(items) % 2 == 0
    assert texts(items)[-1] == "Answer 9"
    assert texts(items)[0].startswith("Question")
    assert len(Conversation(history_turns=20).items(history)) == 20
    assert len(Conversation(history_turns=3).items(history)) == 4, "two of three, with room for the next"
    assert Conversation(history_turns=0).items(history) == ()
    assert Conversation(history_tokens=0).items(history) == ()


def test_a_turn_with_a_huge_tool_result_is_kept_as_what_was_asked_and_answered() -> None:
    history = [turn("One?", "First."), turn("Read it.", "It is long.", call("a"), call_output("a", "z" * 50_000))]
    assert texts(Conversation(history_tokens=300).items(history)) == ["One?", "First.", "Read it.", "It is long."]
    assert all(item["type"] == "message" for item in Conversation(history_tokens=300).items(history))


def test_usage_teaches_how_many_characters_a_token_has() -> None:
    budget = TokenBudget()
    items = [user_message("あ" * 1000)]
    before = budget.tokens(items)
    for _ in range(20):
        budget.learn(ModelRequest("", tuple(items)), 1000)
    assert before < 300 < 900 < budget.tokens(items) < 1100
    budget.learn(ModelRequest("", tuple(items)), 0)
    assert budget.tokens(items) > 900


PARTS = st.lists(
    st.sampled_from(
        [call("a"), call("b"), call_output("a", "x" * 200), call_output("b", "y"), {"type": "reasoning", "summary": []}]
    )
)
TURNS = st.builds(turn, st.text(max_size=300), st.text(max_size=300), heard=st.none() | st.text(max_size=50))


@settings(deadline=None)  # the machine may be busy
@given(st.lists(st.tuples(TURNS, PARTS), max_size=8), st.integers(0, 1000))
def test_any_history_gives_whole_turns_within_the_budget(
    entries: list[tuple[TurnRecord, list[Any]]], budget: int
) -> None:
    history = [TurnRecord("t", r.user_text, r.reply_text, r.heard_text, (*parts, *r.items)) for r, parts in entries]
    items = Conversation(history_tokens=budget).items(history)
    assert TokenBudget().tokens(items) <= budget + len(items)  # each turn is rounded on its own
    calls = [item["call_id"] for item in items if item["type"] == "function_call"]
    outputs = [item["call_id"] for item in items if item["type"] == "function_call_output"]
    assert set(calls) == set(outputs)
    if items:
        assert items[0]["role"] == "user" and items[-1]["role"] == "assistant"
