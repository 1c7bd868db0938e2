"""A generated shop of three tables, and its profile after edits."""

import random
from collections.abc import Iterable
from pathlib import Path

import duckdb

from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import Profile
from fluid_build.sources import open_source

_CITIES = "['Bonn', 'Graz', 'Lyon', 'Porto', 'Turku']"
_CHANNELS = "['web', 'shop', 'phone']"


def shop(seed: int) -> list[str]:
    """Statements that make customers, orders and their lines; sizes and values vary by seed."""
    chance = random.Random(seed)
    customers, orders = chance.randrange(60, 120), chance.randrange(200, 320)
    low = chance.randrange(1, 9_000)

    def pick(of: str, most: int) -> str:
        return f"(hash({of}, {seed}) % {most})::INTEGER"

    return [
        "CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR, city VARCHAR,"
        " score SMALLINT, note VARCHAR)",
        "CREATE TABLE orders (order_no INTEGER PRIMARY KEY, customer_id INTEGER, placed DATE,"
        " total DECIMAL(8, 2), channel VARCHAR)",
        "CREATE TABLE lines (order_no INTEGER, pos INTEGER, quantity INTEGER, price DECIMAL(8, 2),"
        " PRIMARY KEY (order_no, pos))",
        f"INSERT INTO customers SELECT {low} + 7 * i, 'Firm ' || (i * 37 % 1000),"
        f" {_CITIES}[1 + {pick('i', 5)}], {pick('i + 1', 90)},"
        f" CASE WHEN i % 3 = 0 THEN 'seen ' || i % 11 END FROM range({customers}) t(i)",
        f"INSERT INTO orders SELECT {2 * low} + 13 * i, {low} + 7 * {pick('i', customers)},"
        f" DATE '2024-01-01' + {pick('i + 2', 300)}, {pick('i + 3', 90_000)} / 100,"
        f" {_CHANNELS}[1 + {pick('i + 4', 3)}] FROM range({orders}) t(i)",
        f"INSERT INTO lines SELECT {2 * low} + 13 * i, p, 1 + {pick('i + 5 * p', 9)},"
        f" {pick('i + 7 * p', 5_000)} / 100 FROM range({orders}) t(i), range(1, 4) q(p)"
        f" WHERE p <= 1 + {pick('i + 6', 3)}",
    ]


def rebuilt(table: str, primary_key: str, changes: str = "*") -> list[str]:
    """Statements that make a table again, of changed columns; with another key, or none."""
    made = [
        f"CREATE TABLE made AS SELECT {changes} FROM {table}",
        f"DROP TABLE {table}",
        f"ALTER TABLE made RENAME TO {table}",
    ]
    return [*made, f"ALTER TABLE {table} ADD PRIMARY KEY ({primary_key})"] if primary_key else made


def profiled(path: Path, statements: Iterable[str]) -> Profile:
    """Run statements on a database that may be new, and profile it."""
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    with open_source(path) as source:
        return profile_source(source)
