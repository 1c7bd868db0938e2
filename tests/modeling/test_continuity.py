"""A model that follows on an earlier one keeps its relations, their columns and their order."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from fluid_build.forging.stages import Designed
from fluid_build.modeling.element import SourceColumn
from fluid_build.modeling.evolution import Evolution
from fluid_build.report.judgements.model_judgements import model_judgements
from fluid_build.sources import open_source
from fluid_build.transform.proof.building import build_and_prove
from fluid_build.transform.proof.source_changes import fits_model
from tests.modeling.evolved import SHOP, designed, difference, relations, run

TECHNIQUES = ("flat", "data_vault_2", "dimensional")
Change = Callable[[str, *tuple[str, ...]], tuple[Designed, Designed]]


@pytest.fixture
def changed(tmp_path: Path) -> Change:
    """A model of the shop, and the one after some statements."""
    database = tmp_path / "shop.duckdb"
    run(database, SHOP)

    def change(technique: str, *statements: str) -> tuple[Designed, Designed]:
        before = designed(database, technique)
        run(database, statements)
        return before, designed(database, technique, before.basis)

    return change


def evolution(model: Designed) -> Evolution:
    assert model.model.evolution is not None
    return model.model.evolution


ADDED = (
    "ALTER TABLE customers ADD COLUMN segment VARCHAR",
    "UPDATE customers SET segment = CASE customer_id % 2 WHEN 0 THEN 'A' ELSE 'B' END",
)
CHANGES = {
    "a column came": ADDED,
    "a date came": (
        "ALTER TABLE customers ADD COLUMN left_on DATE",
        "UPDATE customers SET left_on = DATE '2024-05-01' + customer_id",
    ),
    "a column went": ("ALTER TABLE customers DROP COLUMN city",),
    "a table came": (
        "CREATE TABLE refunds (refund_id INTEGER PRIMARY KEY, order_id INTEGER,"
        " amount DECIMAL(8,2), refunded_on DATE)",
        "INSERT INTO refunds SELECT i, i * 3, i * 0.5, DATE '2024-02-01' + i::INTEGER"
        " FROM range(1, 101) t(i)",
    ),
    "a parent came": (
        "CREATE TABLE channels (channel_id INTEGER PRIMARY KEY, channel_name VARCHAR)",
        "INSERT INTO channels VALUES (1, 'web'), (2, 'shop'), (3, 'phone')",
        "ALTER TABLE orders ADD COLUMN channel_id INTEGER",
        "UPDATE orders SET channel_id = 1 + order_id % 3",
    ),
    "a table went": ("DROP TABLE order_lines",),
    "a type became wider": (
        "ALTER TABLE orders ALTER COLUMN total TYPE DECIMAL(14,2)",
        "ALTER TABLE products ALTER COLUMN list_price TYPE DOUBLE",
    ),
    "a type became narrower": ("ALTER TABLE order_lines ALTER COLUMN quantity TYPE SMALLINT",),
    "nulls came": (
        "ALTER TABLE orders ALTER COLUMN customer_id DROP NOT NULL",
        "ALTER TABLE orders ALTER COLUMN status DROP NOT NULL",
        "UPDATE orders SET customer_id = NULL, status = NULL WHERE order_id % 10 = 0",
    ),
    "a code came": ("UPDATE orders SET status = 'lost' WHERE order_id % 10 = 0",),
    "orphans came": ("UPDATE orders SET customer_id = 9000 + order_id WHERE order_id % 50 = 0",),
    "most rows went": ("DELETE FROM orders WHERE order_id > 20",),
    "all rows went": ("DELETE FROM order_lines", "DELETE FROM orders"),
    "names collide": (
        'CREATE TABLE "Orders 2" (no INTEGER PRIMARY KEY, remark VARCHAR)',
        """INSERT INTO "Orders 2" VALUES (1, 'a'), (2, 'b')""",
        'ALTER TABLE customers ADD COLUMN "Customer-ID" VARCHAR',
        """UPDATE customers SET "Customer-ID" = 'K' || customer_id""",
    ),
}


FOLLOWED = ("a column went", "a table went")
"""Changes that a flat model follows: it has no history to keep."""


@pytest.mark.parametrize(
    ("technique", "change"),
    [(t, c) for t, c in product(TECHNIQUES, CHANGES) if t != "flat" or c not in FOLLOWED],
)
def test_every_relation_keeps_its_name_its_columns_and_their_order(
    changed: Change, technique: str, change: str
) -> None:
    before, after = changed(technique, *CHANGES[change])
    assert difference(before, after).lost == []


@pytest.mark.parametrize("change", FOLLOWED)
def test_a_flat_model_loses_just_what_its_source_lost(changed: Change, change: str) -> None:
    before, after = changed("flat", *CHANGES[change])
    gone = {"a column went": "customers", "a table went": "order_lines"}[change]
    lost = difference(before, after).lost
    assert gone in lost
    assert {name.removeprefix("stg_") for name in lost} == {gone}


@pytest.mark.parametrize("technique", TECHNIQUES)
@pytest.mark.parametrize("change", CHANGES)
def test_the_next_model_reads_just_what_its_source_has(
    changed: Change, tmp_path: Path, technique: str, change: str
) -> None:
    _, after = changed(technique, *CHANGES[change])
    with open_source(str(tmp_path / "shop.duckdb")) as source:
        assert fits_model(source, after.model)


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_the_same_source_gives_the_same_model(changed: Change, technique: str) -> None:
    before, after = changed(technique)
    assert after.model == before.model
    assert after.profile == before.profile
    assert after.notes == ()


def test_a_new_column_of_a_vault_has_a_satellite_of_its_own(changed: Change) -> None:
    before, after = changed("data_vault_2", *ADDED)
    found = difference(before, after)
    assert list(found.new_relations) == ["sat_customers_2"]
    assert found.new_columns == {}
    assert evolution(after).added_columns == (SourceColumn(table="customers", column="segment"),)


VISITS = (
    "CREATE TABLE visits (visit_id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL,"
    " product_id INTEGER NOT NULL, visited_at TIMESTAMP NOT NULL, minutes INTEGER)",
    "INSERT INTO visits SELECT i, 1 + i * 7 % 120, 1 + i * 3 % 40, TIMESTAMP '2024-01-01'"
    " + i * INTERVAL '3 hours', i % 50 FROM range(1, 601) t(i)",
)
CALLS = (
    "CREATE TABLE calls (visit_id INTEGER NOT NULL, called_at TIMESTAMP NOT NULL)",
    "INSERT INTO calls SELECT 1 + i * 3 % 600, TIMESTAMP '2024-05-01' + i * INTERVAL '1 hour'"
    " FROM range(1, 401) t(i)",
)
"""What refers to visits, so that they have a hub of their own."""
VISITS_OF_ORDERS = (
    "ALTER TABLE visits ADD COLUMN order_id INTEGER",
    "UPDATE visits SET order_id = 601 - visit_id",
)


def test_a_new_reference_of_an_event_is_a_link_with_a_hash_key_of_its_own(tmp_path: Path) -> None:
    database = tmp_path / "shop.duckdb"
    run(database, (*SHOP, *VISITS, *CALLS))
    before = designed(database, "data_vault_2")
    run(database, VISITS_OF_ORDERS)
    after = designed(database, "data_vault_2", before.basis)
    assert difference(before, after).lost == []
    vault = after.model.dv2
    assert vault is not None
    keys = {link.name: link.hash_key for link in vault.links}
    assert (keys["lnk_visits"], keys["lnk_visits_2"]) == ("visits_lk", "visits_lk_2")
    parents = {each.parent: each.hash_key for each in vault.satellites}
    assert parents["lnk_visits_2"] == "visits_lk_2"


def test_a_new_reference_of_a_table_that_is_a_link_is_a_column(tmp_path: Path) -> None:
    database = tmp_path / "shop.duckdb"
    run(database, (*SHOP, *VISITS))
    before = designed(database, "data_vault_2")
    run(database, VISITS_OF_ORDERS)
    after = designed(database, "data_vault_2", before.basis)
    assert difference(before, after).lost == []
    vault = after.model.dv2
    assert vault is not None
    assert [link.name for link in vault.links if link.table == "visits"] == ["tl_visits"]
    assert any("order_id" in each.columns for each in vault.satellites)


def test_the_next_new_column_has_a_third_one(tmp_path: Path) -> None:
    database = tmp_path / "shop.duckdb"
    run(database, SHOP)
    first = designed(database, "data_vault_2")
    run(database, ADDED)
    second = designed(database, "data_vault_2", first.basis)
    run(database, ["ALTER TABLE customers ADD COLUMN vat_number VARCHAR"])
    third = designed(database, "data_vault_2", second.basis)
    assert difference(second, third).lost == []
    assert relations(third)["sat_customers_2"] == relations(second)["sat_customers_2"]
    assert list(difference(second, third).new_relations) == ["sat_customers_3"]


def test_a_new_personal_column_has_a_personal_satellite_of_its_own(changed: Change) -> None:
    _, after = changed(
        "data_vault_2",
        *ADDED,
        "ALTER TABLE customers ADD COLUMN email VARCHAR",
        "UPDATE customers SET email = 'p' || customer_id || '@example.org'",
    )
    vault = after.model.dv2
    assert vault is not None
    columns = {each.name: each.columns for each in vault.satellites if each.table == "customers"}
    assert ("segment",) in columns.values()
    assert ("email",) in columns.values()


def test_a_new_column_of_a_star_is_one_more_of_its_dimension(changed: Change) -> None:
    before, after = changed("dimensional", *ADDED)
    found = difference(before, after)
    assert found.new_relations == {}
    assert found.new_columns["dim_customers"] == ["segment"]
    assert after.model.dimensional is not None
    attributes = after.model.dimensional.dimension("dim_customers").attributes
    assert attributes[-1].name == "segment"


def test_what_the_source_has_no_longer_stays_and_is_named(changed: Change) -> None:
    _, after = changed(
        "data_vault_2", "ALTER TABLE customers DROP COLUMN city", "DROP TABLE order_lines"
    )
    assert evolution(after).retired_columns == (SourceColumn(table="customers", column="city"),)
    assert evolution(after).retired_tables == ("order_lines",)
    assert not after.model.conceptual.entity("customers").attribute("city").required
    assert any("order_lines" in note for note in after.notes)


def test_a_column_that_comes_back_is_loaded_again(tmp_path: Path) -> None:
    database = tmp_path / "shop.duckdb"
    run(database, SHOP)
    first = designed(database, "dimensional")
    run(database, ["ALTER TABLE customers DROP COLUMN city"])
    second = designed(database, "dimensional", first.basis)
    run(database, ["ALTER TABLE customers ADD COLUMN city VARCHAR"])
    third = designed(database, "dimensional", second.basis)
    assert third.model.evolution is None
    assert relations(third) == relations(first)


def test_a_wider_type_is_taken_and_a_narrower_one_is_not(changed: Change) -> None:
    _, after = changed("flat", *CHANGES["a type became wider"], *CHANGES["a type became narrower"])
    conceptual = after.model.conceptual
    assert conceptual.entity("orders").attribute("total").type == "decimal(14,2)"
    assert conceptual.entity("order_lines").attribute("quantity").type == "integer"
    assert evolution(after).retyped_columns == (
        SourceColumn(table="orders", column="total"),
        SourceColumn(table="products", column="list_price"),
    )


VALUES = {
    "SMALLINT": "i",
    "INTEGER": "i * 50000",
    "BIGINT": "i * 5000000000",
    "DECIMAL(8,2)": "i * 0.25",
    "DECIMAL(7,2)": "i * 0.25",
    "DECIMAL(12,4)": "i * 0.0025",
    "DOUBLE": "i * 0.1",
    "DATE": "DATE '2024-01-01' + i::INTEGER",
    "TIMESTAMP": "TIMESTAMP '2024-01-01 10:00:00' + i * INTERVAL '1 hour'",
    "BOOLEAN": "i % 2 = 0",
    "VARCHAR": "'word ' || i",
    "VARCHAR of numbers": "CAST(i AS VARCHAR)",
    "VARCHAR of dates": "CAST(DATE '2024-01-01' + i::INTEGER AS VARCHAR)",
    "VARCHAR of nothing": "NULL",
}
"""Types of columns, each with what a row has in it."""


def _of_types(place: int) -> tuple[str, str]:
    """A table with a column for each change of a type to another: before it, and after it."""
    columns = ", ".join(
        f"CAST({VALUES[pair[place]]} AS {pair[place].split(' of ')[0]}) AS c{number}"
        for number, pair in enumerate(product(VALUES, VALUES))
    )
    return (
        "CREATE OR REPLACE TABLE things (thing_id INTEGER PRIMARY KEY)",
        f"CREATE OR REPLACE TABLE things AS SELECT CAST(i AS INTEGER) AS thing_id, {columns}"
        " FROM range(1, 101) t(i)",
    )


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_whichever_type_becomes_which_the_next_model_reads_it(
    tmp_path: Path, technique: str
) -> None:
    database = tmp_path / "shop.duckdb"
    run(database, _of_types(0))
    before = designed(database, technique)
    run(database, _of_types(1))
    after = designed(database, technique, before.basis)
    with open_source(str(database)) as source:
        assert fits_model(source, after.model)
        assert build_and_prove(source, after.plan, after.model).holds


def test_a_null_makes_a_column_nullable_for_good(tmp_path: Path) -> None:
    database = tmp_path / "shop.duckdb"
    run(database, SHOP)
    first = designed(database, "dimensional")
    run(database, CHANGES["nulls came"])
    second = designed(database, "dimensional", first.basis)
    run(database, ["UPDATE orders SET status = 'open', customer_id = 1 WHERE status IS NULL"])
    third = designed(database, "dimensional", second.basis)
    for model in (second, third):
        orders = model.model.conceptual.entity("orders")
        assert not orders.attribute("status").required
        assert model.model.dimensional is not None
        (fact,) = (f for f in model.model.dimensional.facts if f.entity_name == "orders")
        assert all(r.optional for r in fact.dimensions if r.columns == ("customer_id",))


def test_a_new_code_joins_the_accepted_values_and_stays(tmp_path: Path) -> None:
    database = tmp_path / "shop.duckdb"
    run(database, SHOP)
    first = designed(database, "flat")
    run(database, CHANGES["a code came"])
    second = designed(database, "flat", first.basis)
    run(database, ["UPDATE orders SET status = 'open' WHERE status = 'lost'"])
    third = designed(database, "flat", second.basis)
    for model in (second, third):
        status = model.model.conceptual.entity("orders").attribute("status")
        assert status.accepted_values == ("lost", "open", "paid", "sent")


def test_a_key_that_rows_break_stays_the_key(tmp_path: Path) -> None:
    database = tmp_path / "shop.duckdb"
    undeclared = [statement.replace(" PRIMARY KEY", "") for statement in SHOP[:-2]]
    run(database, undeclared)
    first = designed(database, "data_vault_2")
    run(database, ["INSERT INTO orders SELECT * FROM orders WHERE order_id < 4"])
    second = designed(database, "data_vault_2", first.basis)
    assert relations(second) == relations(first)
    assert "hub_orders" in relations(second)
    assert any("orders stays a hub keyed by order_id" in note for note in second.notes)


def test_a_judgement_that_the_data_would_settle_otherwise_is_a_question(changed: Change) -> None:
    before, after = changed(
        "data_vault_2",
        "INSERT INTO regions SELECT 'R' || i, 'Region ' || i FROM range(3000) t(i)",
    )
    assert difference(before, after).lost == []
    (asked,) = evolution(after).otherwise
    assert (asked.table, asked.kept, asked.other) == (
        "regions",
        "a reference table",
        "a hub keyed by region_code",
    )
    (question,) = (q for q in model_judgements(after.model) if q.id == "redesign-regions")
    assert question.question == "Does regions stay a reference table?"
    assert [choice.option for choice in question.choices] == ["", "--redesign regions"]


def test_rows_that_a_dimension_does_not_meet_any_more_get_a_dimension(changed: Change) -> None:
    before, after = changed("dimensional", "INSERT INTO regions VALUES ('X', 'Nobody is there')")
    assert "dim_regions" not in relations(before)
    found = difference(before, after)
    assert found.lost == []
    assert [*found.new_relations] == ["dim_regions"]


def test_figures_are_those_of_today(changed: Change) -> None:
    _, after = changed("data_vault_2", "DELETE FROM customers WHERE customer_id > 100")
    assert after.model.conceptual.entity("customers").rows == 100
    assert after.model.dv2 is not None
    assert after.model.dv2.hub("hub_customers").evidence.rows == 100


def test_another_technique_does_not_continue_a_model(changed: Change, tmp_path: Path) -> None:
    before, _ = changed("flat")
    after = designed(tmp_path / "shop.duckdb", "dimensional", before.basis)
    assert after.model.evolution is None
    assert after.notes == (
        "The folder's model was flat, so this one is designed anew and doesn't continue it.",
    )
