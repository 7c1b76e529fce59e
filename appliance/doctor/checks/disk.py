"""The disk: room, files, and whether what is written reaches it in time."""

from __future__ import annotations

import errno

from appliance.doctor.finding import Finding, as_sentence, cannot_tell, fine, wrong
from appliance.ports_doctor import Machine

_LEAST_FREE_BYTES = 200_000_000
_LEAST_FREE_SHARE = 0.02
#: A good card needs some milliseconds, a worn one seconds.
_SLOW_SECONDS = 1.0


def disk_room(machine: Machine, folder: str) -> Finding:
    """Whether there is room under the home."""
    if not machine.find(folder):
        return _no_home(folder)
    disk = machine.disk(folder)
    megabytes, share = disk.free_bytes / 1e6, disk.free_bytes / max(1, disk.total_bytes)
    said = f"{megabytes:,.0f} MB are free, {share:.0%} of the disk"
    if disk.free_bytes < _LEAST_FREE_BYTES or share < _LEAST_FREE_SHARE:
        return wrong(f"Only {said}.", f"Make room: sudo du -xh {folder} --max-depth=1 | sort -h")
    return fine(f"{said}.")


def disk_files(machine: Machine, folder: str) -> Finding:
    """Whether the file system takes more files."""
    if not machine.find(folder):
        return _no_home(folder)
    disk = machine.disk(folder)
    if not disk.most_files:
        return fine("The file system has no fixed number of files.")
    share = disk.free_files / disk.most_files
    if share < _LEAST_FREE_SHARE:
        return wrong(
            f"The file system takes only {disk.free_files} more files, though there may be room.",
            "Find the folder with the many files: sudo du -x --inodes / | sort -n | tail",
        )
    return fine(f"{disk.free_files:,} more files fit.")


def disk_writing(machine: Machine, folder: str) -> Finding:
    """Whether the home can be written, and how long that takes to reach the disk."""
    try:
        seconds = machine.write_seconds(folder)
    except OSError as error:
        return _not_writable(machine, folder, error)
    if seconds > _SLOW_SECONDS:
        return wrong(
            f"Writing 4 kB to the disk took {seconds:.1f} seconds.",
            "The card is worn or bad: make a backup, take a new one.",
        )
    return fine(f"Writing 4 kB to the disk takes {seconds * 1000:.0f} ms.")


def _not_writable(machine: Machine, folder: str, error: OSError) -> Finding:
    if error.errno == errno.ENOENT:
        return _no_home(folder)
    if error.errno == errno.EROFS or machine.disk(folder).is_read_only:
        return wrong(
            f"{folder} is on a disk that is read-only; nothing is kept.",
            "Restart; if it is read-only again, the card is dying: make a backup and take a new one.",
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return wrong(
            f"{machine.user} may not write in {folder}.", f"Give it back: sudo chown -R {machine.user} {folder}"
        )
    return wrong(as_sentence(f"{folder} cannot be written: {error.strerror}"), "Make room on the disk.")


def _no_home(folder: str) -> Finding:
    return cannot_tell(f"There is no folder {folder}.", "Start the box once, which makes it: appliance run")
