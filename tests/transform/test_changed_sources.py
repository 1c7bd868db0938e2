"""Plans of models whose source changed after their relations were loaded."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from fluid_build.modeling.dimensional.elements import UNKNOWN_KEY
from fluid_build.modeling.element import SourceColumn
from fluid_build.modeling.evolution import Evolution, RenamedColumn, RenamedTable
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.sources.base import Table
from fluid_build.transform.plan.execution import FIRST_LOAD, Built
from fluid_build.transform.plan.techniques import checks, rebuilds, transform_plan
from fluid_build.transform.proof.proof import prove
from tests.transform.databases import database, loaded
from tests.transform.dimensional.stars import star_of, without_history

SHOP = (
    "CREATE TABLE city (id INTEGER PRIMARY KEY, name VARCHAR, mayor VARCHAR)",
    "INSERT INTO city SELECT i, 'c' || i, 'm' || i FROM range(1, 6) r(i)",
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR, city_id INTEGER REFERENCES city,"
    " score INTEGER, old VARCHAR, balance DOUBLE)",
    "INSERT INTO customer SELECT i, 'n' || i, 1 + i % 5, i * 7 % 11, 'o' || i % 3, i + 0.5"
    " FROM range(1, 31) r(i)",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer,"
    " ordered DATE, paid DECIMAL(8, 2))",
    "INSERT INTO orders SELECT i, 1 + i % 30, DATE '2024-01-01' + CAST(i AS INTEGER), i / 3"
    " FROM range(1, 60) r(i)",
    "CREATE TABLE visit (page VARCHAR, seconds INTEGER)",
    "INSERT INTO visit SELECT 'p' || i % 4, i % 3 FROM range(40) r(i)",
)
TECHNIQUES = ("flat", "data_vault_2", "dimensional")


@contextmanager
def shop(
    folder: Path, technique: str, *, versioned: bool = True
) -> Iterator[tuple[LogicalModel, Built]]:
    """A model of the shop, loaded once; its source is open for changes as ``shop``."""
    file = database(folder / "shop.duckdb", *SHOP)
    with open_source(file) as source:
        model = build_model(profile_source(source), technique)
        tables: Sequence[Table] = source.tables
    if not versioned:
        model = model.model_copy(update={"dimensional": without_history(star_of(model))})
    with loaded(file, tables, transform_plan(model)) as built:
        yield model, built


def changed(model: LogicalModel, **changes: object) -> LogicalModel:
    """The model after its source changed."""
    return model.model_copy(update={"evolution": Evolution.model_validate(changes)})


def column(table: str, name: str) -> SourceColumn:
    """A column of the source."""
    return SourceColumn(table=table, column=name)


def load(built: Built, model: LogicalModel, days: int = 1, *changes: str) -> Built:
    """Load what a changed model builds into relations that are there."""
    for change in changes:
        built.connection.execute(change)
    after = replace(built, plan=transform_plan(model))
    after.load(FIRST_LOAD + timedelta(days=days))
    return after


def rows(built: Built, sql: str) -> list[tuple[object, ...]]:
    return built.connection.execute(sql).fetchall()


def sizes(built: Built) -> dict[str, int]:
    return {one.name: built.rows(f"model.{one.name}") for one in built.plan.published}


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_dropped_column_makes_no_row_and_keeps_what_it_had(
    tmp_path: Path, technique: str
) -> None:
    """It's no update to null, and of a next row it says nothing."""
    with shop(tmp_path, technique) as (model, built):
        after = changed(model, retired_columns=(column("customer", "old"),))
        before = sizes(built)
        loaded_again = load(built, after)
        assert sizes(loaded_again) == {
            name: rows_ + (30 if "snapshot" in name else 0) for name, rows_ in before.items()
        }
        if technique == "data_vault_2":
            load(built, after, 2, "UPDATE shop.customer SET name = 'other' WHERE id = 1")
            assert rows(
                built,
                "SELECT s.name, s.old FROM model.sat_customer AS s JOIN model.hub_customer AS h"
                " USING (customer_hk) WHERE h.id = 1 ORDER BY s.load_date",
            ) == [("n1", "o1"), ("other", None)]


def test_a_member_keeps_what_it_had_in_dropped_columns(tmp_path: Path) -> None:
    """Its own, and those that came from another table; a new member has nothing there."""
    with shop(tmp_path, "dimensional", versioned=False) as (model, built):
        after = changed(
            model,
            retired_columns=(column("customer", "old"),),
            retired_tables=("city",),
        )
        load(
            built,
            after,
            1,
            "UPDATE shop.customer SET name = 'other' WHERE id = 1",
            "INSERT INTO shop.customer VALUES (99, 'n99', 2, 1, 'gone', 0)",
        )
        assert rows(
            built,
            "SELECT name, old, city_name, is_deleted FROM model.dim_customer WHERE id IN (1, 99)"
            " ORDER BY id",
        ) == [("other", "o1", "c2", False), ("n99", None, None, False)]


def test_a_version_keeps_what_another_table_said(tmp_path: Path) -> None:
    """And a later version of the same member says it too."""
    with shop(tmp_path, "dimensional") as (model, built):
        after = changed(
            model, retired_columns=(column("customer", "balance"),), retired_tables=("city",)
        )
        load(built, after, 1, "UPDATE shop.customer SET name = 'other' WHERE id = 1")
        assert rows(
            built,
            "SELECT name, city_mayor, balance FROM model.dim_customer WHERE id = 1"
            " ORDER BY valid_from",
        ) == [("n1", "m2", 1.5), ("other", "m2", 1.5)]


