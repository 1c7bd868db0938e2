"""Ways to run the command, and two tables to run it on."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb

COMMAND = (sys.executable, "-m", "fluid_build.cli.main")


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Fluid = Callable[..., Outcome]

STATEMENTS = (
    "CREATE TABLE customer (customer_id INTEGER, email VARCHAR(80), city VARCHAR(40))",
    "CREATE TABLE orders (order_id INTEGER, customer_id INTEGER, total DECIMAL(8,2))",
    *(
        f"INSERT INTO customer VALUES ({i * 7 + 100}, 'someone{i}@example.org', 'Town {i % 5}')"
        for i in range(40)
    ),
    *(
        f"INSERT INTO orders VALUES ({i + 5000}, {(i * 11 % 40) * 7 + 100}, {i % 17}.50)"
        for i in range(120)
    ),
)
"""Two tables, one referring to the other, in SQL that every engine understands."""


def run(path: Path, *statements: str) -> None:
    """Change a DuckDB file."""
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
