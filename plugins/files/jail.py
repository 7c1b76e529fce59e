"""Opens files of the work folder, and nothing else. It has no SCHEMA, so it is no tool."""

import os
import stat

from kotoba.core.path_security import PathSecurityError, validate_within_dir

LARGEST_BYTES = 1_000_000


class Refused(Exception):
    """A path that is not touched; its text is the sentence for the model."""


def inside(path, folder):
    """The absolute path of what the model named. Raises ``Refused``."""
    if not isinstance(path, str) or not path.strip():
        raise Refused("I need the path of a file.")
    try:
        return validate_within_dir(path.strip(), folder)
    except PathSecurityError:
        raise Refused(f"{path} is outside my work folder.") from None
    except (ValueError, RuntimeError):
        raise Refused(f"{path!r} is no path.") from None


def read(target):
    """The bytes of a file. Raises ``Refused`` for what is no plain file, ``OSError`` for what cannot be read."""
    # The path was looked at a moment ago: O_NOFOLLOW, in case it has become a link since; O_NONBLOCK, for pipes.
    handle = os.open(target, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise Refused(f"{target.name} is no file.")
        if facts.st_size > LARGEST_BYTES:
            raise Refused(f"{target.name} has {facts.st_size} bytes; {LARGEST_BYTES} are the most that I read.")
        return file.read(LARGEST_BYTES)


def text_of(data):
    """Bytes as text. Raises ``Refused`` when they are none."""
    if b"\0" in data[:8_000]:
        raise Refused("That file holds no text.")
    return data.decode("utf-8", "replace")
