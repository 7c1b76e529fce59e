"""The brain behind a model endpoint: rounds of model and tools until there is an answer in words."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from appliance.catalogue import Catalogue
from appliance.clock import Clock
from appliance.errors import BrainBusyError, BrainError, BrainRequestError
from appliance.events import Outcome
from appliance.ports import Json
from appliance.ports_pictures import data_url
from appliance.ports_think import Completed, ModelEndpoint, ModelRequest, OutputItem, TextDelta, Usage
from appliance.think.brain import BrainAnswer, Hands, Question
from appliance.think.conversation import Conversation
from appliance.think.guards import CallGuard, CallLimits
from appliance.think.instructions import Instructions
from appliance.think.items import (
    Item,
    arguments_of,
    assistant_message,
    call_output,
    handles_in,
    has_pictures,
    is_whole_call,
    message_text,
    pictures_message,
    sent_back,
    shown_item,
    user_message,
    with_pictures,
    without_data,
    without_pictures,
)
from appliance.think.picture_news import PictureNews
from appliance.tools.registry import ToolSelection
from appliance.tools.tool import Tool, ToolCall, ToolResult

_LOG = logging.getLogger(__name__)

#: An answer without a word is asked for once more; then the box speaks for the model.
_MOST_EMPTY_ANSWERS = 2
_NOT_SPOKEN = re.compile(r"<think>.*?(</think>|\Z)|\[[^\]]*\]", re.DOTALL | re.IGNORECASE)
_QUESTION_AT_END = re.compile(r"[?？؟]\W*\Z")
#: Endpoints name one bad schema at a time.
_MOST_REPAIRS = 3
#: What an endpoint may not take, beside a tool's schema.
_PICTURES = "pictures"


@dataclass(frozen=True)
class RoundSummary:
    """What a model answered in one round, for ``turns show --model``.

    Times are seconds since the turn made the request, which may have been asked ahead; ``first_seconds`` is None when
    nothing came. ``error`` is "" when it went well.
    """

    text: str
    items: tuple[Item, ...]
    usage: Usage
    is_incomplete: bool
    seconds: float
    first_seconds: float | None = None
    error: str = ""


#: The picture behind a handle as a data URL; "" when it is not there (any more).
FindPicture = Callable[[str], Awaitable[str]]


async def _no_picture(_handle: str) -> str:
    return ""


#: Told about each round: turn id, what the model got, what it answered. Called on the loop, returns at once.
RecordRound = Callable[[str, ModelRequest, RoundSummary], None]


@dataclass
class _Round:
    """One answer of the model while it comes."""

    started_seconds: float
    text: str = ""
    items: list[Item] = field(default_factory=list)
    completed: Completed = field(default_factory=Completed)
    first_seconds: float | None = None

    @property
    def calls(self) -> list[Item]:
        return [item for item in self.items if item.get("type") == "function_call"]

    @property
    def has_words(self) -> bool:
        return _has_words(self.text)

    def drop_calls(self) -> None:
        """The model was offered no tools; what it calls all the same is not run."""
        self.items = [item for item in self.items if item.get("type") != "function_call"]


@dataclass
class _TurnSoFar:
    """What one question has led to; ``sent`` are the items behind the history, the question first.

    ``shown`` is what tools showed to the person, ``pictures`` maps handles to what the model sees.
    """

    question: Question
    hands: Hands
    guard: CallGuard
    history: tuple[Item, ...]
    sent: list[Item]
    text: str = ""
    did: list[str] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    call_ids: set[str] = field(default_factory=set)
    shown: list[Item] = field(default_factory=list)
    pictures: dict[str, str] = field(default_factory=dict)
    news: PictureNews = field(default_factory=PictureNews)

    @property
    def items(self) -> tuple[Item, ...]:
        """For the conversation: everything behind the question, pictures by their handles."""
        kept = [without_data(item) for item in self.sent[1:] if not has_pictures(item) or handles_in([item])]
        return (*kept, *self.shown)


class ModelBrain:
    """Answers with a model and tools."""

    def __init__(
        self,
        endpoint: ModelEndpoint,
        *,
        instructions: Instructions,
        conversation: Conversation,
        catalogue: Catalogue,
        clock: Clock,
        limits: CallLimits | None = None,
        max_output_tokens: int | None = None,
        record_round: RecordRound | None = None,
        sees_images: Literal["auto", "true", "false"] = "auto",
        find_picture: FindPicture = _no_picture,
    ) -> None:
        self._endpoint = endpoint
        self._instructions = instructions
        self._conversation = conversation
        self._catalogue = catalogue
        self._clock = clock
        self._limits = limits or CallLimits()
        self._max_output_tokens = max_output_tokens
        self._record_round = record_round
        self._is_surely_seeing = sees_images == "true"
        self._find_picture = find_picture
        #: What the endpoint did not take (schemas as JSON, pictures): one bad schema must not spoil every request.
        self._left_out: frozenset[str] = frozenset({_PICTURES} if sees_images == "false" else ())

    async def answer(self, question: Question, hands: Hands) -> BrainAnswer:
        """Answer one question; see ``Brain``. Raises ``BrainError``."""
        history = self._conversation.items(question.history)
        turn = _TurnSoFar(question, hands, CallGuard(self._limits), history, [user_message(question.text)])
        empty_answers = 0
        while True:
            answered = await self._round(turn, has_tools=not turn.guard.must_answer)
            if answered.calls:
                self._take(turn, answered)
                await self._run_calls(turn, answered)
            elif answered.has_words:
                self._take(turn, answered)
                return self._answer(turn)
            else:
                empty_answers += 1
                if empty_answers == _MOST_EMPTY_ANSWERS:
                    return self._answer_for_the_model(turn)

    async def first_request(self, question: Question, tools: ToolSelection) -> ModelRequest:
        """What ``answer`` would ask first, as things stand; nothing is asked, said or kept."""
        items = (*self._conversation.items(question.history), user_message(question.text))
        return await self._with_pictures(self._request(question, items, tools.schemas), {})

    # ------------------------------------------------------------------------------------------ one round

    async def _round(self, turn: _TurnSoFar, *, has_tools: bool) -> _Round:
        """Ask once; when the endpoint's error shows what it did not take, ask again without that."""
        before = self._left_out
        for is_last_try in (*(False,) * _MOST_REPAIRS, True):
            items, schemas = (*turn.history, *turn.sent), turn.hands.tools.schemas
            request = self._request(turn.question, items, schemas, has_tools=has_tools)
            answered = _Round(self._clock.monotonic_seconds())
            try:
                await self._ask(turn, request, answered)
                break
            except BrainError as error:
                unwelcome = _unwelcome(error, request, may_be_pictures=not self._is_surely_seeing)
                if is_last_try or not unwelcome or answered.first_seconds is not None:
                    self._left_out = before  # it was not that
                    raise
                _LOG.warning("%s does not take all of a request, asking without it: %s", self._endpoint.name, error)
                self._left_out |= unwelcome
        if not has_tools:
            answered.drop_calls()
        return answered

    def _request(
        self, question: Question, items: tuple[Item, ...], schemas: tuple[Item, ...], *, has_tools: bool = True
    ) -> ModelRequest:
        if _PICTURES in self._left_out:
            items = tuple(map(without_pictures, items))
        return ModelRequest(
            instructions="\n\n".join(
                (self._instructions.text(question.channel, has_tools=has_tools), *question.context)
            ),
            items=items,
            tools=tuple(tool for tool in schemas if _canonical(tool) not in self._left_out) if has_tools else (),
            max_output_tokens=self._max_output_tokens,
        )

    async def _ask(self, turn: _TurnSoFar, request: ModelRequest, answered: _Round) -> None:
        """One answer; its text goes out as it comes, and the round is recorded however it ends, but no picture."""
        problem = "cancelled"
        stream = self._endpoint.respond(await self._with_pictures(request, turn.pictures))
        try:
            async for event in stream:
                if answered.first_seconds is None:
                    answered.first_seconds = self._clock.monotonic_seconds() - answered.started_seconds
                if isinstance(event, TextDelta):
                    answered.text += event.text
                    turn.hands.say(event.text)
                elif isinstance(event, OutputItem):
                    answered.items.append(event.item)
                else:
                    answered.completed = event
            problem = ""
        except BrainError as error:
            problem = f"{type(error).__name__}: {error}"
            raise
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()
            self._record(turn, request, answered, problem)
        self._conversation.learn(request, answered.completed.usage.input_tokens)

    async def _with_pictures(self, request: ModelRequest, found: dict[str, str]) -> ModelRequest:
        """The request with the pictures that its items name; ``found`` holds those that are known already."""
        for handle in handles_in(request.items):
            if handle not in found:
                found[handle] = await self._find_picture(handle)
        return replace(request, items=tuple(with_pictures(item, found) for item in request.items))

    def _record(self, turn: _TurnSoFar, request: ModelRequest, answered: _Round, problem: str) -> None:
        if self._record_round is None:
            return
        summary = RoundSummary(
            text=answered.text,
            items=tuple(answered.items),
            usage=answered.completed.usage,
            is_incomplete=answered.completed.is_incomplete,
            seconds=self._clock.monotonic_seconds() - answered.started_seconds,
            first_seconds=answered.first_seconds,
            error=problem,
        )
        kept = replace(request, items=tuple(map(without_data, request.items)))
        self._record_round(turn.question.turn_id, kept, summary)

    def _take(self, turn: _TurnSoFar, answered: _Round) -> None:
        """Put what the model answered behind what was sent; calls get ids that are surely there and unique."""
        for position, item in enumerate(answered.items):
            if item.get("type") == "function_call":
                call_id = str(item.get("call_id") or "")
                if not call_id or call_id in turn.call_ids:
                    call_id = turn.hands.next_call_id()
                turn.call_ids.add(call_id)
                item = answered.items[position] = {**item, "call_id": call_id}
            kept = sent_back(item)
            if kept is not None:
                turn.sent.append(kept)
        if answered.text and not any(map(message_text, answered.items)):
            turn.sent.append(assistant_message(answered.text))
        turn.text += answered.text
        if answered.calls and answered.text and not answered.text[-1].isspace():
            # What comes after the tools is a new sentence.
            turn.text += "\n"
            turn.hands.say("\n")

    # ----------------------------------------------------------------------------------------------- tools

    async def _run_calls(self, turn: _TurnSoFar, answered: _Round) -> None:
        """Run the calls of one answer, one after another, in order."""
        pictures: list[Item] = []
        for item in answered.calls:
            call_id, name = str(item["call_id"]), str(item.get("name") or "")
            tool = turn.hands.tools.find(name)
            call = ToolCall(call_id, tool.name if tool else name, arguments_of(item))
            is_whole = is_whole_call(item) or not answered.completed.is_incomplete
            text = turn.guard.refusal(call, is_known=tool is not None, is_whole=is_whole)
            if tool is not None and not text:
                result = await turn.hands.run(call)
                text = result.text
                self._note(turn, call, tool, result)
                pictures += self._look(turn, tool, result)
            turn.sent.append(call_output(call_id, text))
        turn.sent += pictures

    def _look(self, turn: _TurnSoFar, tool: Tool, result: ToolResult) -> list[Item]:
        """What a call showed: to the person everything, to the model its pictures, unless they are not for it."""
        turn.news.add(result)
        shown = shown_item(tool.name, result)
        turn.shown += [shown] if shown else []
        seen = [image for image in result.images if not image.is_display_only]
        turn.pictures.update({image.handle: data_url(image.data, image.media_type) for image in seen if image.handle})
        return [pictures_message(tool.name, seen)] if seen else []

    def _note(self, turn: _TurnSoFar, call: ToolCall, tool: Tool, result: ToolResult) -> None:
        turn.guard.note(call, result.outcome)
        turn.outcomes.append(result.outcome)
        spoken_name = re.sub(r"[\W_]+", " ", tool.name).strip()
        turn.did.append(self._catalogue.say(f"brain.did_{result.outcome}", tool=spoken_name))

    # ---------------------------------------------------------------------------------------------- endings

    def _answer(self, turn: _TurnSoFar) -> BrainAnswer:
        wants_answer = _asks(turn.text)
        sentence = turn.news.sentence(turn.text, self._catalogue)
        if sentence:
            turn.text = f"{turn.text}\n{sentence}"
            turn.hands.say(f"\n{sentence}")
        return BrainAnswer(turn.text, turn.items, wants_answer=wants_answer, did=tuple(turn.did))

    def _answer_for_the_model(self, turn: _TurnSoFar) -> BrainAnswer:
        """The model had nothing to say: it spoke before its tools, or all it was to do is done, or it failed."""
        if _has_words(turn.text):
            return self._answer(turn)
        all_is_done = bool(turn.outcomes) and all(outcome is Outcome.OK for outcome in turn.outcomes)
        sentence = self._catalogue.say("brain.done" if all_is_done else "brain.empty")
        turn.hands.say(sentence)
        if not all_is_done:
            problem = f"{self._endpoint.name} answered without a word, {_MOST_EMPTY_ANSWERS} times"
            return BrainAnswer(sentence, is_remembered=False, failed=problem, did=tuple(turn.did))
        turn.sent.append(assistant_message(sentence))
        turn.text = sentence
        return self._answer(turn)


