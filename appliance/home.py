"""Where things lie: the owner's home folder, and what is shipped with the program."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from appliance.errors import ApplianceError, HomeLockedError

#: Written by the service installer; holds the path of the service's home.
HOME_POINTER = Path("/etc/appliance/home")
SERVICE_CONFIG = Path("/etc/appliance/config.toml")


def shipped(name: str) -> Path:
    """A folder that ships with the program (``plugins``, ``soul``): in the wheel, or in the checkout."""
    package = Path(__file__).resolve().parent
    packed = package / "_shipped" / name
    return packed if packed.exists() else package.parent / name


@dataclass(frozen=True)
class Home:
    """The folder with everything that is the owner's; see architecture section 5 for its layout."""

    folder: Path
    #: True when the service installer made it: configuration is then in /etc.
    is_service: bool = False

    @classmethod
    def find(cls, environment: Mapping[str, str] = os.environ, pointer: Path = HOME_POINTER) -> Home:
        """``APPLIANCE_HOME``, else the service's pointer, else the XDG data folder."""
        chosen = environment.get("APPLIANCE_HOME")
        if chosen:
            return cls(Path(chosen).expanduser().resolve())
        try:
            return cls(Path(pointer.read_text(encoding="utf-8").strip()), is_service=True)
        except OSError:
            data = environment.get("XDG_DATA_HOME") or str(Path("~/.local/share").expanduser())
            return cls(Path(data) / "appliance")

    @property
    def config_file(self) -> Path:
        """The owner's settings."""
        return SERVICE_CONFIG if self.is_service else self.folder / "config.toml"

    @property
    def database_file(self) -> Path:
        """Everything that lasts."""
        return self.folder / "appliance.db"

    @property
    def plugins_folder(self) -> Path:
        """One folder or file per plugin."""
        return self.folder / "plugins"

    @property
    def switch_file(self) -> Path:
        """Which plugins are on and off."""
        return self.folder / "user" / "webui" / "plugins.json"

    @property
    def plugin_settings_folder(self) -> Path:
        """One file per plugin with what its owner set; plugins read them too."""
        return self.switch_file.parent / "plugins"

    @property
    def plugin_state_folder(self) -> Path:
        """One file per plugin with what it keeps."""
        return self.folder / "user" / "plugin_state"

    @property
    def soul_file(self) -> Path:
        """The owner's soul; where it is missing, the shipped one is in force."""
        return self.folder / "soul" / "default.md"

    @property
    def models_folder(self) -> Path:
        """Fetched speech weights."""
        return self.folder / "models"

    @property
    def cache_folder(self) -> Path:
        """Things that can be made again (spoken lines)."""
        return self.folder / "cache"

    @property
    def runtime_folder(self) -> Path:
        """Control socket and lock; gone after a reboot where the system has such a place."""
        given = os.environ.get("RUNTIME_DIRECTORY")  # systemd's RuntimeDirectory=
        return Path(given.split(":")[0]) if given else self.folder / "run"

    @property
    def control_socket(self) -> Path:
        """Where a running device answers the CLI."""
        return self.runtime_folder / "control.sock"

    @property
    def worker_socket(self) -> Path:
        """Where the service manager starts a worker for each connection; only a service has it."""
        return self.runtime_folder / "worker.sock"

    def make(self) -> None:
        """Create the folders that must exist, for this user only."""
        switch_folder = self.switch_file.parent
        for folder in (self.folder, self.plugins_folder, switch_folder, self.cache_folder, self.runtime_folder):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Own this home for as long as the block runs.

        Raises ``HomeLockedError`` when another process does, ``ApplianceError`` when the folder cannot be used.
        """
        try:
            self.make()
            handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ApplianceError(
                f"the home folder {self.folder} cannot be used ({error.strerror}: {error.filename}); "
                "run this as its owner, or set APPLIANCE_HOME to a folder of yours"
            ) from error
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                owner = os.read(handle, 32).decode(errors="replace").strip() or "unknown"
                raise HomeLockedError(
                    f"the appliance already runs on {self.folder} (process {owner}); "
                    "stop it first, or set APPLIANCE_HOME to another folder"
                ) from error
            with suppress(OSError):  # a full disk: the lock holds, only its owner is not named
                os.truncate(handle, 0)
                os.pwrite(handle, str(os.getpid()).encode(), 0)
            yield
        finally:
            os.close(handle)
