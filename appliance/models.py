"""Speech weights: which there are, where they lie, how they are brought, whether they are whole.

What a name stands for is in ``models.toml``. Sources, in this order: a path of the owner's, a model hub, a PyPI
wheel. The defaults are ``package`` sources: wheels that are locked dependencies, so that nothing has to be
fetched for the box to work; they are found without importing them. ``wheel`` sources are fetched with pip.
Fetched weights lie in the home, or beside the program, for every home (``PROGRAM_FOLDER``).

Files whose size and SHA-256 are pinned are checked against that. A hub file that is not pinned is checked
against the hub's own metadata while it is fetched; what came is written to ``weights.json`` beside it, and
later checks compare with that.
"""

from __future__ import annotations

import asyncio
import enum
import functools
import importlib.util
import json
import os
import shutil
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from appliance import hub
from appliance.errors import NetworkError, WeightsError
from appliance.ports_think import HttpDoor

_MANIFEST = "weights.json"
#: Where the set-up of a checkout puts what comes with no package.
PROGRAM_FOLDER = Path(sys.prefix) / "share" / "appliance" / "models"
#: The name of what tells whether a person has finished.
TURN_DETECTOR = "smart-turn"


class Purpose(enum.StrEnum):
    """What weights are for."""

    HEARING = "hearing"
    VOICE = "voice"
    VOICE_ACTIVITY = "voice_activity"
    WAKE_WORD = "wake_word"
    TURN = "turn"


@dataclass(frozen=True)
class WeightsFile:
    """One file; ``members`` are its parts inside wheels, in order; None where the hub is to be believed."""

    name: str
    size_bytes: int | None = None
    sha256: str | None = None
    members: tuple[str, ...] = ()


@dataclass(frozen=True)
class HubSource:
    """Files in a repository of the model hub."""

    repository: str
    files: tuple[WeightsFile, ...]
    folder: str = ""
    revision: str = "main"

    def url(self, file: WeightsFile) -> str:
        """Where a file is fetched from."""
        path = f"{self.folder}/{file.name}" if self.folder else file.name
        return f"{hub.ADDRESS}/{self.repository}/resolve/{self.revision}/{quote(path)}"


@dataclass(frozen=True)
class PackageSource:
    """Files inside an installed package (import name)."""

    package: str
    files: tuple[WeightsFile, ...]
    folder: str = ""


@dataclass(frozen=True)
class WheelSource:
    """Files inside wheels that are fetched but not installed; ``requirements`` are pip lines with their hash."""

    requirements: tuple[str, ...]
    files: tuple[WeightsFile, ...]


Source = HubSource | PackageSource | WheelSource


@dataclass(frozen=True)
class Weights:
    """One set of weights; ``opens`` is the file a library is pointed at, "" when it takes the folder.

    ``languages`` is empty when there are many. Without what ``is_optional`` the box works, only less well.
    """

    name: str
    purpose: Purpose
    licence: str
    sources: tuple[Source, ...]
    languages: tuple[str, ...] = ()
    opens: str = ""
    is_optional: bool = False

    @property
    def size_bytes(self) -> int | None:
        """Bytes in all, None when no source knows."""
        for source in self.sources:
            sizes = [file.size_bytes for file in source.files]
            if None not in sizes:
                return sum(size for size in sizes if size is not None)
        return None


@functools.cache
def known_weights() -> Mapping[str, Weights]:
    """Every set of weights by name, in the order of ``models.toml``."""
    table = tomllib.loads((Path(__file__).with_name("models.toml")).read_text(encoding="utf-8"))
    return {entry["name"]: _weights(entry) for entry in table["weights"]}


def locate(name: str, folder: Path, own_path: str = "", *, registry: Mapping[str, Weights] | None = None) -> Path:
    """Where weights lie: the owner's path, else fetched ones in ``folder``, else an installed package.

    Quick: only presence and sizes are looked at. Raises ``WeightsError`` that says how to bring them.
    """
    if own_path:
        path = Path(own_path).expanduser()
        if not path.exists():
            raise WeightsError(f"there are no weights at {path}; correct the path in config.toml or remove it")
        return path
    weights = _find(name, registry)
    place, files = _best_place(weights, folder)
    for file in files:
        if problem := _size_problem(place, file):
            raise WeightsError(f"the weights {name} are damaged ({problem}); {_how_to_bring(weights)}")
    return place / weights.opens if weights.opens else place


