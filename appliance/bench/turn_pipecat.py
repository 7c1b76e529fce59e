"""pipecat-ai as a system of the benchmark of turns, in the environment of the peers; nothing of it is ours.

Its own services hear, judge, ask and speak, as it ships them: sound goes into the head of a pipeline, and the first
piece of speech behind its voice counts. The weights are those of the box, by their paths.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.services.piper.tts import PiperTTSService
from pipecat.services.whisper.stt import WhisperSTTService
from pipecat.workers.runner import WorkerRunner

from appliance.bench.paced_sound import Feeder, FirstSound, PreparedClip, is_audible
from appliance.bench.turn_worker import PIPECAT_TUNED, Floor, Setup, TurnTaken

_RATE_HZ = 16_000
#: An answer is over when nothing more of it has come for so long; one that has not begun by then never will.
_QUIET_SECONDS, _LONGEST_TURN_SECONDS = 1.0, 20.0
#: What an interruption needs to be over everywhere.
_DRAIN_SECONDS = 0.5


class _Watcher(FrameProcessor):  # type: ignore[misc]
    """Notes what passes, and lets it pass."""

    def __init__(self) -> None:
        super().__init__()
        self.begin()

    def begin(self) -> None:
        """A new turn."""
        self.heard: list[str] = []
        self.first: FirstSound | None = None
        self.last_at = 0.0
        self.has_answered = False

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        match frame:
            case TranscriptionFrame():
                self.heard.append(frame.text.strip())
            case TTSAudioRawFrame():
                self.last_at = time.monotonic()
                if self.first is None and is_audible(np.frombuffer(frame.audio, dtype=np.int16)):
                    self.first = FirstSound.now()
            case LLMFullResponseEndFrame():
                self.has_answered, self.last_at = True, time.monotonic()
        await self.push_frame(frame, direction)


class PipecatSystem:
    """Meets ``Opened``."""

    def __init__(self, worker: Any, hearing: _Watcher, speaking: _Watcher) -> None:
        self._worker = worker
        self._hearing = hearing
        self._speaking = speaking

    async def take_turn(self, clip: PreparedClip) -> TurnTaken:
        """See ``Opened``."""
        loop = asyncio.get_running_loop()
        self._hearing.begin()
        self._speaking.begin()

        def deliver(samples: Any) -> None:
            frame = InputAudioRawFrame(audio=samples.tobytes(), sample_rate=_RATE_HZ, num_channels=1)
            asyncio.run_coroutine_threadsafe(self._worker.queue_frame(frame), loop)

        feeder = Feeder(clip, deliver)
        feeder.start()
        try:
            await self._until_answered(feeder.speech_ended_at)
        finally:
            await asyncio.to_thread(feeder.stop)
        first, heard = self._speaking.first, " ".join(self._hearing.heard)
        await self._worker.queue_frame(InterruptionFrame())
        await asyncio.sleep(_DRAIN_SECONDS)
        return TurnTaken(heard, *feeder.cost_of(first), max(1, len(self._hearing.heard)))

    async def take_floor(self) -> Floor:
        """See ``Opened``."""
        return Floor()

    async def _until_answered(self, speech_ended_at: float) -> None:
        speaking = self._speaking
        while (now := time.monotonic()) < speech_ended_at + _LONGEST_TURN_SECONDS:
            is_over = speaking.has_answered and speaking.first is not None
            if now > speech_ended_at and is_over and now > speaking.last_at + _QUIET_SECONDS:
                return
            await asyncio.sleep(0.02)


class _OneReading:
    """A whisper model that follows one reading only; the service has no setting for that."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def transcribe(self, sound: Any, **options: Any) -> Any:
        return self._model.transcribe(sound, beam_size=1, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


@asynccontextmanager
async def open_pipecat(setup: Setup) -> AsyncIterator[PipecatSystem]:
    """A bot with the services that it brings for hearing and speaking on the machine itself."""
    voice = Path(setup.voice_file)
    stt = WhisperSTTService(
        compute_type="int8", settings=WhisperSTTService.Settings(model=setup.whisper_folder, language=setup.language)
    )
    if setup.system == PIPECAT_TUNED:
        stt._model = _OneReading(stt._model)
    llm = OpenAILLMService(api_key="none", base_url=setup.url, settings=OpenAILLMService.Settings(model="stub"))
    tts = PiperTTSService(download_dir=voice.parent, settings=PiperTTSService.Settings(voice=voice.stem))
    # Its default turn strategies: voice activity, then Smart Turn.
    params = LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
    context = LLMContextAggregatorPair(LLMContext(), user_params=params)
    hearing, speaking = _Watcher(), _Watcher()
    pipeline = Pipeline([stt, hearing, context.user(), llm, tts, speaking, context.assistant()])
    worker = PipelineWorker(pipeline, idle_timeout_secs=None)
    started = asyncio.Event()

    @worker.event_handler("on_pipeline_started")  # type: ignore[untyped-decorator]
    async def on_started(_worker: Any, _frame: Any) -> None:
        started.set()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    try:
        await started.wait()
        yield PipecatSystem(worker, hearing, speaking)
    finally:
        await runner.cancel()
        await asyncio.gather(running, return_exceptions=True)
