"""A workspace with a small shop, and something outside that must stay there."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

STATEMENTS = (
    "CREATE TABLE customer (id INTEGER, email TEXT, city TEXT)",
    "CREATE TABLE orders (order_no INTEGER, customer_id INTEGER, total REAL, placed TEXT)",
    *(
        f"INSERT INTO customer VALUES ({i + 100}, 'canary{i}@example.org', 'Town {i % 5}')"
        for i in range(40)
    ),
    *(
        f"INSERT INTO orders VALUES ({i + 5000}, {i * 11 % 40 + 100}, {i % 17}.5,"
        f" '2024-01-{i % 28 + 1:02}')"
        for i in range(120)
    ),
)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace; ``secret.csv`` is next to it, and a link leads there."""
    root = tmp_path / "workspace"
    root.mkdir()
    (tmp_path / "secret.csv").write_text("id,secret\n1,canary-secret\n")
    with closing(sqlite3.connect(root / "shop.db")) as database, database:
        for statement in STATEMENTS:
            database.execute(statement)
    (root / "notes.md").write_text("# Notes\n")
    monkeypatch.setenv("FLUID_HOME", str(tmp_path / "home"))
    return root
