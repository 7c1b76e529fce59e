"""What an owner may write after ``install``: read into what has to be done, before anything is done."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from appliance.errors import UsageError

_SUBDIRECTORY = "subdirectory="
_GIT = "git+"
_WEB = ("http", "https")
#: A name of a branch, a tag or a commit; never an option for git.
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+-]{0,199}")
_REPOSITORY_PATH = re.compile(r"/([A-Za-z0-9_.-]+)/([A-Za-z0-9_.-]+?)(?:\.git)?/?")
#: What is asked for when nothing is named.
_NEWEST = "HEAD"
#: Forges that give a repository as an archive, so that no git is needed, and where.
_FORGES = {
    "github.com": "https://github.com/{owner}/{name}/archive/{ref}.zip",
    "gitlab.com": "https://gitlab.com/{owner}/{name}/-/archive/{ref}/{name}.zip",
}


@dataclass(frozen=True)
class LocalSource:
    """A folder or a file of this machine."""

    path: Path
    subdirectory: str = ""

    @property
    def words(self) -> str:
        """Where it comes from."""
        return _with(str(self.path), self.subdirectory)


@dataclass(frozen=True)
class ArchiveSource:
    """An archive, wheel or file somewhere else. ``name`` is what the plugin may be called after."""

    url: str
    name: str
    subdirectory: str = ""
    #: As the owner wrote it, when that is not the URL.
    written: str = ""

    @property
    def words(self) -> str:
        """Where it comes from, without what may be a secret."""
        parts = urlsplit(self.written or self.url)
        return _with(urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", "")), self.subdirectory)


@dataclass(frozen=True)
class GitSource:
    """A repository that only git can bring; ``ref`` "" is its usual branch."""

    url: str
    name: str
    ref: str = ""
    subdirectory: str = ""

    @property
    def words(self) -> str:
        """Where it comes from."""
        return _with(f"git+{self.url}{'@' if self.ref else ''}{self.ref}", self.subdirectory)


Source = LocalSource | ArchiveSource | GitSource


def read_source(text: str) -> Source:
    """What ``text`` names. Raises ``UsageError``; a path is not looked at unless it holds a "#"."""
    if not text.isprintable() or not text.strip():
        raise UsageError("name a folder, a .py file, an archive or a URL to install from")
    if os.path.lexists(text):
        return LocalSource(Path(text).resolve())
    address, subdirectory = _without_subdirectory(text)
    scheme = address.partition("://")[0].lower() if "://" in address else ""
    if scheme.startswith(_GIT):
        return _repository(address[len(_GIT) :], subdirectory)
    if scheme in _WEB:
        return _at_url(address, subdirectory)
    if scheme:
        raise UsageError(f"{scheme}:// is no way to a plugin: write https://…, git+https://… or git+file://…")
    return LocalSource(Path(address).resolve(), subdirectory)


def _at_url(address: str, subdirectory: str) -> Source:
    parts = _parts(address)
    ref = ""
    path = parts.path
    if parts.hostname in _FORGES:
        path, _, ref = path.partition("@")
        if not ref and "/tree/" in path:
            path, _, ref = path.partition("/-/tree/" if "/-/tree/" in path else "/tree/")
        if _REPOSITORY_PATH.fullmatch(path):
            return _repository(urlunsplit((*parts[:2], path, "", "")), subdirectory, _ref(ref) if ref else "")
    if path.endswith(".git"):
        return _repository(address, subdirectory)
    name = unquote(PurePosixPath(parts.path).name)
    if not name:
        raise UsageError(f"{address} is not the URL of an archive, a wheel or a .py file; for a repository write git+…")
    return ArchiveSource(address, name, subdirectory)


def _repository(address: str, subdirectory: str, ref: str = "") -> Source:
    parts = _parts(address)
    path = parts.path
    if not ref and "@" in path:
        path, _, ref = path.rpartition("@")
        ref = _ref(ref)
    name = PurePosixPath(path).name.removesuffix(".git")
    if parts.scheme not in ("https", "file") or not name:
        raise UsageError("a repository is git+https://host/owner/name or git+file:///path, with @ref behind it or not")
    whole = _REPOSITORY_PATH.fullmatch(path)
    if parts.scheme == "https" and parts.netloc in _FORGES and whole:
        url = _FORGES[parts.netloc].format(owner=whole[1], name=whole[2], ref=ref or _NEWEST)
        written = f"https://{parts.netloc}/{whole[1]}/{whole[2]}{'@' if ref else ''}{ref}"
        return ArchiveSource(url, whole[2], subdirectory, written)
    return GitSource(urlunsplit((parts.scheme, parts.netloc, path, "", "")), name, ref, subdirectory)


def _parts(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        raise UsageError(f"{address!r} is no URL") from None
    if parts.username is not None:
        raise UsageError("a URL with a user or a password in it is not taken: everybody can read it in the list")
    return parts


def _ref(text: str) -> str:
    if not _REF.fullmatch(text) or ".." in text:
        raise UsageError(f"{text!r} is no branch, tag or commit")
    return text


def _without_subdirectory(text: str) -> tuple[str, str]:
    address, mark, fragment = text.partition("#")
    if not mark:
        return text, ""
    name = fragment.removeprefix(_SUBDIRECTORY)
    parts = PurePosixPath(name).parts
    if not fragment.startswith(_SUBDIRECTORY) or not parts or name.startswith("/") or ".." in parts:
        raise UsageError("behind # comes subdirectory=, with a folder inside the source")
    return address, "/".join(parts)


def _with(address: str, subdirectory: str) -> str:
    return f"{address}#{_SUBDIRECTORY}{subdirectory}" if subdirectory else address
