"""Rows that break a key are set apart, and stop no others; the proof counts them as kept."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from fluid_build.modeling.logical import LogicalModel, Technique
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.transform.plan.execution import FIRST_LOAD, Built
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.proof import Proof, prove
from tests.transform import test_deliveries
from tests.transform.databases import database, loaded

TECHNIQUES: tuple[Technique, ...] = ("flat", "data_vault_2", "dimensional")
SHOP = (
    "CREATE TABLE customer (id INTEGER, name VARCHAR, city VARCHAR)",
    "CREATE TABLE orders (id INTEGER, customer_id INTEGER, placed DATE, total DECIMAL(9, 2))",
    "CREATE TABLE line (order_id INTEGER, pos INTEGER, what VARCHAR, price DECIMAL(9, 2))",
    "INSERT INTO customer SELECT i, 'name ' || i, 'city ' || i % 7 FROM range(1, 41) r(i)",
    "INSERT INTO orders SELECT i, 1 + i % 40, DATE '2024-01-01' + CAST(i % 90 AS INTEGER), i * 1.5"
    " FROM range(1, 201) r(i)",
    "INSERT INTO line SELECT 1 + i // 2, 1 + i % 2, 'thing ' || i % 30, i / 4 FROM range(400) r(i)",
)
"""No key is declared, so that any row may come."""


@dataclass
class Shop:
    """A model that was loaded once, and its source, open for changes as ``shop``."""

    model: LogicalModel
    built: Built
    day: datetime = FIRST_LOAD

    def load(self, *changes: str) -> Proof:
        """Change the source, load a day later, and compare."""
        for statement in changes:
            self.built.connection.execute(statement)
        self.day += timedelta(days=1)
        self.built.load(self.day)
        return prove(self.built, self.model)

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        return self.built.connection.execute(sql).fetchall()


@contextmanager
def shop(folder: Path, technique: str, *statements: str) -> Iterator[Shop]:
    file = database(folder / "shop.duckdb", *(statements or SHOP))
    with open_source(file) as source:
        model = build_model(profile_source(source), technique)
        tables = source.tables
    plan = transform_plan(model)
    with loaded(file, tables, plan) as result:
        yield Shop(model, result)


def set_apart(proof: Proof) -> dict[str, dict[str, int]]:
    """How many rows of each table are in quarantine, by the rule that they break."""
    return {
        table.table: {part.rule: part.rows for part in table.quarantined}
        for table in proof.tables
        if table.quarantined
    }


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_bad_rows_are_kept_apart_and_the_others_loaded(tmp_path: Path, technique: str) -> None:
    """A null key, a row that is there twice, and two rows of one key; then all are repaired."""
    with shop(tmp_path, technique) as found:
        assert prove(found.built, found.model).verdict == "proven"
        bad = found.load(
            "INSERT INTO shop.customer VALUES (NULL, 'nobody', 'x'), (41, 'name 41', 'new')",
            "INSERT INTO shop.orders SELECT * FROM shop.orders WHERE id = 3",
            "INSERT INTO shop.orders VALUES (5, 5, DATE '2024-05-05', 5)",
            "INSERT INTO shop.line VALUES (1, NULL, 'no place', 1), (1, 1, 'other', 2)",
        )
        assert set_apart(bad) == {
            "customer": {"NULL id": 1},
            "line": {"NULL pos": 1, "repeated order_id, pos": 2},
            "orders": {"repeated id": 2, "the same row again": 1},
        }
        assert bad.verdict == "proven", bad.reason
        orders = next(table for table in bad.tables if table.table == "orders")
        assert (orders.rows, orders.rebuilt) == (202, 199)
        repaired = found.load(
            "DELETE FROM shop.customer WHERE id IS NULL",
            "DELETE FROM shop.orders WHERE id = 5 AND total = 5",
            "CREATE OR REPLACE TABLE shop.orders AS SELECT DISTINCT * FROM shop.orders",
            "DELETE FROM shop.line WHERE pos IS NULL OR what = 'other'",
        )
        assert (repaired.verdict, set_apart(repaired)) == ("proven", {})


@pytest.mark.parametrize(
    ("technique", "state"),
    [
        ("data_vault_2", "SELECT COUNT(*) FROM model.sat_customer WHERE load_date > '2000-01-01'"),
        ("dimensional", "SELECT COUNT(*) FROM model.dim_customer WHERE is_deleted"),
    ],
)
def test_a_key_in_quarantine_is_neither_changed_nor_gone(
    tmp_path: Path, technique: str, state: str
) -> None:
    """Its history and its member stay as they were; repaired as it was, nothing is added."""
    with shop(tmp_path, technique) as found:
        bad = found.load("INSERT INTO shop.customer VALUES (7, 'another', 'x')")
        assert set_apart(bad) == {"customer": {"repeated id": 2}}
        assert bad.verdict == "proven", bad.reason
        assert found.rows(state) == [(0,)]
        found.load("DELETE FROM shop.customer WHERE name = 'another'")
        assert found.rows(state) == [(0,)]


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_load_at_the_same_moment_puts_nothing_apart_twice(tmp_path: Path, technique: str) -> None:
    """One that was cut off is run again with its load date."""
    with shop(tmp_path, technique) as found:
        found.load("INSERT INTO shop.customer VALUES (NULL, 'nobody', 'x')")
        found.built.load(found.day)
        assert found.rows("SELECT source_table, broken_rule FROM model.quarantine") == [
            ("customer", "NULL id")
        ]


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_row_in_quarantine_has_all_that_the_source_says(tmp_path: Path, technique: str) -> None:
    """By the source's own names, as JSON, beside the key."""
    with shop(tmp_path, technique) as found:
        found.load("INSERT INTO shop.orders VALUES (NULL, 3, DATE '2024-02-29', 12345.67)")
        assert found.rows("SELECT key_values, source_row FROM model.quarantine") == [
            (
                '{"id":null}',
                '{"id":null,"customer_id":3,"placed":"2024-02-29","total":12345.67}',
            )
        ]


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_bad_delivery_is_set_apart_and_replaced_by_the_next(
    tmp_path: Path, technique: Technique
) -> None:
    """What a delivery has twice waits in quarantine, until one has its key once."""
    file = database(tmp_path / "shop.db", *test_deliveries.TABLES)
    with test_deliveries.warehouse(file, technique, *test_deliveries.DELIVERIES) as found:
        found.change(
            "DELETE FROM shop.customer",
            "INSERT INTO shop.customer VALUES (3, 'a', 'c1'), (3, 'b', 'c1'), (NULL, 'x', 'c2'),"
            " (77, 'new', 'c2')",
            "DELETE FROM shop.payment",
            "INSERT INTO shop.payment VALUES (900, 3, DATE '2024-01-01', 1.5)",
        )
        found.load()
        bad = found.proof()
        assert set_apart(bad) == {"customer": {"NULL id": 1, "repeated id": 2}}
        assert bad.verdict == "proven", bad.reason
        found.change("DELETE FROM shop.customer WHERE \"Full Name\" = 'a'")
        found.load()
        repaired = found.proof()
        assert set_apart(repaired) == {"customer": {"NULL id": 1}}
        assert repaired.verdict == "proven", repaired.reason


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_an_appended_key_that_came_twice_is_loaded_once_it_comes_alone(
    tmp_path: Path, technique: Technique
) -> None:
    """The same two rows again change nothing, and a row that was loaded alone never changes."""
    file = database(tmp_path / "shop.db", *test_deliveries.TABLES)
    with test_deliveries.warehouse(file, technique, *test_deliveries.DELIVERIES) as found:
        found.change(
            "DELETE FROM shop.payment",
            "INSERT INTO shop.payment VALUES (900, 3, DATE '2024-01-01', 1.5),"
            " (900, 3, DATE '2024-01-01', 9.5), (901, 4, DATE '2024-01-02', 2.5),"
            " (901, 4, DATE '2024-01-02', 2.5), (902, 4, DATE '2024-01-02', 3.5)",
        )
        for _ in range(2):
            found.load()
            bad = found.proof()
            assert bad.verdict == "proven", bad.reason
            assert set_apart(bad) == {"payment": {"repeated id": 2, "the same row again": 1}}
        found.change(
            "DELETE FROM shop.payment WHERE amount = 9.5",
            "CREATE OR REPLACE TABLE shop.payment AS SELECT DISTINCT * FROM shop.payment",
        )
        found.load()
        repaired = found.proof()
        assert (repaired.verdict, set_apart(repaired)) == ("proven", {})
        amounts = "SELECT id, amount FROM model.stg_payment WHERE id >= 900 ORDER BY id"
        settled = found.rows(amounts)
        assert [float(str(amount)) for _, amount in settled] == [1.5, 2.5, 3.5]
        found.change("UPDATE shop.payment SET amount = 0")
        found.load()
        assert found.rows(amounts) == settled
        assert found.rows("SELECT count(*) FROM model.kept_payment WHERE id >= 900") == [(7,)]


def test_a_model_that_relies_on_no_key_has_no_quarantine(tmp_path: Path) -> None:
    """Nothing could break it."""
    with shop(
        tmp_path,
        "data_vault_2",
        "CREATE TABLE event (what VARCHAR, size INTEGER)",
        "INSERT INTO event SELECT 'a', 1 FROM range(20)",
    ) as found:
        assert found.built.plan.quarantine is None
