"""One suite for all backends: what the protocol promises, each of them keeps."""

from __future__ import annotations

import multiprocessing
import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.store.backends.file import FileBackend
from fluid_build.copilot.store.backends.null import NullBackend
from fluid_build.copilot.store.backends.postgres import PostgresBackend
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.copilot.store.base import Store, StoredRecord, StoreError, unpack_embedding
from tests.copilot.store.opening import OpenStore

# Later Pythons warn of a fork beside threads; the children here need nothing that a thread holds.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = st.text(min_size=1, max_size=60).filter(str.isprintable)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_is_a_store(any_store: Store) -> None:
    """Every backend follows the protocol."""
    assert isinstance(any_store, Store)


def test_an_absent_key_gives_the_default(any_store: Store) -> None:
    """What was never put is not there."""
    assert any_store.get("memory/semantic", "k") is None
    assert any_store.get("memory/semantic", "k", 7) == 7
    assert any_store.get_many("memory/semantic", ["k"]) == {}
    assert any_store.delete("memory/semantic", "k") is False
    assert any_store.keys("memory/semantic") == []
    assert any_store.namespaces() == []
    assert any_store.search("memory/semantic", "words", 3) == []
    assert any_store.find_phrase("memory/semantic", "words", 3) == []
    assert list(any_store.embeddings("memory/semantic").keys) == []
    assert any_store.purge() == 0


@pytest.mark.parametrize("value", [object(), {1, 2}, float("nan"), {"a": b"bytes"}])
def test_refuses_what_json_cannot_hold(any_store: Store, value: Any) -> None:
    """A value that would come back as another is refused."""
    with pytest.raises(StoreError, match="JSON"):
        any_store.put("n", "k", value)


@pytest.mark.parametrize("namespace", ["", "/a", "a//b", "a/", "a b", "../up", "x" * 65, "ü"])
def test_refuses_bad_namespaces(any_store: Store, namespace: str) -> None:
    """A namespace is a path of plain words."""
    if namespace == "../up":  # dots are plain characters, and lead nowhere
        any_store.put(namespace, "k", 1)
        return
    with pytest.raises(StoreError, match="namespace"):
        any_store.put(namespace, "k", 1)


@pytest.mark.parametrize("key", ["", "a\nb", "a\0b", "x" * 1001])
def test_refuses_bad_keys(any_store: Store, key: str) -> None:
    """A key is printable text of limited length."""
    with pytest.raises(StoreError, match="key"):
        any_store.put("n", key, 1)


def test_null_keeps_nothing(any_store: Store) -> None:
    """What is put into a keeping store is there afterwards, in the null store it is not."""
    any_store.put("n", "k", [1], text="words", embedding=[1.0])
    assert any_store.get("n", "k") == (None if isinstance(any_store, NullBackend) else [1])


@given(key=KEYS, value=JSON)
def test_round_trip(store: Store, key: str, value: Any) -> None:
    """Any JSON value under any key comes back as it was."""
    store.put("a/b", key, value)
    assert store.get("a/b", key) == value
    assert key in store.keys("a/b")


def test_keys_that_file_systems_confuse(store: Store) -> None:
    """Keys that differ in case, hold dots or slashes or are long are different records."""
    keys = ["a", "A", ".", "..", "a/b", "a%2fb", "con", "a.json", "é", "e\u0301", "x" * 900]
    keys += ["x" * 899 + "y", "%", "%25"]
    for place, key in enumerate(keys):
        store.put("n", key, place)
    assert [store.get("n", key) for key in keys] == list(range(len(keys)))
    assert store.keys("n") == sorted(keys)


def test_put_replaces(store: Store) -> None:
    """The latest value counts, with its text and embedding or without."""
    store.put("n", "k", 1, text="apple tree", embedding=[1.0, 2.0])
    store.put("n", "k", 2)
    assert store.get("n", "k") == 2
    assert store.search("n", "apple", 3) == []
    assert list(store.embeddings("n").keys) == []


