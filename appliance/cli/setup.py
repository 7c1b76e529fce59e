"""``appliance setup``: goes through microphone, speaker, wake word, voice, model, button and face, and tries each.

Every step can be skipped, and all of it can be done again; answers may come from a script on standard input. What is
found is kept at once, by the same code as ``appliance config set``.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import stat
from contextlib import suppress

from appliance.cli.shared import home_of
from appliance.errors import HomeLockedError, UsageError
from appliance.home import Home

#: What can be set up, in this order.
STEPS = {
    "name": "Name",
    "language": "Language",
    "microphone": "Microphone",
    "speaker": "Speaker",
    "wake": "Wake word",
    "voice": "Voice",
    "model": "Model",
    "button": "Button",
    "face": "Face",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"only these: {', '.join(STEPS)}")


def run(arguments: argparse.Namespace) -> int:
    """Exit code 0 also when steps were skipped; what was kept stays kept, whatever ends it."""
    home = home_of(arguments)
    wrong = [step for step in arguments.steps if step not in STEPS]
    if wrong:
        raise UsageError(f"{wrong[0]!r} is no step; there are: {', '.join(STEPS)}")
    from appliance.cli.config_set import check_may_change
    from appliance.cli.setup_flow import make_kit, set_up
    from appliance.cli.terminal import ShellTerminal

    check_may_change(home)
    try:
        with home.lock():
            return asyncio.run(set_up(make_kit(arguments, ShellTerminal()), arguments.steps or [*STEPS], home))
    except HomeLockedError as error:
        how = "sudo systemctl stop appliance" if home.is_service else "Ctrl-C where it runs"
        raise HomeLockedError(
            f"the device is running and keeps microphone and speaker to itself; stop it first ({how}), and start it "
            "again behind this"
        ) from error
    finally:
        give_back(home)


def give_back(home: Home) -> None:
    """What root has made in the home of a service belongs to the service: it could not read it otherwise."""
    if os.geteuid() != 0 or not home.folder.exists():
        return
    owner = home.folder.stat()
    for place in (home.folder / "lock", *home.folder.glob("credentials.json*"), home.models_folder, home.cache_folder):
        for path in [place, *(place.rglob("*") if place.is_dir() else ())]:
            with suppress(OSError):
                facts = path.lstat()
                # A second name may be that of a file elsewhere, which is nobody's to give away.
                is_of_home = stat.S_ISDIR(facts.st_mode) or facts.st_nlink == 1
                if facts.st_uid == 0 and owner.st_uid != 0 and is_of_home:
                    os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
