"""A store in a PostgreSQL database, for several machines. Needs the extra ``postgres``."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from fluid_build.copilot.store.base import (
    Embeddings,
    Hit,
    StoredRecord,
    StoreError,
    checked_row,
    from_json_text,
    pack_embedding,
)
from fluid_build.copilot.store.word_ranking import with_phrase, words_of
from fluid_build.secrets import redact, secrets_of_environment

_SCHEMA_LOCK = 0x464C5549
"""The advisory lock under which a process creates the tables: two at once would fail."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS fluid_records (
    namespace text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    value text NOT NULL,
    expires_at double precision,
    text text NOT NULL,
    words tsvector NOT NULL,
    embedding bytea,
    PRIMARY KEY (namespace, key)
);
CREATE INDEX IF NOT EXISTS fluid_records_words ON fluid_records USING gin (words);
CREATE TABLE IF NOT EXISTS fluid_revisions (
    namespace text COLLATE "C" PRIMARY KEY, revision bigint NOT NULL
);
"""

_COLUMNS = "(namespace, key, value, expires_at, text, words, embedding)"
_VALUES = "(%s, %s, %s, %s, %s, array_to_tsvector(%s::text[]), %s)"
_ALIVE = "(expires_at IS NULL OR expires_at > %s)"
_UPSERT = f"""
INSERT INTO fluid_records {_COLUMNS} VALUES {_VALUES}
ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at,
text = excluded.text, words = excluded.words, embedding = excluded.embedding
"""

CONNECT_SECONDS = 10
"""A server that is there answers within one; one behind a firewall may never answer."""

_ResultRow = tuple[Any, ...]
_Row = tuple[str, str, str, float | None, str, list[str], bytes | None]


class PostgresBackend:
    """Records in two tables of the database ``dsn``, which are created on first use.

    ``clock`` returns the time by which records expire, in seconds since the epoch.
    """

    def __init__(self, dsn: str, *, clock: Callable[[], float] = time.time) -> None:
        self._dsn = dsn
        self._clock = clock
        self._lock = threading.RLock()
        self._connection: psycopg.Connection[_ResultRow] | None = None
        self._opened_by = 0

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
        row = self._row(namespace, key, value, ttl_seconds, text, packed)
        with self._transaction() as cursor:
            self._count_change(cursor, namespace, [key], may_add=packed is not None)
            cursor.execute(_UPSERT, row)

    def put_many(
        self, namespace: str, values: Mapping[str, object], *, ttl_seconds: float | None = None
    ) -> None:
        """Store all values or none."""
        rows = [
            self._row(namespace, key, value, ttl_seconds, "", None) for key, value in values.items()
        ]
        with self._transaction() as cursor:
            self._count_change(cursor, namespace, list(values), may_add=False)
            # In one order everywhere, so that two writers can't wait for each other.
            for row in sorted(rows, key=lambda row: row[1]):
                cursor.execute(_UPSERT, row)

    def add(
        self, namespace: str, key: str, value: object, *, ttl_seconds: float | None = None
    ) -> bool:
        """Store ``value`` if the key is free; return whether it was."""
        row = self._row(namespace, key, value, ttl_seconds, "", None)
        with self._transaction() as cursor:
            cursor.execute(
                f"{_UPSERT} WHERE fluid_records.expires_at <= %s RETURNING 1", (*row, self._clock())
            )
            return cursor.fetchone() is not None

    def get(self, namespace: str, key: str, default: object = None) -> Any:
        """Return the value, or ``default``."""
        rows = self._select(
            f"SELECT value FROM fluid_records WHERE namespace = %s AND key = %s AND {_ALIVE}",
            (namespace, key, self._clock()),
        )
        return from_json_text(rows[0][0]) if rows else default

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, StoredRecord]:
        """Return the records that exist, by key."""
        rows = self._select(
            "SELECT key, value, text FROM fluid_records"
            f" WHERE namespace = %s AND key = ANY(%s) AND {_ALIVE}",
            (namespace, list(keys), self._clock()),
        )
        return {key: StoredRecord(key, from_json_text(value), text) for key, value, text in rows}

    def delete(self, namespace: str, key: str) -> bool:
        """Delete a record; return whether there was one."""
        with self._transaction() as cursor:
            self._count_change(cursor, namespace, [key], may_add=False)
            cursor.execute(
                "DELETE FROM fluid_records WHERE namespace = %s AND key = %s RETURNING expires_at",
                (namespace, key),
            )
            deleted = cursor.fetchone()
            return deleted is not None and (deleted[0] is None or deleted[0] > self._clock())

    def keys(self, namespace: str, prefix: str = "") -> list[str]:
        """Return all keys that begin with ``prefix``, sorted."""
        rows = self._select(
            "SELECT key FROM fluid_records"
            f" WHERE namespace = %s AND starts_with(key, %s) AND {_ALIVE} ORDER BY key",
            (namespace, prefix, self._clock()),
        )
        return [key for (key,) in rows]

    def namespaces(self) -> list[str]:
        """Return all namespaces that have a record, sorted."""
        rows = self._select(
            f"SELECT DISTINCT namespace FROM fluid_records WHERE {_ALIVE} ORDER BY 1",
            (self._clock(),),
        )
        return [namespace for (namespace,) in rows]

    def search(self, namespace: str, query: str, limit: int) -> list[Hit]:
        """Return records whose text has words of ``query``, best first by cover density."""
        words = list(dict.fromkeys(words_of(query)))
        return self._matches(namespace, " | ".join(f"'{word}'" for word in words), limit)

    def find_phrase(self, namespace: str, phrase: str, limit: int) -> list[Hit]:
        """Return records whose text has the words of ``phrase`` in sequence."""
        words = " & ".join(f"'{word}'" for word in words_of(phrase))
        candidates = self._matches(namespace, words, None)
        records = self.get_many(namespace, [hit.key for hit in candidates])
        texts = {key: record.text for key, record in records.items()}
        return [Hit(key, 1.0) for key in with_phrase(phrase, texts, limit)]

    def embeddings(self, namespace: str) -> Embeddings:
        """Return all embeddings of a namespace."""
        return Embeddings.of(
            self._select(
                "SELECT key, embedding FROM fluid_records"
                f" WHERE namespace = %s AND embedding IS NOT NULL AND {_ALIVE} ORDER BY key",
                (namespace, self._clock()),
            )
        )

    def embeddings_revision(self, namespace: str) -> str | None:
        """Count the changes, and the embeddings that have expired but aren't purged."""
        rows = self._select(
            "SELECT revision, (SELECT count(*) FROM fluid_records WHERE namespace = %s"
            " AND embedding IS NOT NULL AND expires_at <= %s)"
            " FROM fluid_revisions WHERE namespace = %s",
            (namespace, self._clock(), namespace),
        )
        return f"{rows[0][0]}.{rows[0][1]}" if rows else None

    def purge(self) -> int:
        """Delete expired records; return how many."""
        with self._transaction() as cursor:
            cursor.execute(
                "DELETE FROM fluid_records WHERE expires_at <= %s"
                " RETURNING namespace, embedding IS NOT NULL",
                (self._clock(),),
            )
            deleted = cursor.fetchall()
            cursor.execute(
                "UPDATE fluid_revisions SET revision = revision + 1 WHERE namespace = ANY(%s)",
                (sorted({namespace for namespace, was_embedded in deleted if was_embedded}),),
            )
            return len(deleted)

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        with self._lock:
            if self._connection is not None and self._opened_by == os.getpid():
                self._connection.close()
            self._connection = None

    def _row(
        self,
        namespace: str,
        key: str,
        value: object,
        ttl_seconds: float | None,
        text: str,
        embedding: bytes | None,
    ) -> _Row:
        return (
            *checked_row(namespace, key, value, ttl_seconds, self._clock()),
            text.replace("\0", " "),
            list(dict.fromkeys(words_of(text))),
            embedding,
        )

    def _matches(self, namespace: str, expression: str, limit: int | None) -> list[Hit]:
        if not expression or (limit is not None and limit <= 0):
            return []
        rows = self._select(
            "SELECT key, ts_rank(words, query) AS score"
            " FROM fluid_records, CAST(%s AS tsquery) AS query"
            f" WHERE words @@ query AND namespace = %s AND {_ALIVE}"
            " ORDER BY score DESC, key LIMIT %s",
            (expression, namespace, self._clock(), limit),
        )
        return [Hit(key, score) for key, score in rows]

    def _count_change(
        self,
        cursor: psycopg.Cursor[_ResultRow],
        namespace: str,
        keys: list[str],
        *,
        may_add: bool,
    ) -> None:
        """Count the change if it adds, replaces or removes an embedding."""
        cursor.execute(
            "INSERT INTO fluid_revisions SELECT %s, 1 WHERE %s OR EXISTS (SELECT 1 FROM"
            " fluid_records WHERE namespace = %s AND key = ANY(%s) AND embedding IS NOT NULL)"
            " ON CONFLICT (namespace) DO UPDATE SET revision = fluid_revisions.revision + 1",
            (namespace, may_add, namespace, keys),
        )

    def _select(self, statement: str, values: Sequence[object]) -> list[_ResultRow]:
        with self._transaction() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall()

    @contextmanager
    def _transaction(self) -> Generator[psycopg.Cursor[_ResultRow]]:
        with self._lock:
            try:
                connection = self._open()
                with connection.transaction(), connection.cursor() as cursor:
                    yield cursor
            except psycopg.Error as error:
                reason = redact(str(error), secrets_of_environment()).strip()
                raise StoreError(
                    f"The store's database can't be used: {reason}",
                    hint="Check that the server runs and that the connection string is right.",
                ) from None

    def _open(self) -> psycopg.Connection[_ResultRow]:
        """Return the connection; a child process opens its own and leaves its parent's alone."""
        usable = self._connection is not None and not self._connection.closed
        if not usable or self._opened_by != os.getpid():
            self._connection = psycopg.connect(
                self._dsn, autocommit=True, connect_timeout=_seconds_to_connect(self._dsn)
            )
            self._opened_by = os.getpid()
            with self._connection.transaction():
                self._connection.execute("SELECT pg_advisory_xact_lock(%s)", (_SCHEMA_LOCK,))
                self._connection.execute(_SCHEMA)
        assert self._connection is not None
        return self._connection


def _seconds_to_connect(dsn: str) -> int:
    """Return how long to wait for the server: as long as its address or environment says."""
    stated = conninfo_to_dict(dsn).get("connect_timeout") or os.environ.get("PGCONNECT_TIMEOUT")
    return int(stated) if stated and str(stated).isdecimal() else CONNECT_SECONDS
