"""Documents in memory, which can be told to fail."""

from __future__ import annotations

import json

from appliance.errors import StoreError
from appliance.ports import Json


class FakeDocuments:
    """``Documents``; values go through JSON, as in the real store.

    ``fail_writes`` and ``fail_reads`` make it raise ``StoreError``. Hand the same one to a second schedule to play a
    restart.
    """

    def __init__(self, collections: dict[str, dict[str, Json]] | None = None) -> None:
        self.collections = collections or {}
        self.fail_writes = False
        self.fail_reads = False
        self.writes = 0

    async def get(self, collection: str, key: str) -> Json:
        """The value, or None."""
        return (await self.all(collection)).get(key)

    async def put(self, collection: str, key: str, value: Json) -> None:
        """Keep it."""
        self._write()
        self.collections.setdefault(collection, {})[key] = json.loads(json.dumps(value))

    async def delete(self, collection: str, key: str) -> None:
        """Forget it."""
        self._write()
        self.collections.get(collection, {}).pop(key, None)

    async def all(self, collection: str) -> dict[str, Json]:
        """Everything of a collection."""
        if self.fail_reads:
            raise StoreError("the fake disk cannot be read")
        return dict(self.collections.get(collection, {}))

    def _write(self) -> None:
        if self.fail_writes:
            raise StoreError("the fake disk is full")
        self.writes += 1