def test_put_many_and_get_many(store: Store) -> None:
    """Several values go in and come out at once."""
    store.put_many("n", {"b": 2, "a": {"x": [1]}})
    assert store.get_many("n", ["a", "b", "c"]) == {
        "a": StoredRecord("a", {"x": [1]}),
        "b": StoredRecord("b", 2),
    }


def test_put_many_of_bad_values_keeps_none(store: Store) -> None:
    """If one value cannot be kept, none is."""
    with pytest.raises(StoreError):
        store.put_many("n", {"a": 1, "b": object()})
    assert store.keys("n") == []


def test_add_only_if_free(store: Store) -> None:
    """The first to add a key has it; once it is deleted, it is free again."""
    assert store.add("n", "k", 1) is True
    assert store.add("n", "k", 2) is False
    assert store.get("n", "k") == 1
    assert store.delete("n", "k") is True
    assert store.add("n", "k", 3) is True


def test_namespaces_are_apart(store: Store) -> None:
    """The same key in two namespaces is two records, also where one lies in the other."""
    store.put("a", "k", 1, text="one")
    store.put("a/b", "k", 2, text="one")
    store.put("a.b", "k", 3)
    assert [store.get(name, "k") for name in ("a", "a/b", "a.b")] == [1, 2, 3]
    assert store.namespaces() == ["a", "a.b", "a/b"]
    assert [hit.key for hit in store.search("a/b", "one", 5)] == ["k"]


def test_keys_by_prefix(store: Store) -> None:
    """A prefix is compared as it stands, wildcards and all."""
    for key in ("run/1", "run/2", "runs", "r%n", "R"):
        store.put("n", key, 0)
    assert store.keys("n", "run/") == ["run/1", "run/2"]
    assert store.keys("n", "r%") == ["r%n"]


@pytest.mark.parametrize(("seconds", "is_alive"), [(7.75, True), (8, False), (8.25, False)])
def test_a_record_ends_with_the_last_moment_of_its_life(
    open_store: OpenStore, seconds: float, is_alive: bool
) -> None:
    """Seconds that a float has exactly, so that the moment itself is met."""
    clock = Clock()
    store = open_store(clock=clock)
    store.put("n", "k", 1, ttl_seconds=8, text="fleeting")
    clock.now += seconds
    assert (store.get("n", "k") == 1) is is_alive
    assert (store.keys("n") == ["k"]) is is_alive
    assert bool(store.search("n", "fleeting", 1)) is is_alive
    assert store.add("n", "k", 2) is not is_alive


def test_time_to_live(open_store: OpenStore) -> None:
    """A record is gone once its life is over, its key is free, and purging deletes it."""
    clock = Clock()
    store = open_store(clock=clock)
    store.put("n", "k", 1, ttl_seconds=10, text="fleeting", embedding=[1.0])
    store.put("n", "stays", 2)
    clock.now += 9.9
    assert store.get("n", "k") == 1
    assert store.add("n", "k", 5) is False
    clock.now += 0.2
    assert store.get("n", "k") is None
    assert store.get_many("n", ["k"]) == {}
    assert store.keys("n") == ["stays"]
    assert store.search("n", "fleeting", 1) == []
    assert list(store.embeddings("n").keys) == []
    assert store.delete("n", "k") is False
    store.put("n", "k", 1, ttl_seconds=1)
    clock.now += 2
    assert store.add("n", "k", 6) is True
    store.put("n", "gone", 1, ttl_seconds=-1)
    assert store.purge() == 1
    assert store.keys("n") == ["k", "stays"]


