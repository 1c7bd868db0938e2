"""Retrieval: the nearest records in four ways, and never an error."""

from __future__ import annotations

import math
import random
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot import retrieval
from fluid_build.copilot.agents.base import StageSession
from fluid_build.copilot.retrieval import (
    SEMANTIC_MEMORY,
    RetrievalConfig,
    retrieve_similar_models,
    write_semantic_record,
)
from fluid_build.copilot.scratchpad import Scratchpad
from fluid_build.copilot.store.backends.file import FileBackend
from fluid_build.copilot.store.backends.null import NullBackend
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.copilot.store.base import Store, StoreError

TEXTS = {
    "orders": "customer orders data vault with hub customer and link order",
    "weather": "weather stations, measurements and locations",
    "shop": "web shop customers and carts",
    "music": "artists, albums and tracks",
}
AXES = ["customer", "order", "weather", "music", "shop"]


def embed(text: str) -> list[float]:
    """One axis a topic; a constant keeps the vector from being zero."""
    return [float(text.lower().count(axis)) for axis in AXES] + [0.1]


@pytest.fixture(params=["file", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    new_store: Store = (
        FileBackend(root=tmp_path / "store")
        if request.param == "file"
        else SqliteBackend(tmp_path / "store.db")
    )
    for key, text in TEXTS.items():
        write_semantic_record(new_store, key, {"name": key}, text=text, embed=embed)
    return new_store


@pytest.fixture(params=["numpy", "plain"])
def _with_and_without_numpy(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if request.param == "plain":
        monkeypatch.setitem(sys.modules, "numpy", None)


def keys(query: str, store: Store, **options: Any) -> list[str]:
    results = retrieve_similar_models(query, store=store, config=RetrievalConfig(**options))
    return [result.key for result in results]


def test_documented_sample(tmp_path: Path) -> None:
    """The sample of the page runs as it is written."""
    session = StageSession(store=SqliteBackend(tmp_path / "store.db"), active_provider="anthropic")
    write_semantic_record(session.store, "orders", {"a": 1}, text=TEXTS["orders"])
    results = retrieve_similar_models(
        "customer orders data vault",
        store=session.store,
        scratchpad=session.get_scratchpad(),
        config=RetrievalConfig(limit=3, mode="hybrid"),
    )
    assert [(results.key, results.value, results.text) for results in results] == [
        ("orders", {"a": 1}, TEXTS["orders"])
    ]
    assert session.get_scratchpad().top_retrievals(3, namespace="memory/semantic") == results


def test_by_keyword(store: Store) -> None:
    """Any word of the query counts; the best has similarity 1."""
    results = retrieve_similar_models(
        "customer weather vault", store=store, config=RetrievalConfig(mode="keyword")
    )
    assert results[0].key == "orders"
    assert results[0].similarity == 1.0
    assert all(0 < result.similarity <= 1 for result in results)


def test_exactly(store: Store) -> None:
    """A key, or words one after the other."""
    assert keys("music", store, mode="exact") == ["music"]
    assert keys("Data Vault", store, mode="exact") == ["orders"]
    assert keys("vault data", store, mode="exact") == []


@pytest.mark.usefixtures("_with_and_without_numpy")
def test_by_vector(store: Store) -> None:
    """The nearest embeddings come first, whether the words are the same or not."""
    results = retrieve_similar_models(
        "Customer SHOP", store=store, config=RetrievalConfig(mode="vector", embed=embed, limit=2)
    )
    assert [result.key for result in results] == ["shop", "orders"]
    assert results[0].similarity == pytest.approx(1.0, abs=0.01)


@pytest.mark.usefixtures("_with_and_without_numpy")
def test_hybrid_joins_both(store: Store) -> None:
    """What both ways find comes before what one finds; first in both is 1."""
    config = RetrievalConfig(mode="hybrid", embed=embed, limit=4)
    results = retrieve_similar_models("customer orders", store=store, config=config)
    assert (results[0].key, results[0].similarity) == ("orders", 1.0)
    assert {result.key for result in results} == set(TEXTS)


def test_hybrid_without_embeddings_is_keyword(store: Store) -> None:
    """Without a way to embed the query, words are all there is."""
    assert keys("weather", store, mode="hybrid") == keys("weather", store, mode="keyword")
    assert keys("weather", store, mode="vector") == []


def test_limits(store: Store) -> None:
    """Never more than the limit, nor less similar than asked for."""
    assert len(keys("and", store, limit=2)) == 2
    assert keys("and", store, limit=0) == []
    assert keys("customer", store, mode="vector", embed=embed, min_similarity=0.99) == []


@pytest.mark.parametrize(("least", "is_found"), [(0.99, True), (1.0, True), (1.01, False)])
def test_a_record_just_as_similar_as_asked_for_is_found(
    store: Store, least: float, is_found: bool
) -> None:
    """The best of the matches by keyword is 1."""
    assert bool(keys("weather", store, mode="keyword", min_similarity=least)) is is_found


@pytest.mark.parametrize("query", ["", "  \n"])
def test_an_empty_query_does_not_touch_the_store(query: str) -> None:
    """There is nothing to look for."""
    assert retrieve_similar_models(query, store=SimpleNamespace()) == []  # type: ignore[arg-type]


def test_the_null_store_gives_nothing() -> None:
    """A store that keeps nothing finds nothing."""
    write_semantic_record(NullBackend(), "k", 1, text="words")
    assert retrieve_similar_models("words", store=NullBackend()) == []


def failing(_: str) -> list[float]:
    raise OSError("no network")


@pytest.mark.parametrize(
    "broken", [failing, lambda _: [], lambda _: [float("nan")] * 6, lambda _: [1.0, 2.0]]
)
def test_a_broken_embedding_costs_the_vectors_only(store: Store, broken: Any) -> None:
    """If the query cannot be embedded, or not alike, words still find what they find."""
    assert keys("weather", store, mode="hybrid", embed=broken) == ["weather"]
    assert keys("weather", store, mode="vector", embed=broken) == []


def test_a_record_is_stored_even_if_its_embedding_fails(store: Store) -> None:
    """Remembering does not depend on the provider."""
    write_semantic_record(store, "new", 1, text="gardens", embed=failing)
    assert keys("gardens", store, embed=embed)[0] == "new"


def test_a_broken_store_gives_nothing(tmp_path: Path) -> None:
    """A store that cannot be read gives no records and no error."""
    (tmp_path / "store.db").write_bytes(b"no database" * 100)
    broken = SqliteBackend(tmp_path / "store.db")
    assert retrieve_similar_models("words", store=broken) == []
    with pytest.raises(StoreError):
        broken.get("n", "k")


def test_a_broken_index_leaves_the_words(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the vector index gives what the words find."""

    def broken(*_: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr(retrieval, "_index_of", broken)
    assert keys("weather", store, mode="vector", embed=embed) == []
    assert keys("weather", store, mode="hybrid", embed=embed) == ["weather"]


def test_the_index_follows_the_store(store: Store) -> None:
    """What is added, replaced or deleted after a search is seen by the next."""
    options: dict[str, Any] = {"mode": "vector", "embed": embed, "limit": 1}
    assert keys("music", store, **options) == ["music"]
    write_semantic_record(store, "songs", 1, text="music", embed=lambda _: embed("music"))
    write_semantic_record(store, "songs", 1, text="music music music", embed=embed)
    assert keys("music", store, **options) == ["songs"]
    store.delete(SEMANTIC_MEMORY, "songs")
    assert keys("music", store, **options) == ["music"]
    write_semantic_record(store, "music", 1, text="weather", embed=embed)
    assert keys("music", store, min_similarity=0.5, **options) == []


def test_modes_are_checked() -> None:
    """There are four modes."""
    with pytest.raises(ValueError, match="exact, keyword, vector, hybrid"):
        RetrievalConfig(mode="fuzzy")  # type: ignore[arg-type]


@given(seed=st.integers(0, 1000), count=st.integers(1, 30), limit=st.integers(1, 8))
def test_vectors_are_searched_exactly(seed: int, count: int, limit: int) -> None:
    """The nearest are those that comparing one by one would find."""
    draw = random.Random(seed)
    vectors = {f"k{n}": [draw.gauss(0, 1) for _ in range(5)] for n in range(count)}
    store = SqliteBackend(":memory:")
    for key, vector in vectors.items():
        store.put(SEMANTIC_MEMORY, key, 1, embedding=vector)
    query = [draw.gauss(0, 1) for _ in range(5)]

    def cosine(key: str) -> float:
        vector = vectors[key]
        return sum(map(float.__mul__, vector, query)) / math.hypot(*vector) / math.hypot(*query)

    config = RetrievalConfig(mode="vector", embed=lambda _: query, limit=limit)
    results = retrieve_similar_models("q", store=store, config=config)
    expected = sorted(vectors, key=cosine, reverse=True)[:limit]
    positive = [key for key in expected if cosine(key) > 1e-6]
    assert [result.key for result in results][: len(positive)] == positive
    for result in results:
        assert result.similarity == pytest.approx(max(cosine(result.key), 0), abs=1e-5)
    assert Scratchpad().retrievals == []
