"""Whisper's weights as the box computes with them, kept between starts.

Weights come as 16-bit floats, and CTranslate2 makes 8-bit integers of them each time that it loads them: four fifths of
the time that loading takes, on every core. So that is done once. What is kept is what CTranslate2 itself would make, so
nothing is heard differently; it can always be made again, and without it everything goes on, only later.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import mmap
import shutil
import struct
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from appliance.adapters.whisper import SpeechModel, load_weights
from appliance.durable import sync_file, sync_folder
from appliance.errors import WeightsError

_LOG = logging.getLogger(__name__)

_MODEL, _LIST = "model.bin", "weights.json"
#: What is loaded beside the weights: sizes of the model, words, how sound is analysed.
_BESIDE = ("config.json", "tokenizer.json", "preprocessor_config.json", "vocabulary.json", "vocabulary.txt")
#: Changes whenever another copy would be made of the same weights.
_VERSION = 1
#: The layout of the file: ``ModelSpec`` in ``ctranslate2.specs``, "current binary version".
_LAYOUT = 6
#: CTranslate2's numbers for the kinds of values that are turned into integers, and for those that come out.
_FLOATS: dict[int, np.dtype[Any]] = {0: np.dtype("<f4"), 4: np.dtype("<f2")}
_FLOAT32, _INT8 = 0, 1
_LARGEST_INTEGER = np.float32(127.0)
_PIECE_BYTES = 1 << 20
#: A copy that only saves time may not fill a disk.
_LEFT_FREE_BYTES = 512 << 20


class KeptWeights:
    """A copy in ``folder``, which is for it alone, of the weights in ``weights``; another engine makes its own."""

    def __init__(self, folder: Path, weights: Path) -> None:
        self._folder = folder
        self._weights = weights

    def load(self, weights: Path, threads: int) -> SpeechModel:
        """The model, from the copy when that is there and whole. Raises ``WeightsError``."""
        place = self._whole() if weights == self._weights else None
        if place is not None:
            try:
                return load_weights(place, threads)
            except WeightsError as error:
                _LOG.warning("the copy of the whisper weights is made again: %s", error)
                shutil.rmtree(place, ignore_errors=True)
        return load_weights(weights, threads)

    def keep(self) -> None:
        """Make the copy where there is none, instead of that of other weights; any thread, some seconds.

        Weights that would come out the same, a processor that does not compute with integers, and a disk that has no
        room for them, are left alone.
        """
        place = self._place()
        if place is None or (place / _LIST).exists() or not _computes_with_integers():
            return
        try:
            if not _needs_copy(self._weights / _MODEL):
                return
            self._folder.mkdir(parents=True, exist_ok=True)
            for older in self._folder.iterdir():
                shutil.rmtree(older, ignore_errors=True)
            if shutil.disk_usage(self._folder).free < _LEFT_FREE_BYTES + (self._weights / _MODEL).stat().st_size:
                return
            self._make(place)
        except (OSError, ValueError, struct.error) as error:
            _LOG.info("the whisper weights are not kept as integers: %s", error)

    def _make(self, place: Path) -> None:
        with tempfile.TemporaryDirectory(dir=self._folder, prefix=".new-", ignore_cleanup_errors=True) as scratch:
            fresh = Path(scratch) / "fresh"
            fresh.mkdir()
            with (self._weights / _MODEL).open("rb") as source, (fresh / _MODEL).open("wb") as target:
                _write_as_integers(source, target)
            for name in _BESIDE:
                with contextlib.suppress(FileNotFoundError):
                    shutil.copyfile(self._weights / name, fresh / name)
            checks = {file.name: _check_sum(file) for file in sorted(fresh.iterdir())}
            (fresh / _LIST).write_text(json.dumps({"crc32": checks}, indent=1), encoding="utf-8")
            for file in fresh.iterdir():
                sync_file(file)
            fresh.rename(place)
            sync_folder(self._folder)

    def _whole(self) -> Path | None:
        """Where the copy is; None when there is none, or it is damaged."""
        place = self._place()
        if place is None:
            return None
        try:
            checks = json.loads((place / _LIST).read_text(encoding="utf-8"))["crc32"]
            wrong = [name for name, check in checks.items() if _check_sum(place / name) != check]
        except FileNotFoundError:
            return None
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            wrong = [str(error)]
        if not wrong:
            return place
        _LOG.warning("the copy of the whisper weights is damaged, and made again: %s", ", ".join(wrong))
        shutil.rmtree(place, ignore_errors=True)
        return None

    def _place(self) -> Path | None:
        """Names weights, engine and the way of copying; quick, so not by every byte. None when there are none."""
        import ctranslate2

        digest = hashlib.sha256(f"{_VERSION} {ctranslate2.__version__}".encode())
        try:
            for name in (_MODEL, *_BESIDE):
                with contextlib.suppress(FileNotFoundError):
                    found = (self._weights / name).stat()
                    digest.update(f" {name} {found.st_size} {found.st_mtime_ns}".encode())
        except OSError:
            return None
        return self._folder / f"{self._weights.name}-{digest.hexdigest()[:16]}"


def _computes_with_integers() -> bool:
    """Elsewhere CTranslate2 computes with the floats that it finds, which must not be made coarser."""
    import ctranslate2

    return "int8" in ctranslate2.get_supported_compute_types("cpu")


def _check_sum(file: Path) -> int:
    """In one go: piece by piece it would wait for its turn to run Python behind each, while the box is loaded."""
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return zlib.crc32(content)


# ------------------------------------------------------------------------------------------ the file of weights


@dataclass(frozen=True)
class _Tensor:
    """What stands in front of its values, of which there are ``size`` bytes."""

    name: str
    shape: tuple[int, ...]
    kind: int
    size: int

    @property
    def becomes_integers(self) -> bool:
        """Matrices do; CTranslate2 leaves convolutions and vectors as they are."""
        return self.name.endswith("weight") and len(self.shape) == 2 and self.kind in _FLOATS


def _needs_copy(file: Path) -> bool:
    """Whether anything in it would become integers. Raises ``ValueError`` for another layout."""
    with file.open("rb") as source:
        _, tensors = _begin(source)
        for tensor in tensors:
            if tensor.becomes_integers:
                return True
            source.seek(tensor.size, 1)
    return False


def _write_as_integers(source: BinaryIO, target: BinaryIO) -> None:
    head, tensors = _begin(source)
    target.write(head)
    count_at = target.tell()
    target.write(struct.pack("<I", 0))
    count = 0
    for tensor in tensors:
        if tensor.becomes_integers:
            scale = _write_matrix(source, target, tensor)
            _write_tensor(target, _Tensor(f"{tensor.name}_scale", scale.shape, _FLOAT32, scale.nbytes))
            target.write(scale.astype("<f4").tobytes())
            count += 2
        else:
            _write_tensor(target, tensor)
            for piece in _pieces(source, tensor.size, _PIECE_BYTES):
                target.write(piece)
            count += 1
    # Other names for some of them, as they are.
    shutil.copyfileobj(source, target)
    target.seek(count_at)
    target.write(struct.pack("<I", count))


def _write_matrix(source: BinaryIO, target: BinaryIO, tensor: _Tensor) -> npt.NDArray[np.float32]:
    """Each row of it times so much that its largest value is 127, rounded; what it was multiplied with."""
    rows, columns = tensor.shape
    kind = _FLOATS[tensor.kind]
    if tensor.size != rows * columns * kind.itemsize:
        raise ValueError(f"{tensor.name} has the wrong size")
    _write_tensor(target, _Tensor(tensor.name, tensor.shape, _INT8, rows * columns))
    row_bytes = columns * kind.itemsize
    scales = []
    for piece in _pieces(source, tensor.size, max(1, _PIECE_BYTES // row_bytes) * row_bytes):
        values = np.frombuffer(piece, dtype=kind).reshape(-1, columns).astype(np.float32)
        largest = np.abs(values).max(axis=1)
        scale = _LARGEST_INTEGER / np.where(largest == 0.0, _LARGEST_INTEGER, largest)
        target.write(np.rint(values * scale[:, np.newaxis]).astype(np.int8).tobytes())
        scales.append(scale)
    return np.concatenate(scales)


def _begin(source: BinaryIO) -> tuple[bytes, Iterator[_Tensor]]:
    """What stands in front of everything; and the tensors, whose values must be read before the next one."""
    head = _exactly(source, 4)
    if struct.unpack("<I", head)[0] != _LAYOUT:
        raise ValueError("the file of weights has another layout")
    head += _text(source) + _exactly(source, 4)
    (count,) = struct.unpack("<I", _exactly(source, 4))
    return head, (_read_tensor(source) for _ in range(count))


def _read_tensor(source: BinaryIO) -> _Tensor:
    name = _text(source)[2:-1].decode()
    dimensions = _exactly(source, 1)[0]
    shape = struct.unpack(f"<{dimensions}I", _exactly(source, 4 * dimensions))
    kind, size = struct.unpack("<BI", _exactly(source, 5))
    return _Tensor(name, shape, kind, size)


def _write_tensor(target: BinaryIO, tensor: _Tensor) -> None:
    name = tensor.name.encode()
    target.write(struct.pack("<H", len(name) + 1) + name + b"\0")
    target.write(struct.pack(f"<B{len(tensor.shape)}I", len(tensor.shape), *tensor.shape))
    target.write(struct.pack("<BI", tensor.kind, tensor.size))


def _text(source: BinaryIO) -> bytes:
    """With its length in front and a zero behind."""
    length = _exactly(source, 2)
    return length + _exactly(source, struct.unpack("<H", length)[0])


def _pieces(source: BinaryIO, size: int, piece_bytes: int) -> Iterator[bytes]:
    while size:
        piece = _exactly(source, min(size, piece_bytes))
        size -= len(piece)
        yield piece


def _exactly(source: BinaryIO, size: int) -> bytes:
    found = source.read(size)
    if len(found) != size:
        raise ValueError("the file of weights ends too early")
    return found