def test_search_ranks_by_words(store: Store) -> None:
    """More and rarer of the wanted words come first, whatever their case and accents."""
    store.put("n", "orders", 1, text="Customer orders data vault, hub_customer and hub_order")
    store.put("n", "weather", 2, text="Weather stations and data")
    store.put("n", "cafes", 3, text="Café of the city, customer ratings")
    assert store.search("n", "customer ORDERS vault", 5)[0].key == "orders"
    assert [hit.key for hit in store.search("n", "cafe", 5)] == ["cafes"]
    assert [hit.key for hit in store.search("n", "hub_order", 5)] == ["orders"]
    assert len(store.search("n", "customer data", 2)) == 2
    assert store.search("n", "customer", 0) == []


@pytest.mark.parametrize(
    "query", ["", '"', "a OR", "NEAR(", "*", "x:y", "'; DROP TABLE records; --"]
)
def test_no_query_is_syntax(store: Store, query: str) -> None:
    """A query is words, never a language."""
    store.put("n", "k", 1, text="plain words")
    assert store.search("n", query, 3) == []
    assert store.find_phrase("n", query, 3) == []


def test_find_phrase(store: Store) -> None:
    """A phrase is found where its words follow each other."""
    store.put("n", "a", 1, text="the customer orders table")
    store.put("n", "b", 2, text="orders of the customer")
    assert [hit.key for hit in store.find_phrase("n", "Customer Orders", 5)] == ["a"]


def test_embeddings_come_back(store: Store) -> None:
    """Embeddings are kept as float32; those of another length than most are left out."""
    store.put("n", "b", 1, embedding=[0.5, -2.0])
    store.put("n", "a", 1, embedding=[1.0, 0.25])
    store.put("n", "odd", 1, embedding=[1.0, 2.0, 3.0])
    embeddings = store.embeddings("n")
    assert (list(embeddings.keys), embeddings.dimensions) == (["a", "b"], 2)
    assert list(unpack_embedding(embeddings.vectors)) == [1.0, 0.25, 0.5, -2.0]


def test_revision_follows_embeddings(store: Store) -> None:
    """Whenever the embeddings change, so does their revision, or there is none to rely on."""
    seen = []
    store.put("n", "a", 1, embedding=[1.0])
    seen.append(store.embeddings_revision("n"))
    store.put("n", "a", 1, embedding=[2.0])
    seen.append(store.embeddings_revision("n"))
    store.put("n", "a", 1)
    seen.append(store.embeddings_revision("n"))
    store.put("n", "b", 1, embedding=[1.0])
    store.delete("n", "b")
    seen.append(store.embeddings_revision("n"))
    known = [revision for revision in seen if revision is not None]
    assert len(known) == len(set(known))
    steady = store.embeddings_revision("n")
    store.put("n", "plain", 1)
    assert store.embeddings_revision("n") == steady


def test_revision_follows_the_end_of_lives(open_store: OpenStore) -> None:
    """An embedding whose life ends makes another revision; until then the revision is steady."""
    clock = Clock()
    store = open_store(clock=clock)
    store.put("n", "words", 1, text="only words", ttl_seconds=5)
    store.put("n", "a", 1, embedding=[1.0], ttl_seconds=10)
    store.put("n", "b", 1, embedding=[1.0], ttl_seconds=20)
    seen = [store.embeddings_revision("n")]
    if seen == [None]:
        pytest.skip("tells no revisions")
    clock.now += 6
    assert store.embeddings_revision("n") == seen[0]
    for _ in range(2):
        clock.now += 9
        seen.append(store.embeddings_revision("n"))
    store.purge()
    seen.append(store.embeddings_revision("n"))
    assert len(set(seen)) == 4


def test_another_instance_sees_it(open_store: OpenStore) -> None:
    """What one instance writes, another reads, and closing loses nothing."""
    first, second = open_store(), open_store()
    first.put("n", "k", 1, text="seen")
    assert second.get("n", "k") == 1
    first.close()
    assert first.get("n", "k") == 1
    assert [hit.key for hit in second.search("n", "seen", 1)] == ["k"]