def test_a_fact_keeps_what_its_rows_had_in_dropped_columns(tmp_path: Path) -> None:
    """Their values and keys, until a row is deleted. A later one has neither, and all is proven."""
    with shop(tmp_path, "dimensional") as (model, built):
        facts = (
            "SELECT id, paid, customer_key, ordered_date_key FROM model.fct_orders"
            " WHERE id IN (1, 2, 999) ORDER BY id"
        )
        first, _ = rows(built, facts)
        after = changed(
            model,
            retired_columns=tuple(
                column("orders", name) for name in ("paid", "customer_id", "ordered")
            ),
        )
        load(
            built,
            after,
            1,
            "DELETE FROM shop.orders WHERE id = 2",
            "INSERT INTO shop.orders VALUES (999, 1, DATE '2024-01-05', 7)",
        )
        assert None not in first and first[3] != -1
        assert rows(built, facts) == [first, (999, None, UNKNOWN_KEY, -1)]
        again = load(built, after, 2)
        assert rows(built, facts) == [first, (999, None, UNKNOWN_KEY, -1)]
        proof = prove(again, after)
        (orders,) = (each for each in proof.tables if each.table == "orders")
        assert (orders.rows, orders.missing, orders.unexpected) == (59, 0, 0)
        assert not [check for check in orders.checks if not check.holds]


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_rows_of_a_dropped_table_stay(tmp_path: Path, technique: str) -> None:
    """Its relations are there, get nothing, and what refers to them still finds it."""
    with shop(tmp_path, technique) as (model, built):
        before = sizes(built)
        gone = [one.name for one in built.plan.published if "visit" in one.mapped_source_tables]
        after = load(built, changed(model, retired_tables=("visit",)))
        assert gone
        assert {name: before[name] for name in gone} == {name: sizes(after)[name] for name in gone}
        retired = [one for one in after.plan.builds if one.is_retired]
        assert [one.name for one in retired] == gone
        assert all("no longer has" in one.description for one in retired)


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_what_the_source_still_has_is_proven(tmp_path: Path, technique: str) -> None:
    """In a first load of a changed model: its dropped parts are no part of the source."""
    file = database(
        tmp_path / "shop.duckdb",
        # DuckDB alters no table that another one refers to.
        *(re.sub(r" REFERENCES \w+", "", statement) for statement in SHOP),
        "ALTER TABLE customer DROP COLUMN old",
        "DROP TABLE visit",
        "ALTER TABLE orders RENAME COLUMN paid TO amount",
    )
    first = database(tmp_path / "first.duckdb", *SHOP)
    with open_source(first) as source:
        model = build_model(profile_source(source), technique)
    model = changed(
        model,
        retired_tables=("visit",),
        retired_columns=(column("customer", "old"),),
        renamed_columns=(RenamedColumn(table="orders", column="paid", now="amount"),),
    )
    with open_source(file) as source:
        tables = source.tables
    with loaded(file, tables, transform_plan(model)) as built:
        proof = prove(built, model)
    assert proof.verdict == "proven", proof.reason
    assert {table.table for table in proof.tables} == {"city", "customer", "orders"}


def test_a_renamed_table_is_read_by_its_present_name(tmp_path: Path) -> None:
    """The model goes on calling it as it was."""
    file = database(tmp_path / "shop.duckdb", *SHOP, "ALTER TABLE visit RENAME TO page_views")
    with open_source(database(tmp_path / "first.duckdb", *SHOP)) as source:
        model = build_model(profile_source(source), "data_vault_2")
    model = changed(model, renamed_tables=(RenamedTable(table="visit", now="page_views"),))
    with open_source(file) as source:
        tables = source.tables
    with loaded(file, tables, transform_plan(model)) as built:
        assert prove(built, model).verdict == "proven"
        assert not [check for check in checks(model) if "page_views" in check.name]
    assert "visit" in {rebuild.table for rebuild in rebuilds(model)}


def test_wider_types_make_no_version(tmp_path: Path) -> None:
    """Rows are compared by what they hold, not by a hash of the narrower text."""
    with shop(tmp_path, "data_vault_2") as (model, built):
        entities = tuple(
            entity.model_copy(
                update={
                    "attributes": tuple(
                        attribute.model_copy(
                            update={"source_type": "DECIMAL(12,4)", "type": "decimal(12,4)"}
                        )
                        if attribute.name == "paid"
                        else attribute
                        for attribute in entity.attributes
                    )
                }
            )
            for entity in model.conceptual.entities
        )
        wider = model.model_copy(
            update={"conceptual": model.conceptual.model_copy(update={"entities": entities})}
        )
        built.connection.execute(
            "ALTER TABLE model.sat_orders ALTER COLUMN paid TYPE DECIMAL(12, 4)"
        )
        before = sizes(built)
        after = load(built, changed(wider, retyped_columns=(column("orders", "paid"),)))
        assert sizes(after) == before
        load(
            built,
            changed(wider, retyped_columns=(column("orders", "paid"),)),
            2,
            "UPDATE shop.orders SET paid = 1.25 WHERE id = 7",
        )
        assert sizes(after)["sat_orders"] == before["sat_orders"] + 1


def test_a_model_whose_source_is_as_it_was_has_the_same_plan(tmp_path: Path) -> None:
    """Byte for byte, so that nobody's project changes."""
    with shop(tmp_path, "data_vault_2") as (model, built):
        assert transform_plan(changed(model)) == built.plan


def test_the_calendar_keeps_the_days_of_rows_that_stay(tmp_path: Path) -> None:
    """A fact whose table is gone refers to them."""
    with shop(tmp_path, "dimensional") as (model, built):
        after = load(built, changed(model, retired_tables=("orders",)))
        assert after.plan.build("fct_orders").is_retired
        (lost,) = rows(
            built,
            "SELECT COUNT(*) FROM model.fct_orders ANTI JOIN model.dim_date"
            " ON date_key = ordered_date_key",
        )
        assert lost == (0,)
