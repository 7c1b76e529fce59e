"""Where things lie: the owner's home folder, and what is shipped with the program."""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from appliance.durable import make_folder
from appliance.errors import ApplianceError, HomeLockedError

#: Written by the service installer; holds the path of the service's home.
HOME_POINTER = Path("/etc/appliance/home")
SERVICE_CONFIG = Path("/etc/appliance/config.toml")
#: As the unit of the service has them made.
SERVICE_RUNTIME = Path("/run/appliance")
SERVICE_CACHE = Path("/var/cache/appliance")


def shipped(name: str) -> Path:
    """A folder that ships with the program (``plugins``, ``soul``): in the wheel, or in the checkout."""
    package = Path(__file__).resolve().parent
    packed = package / "_shipped" / name
    return packed if packed.exists() else package.parent / name


def nearest_existing(path: Path) -> Path:
    """The path itself, or the folder above it that is there for this user."""
    return next(place for place in (path, *path.parents) if os.access(place, os.F_OK))


@dataclass(frozen=True)
class HomeTrouble:
    """Why a home cannot be used: key of the catalogue sentence, and what is wrong and what to do for log and CLI."""

    key: str
    text: str


@dataclass(frozen=True)
class Home:
    """The folder with everything that is the owner's; see architecture section 5 for its layout."""

    folder: Path
    #: True when the service installer made it: configuration is then in /etc.
    is_service: bool = False
    #: Why this is a home in memory, in the place of one that cannot be used; None for a home that lasts.
    trouble: HomeTrouble | None = None
    #: Where the control socket is, when it is not where it is for this folder.
    runtime: Path | None = None

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
        return SERVICE_CACHE if self.is_service and self.trouble is None else self.folder / "cache"

    @property
    def runtime_folder(self) -> Path:
        """Control socket and lock; gone after a reboot where the system has such a place."""
        given = os.environ.get("RUNTIME_DIRECTORY")  # systemd's RuntimeDirectory=
        if self.runtime is not None or given:
            return self.runtime or Path((given or "").split(":")[0])
        if self.is_service:
            return SERVICE_RUNTIME
        can_write = os.access(nearest_existing(self.folder), os.W_OK)
        return self.folder / "run" if can_write else self.memory_folder

    @property
    def memory_folder(self) -> Path:
        """What there is in memory for a home that cannot be written: the same for each process of this user."""
        ram = Path("/dev/shm")
        name = f"appliance-{os.geteuid()}-{hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:12]}"
        return (ram if os.access(ram, os.W_OK) else Path(tempfile.gettempdir())) / name

    @property
    def control_socket(self) -> Path:
        """Where a running device answers the CLI."""
        return self.runtime_folder / "control.sock"

    @property
    def worker_socket(self) -> Path:
        """Where the service manager starts a worker for each connection; only a service has it."""
        return self.runtime_folder / "worker.sock"

    @property
    def installed_folder(self) -> Path:
        """What the plugin manager keeps: stages, older versions, its journal."""
        return self.folder / "installed"

    @property
    def pins_file(self) -> Path:
        """Which plugins were installed, and exactly which bytes."""
        return self.installed_folder / "pins.json"

    @property
    def starts_file(self) -> Path:
        """How the last starts ended, and whose code ran when one ended badly."""
        return self.folder / "starts.json"

    @property
    def crash_folder(self) -> Path:
        """The stacks of the last crashes."""
        return self.folder / "crashes"

    def make(self) -> None:
        """Create the folders that must exist, for this user only."""
        switch_folder = self.switch_file.parent
        for folder in (self.folder, self.plugins_folder, switch_folder, self.cache_folder, self.runtime_folder):
            make_folder(folder)

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
                + (
                    "it is the service's, which does not run: sudo systemctl start appliance"
                    if self.is_service
                    else "run this as its owner, or set APPLIANCE_HOME to a folder of yours"
                )
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
            if self.is_service and os.geteuid() == 0:
                self._give_back()
            os.close(handle)

    def _give_back(self) -> None:
        """What root made in a service's home, but for the folders that are root's, is the service's to write."""
        if not self.folder.is_dir():
            return  # A home in memory goes before its lock does.
        owner = self.folder.stat()
        for top in (self.folder, self.cache_folder):
            # By handles of folders: nobody can lead us elsewhere with a link.
            for place, folders, files, handle in os.fwalk(top):
                if Path(place) == self.folder:
                    folders[:] = set(folders) - {self.plugins_folder.name, self.installed_folder.name}
                for name in (*folders, *files):
                    with suppress(FileNotFoundError):
                        if os.stat(name, dir_fd=handle, follow_symlinks=False).st_uid == 0:
                            os.chown(name, owner.st_uid, owner.st_gid, dir_fd=handle, follow_symlinks=False)
