"""Versions of the program that are small: they weigh nothing, and do what a test wants them to do.

A checkout with the real installer and the real units; only what ``./run copy`` would fetch and build is ours.
"""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Stands in for ``./run copy FOLDER``.
_RUN = """#!/bin/sh
set -eu
[ "$1" = copy ]
here=$(dirname "$(readlink -f "$0")")
! grep -q '"lacks": "packages"' "$here/appliance/traits.json" || exit 1
packages=$2/lib/$(readlink /usr/bin/python3)/site-packages
mkdir -p "$2/bin" "$packages"
ln -s /usr/bin/python3 "$2/bin/python"
echo "home = /usr/bin" >"$2/pyvenv.cfg"
cp -R "$here/appliance" "$packages/"
{ echo "#!$2/bin/python -B"; cat "$here/program.py"; } >"$2/bin/appliance"
chmod +x "$2/bin/appliance"
"""

#: Stands in for the program. Its store is a real one: a table of who was here, and a schema number.
_PROGRAM = """
import json, os, pathlib, signal, socket, sqlite3, sys, time
import appliance
traits = json.loads(pathlib.Path(appliance.__file__).with_name("traits.json").read_text())
pointer = pathlib.Path("/etc/appliance/home")
home = os.environ.get("APPLIANCE_HOME") or (
    pointer.read_text().strip() if pointer.exists() else os.path.expanduser("~/.local/share/appliance")
)
words = sys.argv[1:]

def opened():
    store = sqlite3.connect(home + "/appliance.db", isolation_level=None)
    store.execute("PRAGMA journal_mode=WAL")
    schema = store.execute("PRAGMA user_version").fetchone()[0]
    if schema > traits["schema"]:
        sys.exit(f"appliance: schema {schema} was written by a newer version")
    store.execute("CREATE TABLE IF NOT EXISTS visits (version TEXT)")
    store.execute(f"PRAGMA user_version={traits['schema']}")
    store.execute("INSERT INTO visits VALUES (?)", (traits["name"],))
    return store

if words == ["--version"]:
    print("appliance", appliance.__version__)
elif words == ["models", "fetch"]:
    if traits["lacks"] == "weights":
        sys.exit("appliance: could not bring tiny.en")
elif words[0] == "ask":
    opened()
    if traits["deaf"]:
        sys.exit("appliance: nothing that could be understood was heard in it")
    pathlib.Path(words[words.index("--out") + 1]).write_bytes(b"RIFF")
    print("heard  What time is it?")
elif words == ["run", "--stay"]:
    store = opened()
    if traits["stillborn"]:
        sys.exit("appliance: it cannot start, because a test wants that")
    signal.signal(signal.SIGTERM, lambda *_: (store.close(), sys.exit()))
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])
    while True:
        manager.sendto(b"WATCHDOG=1", os.environ["NOTIFY_SOCKET"])
        time.sleep(5)
"""

_numbers = itertools.count(1)


def make_version(
    folder: Path,
    *,
    schema: int = 1,
    deaf: bool = False,
    stillborn: bool = False,
    lacks: str = "",
) -> str:
    """Fill ``folder`` with the checkout of a new version; its number.

    ``deaf`` does not answer the installer's question, ``stillborn`` changes the store and does not come up,
    ``lacks`` says what cannot be fetched: packages, weights.
    """
    for old in folder.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    number = f"1.{next(_numbers)}"
    package = folder / "appliance"
    (package / "store").mkdir(parents=True)
    (package / "adapters").mkdir()
    (package / "_shipped" / "soul").mkdir(parents=True)
    (package / "_shipped" / "soul" / "demo.wav").touch()
    (package / "__init__.py").write_text(f'__version__ = "{number}"\n')
    (package / "store" / "schema.py").write_text(f"MIGRATIONS = [()] * {schema}\n")
    (package / "adapters" / "worker_program.py").touch()
    traits = {"schema": schema, "deaf": deaf, "stillborn": stillborn, "lacks": lacks, "name": number}
    (package / "traits.json").write_text(json.dumps(traits))
    for part in ("plugins", "firmware", "soul"):
        (folder / part).mkdir()
    for part in ("pyproject.toml", "requirements.lock"):
        (folder / part).touch()
    shutil.copytree(ROOT / "systemd", folder / "systemd")
    (folder / "program.py").write_text(_PROGRAM)
    (folder / "run").write_text(_RUN)
    (folder / "run").chmod(0o755)
    return number
