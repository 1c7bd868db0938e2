"""A small shop, as data frames and as a database."""

import sqlite3
from pathlib import Path

import pandas as pd
import pytest

from tests.sources.temporary_files import temporary as temporary

Frames = dict[str, pd.DataFrame]


@pytest.fixture
def frames() -> Frames:
    """Customers, and orders of which one refers to no customer."""
    customers = pd.DataFrame({"customer_id": range(1, 101), "city": ["Ulm", "Bonn"] * 50})
    orders = pd.DataFrame(
        {
            "order_id": range(1, 1001),
            "customer_id": [i % 100 + 1 if i % 7 else None for i in range(1000)],
            "total": [i * 1.5 for i in range(1000)],
        }
    )
    orders.loc[5, "customer_id"] = 999
    return {"orders": orders, "customers": customers}


@pytest.fixture
def database(tmp_path: Path, frames: Frames) -> Path:
    """The same shop in SQLite."""
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        for name, frame in frames.items():
            frame.to_sql(name, connection, index=False)
    connection.close()
    return path
