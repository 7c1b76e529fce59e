"""Who vouches for a plugin: ``plugin.sig``, checked without a network against keys that the owner has put here.

The file has the shape that other hosts of the second contract read: ``plugin``, ``version``, ``files`` with a SHA-256
for each file of a few kinds, and an Ed25519 ``signature`` over all of it. Those hosts leave every other kind of file
out, and fold line ends. What this box signs adds ``other_files``, ``min_app_version`` and the ``key``, and counts
bytes as they are; a signature without these is checked as far as it goes, and what lies beyond must be harmless.
"""

from __future__ import annotations

import enum
import hashlib
import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from appliance.errors import RefusedError, StoreError, UsageError
from appliance.install.archive_rules import shown
from appliance.install.fetch import NoFetch
from appliance.install.naming import MANIFEST_FILE, identify
from appliance.install.signers import Ed25519 as Ed25519
from appliance.install.signers import as_text, from_text, known_signers, private_key
from appliance.install.signers import new_key as new_key
from appliance.install.staging import stage
from appliance.store.plugin_pins import file_digests

SIGNATURE_FILE = "plugin.sig"
#: The kinds that the second contract signs.
_SIGNED_KINDS = frozenset({".py", ".json", ".js", ".css", ".html", ".md"})
#: Kinds that change nothing in what the box does.
_HARMLESS_KINDS = frozenset(
    {
        *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".svg", ".bmp", ".wav", ".mp3", ".ogg", ".opus", ".flac"),
        *(".ttf", ".otf", ".woff", ".woff2", ".txt", ".rst", ".csv", ".pdf"),
    }
)
_HARMLESS_NAMES = frozenset({"LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS", ".gitignore", ".gitattributes"})
#: A text that decides which packages are installed.
_NOT_HARMLESS = re.compile(r"(requirements|constraints).*\.txt", re.IGNORECASE)
_MOST_SIGNATURE_BYTES = 1_000_000
_HASH = "sha256:"
#: Names of what no signature covers, in one sentence.
_MOST_NAMED = 5


class SignatureState(enum.StrEnum):
    """What a signature is worth."""

    UNSIGNED = "unsigned"
    KNOWN = "signed by a known signer"
    #: It is whole, but nobody here knows the key: that is no sign of tampering.
    UNKNOWN = "signed by an unknown signer"
    #: It does not fit the files: the plugin is refused.
    TAMPERED = "tampered"


@dataclass(frozen=True)
class SignatureReport:
    """``signer`` is the name of the key's file, "" when it is not known; ``sentence`` says it all to the owner.

    ``uncovered`` are harmless files that the signature says nothing about.
    """

    state: SignatureState
    sentence: str
    signer: str = ""
    uncovered: tuple[str, ...] = ()


def read_signature(place: Path, signers: Path, scheme: Ed25519) -> SignatureReport:
    """Check the signature of a staged plugin; ``signers`` is the folder with a ``<name>.pub`` each.

    Raises ``StoreError`` when a key there cannot be read, ``OSError``. Blocks.
    """
    file = place / SIGNATURE_FILE
    if not place.is_dir() or not file.exists():
        return SignatureReport(SignatureState.UNSIGNED, "It is not signed: nobody vouches for what it does.")
    try:
        content = _content(file)
        uncovered = _check_files(place, content)
        _check_identity(place, content)
        return _whose(content, known_signers(signers), scheme, uncovered)
    except _TamperedError as error:
        return SignatureReport(SignatureState.TAMPERED, f"Its signature does not fit it: {error}.")


