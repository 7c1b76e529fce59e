"""Whether the box can wake, hear and speak, and whether its model and the network answer."""

from __future__ import annotations

from pathlib import Path

from appliance.adapters.fakes.model_endpoint import FakeModelEndpoint, says
from appliance.adapters.fakes.synthesizer import FakeSynthesizer
from appliance.adapters.fakes.transcriber import FakeTranscriber
from appliance.adapters.fakes.voice_activity import LoudnessVoiceActivity
from appliance.adapters.fakes.wake_word import FakeWakeWords
from appliance.audio import HEARING_FORMAT, Samples
from appliance.clock import FakeClock
from appliance.doctor.checks import model, speech, speech_weights
from appliance.doctor.finding import Verdict
from appliance.errors import BrainUnreachableError, ConfigError, WeightsError
from appliance.ports import Transcriber, WakeWordDetector
from appliance.ports_think import ModelEndpoint


async def test_a_box_that_understands_itself_is_fine() -> None:
    transcriber = FakeTranscriber("Good morning, please set a timer for 10 minutes.")
    finding = await speech.speech_hearing(lambda: FakeSynthesizer(), lambda: transcriber, FakeClock())
    assert finding.verdict is Verdict.FINE
    (heard,) = transcriber.heard
    assert heard.format == HEARING_FORMAT and heard.samples.any()


async def test_a_box_that_hears_something_else_than_it_says_is_told() -> None:
    finding = await speech.speech_hearing(
        lambda: FakeSynthesizer(), lambda: FakeTranscriber("Thank you for watching."), FakeClock()
    )
    assert finding.verdict is Verdict.WRONG and "Thank you for watching." in finding.sentence


async def test_weights_that_are_missing_are_told_with_how_to_bring_them() -> None:
    def missing() -> Transcriber:
        raise WeightsError("the weights tiny.en are not here; appliance models fetch tiny.en")

    finding = await speech.speech_hearing(lambda: FakeSynthesizer(), missing, FakeClock())
    assert finding.verdict is Verdict.WRONG
    assert finding.sentence == "The weights tiny.en are not here."
    assert finding.advice == "appliance models fetch tiny.en"


async def test_a_wake_word_that_does_not_wake_to_a_machine_voice_is_no_proof() -> None:
    finding = await speech.speech_wake(lambda: FakeWakeWords(), lambda: FakeSynthesizer())
    assert finding.verdict is Verdict.CANNOT_TELL and 'Say "okay nabu" yourself' in finding.advice
    awake = FakeWakeWords()
    awake.find_next()
    assert (await speech.speech_wake(lambda: awake, lambda: FakeSynthesizer())).verdict is Verdict.FINE
    assert (await speech.speech_wake(lambda: FakeWakeWords(()), lambda: FakeSynthesizer())).verdict is Verdict.FINE


async def test_a_damaged_wake_word_is_told() -> None:
    def damaged() -> WakeWordDetector:
        raise WeightsError("the wake word file x.json cannot be used: it is damaged; take another")

    finding = await speech.speech_wake(damaged, lambda: FakeSynthesizer())
    assert (finding.verdict, finding.advice) == (Verdict.WRONG, "Take another.")


async def test_voice_activity_that_hears_speech_everywhere_or_nowhere_is_told() -> None:
    class Always:
        def probability(self, samples: Samples) -> float:
            return 0.9

        def reset(self) -> None:
            """Nothing is kept."""

    class Never(Always):
        def probability(self, samples: Samples) -> float:
            return 0.1

    for kind in (Always, Never):
        assert (await speech.speech_activity(kind, lambda: FakeSynthesizer())).verdict is Verdict.WRONG
    good = await speech.speech_activity(lambda: LoudnessVoiceActivity(), lambda: FakeSynthesizer())
    assert good.verdict is Verdict.FINE


def test_damaged_weights_of_the_owner_are_told(tmp_path: Path) -> None:
    finding = speech_weights.speech_weights(tmp_path, {"tiny.en": str(tmp_path / "nowhere")})
    assert finding.verdict is Verdict.WRONG and "nowhere" in finding.sentence


async def test_whether_the_model_answers_is_told_with_the_time() -> None:
    clock = FakeClock()
    assert (await model.model_answers(lambda: None, clock)).verdict is Verdict.FINE
    good = FakeModelEndpoint(says("Ready."))
    finding = await model.model_answers(lambda: good, clock)
    assert finding.verdict is Verdict.FINE and "answers in 0.0 seconds" in finding.sentence
    away = FakeModelEndpoint([BrainUnreachableError("nobody listens at 127.0.0.1")])
    finding = await model.model_answers(lambda: away, clock)
    assert finding.verdict is Verdict.WRONG and "nobody listens" in finding.sentence


async def test_a_model_address_that_is_none_is_told() -> None:
    def broken() -> ModelEndpoint | None:
        raise ConfigError("think.url = 'htp:/x' is no URL")

    assert (await model.model_answers(broken, FakeClock())).verdict is Verdict.WRONG


def test_a_box_that_cannot_tell_whether_people_have_finished_is_told(tmp_path: Path) -> None:
    assert speech_weights.turn_weights(tmp_path).verdict is Verdict.FINE
    damaged = tmp_path / "smart-turn" / "smart-turn-v3.2-cpu.onnx"
    damaged.parent.mkdir()
    damaged.write_bytes(b"x" * 8_679_182)
    finding = speech_weights.turn_weights(tmp_path)
    assert finding.verdict is Verdict.WRONG
    assert "is damaged" in finding.sentence and "timer" in finding.sentence
    assert finding.advice == "Bring them again: appliance models fetch smart-turn"
