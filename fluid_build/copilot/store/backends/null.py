# ruff: noqa: ARG002 - the protocol has the arguments, and nothing is done with them
"""A store that keeps nothing, for runs that shall leave no trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fluid_build.copilot.store.base import (
    Embeddings,
    Hit,
    Record,
    check_key,
    check_namespace,
    pack_embedding,
    to_json_text,
)


class NullBackend:
    """Takes what every other store takes, refuses what they refuse, and holds nothing."""

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
        """Checks the value and forgets it."""
        pack_embedding(embedding)
        self.put_many(namespace, {key: value}, ttl_seconds=ttl_seconds)

    def put_many(
        self, namespace: str, values: Mapping[str, Any], *, ttl_seconds: float | None = None
    ) -> None:
        """Checks the values and forgets them."""
        check_namespace(namespace)
        for key, value in values.items():
            check_key(key)
            to_json_text(value)

    def add(
        self, namespace: str, key: str, value: Any, *, ttl_seconds: float | None = None
    ) -> bool:
        """Every key is free."""
        self.put_many(namespace, {key: value}, ttl_seconds=ttl_seconds)
        return True

    def get(self, namespace: str, key: str, default: Any = None) -> Any:
        """The default."""
        return default

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, Record]:
        """None of them."""
        return {}

    def delete(self, namespace: str, key: str) -> bool:
        """There was none."""
        return False

    def keys(self, namespace: str, prefix: str = "") -> list[str]:
        """No keys."""
        return []

    def namespaces(self) -> list[str]:
        """No namespaces."""
        return []

    def search(self, namespace: str, query: str, limit: int) -> list[Hit]:
        """Finds nothing."""
        return []

    def find_phrase(self, namespace: str, phrase: str, limit: int) -> list[Hit]:
        """Finds nothing."""
        return []

    def embeddings(self, namespace: str) -> Embeddings:
        """No embeddings."""
        return Embeddings([], 0, b"")

    def embeddings_revision(self, namespace: str) -> str | None:
        """Nothing ever changes."""
        return ""

    def purge(self) -> int:
        """Nothing to delete."""
        return 0

    def close(self) -> None:
        """Nothing to let go of."""
