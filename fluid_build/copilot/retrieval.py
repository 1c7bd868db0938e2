"""Retrieval of remembered records that are similar to a query, by words, embeddings or both.

Best effort: whatever goes wrong on the way, the result is fewer records or none, never an error.
Source: Agentic Primitives, "retrieve_similar_models".
"""

from __future__ import annotations

import logging
import math
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from fluid_build.copilot.scratchpad import RetrievalResult, Scratchpad
from fluid_build.copilot.store.base import Hit, Store
from fluid_build.copilot.vector_index import VectorIndex

LOG = logging.getLogger(__name__)

SEMANTIC_MEMORY = "memory/semantic"

RetrievalMode: TypeAlias = Literal["exact", "keyword", "vector", "hybrid"]
Embed: TypeAlias = Callable[[str], Sequence[float]]
"""A function from a text to its embedding. If it raises, there are no vectors."""

_RANK_CONSTANT = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009)."""

_CANDIDATES = 20
"""How many of each list are fused, or four times the limit if that is more."""

_Ranked: TypeAlias = list[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class RetrievalConfig:
    """How to search.

    ``exact``: the key, or the words of the query in sequence; ``keyword``: any of its words;
    ``vector``: near embeddings; ``hybrid``: the last two, fused. Without ``embed`` there are no
    vectors, and ``hybrid`` is ``keyword``. Records below ``min_similarity`` (0 to 1) are left out.
    """

    limit: int = 3
    mode: RetrievalMode = "hybrid"
    namespace: str = SEMANTIC_MEMORY
    embed: Embed | None = None
    min_similarity: float = 0.0

    def __post_init__(self) -> None:
        if self.mode not in get_args(RetrievalMode):
            allowed = ", ".join(get_args(RetrievalMode))
            raise ValueError(f"mode is {self.mode!r}, not one of: {allowed}")


def retrieve_similar_models(
    query: str,
    *,
    store: Store,
    scratchpad: Scratchpad | None = None,
    config: RetrievalConfig | None = None,
) -> list[RetrievalResult]:
    """Return the records most similar to ``query``, best first, and add them to the scratchpad.

    ``similarity`` is 1 for an exact match; the cosine of the embeddings, 0 if that is negative; a
    keyword score's share of the best; of two fused lists, the share of the best possible rank.
    """
    config = config or RetrievalConfig()
    if not query.strip() or config.limit <= 0:
        return []
    try:
        ranked = _search(query, store, config)
        similar = [pair for pair in ranked if pair[1] >= config.min_similarity][: config.limit]
        records = store.get_many(config.namespace, [key for key, _ in similar])
    except Exception:
        LOG.warning("Retrieval from %s failed.", config.namespace, exc_info=True)
        return []
    results = [
        RetrievalResult(config.namespace, key, similarity, records[key].value, records[key].text)
        for key, similarity in similar
        if key in records
    ]
    if scratchpad is not None:
        for result in results:
            scratchpad.add_retrieval(result)
    return results


def write_semantic_record(
    store: Store,
    key: str,
    value: object,
    *,
    text: str,
    embed: Embed | None = None,
    namespace: str = SEMANTIC_MEMORY,
    ttl_seconds: float | None = None,
) -> None:
    """Remember ``value``, to be found by ``text``. Raises ``StoreError``.

    If ``embed`` fails, it is remembered without an embedding.
    """
    embedding = None if embed is None else _embedding(text, embed)
    store.put(namespace, key, value, ttl_seconds=ttl_seconds, text=text, embedding=embedding)


def _search(query: str, store: Store, config: RetrievalConfig) -> _Ranked:
    if config.mode == "exact":
        return _search_exactly(query, store, config)
    if config.mode == "keyword":
        return _search_words(query, store, config, config.limit)
    if config.mode == "vector":
        return _search_vectors(query, store, config, config.limit)
    depth = max(4 * config.limit, _CANDIDATES)
    word_matches = _search_words(query, store, config, depth)
    vector_matches = _search_vectors(query, store, config, depth)
    if not vector_matches:
        return word_matches
    return _fused([word_matches, vector_matches])


def _search_exactly(query: str, store: Store, config: RetrievalConfig) -> _Ranked:
    keys = [query] if store.get_many(config.namespace, [query]) else []
    keys += [hit.key for hit in store.find_phrase(config.namespace, query, config.limit)]
    return [(key, 1.0) for key in dict.fromkeys(keys)]


def _search_words(query: str, store: Store, config: RetrievalConfig, limit: int) -> _Ranked:
    hits: list[Hit] = store.search(config.namespace, query, limit)
    best = max((hit.score for hit in hits), default=0.0)
    return [(hit.key, hit.score / best if best > 0 else 1.0) for hit in hits]


def _search_vectors(query: str, store: Store, config: RetrievalConfig, limit: int) -> _Ranked:
    if config.embed is None:
        return []
    embedding = _embedding(query, config.embed)
    if embedding is None:
        return []
    try:
        return _index_of(store, config.namespace).nearest(embedding, limit)
    except Exception:
        LOG.warning("The vectors of %s can't be searched.", config.namespace, exc_info=True)
        return []


def _embedding(text: str, embed: Embed) -> Sequence[float] | None:
    try:
        embedding = embed(text)
    except Exception:
        LOG.warning("The embedding failed.", exc_info=True)
        return None
    return embedding if len(embedding) and all(map(math.isfinite, embedding)) else None


def _fused(lists: Sequence[_Ranked]) -> _Ranked:
    """Fuse lists by reciprocal rank: 1 is first in each list; in a tie, the first list wins."""
    scores: dict[str, float] = {}
    for ranked in lists:
        for place, (key, _) in enumerate(ranked):
            scores[key] = scores.get(key, 0.0) + 1 / (_RANK_CONSTANT + 1 + place)
    best = len(lists) / (_RANK_CONSTANT + 1)
    fused = [(key, score / best) for key, score in scores.items()]
    return sorted(fused, key=lambda pair: -pair[1])


_indexes: weakref.WeakKeyDictionary[Store, dict[str, tuple[str, VectorIndex]]]
_indexes = weakref.WeakKeyDictionary()
_indexes_lock = threading.Lock()


def _index_of(store: Store, namespace: str) -> VectorIndex:
    """Return the index, read again only when the embeddings have changed."""
    revision = store.embeddings_revision(namespace)
    with _indexes_lock:
        known = _indexes.setdefault(store, {}).get(namespace)
    if known is not None and known[0] == revision:
        return known[1]
    index = VectorIndex(store.embeddings(namespace))
    if revision is not None:
        with _indexes_lock:
            _indexes[store][namespace] = (revision, index)
    return index
