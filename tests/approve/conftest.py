"""Stores that tests open are closed when they end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.approve.room import ROOMS


@pytest.fixture(autouse=True)
def _closed_rooms() -> Iterator[None]:
    yield
    while ROOMS:
        ROOMS.pop().database.close()
