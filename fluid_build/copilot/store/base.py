"""The protocol of stores: JSON values by namespace and key, kept forever or for some time.

Namespaces are paths such as ``memory/semantic``. A value may have a text to search by and an
embedding to compare. Times are seconds since the epoch, lifetimes are seconds. An expired record
isn't returned, whether or not it was purged. Writes of one record are atomic; several threads and
processes may use the same store at once.
"""

from __future__ import annotations

import json
import re
import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

from fluid_build.copilot.errors import StoreError as StoreError

_NAMESPACE = re.compile(r"[A-Za-z0-9_.\-]{1,64}(?:/[A-Za-z0-9_.\-]{1,64})*")
_MAX_KEY_CHARS = 1000


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A stored value, with the text that it is searched by."""

    key: str
    value: Any
    text: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result; a higher ``score`` is a better match, comparable within one search."""

    key: str
    score: float


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The embeddings of a namespace: ``vectors`` are their float32 values in sequence.

    Embeddings whose number of dimensions isn't the most frequent one are left out.
    """

    keys: Sequence[str]
    dimensions: int
    vectors: bytes

    @classmethod
    def of(cls, packed: Sequence[tuple[str, bytes]]) -> Self:
        """Combine what a backend read; embeddings of an unusual length are left out."""
        lengths = [len(vector) for _, vector in packed]
        usual = max(set(lengths), key=lambda length: (lengths.count(length), length), default=0)
        same = [(key, vector) for key, vector in packed if len(vector) == usual]
        return cls([key for key, _ in same], usual // 4, b"".join(vector for _, vector in same))


@runtime_checkable
class Store(Protocol):
    """The protocol of all backends."""

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
        """Store ``value`` in place of the previous one. Raises ``StoreError``."""

    def put_many(
        self, namespace: str, values: Mapping[str, object], *, ttl_seconds: float | None = None
    ) -> None:
        """Store several values: in one transaction, or, in files, in the given order."""

    def add(
        self, namespace: str, key: str, value: object, *, ttl_seconds: float | None = None
    ) -> bool:
        """Store ``value`` if the key is free; of several that try at once, one succeeds."""

    def get(self, namespace: str, key: str, default: object = None) -> Any:
        """Return the value, or ``default``."""

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, StoredRecord]:
        """Return the records that exist, by key."""

    def delete(self, namespace: str, key: str) -> bool:
        """Delete a record; return whether there was one."""

    def keys(self, namespace: str, prefix: str = "") -> list[str]:
        """Return all keys that begin with ``prefix``, sorted."""

    def namespaces(self) -> list[str]:
        """Return all namespaces that have a record, sorted."""

    def search(self, namespace: str, query: str, limit: int) -> list[Hit]:
        """Return records whose text has words of ``query``, best first (by BM25 or similar)."""

    def find_phrase(self, namespace: str, phrase: str, limit: int) -> list[Hit]:
        """Return records whose text has the words of ``phrase`` in sequence."""

    def embeddings(self, namespace: str) -> Embeddings:
        """Return all embeddings of a namespace."""

    def embeddings_revision(self, namespace: str) -> str | None:
        """Return a text that changes with ``embeddings``; None means: always read them again."""

    def purge(self) -> int:
        """Delete expired records; return how many."""

    def close(self) -> None:
        """Close files and connections. The next use opens them again."""


def check_namespace(namespace: str) -> str:
    """Return ``namespace``. Raises ``StoreError`` if it isn't one."""
    if not _NAMESPACE.fullmatch(namespace):
        raise StoreError(
            "A namespace is letters, digits and .-_ with slashes between, such as memory/semantic.",
            hint="Each part has at most 64 characters.",
        )
    return namespace


def check_key(key: str) -> str:
    """Return ``key``. Raises ``StoreError`` if it can't be one."""
    if not key or len(key) > _MAX_KEY_CHARS or not key.isprintable():
        raise StoreError(
            f"A key must be printable text of 1 to {_MAX_KEY_CHARS} characters.",
            hint="Use a digest of a longer key.",
        )
    return key


def checked_row(
    namespace: str, key: str, value: object, ttl_seconds: float | None, now: float
) -> tuple[str, str, str, float | None]:
    """Return namespace, key, JSON and end of a record as a row. Raises ``StoreError``."""
    expires_at = None if ttl_seconds is None else now + ttl_seconds
    return check_namespace(namespace), check_key(key), to_json_text(value), expires_at


# A circle ends in a RecursionError anyway, and looking for one takes half of the time.
_encode = json.JSONEncoder(allow_nan=False, check_circular=False, separators=(",", ":")).encode


def to_json_text(value: object) -> str:
    """Return ``value`` as JSON in ASCII. Raises ``StoreError`` for a value JSON can't hold."""
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(
            f"A store can only hold JSON values: {error}.",
            hint="Convert models to dictionaries first (model_dump).",
        ) from None


def from_json_text(text: str) -> Any:
    """Return the value that ``to_json_text`` wrote. Raises ``StoreError`` for anything else."""
    try:
        return json.loads(text)
    except ValueError:
        raise StoreError(
            "A record of the store is damaged.", hint="Delete it, or restore the store."
        ) from None


def pack_embedding(embedding: Sequence[float] | None) -> bytes | None:
    """Return an embedding as little-endian float32. Raises ``StoreError`` for an empty one."""
    if embedding is None:
        return None
    packed = array("f", embedding)
    if not packed:
        raise StoreError("An embedding must have at least one value.")
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def unpack_embedding(packed: bytes) -> array[float]:
    """Return the values that ``pack_embedding`` packed."""
    values = array("f")
    values.frombytes(packed)
    if sys.byteorder == "big":
        values.byteswap()
    return values
