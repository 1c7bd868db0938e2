"""The backends that every test of the store runs against."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from fluid_build.copilot.store.backends.file import FileBackend
from fluid_build.copilot.store.backends.null import NullBackend
from fluid_build.copilot.store.backends.postgres import PostgresBackend
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.copilot.store.base import Store
from tests.copilot.store.opening import OpenStore

KEEPING = ["file", "sqlite", "postgres"]
ALL = [*KEEPING, "null"]


@pytest.fixture(scope="session")
def store_database(request: pytest.FixtureRequest) -> Iterator[str]:
    """A database of these tests' own; making one for each test would take a second each time."""
    server = request.getfixturevalue("postgres_server")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE store_tests")
    yield server.get_uri(database="store_tests")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("DROP DATABASE store_tests WITH (FORCE)")


def opener(kind: str, folder: Path, request: pytest.FixtureRequest) -> OpenStore:
    if kind == "file":
        return functools.partial(FileBackend, root=folder / "store")
    if kind == "sqlite":
        return functools.partial(SqliteBackend, folder / "store.db")
    if kind == "null":
        return lambda **_: NullBackend()
    uri = request.getfixturevalue("store_database")
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS fluid_records, fluid_revisions")
    return functools.partial(PostgresBackend, uri)


@pytest.fixture(params=KEEPING)
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    opened: list[Store] = []
    make = opener(request.param, tmp_path, request)

    def open_one(**options: Any) -> Store:
        opened.append(make(**options))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: OpenStore) -> Store:
    return open_store()


@pytest.fixture(params=ALL)
def any_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = opener(request.param, tmp_path, request)()
    yield opened
    opened.close()
