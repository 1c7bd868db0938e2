"""Each edit of a schema is exactly the change that it is, and rows that come and go are none."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from fluid_build.changes import ChangeKind, Effect, source_changes
from fluid_build.profiling.profile import Profile
from tests.changes.databases import profiled, rebuilt, shop

A_DAY = [
    "DELETE FROM lines WHERE order_no IN (SELECT order_no FROM orders LIMIT 8)",
    "DELETE FROM orders WHERE order_no NOT IN (SELECT order_no FROM lines)"
    " AND order_no IN (SELECT order_no FROM orders LIMIT 8)",
    "UPDATE customers SET city = 'Bonn', score = 3 WHERE id % 5 = 0",
    "UPDATE orders SET total = total + 1, channel = 'web' WHERE order_no % 9 = 0",
    "INSERT INTO customers SELECT 900000 + i, 'New ' || i, 'Ghent', 7, NULL FROM range(6) t(i)",
    "INSERT INTO orders SELECT 900000 + i, 900000 + i % 6, DATE '2025-01-01' + i::INTEGER,"
    " 9.99, 'web' FROM range(12) t(i)",
    "INSERT INTO lines SELECT 900000 + i, 1, 2, 1.25 FROM range(12) t(i)",
]
"""Rows come, go and change, within the keys and references."""
_LINES_UNKEYED = rebuilt("lines", "")
EDITS: dict[str, tuple[Sequence[str], list[tuple[str, str, tuple[str, ...]]]]] = {
    "a column is added": (
        ["ALTER TABLE customers ADD phone VARCHAR"],
        [("column_added", "customers", ("phone",))],
    ),
    "a column with values is added": (
        ["ALTER TABLE lines ADD weight DOUBLE", "UPDATE lines SET weight = quantity * 1.7"],
        [("column_added", "lines", ("weight",))],
    ),
    "a column is dropped": (
        ["ALTER TABLE orders DROP total"],
        [("column_dropped", "orders", ("total",))],
    ),
    "a column is renamed": (
        ["ALTER TABLE orders RENAME placed TO since"],
        [("column_renamed", "orders", ("placed",))],
    ),
    "a referring column is renamed": (
        ["ALTER TABLE orders RENAME customer_id TO buyer"],
        [("column_renamed", "orders", ("customer_id",))],
    ),
    "a flag is renamed": (
        ["ALTER TABLE orders RENAME channel TO medium"],
        [("column_renamed", "orders", ("channel",))],
    ),
    "a key is renamed": (
        rebuilt("customers", "customer_key", "* RENAME (id AS customer_key)"),
        [("column_renamed", "customers", ("id",))],
    ),
    "a renamed column goes to the end": (
        [*rebuilt("orders", "order_no", "* EXCLUDE (total), total AS amount_net")],
        [("column_renamed", "orders", ("total",))],
    ),
    "a whole number is widened": (
        ["ALTER TABLE lines ALTER quantity TYPE BIGINT"],
        [("type_widened", "lines", ("quantity",))],
    ),
    "a decimal is widened": (
        ["ALTER TABLE lines ALTER price TYPE DECIMAL(12, 4)"],
        [("type_widened", "lines", ("price",))],
    ),
    "a whole number becomes a decimal": (
        ["ALTER TABLE lines ALTER quantity TYPE DECIMAL(8, 3)"],
        [("type_widened", "lines", ("quantity",))],
    ),
    "a date becomes a moment": (
        ["ALTER TABLE orders ALTER placed TYPE TIMESTAMP"],
        [("type_widened", "orders", ("placed",))],
    ),
    "a whole number is narrowed": (
        ["ALTER TABLE lines ALTER quantity TYPE SMALLINT"],
        [("type_narrowed", "lines", ("quantity",))],
    ),
    "a number becomes text": (
        ["ALTER TABLE orders ALTER total TYPE VARCHAR"],
        [("type_changed", "orders", ("total",))],
    ),
    "a table is added": (
        ["CREATE TABLE suppliers AS SELECT 'S' || i AS code, i % 4 AS rank_ FROM range(9) t(i)"],
        [("table_added", "suppliers", ())],
    ),
    "a table is dropped": (["DROP TABLE lines"], [("table_dropped", "lines", ())]),
    "a table is renamed": (
        ["ALTER TABLE customers RENAME TO business_partners"],
        [("table_renamed", "customers", ())],
    ),
    "a table goes on in another for a year": (
        ["CREATE TABLE orders_2025 AS FROM orders LIMIT 0"],
        [("table_split", "orders", ())],
    ),
    "a key repeats": (
        [
            *rebuilt("customers", ""),
            "INSERT INTO customers SELECT id, 'Another', 'Bonn', 3, 'x' FROM customers LIMIT 2",
        ],
        [("key_broken", "customers", ("id",))],
    ),
    "a key has a null": (
        [*rebuilt("customers", ""), "INSERT INTO customers VALUES (NULL, 'Nobody', 'Bonn', 1, '')"],
        [("key_broken", "customers", ("id",))],
    ),
    "a key of two columns repeats": (
        [*_LINES_UNKEYED, "INSERT INTO lines SELECT order_no, pos, 77, 0.05 FROM lines LIMIT 1"],
        [("key_broken", "lines", ("order_no", "pos"))],
    ),
    "a key becomes longer": (
        [
            *rebuilt("customers", "", "*, 'A' AS area"),
            "INSERT INTO customers SELECT * REPLACE ('B' AS area) FROM customers",
        ],
        [
            ("column_added", "customers", ("area",)),
            ("key_widened", "customers", ("id",)),
        ],
    ),
    "orphans come": (
        ["INSERT INTO orders VALUES (999001, 999991, DATE '2024-05-01', 5.05, 'web')"],
        [("reference_broken", "orders", ("customer_id",))],
    ),
    "a column has nulls": (
        ["UPDATE orders SET total = NULL WHERE order_no % 5 = 1"],
        [("nulls_new", "orders", ("total",))],
    ),
    "a column is always filled": (
        ["UPDATE customers SET note = 'seen ' || id % 11 WHERE note IS NULL"],
        [("nulls_gone", "customers", ("note",))],
    ),
    "a column becomes personal": (
        ["UPDATE customers SET note = 'p' || id || '@example.org' WHERE note IS NOT NULL"],
        [("newly_personal", "customers", ("note",))],
    ),
    "a table is emptied": (["DELETE FROM lines"], [("table_emptied", "lines", ())]),
    "a table loses a third": (
        ["DELETE FROM lines WHERE order_no % 3 = 0 OR order_no % 7 = 1"],
        [("table_shrunk", "lines", ())],
    ),
    "nothing": ([], []),
}


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[int, tuple[Path, Profile]]:
    folder = tmp_path_factory.mktemp("shops")
    made = {}
    for seed in (3, 8):
        path = folder / f"shop{seed}.duckdb"
        made[seed] = path, profiled(path, shop(seed))
    return made


@pytest.mark.parametrize(("seed", "loads"), [(3, []), (8, A_DAY)], ids=["at once", "a day later"])
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_the_change_that_it_is(
    originals: dict[int, tuple[Path, Profile]],
    tmp_path: Path,
    seed: int,
    loads: Sequence[str],
    edit: str,
) -> None:
    original, earlier = originals[seed]
    statements, expected = EDITS[edit]
    shutil.copyfile(original, tmp_path / "now.duckdb")
    present = profiled(tmp_path / "now.duckdb", [*loads, *statements])
    changes = source_changes(earlier, present)
    assert [(str(each.kind), each.table, each.columns) for each in changes] == expected, [
        str(each) for each in changes
    ]


@pytest.mark.parametrize(
    ("share", "effect"), [("order_no % 50 = 1", Effect.SAFE), ("TRUE", Effect.NEEDS_DECISION)]
)
def test_a_column_that_is_emptied_needs_a_decision(
    originals: dict[int, tuple[Path, Profile]], tmp_path: Path, share: str, effect: Effect
) -> None:
    original, earlier = originals[3]
    shutil.copyfile(original, tmp_path / "now.duckdb")
    emptied = [f"UPDATE orders SET total = NULL WHERE {share}"]
    (change,) = source_changes(earlier, profiled(tmp_path / "now.duckdb", emptied))
    assert (change.kind, change.effect) == (ChangeKind.NULLS_NEW, effect)


def test_what_a_part_of_a_table_lacks_is_no_change(
    originals: dict[int, tuple[Path, Profile]], tmp_path: Path
) -> None:
    """Neither that rows are missing, nor that what refers to them leads nowhere."""
    original, earlier = originals[3]
    shutil.copyfile(original, tmp_path / "now.duckdb")
    present = profiled(
        tmp_path / "now.duckdb",
        ["DELETE FROM customers WHERE id % 9 <> 0", "DELETE FROM orders WHERE order_no % 9 <> 0"],
    )
    assert source_changes(earlier, present)
    assert source_changes(earlier, present, partial={"customers", "orders"}) == ()