def _unwelcome(error: BrainError, request: ModelRequest, *, may_be_pictures: bool) -> frozenset[str]:
    """What of a request an endpoint did not take: tools that its error names or counts, else pictures."""
    if isinstance(error, BrainRequestError):
        words = str(error)
        named = [tool for tool in request.tools if _is_named(tool, words)]
        positions = [int(number) for number in re.findall(r"\btools\[(\d{1,4})\]", words)]
        named += [request.tools[position] for position in positions if position < len(request.tools)]
        if named:
            return frozenset(map(_canonical, named))
    is_refusal = isinstance(error, BrainRequestError | BrainBusyError)
    return frozenset({_PICTURES} if may_be_pictures and is_refusal and any(map(has_pictures, request.items)) else ())


def _is_named(tool: Mapping[str, Json], words: str) -> bool:
    """Whether it stands there between quotes: by its name, or by its kind when the provider runs it."""
    name = re.escape(str(tool.get("name") or tool.get("type")))
    return re.search(rf"['\"`]{name}['\"`]", words) is not None


def _canonical(schema: Json) -> str:
    return json.dumps(schema, sort_keys=True, default=str)


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, _NOT_SPOKEN.sub("", text)))


def _asks(text: str) -> bool:
    """Whether the last sentence is a question, whatever marks stand behind it."""
    return _QUESTION_AT_END.search(_NOT_SPOKEN.sub("", text)) is not None
