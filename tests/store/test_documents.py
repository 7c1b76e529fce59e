"""Small values that last."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.clock import FakeClock
from appliance.errors import StoreError
from appliance.store.documents import StoredDocuments
from appliance.store.recovery import open_database


async def test_values_come_back_after_a_restart_in_the_order_they_first_came(tmp_path: Path) -> None:
    database = open_database(tmp_path / "appliance.db", FakeClock())
    documents = StoredDocuments(database)
    await documents.put("timers", "pasta", {"seconds": 480, "name": "pâtes 😀"})
    await documents.put("timers", "tea", {"seconds": 180})
    await documents.put("timers", "pasta", {"seconds": 500})
    await documents.put("volume", "tea", 0.5)
    database.close()
    database = open_database(tmp_path / "appliance.db", FakeClock())
    documents = StoredDocuments(database)
    assert list((await documents.all("timers")).items()) == [("pasta", {"seconds": 500}), ("tea", {"seconds": 180})]
    assert await documents.get("volume", "tea") == 0.5
    await documents.delete("timers", "tea")
    await documents.delete("timers", "tea")
    assert await documents.get("timers", "tea") is None
    assert await documents.all("nothing here") == {}
    database.close()


@pytest.mark.parametrize("value", [float("nan"), {1: "one"}, {"a": {2: 3}}, object(), b"bytes", {"a": [float("inf")]}])
async def test_what_is_no_json_is_refused_and_the_old_value_stays(tmp_path: Path, value: object) -> None:
    database = open_database(tmp_path / "appliance.db", FakeClock())
    documents = StoredDocuments(database)
    await documents.put("c", "k", "old")
    with pytest.raises(StoreError, match="c/k cannot be stored"):
        await documents.put("c", "k", value)
    assert await documents.get("c", "k") == "old"
    database.close()
