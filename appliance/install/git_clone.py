"""A repository that no forge gives as an archive: git brings it, and gets no chance to run anything of it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from appliance.errors import NetworkError, RefusedError, UsageError
from appliance.install.archive_rules import MOST_TOTAL_BYTES
from appliance.install.source import GitSource
from appliance.network.proxy import Proxy, with_proxy

_PATIENCE_SECONDS = 300
_KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "SSL_CERT_FILE", "SSL_CERT_DIR")
#: Nothing from the machine's or the user's settings, no questions, no other way than these two.
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "/bin/false",
    "GIT_ALLOW_PROTOCOL": "https:file",
    "GIT_LFS_SKIP_SMUDGE": "1",
}
#: A redirect could lead from the house to outside it.
_SETTINGS = ("core.hooksPath=/dev/null", "http.followRedirects=false", "submodule.recurse=false")
#: No file that git writes is larger; the shell counts in blocks of 512 bytes.
_LIMITED = ("sh", "-c", f'ulimit -f {MOST_TOTAL_BYTES // 512} && exec "$@"', "sh")


def clone_as_tar(source: GitSource, work: Path, proxy: Proxy | None) -> Path:
    """Bring the wanted commit and nothing before it: a tar in the folder ``work``, below one folder.

    A tar, so that git writes no file of the repository by itself, and the rules for archives hold. Raises
    ``NetworkError`` with git's last line, ``RefusedError`` for what is too large, ``UsageError`` where there is no git.
    Blocks.
    """
    git = [*_LIMITED, "git", *(word for setting in _SETTINGS for word in ("-c", setting))]
    environment = _environment(work, proxy)
    repository, tar = work / "repository.git", work / "repository.tar"
    # Not "clone --branch": that takes no commit.
    _run([*git, "init", "--quiet", "--bare", "--template=", str(repository)], environment, source)
    inside = [*git, "-C", str(repository)]
    fetched = ["fetch", "--quiet", "--depth", "1", "--no-tags", "--no-recurse-submodules"]
    _run([*inside, *fetched, "--", source.url, source.ref or "HEAD"], environment, source)
    _run([*inside, "archive", "--format=tar", "--prefix=plugin/", f"--output={tar}", "FETCH_HEAD"], environment, source)
    return tar


def _environment(home: Path, proxy: Proxy | None) -> Mapping[str, str]:
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    return with_proxy({**kept, **_ENVIRONMENT, "HOME": str(home)}, proxy)


def _run(command: list[str], environment: Mapping[str, str], source: GitSource) -> None:
    try:
        done = subprocess.run(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
    except FileNotFoundError as error:
        raise UsageError(
            f"{source.words} needs git, which this machine does not have; download an archive instead"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise NetworkError(f"{source.words} did not come within {_PATIENCE_SECONDS} s") from error
    if done.returncode < 0:
        raise RefusedError(f"{source.words} is refused: it is larger than {MOST_TOTAL_BYTES // 1_000_000} MB")
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        said = next((line for line in reversed(lines) if line.startswith(("fatal:", "error:"))), "it says nothing")
        raise NetworkError(f"git cannot bring {source.words}: {said.partition(': ')[2] or said}")
