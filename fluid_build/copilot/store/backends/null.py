# ruff: noqa: ARG002 - the protocol has the arguments, and nothing is done with them
"""A store that keeps nothing, for runs that leave no trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fluid_build.copilot.store.base import (
    Embeddings,
    Hit,
    StoredRecord,
    check_key,
    check_namespace,
    pack_embedding,
    to_json_text,
)


class NullBackend:
    """A store that accepts the same values as every other store, and keeps nothing."""

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
        """Check the value and forget it."""
        pack_embedding(embedding)
        self.put_many(namespace, {key: value}, ttl_seconds=ttl_seconds)

    def put_many(
        self, namespace: str, values: Mapping[str, object], *, ttl_seconds: float | None = None
    ) -> None:
        """Check the values and forget them."""
        check_namespace(namespace)
        for key, value in values.items():
            check_key(key)
            to_json_text(value)

    def add(
        self, namespace: str, key: str, value: object, *, ttl_seconds: float | None = None
    ) -> bool:
        """Return True: every key is free."""
        self.put_many(namespace, {key: value}, ttl_seconds=ttl_seconds)
        return True

    def get(self, namespace: str, key: str, default: object = None) -> Any:
        """Return the default."""
        return default

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, StoredRecord]:
        """Return no records."""
        return {}

    def delete(self, namespace: str, key: str) -> bool:
        """Return False: there was no record."""
        return False

    def keys(self, namespace: str, prefix: str = "") -> list[str]:
        """Return no keys."""
        return []

    def namespaces(self) -> list[str]:
        """Return no namespaces."""
        return []

    def search(self, namespace: str, query: str, limit: int) -> list[Hit]:
        """Return no hits."""
        return []

    def find_phrase(self, namespace: str, phrase: str, limit: int) -> list[Hit]:
        """Return no hits."""
        return []

    def embeddings(self, namespace: str) -> Embeddings:
        """Return no embeddings."""
        return Embeddings([], 0, b"")

    def embeddings_revision(self, namespace: str) -> str | None:
        """Return a constant: nothing ever changes."""
        return ""

    def purge(self) -> int:
        """Return 0: there is nothing to delete."""
        return 0

    def close(self) -> None:
        """Do nothing: nothing is open."""
