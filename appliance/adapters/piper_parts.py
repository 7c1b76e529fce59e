"""A piper voice cut in three: text, flow and vocoder.

A piper voice (VITS) is one graph that gives a sentence only when all of it is made. But only its first part needs the
whole sentence: it gives one vector for each 10 ms or so (a frame) and how many frames each phoneme lasts. What follows
looks at a few neighbouring frames only: the flow, which makes latents of the voice, and the vocoder, which makes sound
of them. So these two can run window by window, once the graph is cut where one tensor goes through.

The parts are kept on disk as ONNX Runtime has optimised them, which halves the time of loading. They can always be made
again: from the voice, without any other library. What is damaged or of another voice or version is made anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.adapters.onnx_graph import GraphError, OnnxGraph

_LOG = logging.getLogger(__name__)

Floats = npt.NDArray[np.float32]
#: Noise, length and noise of lengths, as in a voice's settings.
Scales = tuple[float, float, float]

_PARTS = ("text", "flow", "vocoder")
_LIST = "parts.json"
_INPUTS = {"input", "input_lengths", "scales"}
#: Changes whenever other parts would be cut of the same voice.
_VERSION = 2
#: What of a voice is read to tell it from another one: training changes every weight.
_SAMPLES, _SAMPLE_BYTES = 64, 4096
#: No neighbour that is further away may matter; 33 is the flow's reach, 15 that of the largest vocoder.
_FURTHEST_FRAMES = 64
#: Differences below this are rounding: 1/15 of a step of 16-bit sound, and a thousandth of what moves one in a latent.
_SOUND_TOLERANCE, _LATENT_TOLERANCE = 2e-6, 1e-4


@dataclass(frozen=True)
class Cuts:
    """Names of the tensors at the cuts. ``mask`` is 1 for every frame of the one sentence that is made at a time."""

    prior: str
    durations: str
    mask: str
    latent: str
    sound: str


@dataclass(frozen=True)
class Reach:
    """How many frames on each side matter to a frame of flow and vocoder, and samples in a frame.

    ``ahead_frames`` are enough for the flow behind the last frame that the vocoder looks at, but does not speak: that
    frame comes out a little differently then, and the sound does not.
    """

    flow_frames: int
    vocoder_frames: int
    frame_samples: int
    ahead_frames: int


class Parts:
    """The parts of a voice, loaded; to be used from one thread."""

    def __init__(self, sessions: Mapping[str, Any], cuts: Cuts, reach: Reach | None = None) -> None:
        self._sessions = sessions
        self._cuts = cuts
        self.reach = reach or self._measured_reach()

    def prior(self, phoneme_ids: list[int], scales: Scales) -> tuple[Floats, Floats]:
        """What the text says of each frame (1 × channels × frames), and the number of frames of each phoneme id."""
        prior, durations = self._sessions["text"].run(
            [self._cuts.prior, self._cuts.durations], _text_feed(phoneme_ids, scales)
        )
        return prior, durations.reshape(-1)

    def latent(self, prior: Floats) -> Floats:
        """The latents of these frames."""
        mask = np.ones((1, 1, prior.shape[2]), dtype=np.float32)
        feed = {self._cuts.prior: np.ascontiguousarray(prior), self._cuts.mask: mask}
        latent: Floats = self._sessions["flow"].run([self._cuts.latent], feed)[0]
        return latent

    def sound(self, latent: Floats) -> Floats:
        """The sound of these frames, before the gain."""
        feed = {self._cuts.latent: np.ascontiguousarray(latent)}
        sound: Floats = self._sessions["vocoder"].run([self._cuts.sound], feed)[0]
        return sound.reshape(-1)

    def _measured_reach(self) -> Reach:
        prior, mask = self._sessions["text"].run(
            [self._cuts.prior, self._cuts.mask], _text_feed([0, 0], (0.0, 1.0, 0.0))
        )
        if mask.shape != (1, 1, prior.shape[2]) or not (mask == 1.0).all():
            raise GraphError("its flow asks for something unknown")
        frames = 3 * _FURTHEST_FRAMES
        noise = np.random.default_rng(1).standard_normal((1, prior.shape[1], frames)).astype(np.float32)
        samples, rest = divmod(len(self.sound(noise)), frames)
        if rest or not samples:
            raise GraphError("its frames are not all of one length")
        flow = _reach(lambda some: self.latent(some)[0].T, noise, _LATENT_TOLERANCE)
        vocoder = _reach(lambda some: self.sound(some).reshape(-1, samples), noise, _SOUND_TOLERANCE)
        return Reach(flow, vocoder, samples, self._reach_ahead(noise, flow, vocoder, samples))

    def _reach_ahead(self, noise: Floats, flow: int, vocoder: int, samples: int) -> int:
        """``Reach.ahead_frames``: as few as can be."""
        cut = noise.shape[2] // 2
        seen = cut + vocoder
        whole = self.sound(self.latent(noise)[:, :, :seen])[: cut * samples]

        def is_enough(ahead: int) -> bool:
            sound = self.sound(self.latent(noise[:, :, : seen + ahead])[:, :, :seen])[: cut * samples]
            return bool(np.abs(sound - whole).max() <= _SOUND_TOLERANCE)

        return next((ahead for ahead in range(flow // 2, flow, 2) if is_enough(ahead)), flow)


def load_parts(voice_file: Path, folder: Path | None, threads: int) -> Parts:
    """The parts of a voice: those kept in ``folder``, else cut now, and kept there when the disk takes them.

    The folder is for that alone: whatever else lies in it is removed. Raises ``GraphError`` when the voice is not of
    the known form. Takes a tenth of a second, or some seconds when the voice must be cut.
    """
    place = folder / _key(voice_file) if folder is not None else None
    if place is not None and (kept := _kept(place, threads)):
        return kept
    graph = OnnxGraph(voice_file.read_bytes())
    cuts = find_cuts(graph)
    if place is not None:
        try:
            return _made_and_kept(graph, cuts, place, threads)
        except OSError as error:
            _LOG.warning("the parts of the voice cannot be kept: %s", error.strerror or error)
    return Parts({name: _session(model, threads) for name, model in _cut(graph, cuts)}, cuts)


def find_cuts(graph: OnnxGraph) -> Cuts:
    """Where a voice of the known form is cut; raises ``GraphError`` for another one."""
    durations = [node.outputs[0] for node in graph.nodes if node.operator == "Ceil"]
    if set(graph.inputs) != _INPUTS or len(durations) != 1 or not graph.outputs:
        raise GraphError("it is not a piper voice of one speaker")
    sound = graph.outputs[0]
    latent = _narrowest(graph, sound)
    prior = _prior(graph, graph.needed_for(durations))
    first = graph.needed_for([prior, *durations])
    flow = graph.needed_for([latent], given={prior}) - first
    crossing = {name for index in flow for name in graph.nodes[index].inputs if graph.maker.get(name) in first}
    crossing.discard(prior)
    if not flow or len(crossing) != 1:
        raise GraphError("it has no flow of the known form")
    return Cuts(prior, durations[0], crossing.pop(), latent, sound)


# ------------------------------------------------------------------------------------------- finding


def _text_feed(phoneme_ids: list[int], scales: Scales) -> dict[str, Any]:
    return {
        "input": np.array([phoneme_ids], dtype=np.int64),
        "input_lengths": np.array([len(phoneme_ids)], dtype=np.int64),
        "scales": np.array(scales, dtype=np.float32),
    }


def _narrowest(graph: OnnxGraph, sound: str) -> str:
    """The first tensor from which alone a convolution and what follows it make the sound."""
    sources = {node.outputs[0] for node in graph.nodes if node.operator == "RandomNormalLike"} | set(graph.inputs)
    for node in graph.nodes:
        if node.operator != "Conv":
            continue
        tensor = node.inputs[0]
        needed = graph.needed_for([sound], given={tensor})
        used = {name for index in needed for name in (*graph.nodes[index].inputs, *graph.nodes[index].outputs)}
        if tensor in used and not used & sources:
            return tensor
    raise GraphError("it has no vocoder of the known form")


def _prior(graph: OnnxGraph, for_durations: set[int]) -> str:
    """Mean plus noise: the sum that the noise which is not for the durations goes into."""
    noises = [
        node.outputs[0]
        for index, node in enumerate(graph.nodes)
        if node.operator == "RandomNormalLike" and index not in for_durations
    ]
    tensor = noises[0] if len(noises) == 1 else ""
    for node in graph.nodes:
        if tensor and tensor in node.inputs:
            tensor = node.outputs[0]
            if node.operator == "Add":
                return tensor
            if node.operator != "Mul":
                break
    raise GraphError("it has no noise of the known form")


def _reach(run: Callable[[Floats], Floats], noise: Floats, tolerance: float) -> int:
    """How far from a cut frames still come out differently, plus one; ``run`` gives one row for each frame."""
    cut = noise.shape[2] // 2
    whole = run(noise)
    after = np.abs(run(noise[:, :, cut:]) - whole[cut:]).max(axis=1)
    before = np.abs(run(noise[:, :, :cut]) - whole[:cut]).max(axis=1)[::-1]
    reach = max(int(np.flatnonzero(far > tolerance).max(initial=-1)) + 1 for far in (after, before)) + 1
    if reach > _FURTHEST_FRAMES:
        raise GraphError("its parts look too far")
    return reach


# ----------------------------------------------------------------------------------- making and keeping


def _cut(graph: OnnxGraph, cuts: Cuts) -> Iterator[tuple[str, bytes]]:
    """Name and model of each part, one at a time: they are as large as the voice."""
    yield "text", graph.part(graph.inputs, [cuts.prior, cuts.durations, cuts.mask])
    yield "flow", graph.part([cuts.prior, cuts.mask], [cuts.latent])
    yield "vocoder", graph.part([cuts.latent], [cuts.sound])


def _session(model: bytes, threads: int, *, is_optimised: bool = False, keep_as: Path | None = None) -> Any:
    import onnxruntime

    levels = onnxruntime.GraphOptimizationLevel
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Three engines take turns: the idle threads of one would spin on the cores that the next one needs. Without that, a
    # sentence takes half of the time where both cores are in use.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if is_optimised:
        options.graph_optimization_level = levels.ORT_DISABLE_ALL
    elif keep_as is not None:
        # The highest level would fit this processor only, and a disk may be put into another board.
        options.graph_optimization_level = levels.ORT_ENABLE_EXTENDED
        options.optimized_model_filepath = str(keep_as)
    return onnxruntime.InferenceSession(model, sess_options=options, providers=["CPUExecutionProvider"])


def _key(voice_file: Path) -> str:
    """Names voice, ONNX Runtime and the way of cutting; quick, so not by every byte."""
    import onnxruntime

    size = voice_file.stat().st_size
    digest = hashlib.sha256(f"{_VERSION} {onnxruntime.__version__} {size}".encode())
    with voice_file.open("rb") as voice:
        for number in range(_SAMPLES):
            voice.seek(size * number // _SAMPLES)
            digest.update(voice.read(_SAMPLE_BYTES))
    return f"{voice_file.stem}-{digest.hexdigest()[:16]}"


def _kept(place: Path, threads: int) -> Parts | None:
    """The parts that lie there; None when there are none, or not whole."""
    try:
        listed = json.loads((place / _LIST).read_text(encoding="utf-8"))
        sessions = {}
        for name in _PARTS:
            model = (place / f"{name}.onnx").read_bytes()
            if zlib.crc32(model) != listed["crc32"][name]:
                raise ValueError(f"{name}.onnx is damaged")
            sessions[name] = _session(model, threads, is_optimised=True)
        return Parts(sessions, Cuts(**listed["cuts"]), Reach(**listed["reach"]))
    except FileNotFoundError:
        return None
    except Exception as error:
        # Whatever ONNX Runtime says of a file that is not what it was: it is made again.
        _LOG.info("the parts of the voice are made again: %s", error)
        return None


def _made_and_kept(graph: OnnxGraph, cuts: Cuts, place: Path, threads: int) -> Parts:
    """Raises ``OSError`` when the disk takes nothing."""
    place.parent.mkdir(parents=True, exist_ok=True)
    for older in place.parent.iterdir():
        # Of another voice or version, or damaged, or left half written: large, and never used again.
        shutil.rmtree(older, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".part-", ignore_cleanup_errors=True) as scratch:
        fresh = Path(scratch) / "fresh"
        fresh.mkdir()
        sessions = {name: _written(model, fresh / f"{name}.onnx", threads) for name, model in _cut(graph, cuts)}
        parts = Parts(sessions, cuts)
        listed = {
            "crc32": {name: zlib.crc32((fresh / f"{name}.onnx").read_bytes()) for name in _PARTS},
            "cuts": asdict(cuts),
            "reach": asdict(parts.reach),
        }
        (fresh / _LIST).write_text(json.dumps(listed, indent=1), encoding="utf-8")
        fresh.rename(place)
    return parts


def _written(model: bytes, file: Path, threads: int) -> Any:
    try:
        return _session(model, threads, keep_as=file)
    except Exception as error:
        # ONNX Runtime has one error for a full disk and a bad model; a bad one fails again when it is not written.
        with contextlib.suppress(OSError):
            file.unlink()
        raise OSError(f"ONNX Runtime could not write {file.name}") from error
