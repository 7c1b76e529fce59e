"""The voice as lines use it: kept sound first, one line ahead of its time, and given up when it hangs."""

from __future__ import annotations

import contextlib
import logging
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass

from appliance.clock import Clock, within
from appliance.errors import SynthesisError
from appliance.ports import SynthesizedChunk, Synthesizer
from appliance.speak.first_silence import without_silence
from appliance.speak.growing_text import GrowingText
from appliance.speak.line_cache import LineCache
from appliance.speak.sentences import LONGEST_SENTENCE
from appliance.speak.synthesis import Synthesis

_LOG = logging.getLogger(__name__)

#: Longest wait for a piece of sound while nothing is known of the voice: loading one takes a slow board some seconds.
LOADING_SECONDS = 30.0
#: The same for a voice that hung and started over; its files have just been read.
RELOADING_SECONDS = 10.0
#: What a board may do meanwhile beside speaking, at most, however fast its voice is.
SPARE_SECONDS = 3.0
#: A voice may be so much slower than the slowest of its last lines.
_PATIENCE = 2.0
_LINES_REMEMBERED = 8
#: Shorter lines tell nothing of a pace: what they cost does not depend on their length.
_TELLING_CHARACTERS = 40


class VoiceGivenUpError(SynthesisError):
    """The voice hung before, in the same turn; it is not asked again."""


@dataclass(frozen=True)
class _Ahead:
    """Sound that was begun ahead; where its sentence was not written to its end, ``text`` is how it began."""

    text: str
    speed: float
    synthesis: Synthesis

    def is_for(self, text: str, speed: float, *, is_growing: bool) -> bool:
        """Whether it is the sound of ``text``, which ``is_growing`` when more may come."""
        growing = self.synthesis.growing
        own = self.text if growing is None else growing.text
        is_same = (
            own == text
            or (growing is not None and not growing.is_whole and text.startswith(own))
            or (is_growing and own.startswith(text))
        )
        return is_same and self.speed == speed and not self.synthesis.has_failed


