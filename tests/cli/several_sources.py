"""Two sources that know the same things: a SQLite database and a folder of CSV files.

Products have one business key in both. Customers have numbers from 1 in both, which mean different
people, and e-mail addresses, which mean the same.
"""

import csv
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

PEOPLE = [f"person{i * 37 % 1000:03d}" for i in range(240)]
SKUS = [
    f"{chr(65 + i * 7 % 26)}{chr(65 + i * 11 % 26)}-{i * 7919 % 90000 + 10000}" for i in range(160)
]
CRM_PEOPLE = PEOPLE[:160]
SHOP_PEOPLE = PEOPLE[:99:-1]
CRM_SKUS = SKUS[:120]
SHOP_SKUS = SKUS[40:]


def crm(path: Path) -> Path:
    """Make the SQLite database of 160 customers, 120 products and 300 tickets."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, full_name TEXT NOT NULL,"
            " email TEXT NOT NULL UNIQUE, segment TEXT);"
            "CREATE TABLE products (product_id INTEGER PRIMARY KEY, sku TEXT NOT NULL UNIQUE,"
            " title TEXT);"
            "CREATE TABLE tickets (ticket_id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL"
            " REFERENCES customers, product_id INTEGER REFERENCES products, opened TIMESTAMP NOT"
            " NULL, subject TEXT);"
        )
        database.executemany(
            "INSERT INTO customers VALUES (?, ?, ?, ?)",
            [
                (number, f"Name of {person}", email(person), "ABC"[number % 3])
                for number, person in enumerate(CRM_PEOPLE, start=1)
            ],
        )
        database.executemany(
            "INSERT INTO products VALUES (?, ?, ?)",
            [(number, sku, f"Product {sku}") for number, sku in enumerate(CRM_SKUS, start=1)],
        )
        database.executemany(
            "INSERT INTO tickets VALUES (?, ?, ?, ?, ?)",
            [
                (
                    n,
                    n * 7 % 160 + 1,
                    n * 11 % 120 + 1,
                    f"2024-03-{n % 28 + 1:02d} 10:00:00",
                    f"Q{n}",
                )
                for n in range(1, 301)
            ],
        )
        database.commit()
    return path


def shop(folder: Path) -> Path:
    """Make the folder of 140 customers, 120 products, 250 orders and their lines."""
    folder.mkdir()
    _write(
        folder / "customers.csv",
        ("customer_id", "name", "email"),
        (
            (number, f"{person} N.", email(person))
            for number, person in enumerate(SHOP_PEOPLE, start=1)
        ),
    )
    _write(
        folder / "products.csv",
        ("sku", "product_name", "stock"),
        ((sku, f"Item {sku}", number * 13 % 50) for number, sku in enumerate(SHOP_SKUS)),
    )
    _write(
        folder / "orders.csv",
        ("order_id", "customer_id", "ordered_at"),
        ((n, n * 3 % 140 + 1, f"2024-05-{n % 28 + 1:02d} 12:30:00") for n in range(1, 251)),
    )
    _write(
        folder / "order_lines.csv",
        ("order_id", "line_no", "sku", "quantity"),
        (
            (n, line, SHOP_SKUS[(n * 5 + line) % 120], n % 4 + 1)
            for n in range(1, 251)
            for line in range(1, n % 3 + 2)
        ),
    )
    return folder


def email(person: str) -> str:
    """Return the e-mail address of a person, which is the same in both sources."""
    return f"{person}@example.org"


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
