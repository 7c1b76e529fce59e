"""The tables, version by version. A released version never changes; a new one is one more entry at the end."""

from __future__ import annotations

#: The conversations. Issue 2 writes them; issue 6 (plugin contract) knows a chat by its unique name and seals
#: private ones: their texts are then stored under a key of their own, ``wrapped_key``, which deleting destroys first
#: (an empty one is of a deletion that was cut short).
#: ``topic`` counts "new topic": only turns of the present topic are shown to a brain.
_CHATS = """
CREATE TABLE chats (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    is_private INTEGER NOT NULL DEFAULT 0,
    is_current INTEGER NOT NULL DEFAULT 0,
    topic INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    wrapped_key BLOB
) STRICT"""

_ONE_CURRENT_CHAT = "CREATE UNIQUE INDEX one_current_chat ON chats (is_current) WHERE is_current"

#: What a finished turn leaves in its conversation; ``items`` and ``did`` are JSON lists.
#: AUTOINCREMENT, so that a forgotten turn's position is not used again.
_TURNS = """
CREATE TABLE turns (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    turn_id TEXT NOT NULL UNIQUE,
    chat TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    topic INTEGER NOT NULL,
    user_text TEXT NOT NULL,
    reply_text TEXT NOT NULL,
    heard_text TEXT NOT NULL,
    did TEXT NOT NULL,
    items TEXT NOT NULL,
    at TEXT NOT NULL
) STRICT"""

#: Pictures, as the plugin contract keeps them (issue 6); the handle a model sees is ``img:`` and the id.
#: Without a chat they belong to no conversation. ``visible`` 0: for the person, not for the model.
_IMAGES = """
CREATE TABLE images (
    id TEXT PRIMARY KEY,
    chat TEXT REFERENCES chats (id) ON DELETE CASCADE,
    turn_id TEXT,
    media_type TEXT NOT NULL,
    data BLOB NOT NULL,
    visible INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL
) STRICT"""

#: State that plugins keep per chat (issue 6): slot = sequence 0, log entries from 1. Clearing a chat keeps these.
_CHAT_ROWS = """
CREATE TABLE chat_rows (
    plugin TEXT NOT NULL,
    chat TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    value TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (plugin, chat, key, sequence)
) STRICT"""

#: How every turn went, also those that leave nothing in a conversation (``appliance turns``).
#: ``stages`` is a JSON object: name of the stage -> seconds.
_TURN_LOG = """
CREATE TABLE turn_log (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    turn_id TEXT NOT NULL UNIQUE,
    chat TEXT REFERENCES chats (id) ON DELETE CASCADE,
    origin TEXT NOT NULL,
    started_at TEXT NOT NULL,
    stages TEXT NOT NULL,
    end_reason TEXT NOT NULL
) STRICT"""

#: Exactly what a model got and answered (``appliance turns show ID --model``), secrets masked, as JSON.
_ROUNDS = """
CREATE TABLE rounds (
    turn_id TEXT NOT NULL REFERENCES turn_log (turn_id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    request TEXT NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (turn_id, number)
) STRICT"""

#: Small values that last: timers, volume, notices said. Position keeps the order in which keys first came.
_DOCUMENTS = """
CREATE TABLE documents (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    UNIQUE (collection, key)
) STRICT"""

#: Who did what with whose permission (issues 2 and 3). ``line`` is canonical JSON with every field, the line's
#: number and the hash of the line before it; ``hash`` is its SHA-256. A line is whole in itself, so later
#: versions may add fields without breaking the chain, and an exported line can be checked with sha256sum.
_AUDIT = """
CREATE TABLE audit (
    sequence INTEGER PRIMARY KEY,
    line TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT"""

#: How many lines there are and the hash of the last: a chain alone does not notice that its end was cut off.
_AUDIT_HEAD = """
CREATE TABLE audit_head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    count INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT"""

#: Intents that have no result yet; what is left here after a restart has an end that nobody knows.
_AUDIT_OPEN = "CREATE TABLE audit_open (sequence INTEGER PRIMARY KEY) STRICT"

#: Requests for a person's hand (issue 3). ``record`` is canonical JSON of everything that was asked about, and what
#: runs is what it holds; ``digest`` is its SHA-256. The record is emptied when the request is over, and never
#: written for a private chat: then only the digest is here.
_APPROVALS = """
CREATE TABLE approvals (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    digest TEXT NOT NULL,
    record TEXT NOT NULL,
    tool TEXT NOT NULL,
    boot TEXT NOT NULL,
    created_at TEXT NOT NULL,
    approver TEXT NOT NULL DEFAULT ''
) STRICT"""

#: Standing permissions that the owner gave over SSH; without ``arguments`` for any. A number is never used again:
#: the audit trail names it.
_GRANTS = """
CREATE TABLE grants (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    origin TEXT NOT NULL,
    tool TEXT NOT NULL,
    plugin_digest TEXT NOT NULL,
    arguments TEXT,
    uid INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT
) STRICT"""

#: Which hosts were asked, by whom, day by day (issue 4): no path, no query, no content.
_TRAFFIC = """
CREATE TABLE traffic (
    day TEXT NOT NULL,
    who TEXT NOT NULL,
    lane TEXT NOT NULL,
    host TEXT NOT NULL,
    requests INTEGER NOT NULL,
    bytes_out INTEGER NOT NULL,
    bytes_in INTEGER NOT NULL,
    PRIMARY KEY (day, who, lane, host)
) STRICT, WITHOUT ROWID"""

#: What opens the keys of private chats (issue 6), itself under the owner's passphrase; ``ports.Vault``.
_VAULT = """
CREATE TABLE vault (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    salt BLOB NOT NULL,
    public_key BLOB NOT NULL,
    wrapped_private_key BLOB NOT NULL
) STRICT"""

#: Which account of each plugin scope holds in a chat, a JSON object.
_SCOPES = "ALTER TABLE chats ADD COLUMN scopes TEXT NOT NULL DEFAULT '{}'"

#: Version n is reached from version n - 1 by the statements at index n - 1.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        _CHATS,
        _ONE_CURRENT_CHAT,
        _TURNS,
        "CREATE INDEX turns_of_chat ON turns (chat, position)",
        _IMAGES,
        "CREATE INDEX images_of_chat ON images (chat)",
        _CHAT_ROWS,
        "CREATE INDEX chat_rows_of_chat ON chat_rows (chat)",
        _TURN_LOG,
        "CREATE INDEX turn_log_of_chat ON turn_log (chat)",
        _ROUNDS,
        _DOCUMENTS,
        _AUDIT,
        # Against our own mistakes; who owns the file can of course drop these, and the chain then shows it.
        "CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit "
        "BEGIN SELECT RAISE(ABORT, 'audit lines are never changed'); END",
        "CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit "
        "BEGIN SELECT RAISE(ABORT, 'audit lines are never deleted'); END",
        _AUDIT_HEAD,
        "INSERT INTO audit_head (one, count, hash) VALUES (1, 0, '')",
        _AUDIT_OPEN,
        _APPROVALS,
        "CREATE INDEX approvals_by_state ON approvals (state)",
        _GRANTS,
    ),
    (_TRAFFIC,),
    # What a watching person saw of the calls of a turn; a JSON list.
    ("ALTER TABLE turn_log ADD COLUMN steps TEXT NOT NULL DEFAULT '[]'",),
    (_VAULT, _SCOPES),
)