def test_threads_share_an_instance(store: Store) -> None:
    """Many threads write through one instance and nothing is lost."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: store.put("n", f"k{n}", n), range(40)))
    assert len(store.keys("n")) == 40


def test_one_of_many_adds(open_store: OpenStore) -> None:
    """Of many that add the same key at the same moment, exactly one succeeds."""
    stores = [open_store() for _ in range(6)]
    start = threading.Barrier(6)

    def contend(store: Store) -> bool:
        start.wait()
        return store.add("n", "k", 1)

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(contend, stores)) == 1


def _write_some(make: Any, worker: int) -> None:
    store = make()
    for number in range(15):
        store.put("n", f"{worker}-{number}", number, text="words")
        store.put("n", "shared", {"by": worker, "filler": "x" * 5000})
    store.close()


def test_processes_write_at_once(open_store: OpenStore) -> None:
    """Several processes open a new store and write at once: all is kept, nothing half-written."""
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_write_some, args=(open_store, n)) for n in range(3)]
    for worker in workers:
        worker.start()
    reader = open_store()
    while any(worker.is_alive() for worker in workers):
        shared = reader.get("n", "shared")
        assert shared is None or len(shared["filler"]) == 5000
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert len(reader.keys("n")) == 46


def test_a_forked_child_uses_its_own_connection(store: Store) -> None:
    """A process that forks goes on using its store, and so does the child."""
    store.put("n", "before", 1)
    context = multiprocessing.get_context("fork")
    child = context.Process(target=store.put, args=("n", "child", 2))
    child.start()
    child.join()
    store.put("n", "after", 3)
    assert child.exitcode == 0
    assert store.keys("n") == ["after", "before", "child"]


def test_a_documented_file_store_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """``FileBackend(root="~/.fluid/store", workspace_root=".")`` writes below the home folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    FileBackend(root="~/.fluid/store", workspace_root=".").put("memory/semantic", "k", 1)
    assert (tmp_path / ".fluid" / "store" / "memory" / "semantic" / "k.json").is_file()


def test_a_relative_root_lies_in_the_workspace(tmp_path: Any) -> None:
    """A relative root is looked for in the workspace, not where the process happens to be."""
    FileBackend(root="store", workspace_root=tmp_path).put("n", "k", 1)
    assert (tmp_path / "store" / "n" / "k.json").is_file()


def test_an_unusable_path_is_a_store_error(tmp_path: Any) -> None:
    """A store whose place is a file says so in a typed error."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="can't be used"):
        FileBackend(root=tmp_path / "file").put("n", "k", 1)


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such modes")
@pytest.mark.parametrize("mask", [0o022, 0o000])
def test_nobody_else_may_read_a_store_that_was_made(tmp_path: Path, mask: int) -> None:
    previous = os.umask(mask)
    try:
        stores: list[Store] = [
            FileBackend(tmp_path / "new" / "store"),
            SqliteBackend(tmp_path / "new" / "runs" / "store.db"),
        ]
        for made in stores:
            made.put("memory/semantic", "k", {"password": "x"})
        paths = [tmp_path / "new", *(tmp_path / "new").rglob("*")]
        shared = [path for path in paths if stat.S_IMODE(path.stat().st_mode) & 0o077]
        assert len(paths) > 8
        assert shared == []
    finally:
        os.umask(previous)
        for made in stores:
            made.close()


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such modes")
def test_a_store_in_a_folder_that_exists_leaves_its_mode_alone(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o755)
    with closing(SqliteBackend(folder / "store.db")) as made:
        made.put("n", "k", 1)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_an_unusable_connection_string_is_not_quoted_with_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHOP_DB_PASSWORD", "canary-1")
    with pytest.raises(StoreError, match=r"missing .* after .\*\*\*") as caught:
        PostgresBackend("canary-1 host=127.0.0.1").get("n", "k")
    assert "canary" not in str(caught.value)
