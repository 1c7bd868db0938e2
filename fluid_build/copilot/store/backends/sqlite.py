"""A store in an SQLite file, for several processes on one machine, with search.

Write-ahead log, a busy timeout, and FTS5 for texts. Needs SQLite 3.35, and none of its extensions.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from fluid_build.copilot.store.base import (
    Embeddings,
    Hit,
    StoredRecord,
    StoreError,
    checked_row,
    from_json_text,
    pack_embedding,
    to_json_text,
)
from fluid_build.copilot.store.private_files import create_private_file, make_private_folder
from fluid_build.copilot.store.word_ranking import words_of

_BUSY_SECONDS = 30.0
_CREATION = threading.Lock()

_MATCHES_TO_RANK = 1_000
"""BM25 is computed for each match: rare words first, until there are this many."""

_LOG_PAGES = 8_000
"""Pages (4 KiB) in the write-ahead log before they are moved to the file, which takes a sync."""

_FORMAT = 1
"""The version of the tables below, which the file has as its user_version."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS records (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    expires_at REAL,
    item INTEGER,
    PRIMARY KEY (namespace, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS records_expiry ON records (expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS items (
    id INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    expires_at REAL
);
CREATE INDEX IF NOT EXISTS items_expiry ON items (namespace, expires_at)
    WHERE expires_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS embeddings (item INTEGER PRIMARY KEY, vector BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS revisions (namespace TEXT PRIMARY KEY, revision INTEGER NOT NULL);
CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5 (text);
"""

# An item is a text and an embedding by which a record can be rows, each with the item's id.
# Records that have neither, such as checkpoints, need one b-tree only.
_UPSERT = """
INSERT INTO records (namespace, key, value, expires_at) VALUES (?, ?, ?, ?)
ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at
RETURNING item
"""
_ALIVE = "(expires_at IS NULL OR expires_at > ?)"
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM texts WHERE texts MATCH ? LIMIT ?)"
# The best matches are ranked before their items are read: few belong to another namespace.
_RANK = f"""
SELECT items.key, -score FROM (
    SELECT rowid AS item, bm25(texts) AS score FROM texts WHERE texts MATCH ? LIMIT ?
) JOIN items ON items.id = item
WHERE namespace = ? AND {_ALIVE} ORDER BY score, items.key LIMIT ?
"""


class SqliteBackend:
    """Records in the file ``path``, which is created with its folder on first use.

    A file and folders that it makes are for their owner alone, and SQLite makes its log likewise.
    ``clock`` returns the time by which records expire, in seconds since the epoch.
    """

    def __init__(self, path: str | Path, *, clock: Callable[[], float] = time.time) -> None:
        self._connection: sqlite3.Connection | None = None
        self._opened_by = 0
        self._lock = threading.RLock()
        self._path = Path(path).expanduser()
        self._clock = clock

    def put(
        self,
        namespace: str,
        key: str,
        value: object,
        *,
        ttl_seconds: float | None = None,
        text: str = "",
        embedding: Sequence[float] | None = None,
    ) -> None:
        """Store ``value``; its text and embedding replace the previous ones."""
        packed = pack_embedding(embedding)
        row = self._row(namespace, key, value, ttl_seconds)
        with self._writing() as connection:
            _write(connection, row, text, packed)

    def put_many(
        self, namespace: str, values: Mapping[str, object], *, ttl_seconds: float | None = None
    ) -> None:
        """Store all values or none."""
        rows = [self._row(namespace, key, value, ttl_seconds) for key, value in values.items()]
        with self._writing() as connection:
            for row in rows:
                _write(connection, row, "", None)

    def add(
        self, namespace: str, key: str, value: object, *, ttl_seconds: float | None = None
    ) -> bool:
        """Store ``value`` if the key is free; return whether it was."""
        row = self._row(namespace, key, value, ttl_seconds)
        with self._writing() as connection:
            existing = connection.execute(
                f"SELECT 1 FROM records WHERE namespace = ? AND key = ? AND {_ALIVE}",
                (namespace, key, self._clock()),
            ).fetchone()
            if existing is None:
                _write(connection, row, "", None)
            return existing is None

    def get(self, namespace: str, key: str, default: object = None) -> Any:
        """Return the value, or ``default``."""
        rows = self._select(
            f"SELECT value FROM records WHERE namespace = ? AND key = ? AND {_ALIVE}",
            (namespace, key, self._clock()),
        )
        return from_json_text(rows[0][0]) if rows else default

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, StoredRecord]:
        """Return the records that exist, by key."""
        rows = self._select(
            "SELECT key, value, texts.text FROM records LEFT JOIN texts ON texts.rowid = item"
            f" WHERE namespace = ? AND key IN (SELECT value FROM json_each(?)) AND {_ALIVE}",
            (namespace, to_json_text(list(keys)), self._clock()),
        )
        return {
            key: StoredRecord(key, from_json_text(value), text or "") for key, value, text in rows
        }

    def delete(self, namespace: str, key: str) -> bool:
        """Delete a record; return whether there was one."""
        with self._writing() as connection:
            deleted = connection.execute(
                "DELETE FROM records WHERE namespace = ? AND key = ? RETURNING item, expires_at",
                (namespace, key),
            ).fetchall()
            for item, _ in deleted:
                _forget(connection, namespace, item)
            return any(end is None or end > self._clock() for _, end in deleted)

    def keys(self, namespace: str, prefix: str = "") -> list[str]:
        """Return all keys that begin with ``prefix``, sorted."""
        rows = self._select(
            "SELECT key FROM records WHERE namespace = ? AND key >= ?"
            f" AND substr(key, 1, length(?)) = ? AND {_ALIVE} ORDER BY key",
            (namespace, prefix, prefix, prefix, self._clock()),
        )
        return [key for (key,) in rows]

    def namespaces(self) -> list[str]:
        """Return all namespaces that have a record, sorted."""
        rows = self._select(
            f"SELECT DISTINCT namespace FROM records WHERE {_ALIVE} ORDER BY 1", (self._clock(),)
        )
        return [namespace for (namespace,) in rows]

    def search(self, namespace: str, query: str, limit: int) -> list[Hit]:
        """Return records whose text has words of ``query``, best first.

        If more records match than are worth ranking, the most frequent words are left out.
        """
        words = list(dict.fromkeys(words_of(query)))
        if not words or limit <= 0:
            return []
        rare = self._rare(words)
        if rare:
            return self._ranked(_any(rare), namespace, limit)
        return self._ranked(_all(words), namespace, limit) or self._ranked(
            _any(words), namespace, limit
        )

    def find_phrase(self, namespace: str, phrase: str, limit: int) -> list[Hit]:
        """Return records whose text has the words of ``phrase`` in sequence."""
        words = words_of(phrase)
        if not words or limit <= 0:
            return []
        return self._ranked('"' + " ".join(words) + '"', namespace, limit)

    def embeddings(self, namespace: str) -> Embeddings:
        """Return all embeddings of a namespace."""
        return Embeddings.of(
            self._select(
                "SELECT key, vector FROM embeddings JOIN items ON items.id = embeddings.item"
                f" WHERE namespace = ? AND {_ALIVE} ORDER BY key",
                (namespace, self._clock()),
            )
        )

    def embeddings_revision(self, namespace: str) -> str | None:
        """Count the changes, and the embeddings that have expired but aren't purged."""
        rows = self._select(
            "SELECT revision, (SELECT count(*) FROM items WHERE namespace = ? AND expires_at <= ?"
            " AND id IN (SELECT item FROM embeddings)) FROM revisions WHERE namespace = ?",
            (namespace, self._clock(), namespace),
        )
        return f"{rows[0][0]}.{rows[0][1]}" if rows else None

    def purge(self) -> int:
        """Delete expired records; return how many."""
        with self._writing() as connection:
            deleted = connection.execute(
                "DELETE FROM records WHERE expires_at <= ? RETURNING namespace, item",
                (self._clock(),),
            ).fetchall()
            for namespace, item in deleted:
                _forget(connection, namespace, item)
            return len(deleted)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None and self._opened_by == os.getpid():
                self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        self.close()

    def _row(
        self, namespace: str, key: str, value: object, ttl_seconds: float | None
    ) -> tuple[str, str, str, float | None]:
        return checked_row(namespace, key, value, ttl_seconds, self._clock())

    def _rare(self, words: list[str]) -> list[str]:
        """Return the rarest words that together have few enough matches to rank them all."""
        counts = {
            word: self._select(_COUNT, (f'"{word}"', _MATCHES_TO_RANK + 1))[0][0] for word in words
        }
        rare: list[str] = []
        matches = 0
        for word in sorted(words, key=counts.__getitem__):
            matches += counts[word]
            if matches > _MATCHES_TO_RANK:
                break
            rare.append(word)
        return rare if matches else []

    def _ranked(self, expression: str, namespace: str, limit: int) -> list[Hit]:
        """Return the best of the first matches, or of all if those belong to other namespaces."""
        for most in (max(_MATCHES_TO_RANK, limit), -1):
            values = (expression, most, namespace, self._clock(), limit)
            rows = self._select(_RANK, values)
            if rows:
                break
        return [Hit(key, score) for key, score in rows]

    def _select(self, statement: str, values: Sequence[object]) -> list[Any]:
        with self._lock, _store_errors(self._path):
            return self._open().execute(statement, values).fetchall()

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        """Run a transaction that has the write lock from its beginning."""
        with self._lock, _store_errors(self._path):
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def _open(self) -> sqlite3.Connection:
        """Return the connection; a child process opens its own and leaves its parent's alone."""
        if self._connection is None or self._opened_by != os.getpid():
            make_private_folder(self._path.parent)
            _create(self._path)
            self._connection = _connect(self._path)
            self._opened_by = os.getpid()
        return self._connection


def _create(path: Path) -> None:
    """Create the file, if it's missing.

    Closing a file ends all locks of this process on it, so no other thread may have it open yet.
    """
    with _CREATION, suppress(FileExistsError):
        if str(path) != ":memory:":
            create_private_file(path).close()


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        _execute_patiently(connection, "PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > _FORMAT:
            raise StoreError(
                f"The store {path} was written by a newer version of Fluid Forge.",
                hint="Use that version, or set FLUID_HOME to another folder.",
            )
        if version == 0:
            _execute_patiently(connection, "BEGIN IMMEDIATE")
            for statement in _SCHEMA.split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {_FORMAT}")
            connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def _execute_patiently(connection: sqlite3.Connection, statement: str) -> None:
    """Execute a statement that doesn't wait for the busy timeout by itself."""
    give_up_at = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute(statement)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > give_up_at:
                raise
            time.sleep(0.01)
        else:
            return


def _write(
    connection: sqlite3.Connection,
    row: tuple[str, str, str, float | None],
    text: str,
    embedding: bytes | None,
) -> None:
    namespace, key, _, expires_at = row
    ((item,),) = connection.execute(_UPSERT, row).fetchall()
    if item is not None:
        _forget(connection, namespace, item)
    if not text and embedding is None:
        if item is not None:
            _link(connection, namespace, key, None)
        return
    item = connection.execute(
        "INSERT INTO items (namespace, key, expires_at) VALUES (?, ?, ?)",
        (namespace, key, expires_at),
    ).lastrowid
    _link(connection, namespace, key, item)
    if text:
        connection.execute("INSERT INTO texts (rowid, text) VALUES (?, ?)", (item, text))
    if embedding is not None:
        connection.execute("INSERT INTO embeddings VALUES (?, ?)", (item, embedding))
        _count_change(connection, namespace)


def _link(connection: sqlite3.Connection, namespace: str, key: str, item: int | None) -> None:
    connection.execute(
        "UPDATE records SET item = ? WHERE namespace = ? AND key = ?", (item, namespace, key)
    )


def _forget(connection: sqlite3.Connection, namespace: str, item: int | None) -> None:
    """Remove a record from the indexes."""
    if item is None:
        return
    connection.execute("DELETE FROM texts WHERE rowid = ?", (item,))
    connection.execute("DELETE FROM items WHERE id = ?", (item,))
    if connection.execute("DELETE FROM embeddings WHERE item = ?", (item,)).rowcount:
        _count_change(connection, namespace)


def _count_change(connection: sqlite3.Connection, namespace: str) -> None:
    connection.execute(
        "INSERT INTO revisions VALUES (?, 1)"
        " ON CONFLICT (namespace) DO UPDATE SET revision = revision + 1",
        (namespace,),
    )


def _any(words: list[str]) -> str:
    return " OR ".join(f'"{word}"' for word in words)


def _all(words: list[str]) -> str:
    return " AND ".join(f'"{word}"' for word in words)


@contextmanager
def _store_errors(path: Path) -> Generator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise StoreError(
            f"The store {path} can't be used: {error}.",
            hint="Check that its folder is writable, and that the file is a store.",
        ) from error
