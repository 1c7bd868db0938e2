"""A small part of the demo shop, in which every reference that holds there still holds."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.forges import demo_shop

_CUT = (
    "DELETE FROM customers WHERE customer_id % 60",
    "DELETE FROM addresses WHERE customer_id NOT IN (SELECT customer_id FROM customers)",
    "DELETE FROM orders WHERE customer_id NOT IN (SELECT customer_id FROM customers)"
    " OR ship_to NOT IN (SELECT address_id FROM addresses)"
    " OR bill_to NOT IN (SELECT address_id FROM addresses)",
    "DELETE FROM order_lines WHERE order_id NOT IN (SELECT order_id FROM orders)",
    "DELETE FROM payments WHERE order_id NOT IN (SELECT order_id FROM orders)",
    "DELETE FROM shipments WHERE order_id NOT IN (SELECT order_id FROM orders)",
    "DELETE FROM reviews WHERE customer_id NOT IN (SELECT customer_id FROM customers)",
    "VACUUM",
)


def small_demo(path: Path) -> Path:
    """Write every sixtieth customer of the demo, with all that refers to them, to a file."""
    demo_shop(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        for statement in _CUT:
            database.execute(statement)
    return path
