"""What the tests of both contracts share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.contracts.gate import GATES, Gate
from tests.contracts.rig import Rig
from tests.contracts.sapphire_rig import SapphireRig


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A door that plugin code waits at; open when the test is over, so that no thread stays behind."""
    made = Gate()
    GATES[:] = [made]
    yield made
    made.open()


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    """A box with nothing but plugins."""
    made = Rig(tmp_path)
    yield made
    await made.host.close()


@pytest.fixture
async def box(tmp_path: Path) -> AsyncIterator[SapphireRig]:
    """A box with nothing but plugins of the second contract."""
    made = SapphireRig(tmp_path)
    yield made
    await made.close()
