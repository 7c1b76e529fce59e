"""One manager at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from appliance.durable import make_folder
from appliance.errors import ApplianceError
from appliance.install.access import as_root, make_open_folder, refused_by_disk
from appliance.install.places import Places


class ManagerBusyError(ApplianceError):
    """Another process changes the plugins of this home."""


@contextmanager
def manager_lock(places: Places) -> Iterator[None]:
    """Be the one who changes the plugins of this home. Makes the folders that must be there.

    Raises ``ManagerBusyError``, and ``ApplianceError`` where this user may not change them.
    """
    try:
        make_folder(places.home.folder)
        for folder in (places.installed, places.plugins):
            make_open_folder(folder)
            if not os.access(folder, os.W_OK | os.X_OK):
                raise ApplianceError(f"{folder} belongs to somebody else; {as_root()}")
        handle = os.open(places.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise refused_by_disk(error, "the plugins cannot be changed") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ManagerBusyError("another command changes the plugins just now; try again when it is done") from error
        yield
    finally:
        os.close(handle)