def verify(name: str, folder: Path, *, registry: Mapping[str, Weights] | None = None) -> list[str]:
    """What is wrong with the weights that ``locate`` finds, in words; nothing when they are whole.

    Reads every byte: call it in a thread.
    """
    weights = _find(name, registry)
    try:
        place, files = _best_place(weights, folder)
    except WeightsError as error:
        return [str(error)]
    problems = [problem for file in files if (problem := _problem(place, file))]
    return [f"{name}: {problem}; {_how_to_bring(weights)}" for problem in problems]


async def fetch(
    name: str,
    folder: Path,
    door: HttpDoor,
    progress: hub.Progress = lambda _file, _done, _total: None,
    *,
    registry: Mapping[str, Weights] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Path:
    """Bring weights into ``folder`` from the first source that answers; the path as ``locate`` gives it.

    Nothing happens when they are here and whole. A set comes whole or not at all: it is written beside and
    renamed. ``environment`` is pip's, which does not go through ``door``; None is ours. Raises ``WeightsError`` with
    what each source said.
    """
    weights = _find(name, registry)
    if not await asyncio.to_thread(verify, name, folder, registry=registry):
        return locate(name, folder, registry=registry)
    said: list[str] = []
    for source in weights.sources:
        if isinstance(source, PackageSource):
            continue
        try:
            await _bring(weights, source, folder, door, progress, environment)
            return locate(name, folder, registry=registry)
        except (NetworkError, WeightsError) as error:
            said.append(str(error))
        except OSError as error:
            raise WeightsError(f"cannot write {name} to {folder}: {error.strerror or error}") from error
    reasons = "; ".join(said) or "it comes with a package of the program; run ./run setup"
    raise WeightsError(f"could not bring {name}: {reasons}; or copy its files to {folder / name}")


# ------------------------------------------------------------------------------------------- looking


def _weights(entry: Mapping[str, Any]) -> Weights:
    return Weights(
        name=entry["name"],
        purpose=Purpose(entry["purpose"]),
        licence=entry["licence"],
        sources=tuple(_source(source) for source in entry["source"]),
        languages=tuple(entry.get("languages", ())),
        opens=entry.get("opens", ""),
        is_optional=entry.get("is_optional", False),
    )


def _source(entry: Mapping[str, Any]) -> Source:
    fields = dict(entry)
    kind = fields.pop("kind")
    files = tuple(WeightsFile(**{**file, "members": tuple(file.get("members", ()))}) for file in fields.pop("file"))
    if kind == "hub":
        return HubSource(files=files, **fields)
    if kind == "package":
        return PackageSource(files=files, **fields)
    wheels = fields.pop("wheel")
    return WheelSource(
        tuple(f"{wheel['project']}=={wheel['version']} --hash=sha256:{wheel['sha256']}" for wheel in wheels), files
    )


def _find(name: str, registry: Mapping[str, Weights] | None) -> Weights:
    every = known_weights() if registry is None else registry
    if name not in every:
        raise WeightsError(f"there are no weights named {name!r}; there are: {', '.join(every)}")
    return every[name]


def _best_place(weights: Weights, folder: Path) -> tuple[Path, tuple[WeightsFile, ...]]:
    """The first place where every file is there in its size, else the first; and the files it should hold."""
    places: list[tuple[Path, tuple[WeightsFile, ...]]] = []
    for fetched in (folder / weights.name, PROGRAM_FOLDER / weights.name):
        if fetched.is_dir():
            listed = _read_manifest(fetched / _MANIFEST)
            # Without a list somebody copied the files there by hand.
            places += [(fetched, listed)] if listed else [(fetched, source.files) for source in weights.sources]
    for source in weights.sources:
        if isinstance(source, PackageSource) and (package := _package_folder(source.package)):
            places.append((package / source.folder, source.files))
    if not places:
        raise WeightsError(f"the weights {weights.name} are not here; {_how_to_bring(weights)}")
    whole = (place for place in places if not any(_size_problem(place[0], file) for file in place[1]))
    return next(whole, places[0])


def _package_folder(package: str) -> Path | None:
    # find_spec of a top-level name does not run the package.
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def _read_manifest(manifest: Path) -> tuple[WeightsFile, ...]:
    """What was fetched; nothing when the list is not there or broken."""
    try:
        return tuple(WeightsFile(**entry) for entry in json.loads(manifest.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return ()


def _how_to_bring(weights: Weights) -> str:
    if all(isinstance(source, PackageSource) for source in weights.sources):
        return "run ./run setup"
    return f"run: appliance models fetch {weights.name}"


def _size_problem(place: Path, file: WeightsFile) -> str:
    try:
        size = (place / file.name).stat().st_size
    except OSError:
        return f"{file.name} is missing"
    if file.size_bytes is not None and size != file.size_bytes:
        return f"{file.name} has {size} bytes instead of {file.size_bytes}"
    return ""


def _problem(place: Path, file: WeightsFile) -> str:
    problem = _size_problem(place, file)
    if not problem and file.sha256 is not None and hub.sha256(place / file.name) != file.sha256:
        return f"{file.name} is damaged (wrong checksum)"
    return problem


# ------------------------------------------------------------------------------------------ fetching


async def _bring(
    weights: Weights,
    source: HubSource | WheelSource,
    folder: Path,
    door: HttpDoor,
    progress: hub.Progress,
    environment: Mapping[str, str] | None,
) -> None:
    with _scratch_folder(folder) as scratch:
        fresh = scratch / "fresh"
        if isinstance(source, HubSource):
            for file in source.files:
                await hub.download(door, source.url(file), fresh / file.name, progress)
        else:
            await _fetch_wheels(source, scratch, fresh, progress, environment)
        await asyncio.to_thread(_put_in_place, source, fresh, folder / weights.name)


@contextmanager
def _scratch_folder(folder: Path) -> Iterator[Path]:
    """A folder on the same disk as ``folder``, with an empty ``fresh`` in it; gone afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".fetching-") as scratch:
        (Path(scratch) / "fresh").mkdir()
        yield Path(scratch)


def _put_in_place(source: HubSource | WheelSource, fresh: Path, target: Path) -> None:
    for file in source.files:
        problem = _problem(fresh, file)
        if problem:
            raise WeightsError(problem)
    entries = [
        {"name": file.name, "size_bytes": (fresh / file.name).stat().st_size, "sha256": hub.sha256(fresh / file.name)}
        for file in source.files
    ]
    (fresh / _MANIFEST).write_text(json.dumps(entries, indent=1), encoding="utf-8")
    shutil.rmtree(target, ignore_errors=True)
    os.rename(fresh, target)  # noqa: PTH104 - the point is the one system call


async def _fetch_wheels(
    source: WheelSource, scratch: Path, fresh: Path, progress: hub.Progress, environment: Mapping[str, str] | None
) -> None:
    """Let pip fetch the wheels (it knows the owner's mirror, and checks the hashes); take the files."""
    requirements = scratch / "requirements.txt"
    requirements.write_text("\n".join(source.requirements) + "\n", encoding="utf-8")
    for line in source.requirements:
        progress(line.split("==")[0], 0, 0)
    pip = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"),
        *("--require-hashes", "--only-binary", ":all:", "--dest", str(scratch), "--requirement", str(requirements)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
    )
    try:
        _, errors = await pip.communicate()
    finally:
        if pip.returncode is None:
            pip.kill()
            await pip.wait()
    if pip.returncode != 0:
        lines = errors.decode(errors="replace").strip().splitlines() or ["it gave no reason"]
        raise WeightsError(f"pip could not fetch the wheel: {lines[-1]}")
    await asyncio.to_thread(_unpack, scratch, source.files, fresh)


def _unpack(scratch: Path, files: tuple[WeightsFile, ...], fresh: Path) -> None:
    wheels = sorted(scratch.glob("*.whl"))
    for file in files:
        with (fresh / file.name).open("wb") as target:
            for member in file.members:
                _append_member(wheels, member, target)


def _append_member(wheels: list[Path], member: str, target: BinaryIO) -> None:
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            if member in archive.namelist():
                with archive.open(member) as part:
                    shutil.copyfileobj(part, target)
                return
    raise WeightsError(f"{member} is in none of the wheels")
