"""A small shop, how its rows change every night, and what can happen to its structure.

All of it is SQL that DuckDB and PostgreSQL know.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SHOP = """
CREATE TABLE segments (code VARCHAR(10) NOT NULL, label VARCHAR(40) NOT NULL);
INSERT INTO segments VALUES ('RET', 'Retail'), ('WHO', 'Wholesale'), ('PUB', 'Public sector'),
    ('EDU', 'Education');
CREATE TABLE customers (
    customer_id INTEGER NOT NULL, name VARCHAR(60) NOT NULL, email VARCHAR(80),
    city VARCHAR(40), segment VARCHAR(10), rating INTEGER,
    credit_limit DECIMAL(8, 2), joined_on DATE NOT NULL
);
INSERT INTO customers
SELECT i, 'Customer ' || i, 'c' || i || '@example.org',
    CASE i % 5 WHEN 0 THEN 'Bern' WHEN 1 THEN 'Lyon' WHEN 2 THEN 'Porto' WHEN 3 THEN 'Graz'
        ELSE 'Gent' END,
    CASE i % 4 WHEN 0 THEN 'RET' WHEN 1 THEN 'WHO' WHEN 2 THEN 'PUB' ELSE 'EDU' END,
    i % 7, (i % 90) * 100 + 0.50, DATE '2020-01-01' + CAST(i AS INTEGER)
FROM generate_series(1, 240) AS numbers (i);
CREATE TABLE products (
    product_id INTEGER NOT NULL, title VARCHAR(60) NOT NULL, category VARCHAR(30),
    list_price DECIMAL(8, 2) NOT NULL, weight_kg INTEGER
);
INSERT INTO products
SELECT i, 'Product ' || i, CASE i % 3 WHEN 0 THEN 'Tools' WHEN 1 THEN 'Toys' ELSE 'Books' END,
    i + 0.95, i % 12
FROM generate_series(1, 60) AS numbers (i);
CREATE TABLE orders (
    order_id INTEGER NOT NULL, customer_id INTEGER NOT NULL,
    ordered_at TIMESTAMP NOT NULL, status VARCHAR(12) NOT NULL, total DECIMAL(10, 2)
);
INSERT INTO orders
SELECT i, 1 + (i * 7) % 240, TIMESTAMP '2025-01-01 09:00:00' + i * INTERVAL '1 hour',
    CASE i % 3 WHEN 0 THEN 'open' WHEN 1 THEN 'sent' ELSE 'paid' END, (i % 80) * 3 + 10.25
FROM generate_series(1, 900) AS numbers (i);
CREATE TABLE order_lines (
    order_id INTEGER NOT NULL, line_no INTEGER NOT NULL,
    product_id INTEGER NOT NULL, quantity INTEGER NOT NULL,
    amount DECIMAL(8, 2) NOT NULL
);
INSERT INTO order_lines
SELECT i, n, 1 + (i * n) % 60, 1 + (i + n) % 5, (1 + (i + n) % 5) * ((i * n) % 60 + 1.95)
FROM generate_series(1, 900) AS orders_numbers (i)
CROSS JOIN generate_series(1, 2) AS line_numbers (n);
CREATE TABLE branches (
    branch_id INTEGER NOT NULL, title VARCHAR(40) NOT NULL, region VARCHAR(20), opened_on DATE
);
INSERT INTO branches
SELECT i, 'Branch ' || i, CASE i % 2 WHEN 0 THEN 'North' ELSE 'South' END,
    DATE '2015-05-01' + 9 * CAST(i AS INTEGER)
