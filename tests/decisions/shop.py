"""A small shop with known faults, profiled once, and decisions weighed on it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from fluid_build.decisions.language import AnyDecision
from fluid_build.decisions.verdicts import Verdict
from fluid_build.decisions.weighing import amended, weigh
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import Profile
from fluid_build.sources import open_source
from fluid_build.sources.base import Source

ORDERS = 300
REPEATED_NUMBERS = 12
ORPHANS = 3
WITHOUT_CUSTOMER = 2


@dataclass(frozen=True)
class Shop:
    """The source, opened, and its profile before any decision."""

    source: Source
    profile: Profile

    def weigh(self, *decisions: AnyDecision) -> tuple[Verdict, ...]:
        return weigh(self.source, self.profile, decisions)

    def verdict(self, decision: AnyDecision) -> Verdict:
        (verdict,) = self.weigh(decision)
        return verdict

    def amended(self, *decisions: AnyDecision) -> Profile:
        return amended(self.profile, self.weigh(*decisions))

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        """Run a query as a user would, on the tables by their names at the source."""
        connection = self.source.connection.cursor()
        for table in self.source.tables:
            name, relation = table.name.replace('"', '""'), table.relation
            connection.execute(f'CREATE OR REPLACE TEMP VIEW "{name}" AS FROM {relation}')
        return connection.execute(sql).fetchall()


def build_shop(path: Path) -> Path:
    """Write the shop.

    12 orders repeat an order number, 3 have a customer who doesn't exist, and 2 have none.
    """
    with closing(sqlite3.connect(path)) as shop, shop:
        shop.executescript(
            """
            CREATE TABLE countries (code TEXT PRIMARY KEY, label TEXT);
            CREATE TABLE customers (
                id INTEGER PRIMARY KEY, email TEXT, name TEXT,
                country TEXT REFERENCES countries (code), city TEXT, zip TEXT
            );
            CREATE TABLE orders (
                order_id INTEGER, order_no TEXT, customer_id INTEGER, placed TEXT, amount REAL,
                price_text TEXT, big REAL
            );
            CREATE TABLE returns (return_id INTEGER, order_id INTEGER, reason TEXT);
            CREATE TABLE clients (client_no INTEGER, mail TEXT);
            CREATE TABLE returns_backup (return_id INTEGER, order_id INTEGER, reason TEXT);
            """
        )
        shop.executemany(
            "INSERT INTO countries VALUES (?, ?)",
            [("DE", "Germany"), ("FR", "France"), ("IT", "Italy")],
        )
        shop.executemany(
            "INSERT INTO customers VALUES (?, ?, ?, ?, ?, ?)", map(_customer, range(1, 61))
        )
        shop.executemany(
            "INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?)", map(_order, range(1, ORDERS + 1))
        )
        shop.executemany(
            "INSERT INTO returns VALUES (?, ?, ?)",
            [(n, 7 * n, ("broken", "late")[n % 2]) for n in range(1, 31)],
        )
        shop.executemany(
            "INSERT INTO clients VALUES (?, ?)",
            [(900 + n, f"someone{n}@example.com") for n in range(41, 81)],
        )
    return path


@contextmanager
def open_shop(path: Path) -> Iterator[Shop]:
    """Open and profile a shop that was written."""
    with open_source(path) as source:
        yield Shop(source, profile_source(source))


def _customer(number: int) -> tuple[object, ...]:
    place = number % 6
    country = ("DE", "FR", "IT")[number % 3]
    email = f"someone{number}@example.com"
    return number, email, f"Name {number}", country, f"City {place}", f"{10000 + place}"


def _order(number: int) -> tuple[object, ...]:
    order_no = f"A-{number - 1 if number <= 2 * REPEATED_NUMBERS and number % 2 == 0 else number}"
    customer: int | None = number % 60 + 1
    if number <= ORPHANS:
        customer = 900 + number
    elif number <= ORPHANS + WITHOUT_CUSTOMER:
        customer = None
    placed = f"{number % 12 + 1:02d}/{number % 9 + 1:02d}/2024"
    price = f"{number % 7},{number % 90 + 10}"
    return number + 5000, order_no, customer, placed, number / 4, price, float(number % 50)