class LineVoice:
    """Makes the sound of lines; everything on the loop's thread.

    A voice that gives nothing for much longer than it ever took is given up, for all the turn: its sentences would
    cost that wait each. The next turn has the voice start over.
    """

    def __init__(
        self, synthesizer: Synthesizer, clock: Clock, cache: LineCache | None = None, *, speed: float = 1.0
    ) -> None:
        self.speed = speed
        self._synthesizer = synthesizer
        self._clock = clock
        self._cache = cache
        self._ahead: _Ahead | None = None
        #: Seconds for a character, of the last lines that were made.
        self._paces: deque[float] = deque(maxlen=_LINES_REMEMBERED)
        #: The turn in which it hung; None once it has spoken again.
        self._hung_in: str | None = None
        self._must_start_over = False

    def begin(
        self, text: str, turn_id: str = "", *, in_haste: bool = False, growing: GrowingText | None = None
    ) -> Synthesis:
        """Make the sound of a line, or take over what was begun ahead.

        ``in_haste`` when nothing sounds until it does: then the silence at its start is left out too. ``growing`` is
        the text where it is still being written.
        """
        ahead = self._ahead
        if ahead is None or not ahead.is_for(text, self.speed, is_growing=growing is not None):
            return self._synthesis(text, turn_id, in_haste=in_haste, growing=growing)
        self._ahead = None
        if ahead.synthesis.growing is not None:
            if growing is not None:
                growing.lead(ahead.synthesis.growing)
            else:
                ahead.synthesis.growing.end(text)
        return ahead.synthesis

    def prepare(self, text: str, *, is_whole: bool = True) -> None:
        """Make the sound of a line that may come; it gives way to every line that does come, and to the next call.

        While its text is not ``is_whole``, the next call may be with more of it.
        """
        ahead = self._ahead
        if ahead is not None and ahead.is_for(text, self.speed, is_growing=not is_whole):
            if ahead.synthesis.growing is not None:
                (ahead.synthesis.growing.end if is_whole else ahead.synthesis.growing.grow)(text)
            return
        self.forget()
        growing = None if is_whole else GrowingText(text, self._clock)
        synthesis = self._synthesis(text, "", in_haste=True, is_ahead=True, growing=growing)
        self._ahead = _Ahead(text, self.speed, synthesis)

    def forget(self) -> None:
        """The line that was prepared will not come."""
        if self._ahead is not None:
            self._ahead.synthesis.cancel()
            self._ahead = None

    async def piece(self, synthesis: Synthesis, index: int, text: str, turn_id: str) -> SynthesizedChunk | None:
        """A piece of the sound of ``text`` once it exists, None behind the last one. Raises ``SynthesisError``."""
        if self._is_given_up(turn_id) and not synthesis.has(index):
            raise VoiceGivenUpError("the voice hangs")
        seconds = self._longest_wait(text)
        while True:
            try:
                return await within(self._clock, seconds, synthesis.chunk(index))
            except TimeoutError as error:
                if synthesis.waits_for_text:
                    continue
                self._hung_in, self._must_start_over = turn_id, True
                raise SynthesisError(f"the voice gave no sound for {seconds:.0f} s") from error

    def _is_given_up(self, turn_id: str) -> bool:
        return bool(turn_id) and self._hung_in == turn_id

    def _longest_wait(self, text: str) -> float:
        """For a line in front of which the longest sentence may just have been begun, by whoever else speaks."""
        if not self._paces:
            return LOADING_SECONDS
        seconds = SPARE_SECONDS + _PATIENCE * max(self._paces) * (len(text) + LONGEST_SENTENCE)
        return min(LOADING_SECONDS, seconds if self._hung_in is None else max(seconds, RELOADING_SECONDS))

    def _synthesis(
        self, text: str, turn_id: str, *, in_haste: bool, growing: GrowingText | None, is_ahead: bool = False
    ) -> Synthesis:
        sound = self._sound_of(growing or text, turn_id, in_haste=in_haste, is_ahead=is_ahead)
        return Synthesis(_without_first_silence(sound) if in_haste else sound, growing)

    async def _sound_of(
        self, text: str | GrowingText, turn_id: str, *, in_haste: bool, is_ahead: bool
    ) -> AsyncGenerator[SynthesizedChunk, None]:
        speed = self.speed
        kept = await self._cache.get(text, speed) if self._cache is not None and isinstance(text, str) else None
        if kept is not None:
            yield SynthesizedChunk(kept)
            return
        if self._is_given_up(turn_id):
            raise VoiceGivenUpError("the voice hangs")
        if not is_ahead and self._ahead is not None and not self._ahead.synthesis.is_over:
            self.forget()
        if self._must_start_over:
            self._must_start_over = False
            _LOG.info("the voice hung and starts over")
            self._synthesizer.start_over()
        began = self._clock.monotonic_seconds()
        if isinstance(text, str):
            stream = self._synthesizer.synthesize(text, speed=speed, in_haste=in_haste)
        else:
            stream = self._synthesizer.synthesize_growing(text, speed=speed)
        try:
            async for chunk in stream:
                yield chunk
        finally:
            await _close(stream)
        self._hung_in = None
        if isinstance(text, str):  # Else it has waited for the text as well.
            seconds = self._clock.monotonic_seconds() - began
            self._paces.append(seconds / max(len(text), _TELLING_CHARACTERS))


async def _without_first_silence(
    sound: AsyncGenerator[SynthesizedChunk, None],
) -> AsyncGenerator[SynthesizedChunk, None]:
    is_silent = True
    async with contextlib.aclosing(sound):
        async for chunk in sound:
            piece = without_silence(chunk) if is_silent else chunk
            if len(piece.audio.samples):
                is_silent = False
                yield piece


async def _close(stream: AsyncIterator[SynthesizedChunk]) -> None:
    # Closing the iterator stops the work; the port asks for an iterator only, which need not have ``aclose``.
    if isinstance(stream, AsyncGenerator):
        await stream.aclose()