def sign(folder: Path, key_file: Path, scheme: Ed25519) -> Path:
    """Write ``plugin.sig`` over every file of a plugin's folder, leftovers aside; the file.

    Raises ``UsageError`` without a usable key or folder, ``RefusedError`` for a folder that no box would take,
    ``StoreError`` when it cannot be written. Blocks.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder; a plugin that is one file is signed in a folder of its own")
    private = private_key(key_file)
    with tempfile.TemporaryDirectory(prefix="appliance-sign-") as work:
        # As a box would take it: what is left out there must not be on the list.
        staged = stage(str(folder.resolve()), Path(work, "stage"), fetch=NoFetch())
        files = {name: digest for name, digest in staged.files.items() if name != SIGNATURE_FILE}
        _check_line_ends(staged.place, files, str(folder))
        minimum = _minimum(staged.place)
    if not all((folder / name).is_file() for name in files):
        raise UsageError(f"{folder} is not the plugin's own folder; name the one below it")
    content: dict[str, Any] = {
        "plugin": staged.name,
        "version": staged.version,
        "min_app_version": minimum,
        "files": {name: _HASH + digest for name, digest in files.items() if _is_signed_kind(name)},
        "other_files": {name: _HASH + digest for name, digest in files.items() if not _is_signed_kind(name)},
        "key": as_text(scheme.public_key(private)),
    }
    content["signature"] = as_text(scheme.sign(private, _payload(content)))
    file = folder / SIGNATURE_FILE
    try:
        file.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{file} cannot be written: {error.strerror}") from error
    return file


# ------------------------------------------------------------------------------------------------------ private


class _TamperedError(Exception):
    """Half a sentence on what does not fit."""


def _content(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as opened:
            content = json.loads(opened.read(_MOST_SIGNATURE_BYTES))
    except (ValueError, RecursionError):
        raise _TamperedError(f"{SIGNATURE_FILE} is not JSON") from None
    if not isinstance(content, dict) or not isinstance(content.get("signature"), str):
        raise _TamperedError(f"there is no signature in {SIGNATURE_FILE}")
    for field in ("files", "other_files"):
        listed = content.get(field, {})
        if not isinstance(listed, dict) or not all(isinstance(value, str) for value in listed.values()):
            raise _TamperedError(f"{field} in {SIGNATURE_FILE} is no list of files")
    return content


def _check_files(place: Path, content: Mapping[str, Any]) -> tuple[str, ...]:
    """Compare every file; those that are not covered and harmless."""
    is_ours = "other_files" in content
    listed = {**content.get("files", {}), **content.get("other_files", {})}
    there = {name: digest for name, digest in file_digests(place).items() if name != SIGNATURE_FILE}
    missing = sorted(set(listed) - set(there))
    if missing:
        raise _TamperedError(f"{shown(missing[0])} is missing")
    for name, expected in sorted(listed.items()):
        if expected != _HASH + there[name] and (is_ours or expected != _HASH + _folded_digest(place / name)):
            raise _TamperedError(f"{shown(name)} was changed after it was signed")
    extra = sorted(set(there) - set(listed))
    grave = [name for name in extra if is_ours or not _is_harmless(name)]
    if grave:
        raise _TamperedError(f"{shown(grave[0])} was not signed")
    return tuple(extra)


def _check_identity(place: Path, content: Mapping[str, Any]) -> None:
    """An old release, or another plugin's signature, is as good as none."""
    try:
        identity = identify(place, place.name, place.name)
    except RefusedError as error:
        raise _TamperedError(str(error)) from error
    said = (content.get("plugin"), content.get("version"))
    if said[0] != identity.name:
        raise _TamperedError(f"it was signed as {shown(str(said[0]))}, and calls itself {identity.name!r}")
    if (said[1] or "") != identity.version:
        raise _TamperedError(f"version {shown(str(said[1]))} was signed, and this is {identity.version!r}")
    if content.get("min_app_version", _minimum(place)) != _minimum(place):
        raise _TamperedError("it was signed for another version of this program")


def _whose(
    content: Mapping[str, Any], signers: Mapping[str, bytes], scheme: Ed25519, uncovered: tuple[str, ...]
) -> SignatureReport:
    signature, payload = from_text(content["signature"]), _payload(content)
    more = f" It does not cover {_named(uncovered)}." if uncovered else ""
    for name, key in signers.items():
        if scheme.is_signed_by(key, signature, payload):
            return SignatureReport(SignatureState.KNOWN, f"It is signed by {name}.{more}", name, uncovered)
    key_text = content.get("key")
    if key_text is None:
        sentence = "Its files fit its signature, but no key among your signers made it."
    elif isinstance(key_text, str) and scheme.is_signed_by(from_text(key_text), signature, payload):
        sentence = f"It is signed with the key {key_text.strip()}, which is not among your signers."
    else:
        raise _TamperedError("the signature was not made with the key that it names")
    return SignatureReport(SignatureState.UNKNOWN, sentence + more, "", uncovered)


def _payload(content: Mapping[str, Any]) -> bytes:
    """What is signed: everything but the signature, as the second contract writes it."""
    signed = {key: value for key, value in content.items() if key != "signature"}
    return json.dumps(signed, sort_keys=True, separators=(",", ":")).encode()


def _minimum(place: Path) -> str:
    """``min_app_version`` of a manifest, "" without one."""
    try:
        raw = json.loads((place / MANIFEST_FILE).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return ""
    value = raw.get("min_app_version") if isinstance(raw, dict) else None
    return value if isinstance(value, str) else ""


def _folded_digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def _check_line_ends(place: Path, files: Mapping[str, str], source: str) -> None:
    """Hosts that fold line ends would find another hash than ours."""
    for name in files:
        if _is_signed_kind(name) and b"\r\n" in (place / name).read_bytes():
            raise RefusedError(f"{source} is not signed: {shown(name)} has Windows line ends; save it with Unix ones")


def _is_signed_kind(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in _SIGNED_KINDS


def _is_harmless(name: str) -> bool:
    path = PurePosixPath(name)
    if _NOT_HARMLESS.fullmatch(path.name):
        return False
    return path.suffix.lower() in _HARMLESS_KINDS or path.name in _HARMLESS_NAMES


def _named(names: tuple[str, ...]) -> str:
    rest = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")