FROM generate_series(1, 25) AS numbers (i);
"""
KEYS: Mapping[str, tuple[str, ...]] = {
    "segments": ("code",),
    "customers": ("customer_id",),
    "products": ("product_id",),
    "orders": ("order_id",),
    "order_lines": ("order_id", "line_no"),
    "branches": ("branch_id",),
    "couriers": ("courier_id",),
    "visits": ("visit_id",),
}
ROWS_CHANGE = """
UPDATE customers SET city = city || ' {night}' WHERE customer_id % 30 = {night};
UPDATE customers SET segment = 'RET' WHERE customer_id % 41 = {night};
UPDATE products SET list_price = list_price + 1 WHERE product_id % 13 = {night};
UPDATE orders SET status = 'paid' WHERE order_id % 60 = {night};
INSERT INTO orders (order_id, customer_id, ordered_at, status)
SELECT 10000 * {night} + i, i, TIMESTAMP '2026-03-01 09:00:00' + i * INTERVAL '1 minute', 'open'
FROM generate_series(1, 12) AS numbers (i);
DELETE FROM order_lines WHERE order_id % 90 = {night};
"""
CHANGES: Mapping[str, str] = {
    "rows only": "",
    "text column added": "ALTER TABLE customers ADD COLUMN nickname VARCHAR(20);"
    "UPDATE customers SET nickname = 'N' || (customer_id % 50)",
    "number column added": "ALTER TABLE products ADD COLUMN stock INTEGER;"
    "UPDATE products SET stock = product_id * 3 % 17",
    "empty column added": "ALTER TABLE customers ADD COLUMN remark VARCHAR(20)",
    "measure added": "ALTER TABLE order_lines ADD COLUMN discount DECIMAL(8, 2);"
    "UPDATE order_lines SET discount = line_no * 0.5",
    "personal column added": "ALTER TABLE customers ADD COLUMN phone VARCHAR(20);"
    "UPDATE customers SET phone = '+41 31 555 ' || (1000 + customer_id)",
    "reference added": "ALTER TABLE orders ADD COLUMN branch_id INTEGER;"
    "UPDATE orders SET branch_id = 1 + order_id % 25",
    "column dropped": "ALTER TABLE customers DROP COLUMN rating",
    "text column dropped": "ALTER TABLE products DROP COLUMN category",
    "measure dropped": "ALTER TABLE orders DROP COLUMN total",
    "reference dropped": "ALTER TABLE customers DROP COLUMN segment",
    "column renamed": "ALTER TABLE customers RENAME COLUMN city TO town",
    "integer widened": "ALTER TABLE products ALTER COLUMN weight_kg TYPE BIGINT",
    "decimal widened": "ALTER TABLE customers ALTER COLUMN credit_limit TYPE DECIMAL(12, 4)",
    "integer to text": "ALTER TABLE customers ALTER COLUMN rating TYPE VARCHAR(10)"
    " USING 'R' || rating",
    "measure to text": "ALTER TABLE orders ALTER COLUMN total TYPE VARCHAR(20)"
    " USING total || ' EUR'",
    "moment to text": "ALTER TABLE orders ALTER COLUMN ordered_at TYPE VARCHAR(40)"
    " USING CAST(ordered_at AS VARCHAR); UPDATE orders SET ordered_at = 'unknown'"
    " WHERE order_id % 100 = 7",
    "decimal narrowed": "ALTER TABLE products ALTER COLUMN list_price TYPE DECIMAL(7, 2)",
    "key widened to bigint": "ALTER TABLE branches ALTER COLUMN branch_id TYPE BIGINT",
    "table added": "CREATE TABLE couriers (courier_id INTEGER NOT NULL,"
    " title VARCHAR(30) NOT NULL); INSERT INTO couriers SELECT i, 'Courier ' || i"
    " FROM generate_series(1, 30) AS numbers (i)",
    "event table added": "CREATE TABLE visits (visit_id INTEGER NOT NULL, customer_id INTEGER"
    " NOT NULL, visited_at TIMESTAMP NOT NULL, minutes INTEGER"
    " NOT NULL); INSERT INTO visits SELECT i, 1 + i % 240, TIMESTAMP '2026-01-01 08:00:00'"
    " + i * INTERVAL '3 hours', i % 50 FROM generate_series(1, 300) AS numbers (i)",
    "table dropped": "DROP TABLE branches",
    "null where there was none": "UPDATE customers SET city = NULL WHERE customer_id % 17 = 0",
    "new code": "INSERT INTO segments VALUES ('NGO', 'Charity');"
    "UPDATE customers SET segment = 'NGO' WHERE customer_id % 23 = 0",
    "many rows more": "INSERT INTO customers SELECT i, 'Customer ' || i, NULL, 'Bern', 'RET', 1, 5,"
    " DATE '2026-03-01' FROM generate_series(1000, 3000) AS numbers (i)",
    "columns in another order": "CREATE TABLE moved AS SELECT title, opened_on, branch_id, region"
    " FROM branches; DROP TABLE branches; ALTER TABLE moved RENAME TO branches",
}
"""What happens to the structure after the second load, in SQL that both engines know."""

RENAMED = {"column renamed": ("customers", "city", "town")}
"""The table and the earlier and later name of what changes rename, which somebody has to decide."""

PAIRS: Sequence[tuple[str, str]] = (
    ("text column added", "column dropped"),
    ("text column added", "number column added"),
    ("text column added", "decimal widened"),
    ("number column added", "text column dropped"),
    ("personal column added", "reference dropped"),
    ("reference added", "measure dropped"),
    ("measure added", "table dropped"),
    ("table added", "table dropped"),
    ("event table added", "column dropped"),
    ("event table added", "text column added"),
    ("integer widened", "text column dropped"),
    ("integer to text", "decimal widened"),
    ("null where there was none", "new code"),
    ("new code", "text column added"),
    ("columns in another order", "column dropped"),
    ("key widened to bigint", "number column added"),
)


@dataclass(frozen=True)
class Case:
    """What happens to the shop: changes on the third night, and others on the fourth."""

    third: tuple[str, ...]
    fourth: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """How the case is called on the command line."""
        nights = filter(None, (self.third, self.fourth))
        return " then ".join(" + ".join(changes) for changes in nights)

    @property
    def statements(self) -> tuple[str, str]:
        """The SQL of either night."""
        third, fourth = (
            ";".join(filter(None, (CHANGES[name] for name in changes)))
            for changes in (self.third, self.fourth)
        )
        return third, fourth

    @property
    def renamed(self) -> tuple[tuple[str, str, str], ...]:
        """What is renamed on the third night."""
        return tuple(RENAMED[name] for name in self.third if name in RENAMED)


CASES: Sequence[Case] = (
    *(Case((change,)) for change in CHANGES),
    *(Case(pair) for pair in PAIRS),
    *(Case((first,), (second,)) for first, second in PAIRS),
)
"""Each change, each pair in one night, and each pair in two nights."""
