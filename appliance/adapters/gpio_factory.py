"""The pins of a Raspberry Pi for gpiozero, through lgpio."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def pin_factory(work_folder: Path) -> Any:
    """The factory that GPIOZERO_PIN_FACTORY names, else a new one of lgpio; see ``lgpio_factory``."""
    named = named_factory()
    return named if named is not None else lgpio_factory(work_folder)


def named_factory() -> Any:
    """The factory that GPIOZERO_PIN_FACTORY names, which gpiozero keeps for the whole process; None without a name.

    Raises ``OSError``.
    """
    name = os.environ.get("GPIOZERO_PIN_FACTORY")
    if not name:
        return None
    from gpiozero import Device

    try:
        Device.ensure_pin_factory()
    except Exception as error:
        raise OSError(f"the backend GPIOZERO_PIN_FACTORY={name} cannot be used: {error}") from error
    return Device.pin_factory


def lgpio_factory(work_folder: Path) -> Any:
    """A gpiozero factory; lgpio leaves a named pipe in ``work_folder``, which must be writable.

    Every factory of a process shares its pins with the others: closing one closes them all. Raises ``OSError`` that
    says what to do.
    """
    # Read by lgpio when it is imported; its default is the current folder, which a service cannot write to.
    os.environ.setdefault("LG_WD", str(work_folder))
    try:
        from gpiozero.pins.lgpio import LGPIOFactory
    except ImportError as error:
        raise OSError(
            "a pin needs the library lgpio, which is not installed; on a Raspberry Pi, ./run installs it"
        ) from error
    except Exception as error:
        raise OSError(f"the library lgpio cannot be loaded: {error}") from error
    try:
        return LGPIOFactory()
    except Exception as error:
        raise OSError(
            f"the pins of this board cannot be opened: {error}. It must be a Raspberry Pi, and this user in group gpio"
        ) from error
