"""What every store can do: JSON values under a namespace and a key, for good or for a time.

Namespaces are paths such as ``memory/semantic``. A value may come with a text to be found by and
an embedding to be near to. Times are seconds since the epoch, lives are seconds. A record whose
life is over is as good as gone, whether or not it was purged. Writes of one record are atomic;
several threads and processes may use the same store at once.
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
class Record:
    """What is kept under a key, with the text that it can be found by."""

    key: str
    value: Any
    text: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A key that a search found; a higher ``score`` is a better match, within one search only."""

    key: str
    score: float


@dataclass(frozen=True, slots=True)
class Embeddings:
    """All embeddings of a namespace: ``vectors`` are their float32 values, one after the other.

    Only those of ``dimensions`` values are there: the dimensions that most of them have.
    """

    keys: Sequence[str]
    dimensions: int
    vectors: bytes

    @classmethod
    def of(cls, packed: Sequence[tuple[str, bytes]]) -> Self:
        """Puts together what a backend read; embeddings of another length are left out."""
        lengths = [len(vector) for _, vector in packed]
        usual = max(set(lengths), key=lambda length: (lengths.count(length), length), default=0)
        same = [(key, vector) for key, vector in packed if len(vector) == usual]
        return cls([key for key, _ in same], usual // 4, b"".join(vector for _, vector in same))


@runtime_checkable
class Store(Protocol):
    """One protocol for all backends."""

    def put(
        self,
        namespace: str,
        key: str,
        value: Any,
        *,
        ttl_seconds: float | None = None,
        text: str = "",
        embedding: Sequence[float] | None = None,
    ) -> None:
        """Keeps ``value``, in the place of what was there. Raises ``StoreError``."""

    def put_many(
        self, namespace: str, values: Mapping[str, Any], *, ttl_seconds: float | None = None
    ) -> None:
        """Keeps several values: in one transaction, or, of files, in the order given."""

    def add(
        self, namespace: str, key: str, value: Any, *, ttl_seconds: float | None = None
    ) -> bool:
        """Keeps ``value`` if the key is free; of several that try at once, one succeeds."""

    def get(self, namespace: str, key: str, default: Any = None) -> Any:
        """The value, or ``default``."""

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, Record]:
        """The records that are there, by key."""

    def delete(self, namespace: str, key: str) -> bool:
        """Forgets a record; whether there was one."""

    def keys(self, namespace: str, prefix: str = "") -> list[str]:
        """All keys that begin with ``prefix``, sorted."""

    def namespaces(self) -> list[str]:
        """All namespaces that hold a record, sorted."""

    def search(self, namespace: str, query: str, limit: int) -> list[Hit]:
        """Records whose text holds words of ``query``, best first (BM25 or near to it)."""

    def find_phrase(self, namespace: str, phrase: str, limit: int) -> list[Hit]:
        """Records whose text holds the words of ``phrase``, one after the other."""

    def embeddings(self, namespace: str) -> Embeddings:
        """All embeddings of a namespace."""

    def embeddings_revision(self, namespace: str) -> str | None:
        """Another text whenever ``embeddings`` may have changed; None: always read them anew."""

    def purge(self) -> int:
        """Deletes what has outlived its time; returns how many records."""

    def close(self) -> None:
        """Lets go of files and connections. The store can be used again all the same."""


def check_namespace(namespace: str) -> str:
    """``namespace``, if it is one. Raises ``StoreError``."""
    if not _NAMESPACE.fullmatch(namespace):
        raise StoreError(
            "A namespace is made of letters, digits and .-_ with slashes between, such as "
            "memory/semantic.",
            hint="Each part has at most 64 characters.",
        )
    return namespace


def check_key(key: str) -> str:
    """``key``, if it can be one. Raises ``StoreError``."""
    if not key or len(key) > _MAX_KEY_CHARS or not key.isprintable():
        raise StoreError(
            f"A key is printable text of 1 to {_MAX_KEY_CHARS} characters.",
            hint="Use a digest of what is longer.",
        )
    return key


_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


def to_json_text(value: Any) -> str:
    """``value`` as JSON in ASCII. Raises ``StoreError`` if it holds anything JSON does not."""
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(
            f"The store keeps JSON values only: {error}.",
            hint="Turn models into dictionaries first (model_dump).",
        ) from None


def from_json_text(text: str) -> Any:
    """The value that ``to_json_text`` wrote. Raises ``StoreError`` for anything else."""
    try:
        return json.loads(text)
    except ValueError:
        raise StoreError(
            "A record of the store is damaged.", hint="Delete it, or restore the store."
        ) from None


def pack_embedding(embedding: Sequence[float] | None) -> bytes | None:
    """Float32, little-endian. Raises ``StoreError`` for an empty one."""
    if embedding is None:
        return None
    packed = array("f", embedding)
    if not packed:
        raise StoreError("An embedding has at least one value.")
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def unpack_embedding(packed: bytes) -> array[float]:
    """What ``pack_embedding`` packed."""
    values = array("f")
    values.frombytes(packed)
    if sys.byteorder == "big":
        values.byteswap()
    return values
