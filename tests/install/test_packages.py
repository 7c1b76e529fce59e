"""The packages that a plugin needs go into its own folder, by their digests; those of the box never change."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import socket
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.errors import ApplianceError, RefusedError
from appliance.install.packages import OwnPackages
from appliance.install.standing import State, running_python
from appliance.network.proxy import Proxy, with_proxy
from appliance.store.plugin_pins import PluginPins
from tests.install.rig import Manager, tides
from tests.install.wheels import make_wheel


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """An index in a folder: ``moonphase`` needs ``tidetable``."""
    folder = tmp_path / "wheels"
    make_wheel(folder, "moonphase", "1.5", needs=("tidetable>=2",))
    make_wheel(folder, "tidetable", "2.0")
    return folder


@pytest.fixture
def packages(wheels: Path) -> OwnPackages:
    """pip, which sees that index and nothing else."""
    return OwnPackages(lambda: {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)})


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A plugin on its stage."""
    folder = tmp_path / "stage"
    folder.mkdir()
    return folder


def test_what_is_needed_and_what_that_needs_comes_into_the_plugins_folder(
    packages: OwnPackages, wheels: Path, place: Path
) -> None:
    before = sorted(found.name for found in importlib.metadata.distributions())
    brought = packages.bring(place, ["moonphase>=1"])
    assert [(wheel.name, wheel.version) for wheel in brought] == [("moonphase", "1.5"), ("tidetable", "2.0")]
    assert (place / "site-packages" / "moonphase.py").is_file()
    assert (place / "site-packages" / "tidetable.py").is_file()
    assert list(place.rglob("*.pyc")) == []
    digest = hashlib.sha256((wheels / "tidetable-2.0-py3-none-any.whl").read_bytes()).hexdigest()
    assert f"tidetable==2.0 --hash=sha256:{digest}" in (place / "requirements.lock").read_text()
    assert sorted(found.name for found in importlib.metadata.distributions()) == before


def test_what_the_box_has_in_a_fitting_version_is_not_brought(packages: OwnPackages, place: Path) -> None:
    assert packages.bring(place, ["numpy>=1", "requests"]) == ()
    assert list(place.iterdir()) == []


def test_what_the_box_has_in_another_version_is_refused(packages: OwnPackages, wheels: Path, place: Path) -> None:
    make_wheel(wheels, "requests", "1.0")
    with pytest.raises(RefusedError, match=r"it needs requests 1\.0, but the box itself uses requests 2"):
        packages.bring(place, ["requests<2"])
    assert list(place.iterdir()) == []


def test_what_is_only_there_as_source_is_not_built(packages: OwnPackages, wheels: Path, place: Path) -> None:
    marker = place.parent / "ran"
    with zipfile.ZipFile(wheels / "sandbank-1.0.zip", "w") as archive:
        archive.writestr("sandbank-1.0/setup.py", f"open({str(marker)!r}, 'w')")
        archive.writestr("sandbank-1.0/PKG-INFO", "Metadata-Version: 1.0\nName: sandbank\nVersion: 1.0\n")
    with pytest.raises(ApplianceError, match="its packages cannot be had: No matching distribution found for sandbank"):
        packages.bring(place, ["sandbank"])
    assert not marker.exists()


@pytest.mark.parametrize(
    "requirement",
    ["--index-url=http://evil.example", "-r/etc/passwd", "x @ https://evil.example/x.whl", "./x", "git+https://x/y"],
)
def test_what_is_no_name_with_a_version_never_reaches_pip(place: Path, requirement: str) -> None:
    with pytest.raises(RefusedError, match="which is no package by name and version"):
        OwnPackages(dict, python="/nowhere").bring(place, [requirement])


def test_packages_are_asked_for_through_the_proxy_of_the_box(place: Path) -> None:
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)
        proxy = Proxy("http", "127.0.0.1", server.getsockname()[1])
        index = {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": "https://index.invalid/simple", "PIP_RETRIES": "0"}
        plain = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        packages = OwnPackages(lambda: with_proxy({**plain, **index}, proxy))
        answering = threading.Thread(target=_refuse_one, args=(server, asked), daemon=True)
        answering.start()
        with pytest.raises(ApplianceError, match="its packages cannot be had"):
            packages.bring(place, ["tidetable"])
        answering.join()
    assert asked[0].startswith(b"CONNECT index.invalid:443 HTTP/1")


def _refuse_one(server: socket.socket, asked: list[bytes]) -> None:
    connection, _ = server.accept()
    with connection:
        asked.append(connection.recv(10_000))
        connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def test_a_wheel_that_changed_after_it_was_resolved_is_refused(wheels: Path, place: Path) -> None:
    class Swapped(OwnPackages):
        """Somebody puts another wheel in its place between the two looks."""

        def _install(self, folder: Path, found: object) -> None:
            make_wheel(wheels, "tidetable", "2.0", text="import os\n")
            super()._install(folder, found)  # type: ignore[arg-type]

    packages = Swapped(lambda: {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)})
    with pytest.raises(ApplianceError, match="its packages cannot be brought"):
        packages.bring(place, ["tidetable"])
    assert not (place / "site-packages" / "tidetable.py").exists()


def test_a_plugin_with_packages_is_pinned_with_them_and_with_its_python(tmp_path: Path, wheels: Path) -> None:
    manager = Manager(tmp_path / "home", wheels)
    manager.install(tides(tmp_path, "one", **{"requirements.txt": "moonphase\n"}))
    pin = PluginPins(manager.home.pins_file).all()["tides"]
    assert "site-packages/moonphase.py" in pin.files and "requirements.lock" in pin.files
    assert pin.python == running_python()
    (manager.places.plugins / "tides" / "site-packages" / "moonphase.py").write_text("changed")
    assert manager.verify(["tides"])[0].changed == ("site-packages/moonphase.py",)


def test_packages_of_another_python_are_told_and_made_anew(tmp_path: Path, wheels: Path) -> None:
    manager = Manager(tmp_path / "home", wheels)
    source = tides(tmp_path, "one", **{"requirements.txt": "moonphase\n"})
    manager.install(source)
    pins = PluginPins(manager.home.pins_file)
    pins.put(replace(pins.all()["tides"], python="3.4"))
    (found,) = manager.verify()
    assert found.state is State.PINNED
    (sentence,) = found.sentences()
    assert sentence.startswith(f"its own packages are for Python 3.4, and this is {running_python()}")
    manager.install(source)
    assert manager.verify()[0].sentences() == []


def test_packages_that_cannot_be_had_leave_the_home_as_it_was(tmp_path: Path, wheels: Path) -> None:
    manager = Manager(tmp_path / "home", wheels)
    with pytest.raises(ApplianceError, match="No matching distribution found for atlantis"):
        manager.install(tides(tmp_path, "one", **{"requirements.txt": "atlantis\n"}))
    assert manager.verify() == []
