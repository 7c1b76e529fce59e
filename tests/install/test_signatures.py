"""A signature is worth what the owner's own files say it is worth; nobody is asked."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from appliance.adapters.signing import LibraryEd25519
from appliance.errors import RefusedError, StoreError, UsageError
from appliance.install.fetch import NoFetch
from appliance.install.signature import SignatureReport, SignatureState, new_key, read_signature, sign
from appliance.install.staging import stage

SCHEME = LibraryEd25519()
#: Second vector of RFC 8032, section 7.1.
PRIVATE = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
PUBLIC = bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
SIGNATURE = bytes.fromhex(
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
)


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    folder = tmp_path / "weather"
    (folder / "tools").mkdir(parents=True)
    manifest = {"name": "weather", "version": "1.0", "min_app_version": "0.1"}
    (folder / "plugin.json").write_text(json.dumps(manifest))
    (folder / "tools" / "now.py").write_text("TOOLS = []\n")
    (folder / "icon.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "run.sh").write_text("echo\n")
    return folder


@pytest.fixture
def key(tmp_path: Path) -> Path:
    file = tmp_path / "ada.key"
    new_key(file, SCHEME)
    return file


@pytest.fixture
def signers(tmp_path: Path) -> Path:
    folder = tmp_path / "signers"
    folder.mkdir()
    return folder


def test_the_scheme_is_the_one_of_the_standard() -> None:
    assert SCHEME.public_key(PRIVATE) == PUBLIC
    assert SCHEME.sign(PRIVATE, b"\x72") == SIGNATURE
    assert SCHEME.is_signed_by(PUBLIC, SIGNATURE, b"\x72")
    assert not SCHEME.is_signed_by(PUBLIC, SIGNATURE, b"\x73")
    assert not SCHEME.is_signed_by(b"short", SIGNATURE, b"\x72")


def test_without_a_signature_nobody_vouches(plugin: Path, signers: Path) -> None:
    report = read_signature(plugin, signers, SCHEME)
    assert report.state is SignatureState.UNSIGNED
    lone = plugin.parent / "roll.py"
    lone.write_text("")
    assert read_signature(lone, signers, SCHEME).state is SignatureState.UNSIGNED


def test_a_signer_whose_key_is_here_is_named(plugin: Path, key: Path, signers: Path) -> None:
    sign(plugin, key, SCHEME)
    _trust(key, signers, "ada")
    assert read_signature(plugin, signers, SCHEME) == SignatureReport(
        SignatureState.KNOWN, "It is signed by ada.", "ada", ()
    )


def test_an_unknown_signer_is_no_tampering(plugin: Path, key: Path, signers: Path) -> None:
    sign(plugin, key, SCHEME)
    other = key.with_name("eve.key")
    new_key(other, SCHEME)
    _trust(other, signers, "eve")
    report = read_signature(plugin, signers, SCHEME)
    assert (report.state, report.signer) == (SignatureState.UNKNOWN, "")
    assert key.with_suffix(".pub").read_text().strip() in report.sentence
    assert read_signature(plugin, signers / "missing", SCHEME).state is SignatureState.UNKNOWN


Change = Callable[[Path], object]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda folder: (folder / "tools" / "now.py").write_text("TOOLS = [1]\n"), "'tools/now.py' was changed"),
        (lambda folder: (folder / "tools" / "now.py").write_bytes(b"TOOLS = []\r\n"), "'tools/now.py' was changed"),
        (lambda folder: (folder / "icon.png").write_bytes(b"other"), "'icon.png' was changed"),
        (lambda folder: (folder / "run.sh").write_text("rm\n"), "'run.sh' was changed"),
        (lambda folder: (folder / "run.sh").unlink(), "'run.sh' is missing"),
        (lambda folder: (folder / "more.txt").write_text(""), "'more.txt' was not signed"),
        (lambda folder: (folder / "tools" / "x.so").write_text(""), "'tools/x.so' was not signed"),
        (lambda folder: (folder / "plugin.sig").write_text("hello"), "is not JSON"),
        (lambda folder: (folder / "plugin.sig").write_text("{}"), "there is no signature in"),
        (lambda folder: _edit(folder, signature=base64.b64encode(bytes(64)).decode()), "not made with the key"),
        (lambda folder: _edit(folder, signature="hello"), "not made with the key"),
        (lambda folder: _edit(folder, version="2.0"), "version '2.0' was signed, and this is '1.0'"),
        (lambda folder: _edit(folder, plugin="other"), "signed as 'other', and calls itself 'weather'"),
        (lambda folder: _edit(folder, min_app_version="9"), "for another version of this program"),
        (lambda folder: _edit(folder, files=["x"]), "is no list of files"),
        (lambda folder: _edit(folder, files={"../../up.py": "sha256:00"}), "'../../up.py' is missing"),
    ],
)
def test_whatever_is_changed_after_signing_is_tampering(
    plugin: Path, key: Path, signers: Path, change: Change, words: str
) -> None:
    sign(plugin, key, SCHEME)
    _trust(key, signers, "ada")
    change(plugin)
    report = read_signature(plugin, signers, SCHEME)
    assert report.state is SignatureState.TAMPERED
    assert words in report.sentence
    assert report.sentence.isprintable()


def test_a_changed_list_that_fits_the_files_is_still_tampering(plugin: Path, key: Path, signers: Path) -> None:
    sign(plugin, key, SCHEME)
    _trust(key, signers, "ada")
    (plugin / "run.sh").write_text("rm\n")
    content = json.loads((plugin / "plugin.sig").read_text())
    content["other_files"]["run.sh"] = f"sha256:{hashlib.sha256(b'rm' + bytes([10])).hexdigest()}"
    _edit(plugin, other_files=content["other_files"])
    assert read_signature(plugin, signers, SCHEME).state is SignatureState.TAMPERED


def test_a_tool_module_can_be_signed_and_is_bound_to_its_name(tmp_path: Path, key: Path, signers: Path) -> None:
    folder = tmp_path / "dice"
    folder.mkdir()
    (folder / "roll.py").write_text('SCHEMA = {"name": "roll"}\n')
    sign(folder, key, SCHEME)
    _trust(key, signers, "ada")
    assert read_signature(folder, signers, SCHEME).state is SignatureState.KNOWN
    other = folder.rename(tmp_path / "other")
    assert read_signature(other, signers, SCHEME).state is SignatureState.TAMPERED


# ---------------------------------------------------------------------------- signatures of the second contract


def test_a_signature_of_another_host_is_understood(plugin: Path, signers: Path) -> None:
    (plugin / "run.sh").unlink()
    _sign_as_elsewhere(plugin)
    assert read_signature(plugin, signers, SCHEME) == SignatureReport(
        SignatureState.UNKNOWN,
        "Its files fit its signature, but no key among your signers made it. It does not cover icon.png.",
        "",
        ("icon.png",),
    )
    (signers / "elsewhere.pub").write_text(f"# their site\n{PUBLIC.hex()}\n")
    report = read_signature(plugin, signers, SCHEME)
    assert (report.state, report.signer) == (SignatureState.KNOWN, "elsewhere")


def test_line_ends_do_not_count_there(plugin: Path, signers: Path) -> None:
    (plugin / "run.sh").unlink()
    _sign_as_elsewhere(plugin)
    (plugin / "tools" / "now.py").write_bytes(b"TOOLS = []\r\n")
    assert read_signature(plugin, signers, SCHEME).state is SignatureState.UNKNOWN
    (plugin / "tools" / "now.py").write_bytes(b"TOOLS = 1\n")
    assert read_signature(plugin, signers, SCHEME).state is SignatureState.TAMPERED


@pytest.mark.parametrize("name", ["run.sh", "x.so", "x.pyc", "requirements.txt", "Requirements-dev.TXT", "x", "x.pth"])
def test_what_it_does_not_cover_must_be_harmless(plugin: Path, signers: Path, name: str) -> None:
    (plugin / "run.sh").unlink()
    _sign_as_elsewhere(plugin)
    (plugin / name).write_text("x")
    report = read_signature(plugin, signers, SCHEME)
    assert report.state is SignatureState.TAMPERED
    assert f"'{name}' was not signed" in report.sentence


def test_an_extra_file_of_a_signed_kind_is_tampering_there_too(plugin: Path, signers: Path) -> None:
    (plugin / "run.sh").unlink()
    _sign_as_elsewhere(plugin)
    (plugin / "tools" / "more.py").write_text("")
    assert read_signature(plugin, signers, SCHEME).state is SignatureState.TAMPERED


def test_what_we_sign_keeps_to_the_form_of_the_second_contract(plugin: Path, key: Path) -> None:
    sign(plugin, key, SCHEME)
    content = json.loads((plugin / "plugin.sig").read_text())
    assert sorted(content["files"]) == ["plugin.json", "tools/now.py"]
    assert sorted(content["other_files"]) == ["icon.png", "run.sh"]
    signed = {name: value for name, value in content.items() if name != "signature"}
    payload = json.dumps(signed, sort_keys=True, separators=(",", ":")).encode()
    public = base64.b64decode(key.with_suffix(".pub").read_text())
    assert SCHEME.is_signed_by(public, base64.b64decode(content["signature"]), payload)


# --------------------------------------------------------------------------------------------------------- keys


def test_a_private_key_is_for_its_owner_alone(key: Path, plugin: Path) -> None:
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    key.chmod(0o640)
    with pytest.raises(UsageError, match="chmod 600"):
        sign(plugin, key, SCHEME)


def test_a_key_is_never_overwritten(key: Path) -> None:
    before = key.read_text()
    with pytest.raises(UsageError, match="cannot be made"):
        new_key(key, SCHEME)
    assert key.read_text() == before


def test_what_is_no_key_is_said(tmp_path: Path, plugin: Path, key: Path, signers: Path) -> None:
    wrong = tmp_path / "wrong.key"
    wrong.write_text("hello\n")
    wrong.chmod(0o600)
    for file in (wrong, tmp_path / "gone.key"):
        with pytest.raises(UsageError):
            sign(plugin, file, SCHEME)
    sign(plugin, key, SCHEME)
    (signers / "wrong.pub").write_text("hello\n")
    with pytest.raises(StoreError, match=r"wrong\.pub holds no public key"):
        read_signature(plugin, signers, SCHEME)


def test_windows_line_ends_are_not_signed(plugin: Path, key: Path) -> None:
    (plugin / "tools" / "now.py").write_bytes(b"TOOLS = []\r\n")
    with pytest.raises(RefusedError, match="Windows line ends"):
        sign(plugin, key, SCHEME)
    assert not (plugin / "plugin.sig").exists()


def test_what_a_box_leaves_out_is_not_on_the_list(plugin: Path, key: Path, signers: Path) -> None:
    (plugin / ".DS_Store").write_text("x")
    (plugin / "tools" / "now.pyc").write_text("x")
    sign(plugin, key, SCHEME)
    staged = stage(str(plugin), signers.parent / "stage", fetch=NoFetch())
    assert read_signature(staged.place, signers, SCHEME).state is SignatureState.UNKNOWN


def test_only_what_a_box_would_take_is_signed(plugin: Path, key: Path) -> None:
    (plugin / "fast.so").write_text("x")
    with pytest.raises(RefusedError, match="machine code"):
        sign(plugin, key, SCHEME)
    (plugin / "fast.so").unlink()
    with pytest.raises(UsageError, match="is no folder"):
        sign(plugin / "plugin.json", key, SCHEME)
    outer = plugin.parent / "outer"
    outer.mkdir()
    plugin.rename(outer / "weather")
    with pytest.raises(UsageError, match="not the plugin's own folder"):
        sign(outer, key, SCHEME)


def test_signing_again_after_a_change_mends_it(plugin: Path, key: Path, signers: Path) -> None:
    sign(plugin, key, SCHEME)
    _trust(key, signers, "ada")
    (plugin / "run.sh").write_text("ls\n")
    sign(plugin, key, SCHEME)
    assert read_signature(plugin, signers, SCHEME).state is SignatureState.KNOWN


def _trust(key: Path, signers: Path, name: str) -> None:
    os.link(key.with_suffix(".pub"), signers / f"{name}.pub")


def _edit(folder: Path, **changed: Any) -> None:
    content = json.loads((folder / "plugin.sig").read_text())
    (folder / "plugin.sig").write_text(json.dumps({**content, **changed}))


def _sign_as_elsewhere(folder: Path) -> None:
    """As the second contract does: six kinds of file, line ends folded, no key."""
    kinds = {".py", ".json", ".js", ".css", ".html", ".md"}
    files: Mapping[str, str] = {
        path.relative_to(folder).as_posix(): f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted(folder.rglob("*"))
        if path.suffix in kinds
    }
    content: dict[str, Any] = {"plugin": "weather", "version": "1.0", "files": files}
    payload = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    content["signature"] = base64.b64encode(SCHEME.sign(PRIVATE, payload)).decode()
    (folder / "plugin.sig").write_text(json.dumps(content, indent=2))
