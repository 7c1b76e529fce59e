"""Small JSON values that last."""

from __future__ import annotations

import json

from appliance.errors import StoreError
from appliance.ports import Json
from appliance.store.canonical_json import json_text
from appliance.store.database import Connection, Database

_PUT = """
INSERT INTO documents (collection, key, value) VALUES (?, ?, ?)
ON CONFLICT (collection, key) DO UPDATE SET value = excluded.value"""


class StoredDocuments:
    """``Documents`` in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, collection: str, key: str) -> Json:
        def work(connection: Connection) -> Json:
            query = "SELECT value FROM documents WHERE collection = ? AND key = ?"
            row = connection.execute(query, (collection, key)).fetchone()
            return None if row is None else json.loads(row[0])

        return await self._database.arun(work)

    async def put(self, collection: str, key: str, value: Json) -> None:
        try:
            text = json_text(value)
        except ValueError as error:
            raise StoreError(f"{collection}/{key} cannot be stored: {error}") from error
        await self._database.arun(lambda connection: connection.execute(_PUT, (collection, key, text)))

    async def delete(self, collection: str, key: str) -> None:
        statement = "DELETE FROM documents WHERE collection = ? AND key = ?"
        await self._database.arun(lambda connection: connection.execute(statement, (collection, key)))

    async def all(self, collection: str) -> dict[str, Json]:
        query = "SELECT key, value FROM documents WHERE collection = ? ORDER BY position"
        rows = await self._database.arun(lambda connection: connection.execute(query, (collection,)).fetchall())
        return {key: json.loads(value) for key, value in rows}
