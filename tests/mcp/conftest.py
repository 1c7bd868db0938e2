"""A workspace with a shop, a forged folder and ways out of it, and servers on it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from fluid_build.forging import forge
from fluid_build.sources import open_source
from tests.mcp.clients import Caller, HttpServer, calling, http_client, http_server, stdio

CANARY = "canary7391"
"""Is in every text value of the shop that isn't a key."""


def make_shop(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE customer (customer_no INTEGER, email TEXT, grade TEXT)")
        database.execute(
            "CREATE TABLE orders (order_no INTEGER, customer_no INTEGER, status TEXT, batch TEXT)"
        )
        customers = [(n * 7 + 100, f"{CANARY}p{n}@example.org", f"{CANARY}{n % 4}")
                     for n in range(60)]  # fmt: skip
        orders = [(n + 5000, n % 63 * 7 + 100, f"{CANARY}-{'ABC'[n % 3]}", f"b{n // 2}{CANARY}")
                  for n in range(240)]  # fmt: skip
        database.executemany("INSERT INTO customer VALUES (?, ?, ?)", customers)
        database.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", orders)


def make_workspace(folder: Path) -> Path:
    """Return a workspace; around it is what an assistant mustn't reach."""
    outside = folder / "outside"
    outside.mkdir()
    (outside / "salaries.csv").write_text("person,salary\nann,1\nbob,2\n")
    workspace = folder / "workspace"
    workspace.mkdir()
    make_shop(workspace / "shop.db")
    (workspace / "cities.csv").write_text("city_no,city\n1,Bern\n2,Basel\n3,Chur\n")
    (workspace / "notes.txt.png").write_text("no data")
    (workspace / "ways-out").mkdir()
    (workspace / "ways-out/linked.csv").symlink_to(outside / "salaries.csv")
    (workspace / "ways-out/linked").symlink_to(outside)
    with open_source(workspace / "shop.db") as source:
        forge(source, out=workspace / "shop-model")
    return workspace


@pytest.fixture(scope="package")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that servers only read."""
    return make_workspace(tmp_path_factory.mktemp("mcp"))


@pytest.fixture(scope="package")
def http(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A read-only server over HTTP."""
    home = tmp_path_factory.mktemp("home")
    with http_server(home, "--workspace", str(workspace)) as server:
        yield server


@contextmanager
def stdio_caller(folder: Path, *options: str, **variables: str) -> Iterator[Caller]:
    with (
        (folder / "server.log").open("w") as log,
        calling(stdio(folder, *options, log=log, **variables)) as caller,
    ):
        yield caller


@pytest.fixture(scope="package", params=["stdio", "http"])
def reader(
    request: pytest.FixtureRequest,
    workspace: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Caller]:
    """A client of a read-only server, over each transport."""
    if request.param == "http":
        with calling(http_client(request.getfixturevalue("http"))) as caller:
            yield caller
        return
    folder = tmp_path_factory.mktemp("stdio")
    with stdio_caller(folder, "--workspace", str(workspace)) as caller:
        yield caller


@pytest.fixture(scope="package")
def writable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that a server may write to."""
    return make_workspace(tmp_path_factory.mktemp("writable"))


@pytest.fixture(scope="package")
def writer(writable: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    """A client of a server that may write and shares values."""
    folder = tmp_path_factory.mktemp("writer")
    options = ("--workspace", str(writable), "--allow-write", "--share-values")
    with stdio_caller(folder, *options) as caller:
        yield caller


INITIALIZE_LINES = (
    {
        "method": "initialize",
        "id": 1,
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
)
"""How a client of the older protocols begins, line by line."""
