"""A table whose rows get another key by a decision begins anew beside what was loaded of it."""

from pathlib import Path

import pytest

from fluid_build.decisions.language import AddRelationship, AnyDecision, SetKey
from fluid_build.forging.stages import Designed
from fluid_build.modeling.evolution import RekeyedTable
from fluid_build.sources import open_source
from fluid_build.transform.proof.building import build_and_prove
from tests.modeling.evolved import SHOP, designed, difference, relations, run

UNDECLARED = [statement.replace(" PRIMARY KEY", "") for statement in SHOP[:-2]]
WIDENED = (
    "ALTER TABLE customers ADD COLUMN country VARCHAR",
    "UPDATE customers SET country = 'AT'",
    "INSERT INTO customers SELECT customer_id, 'Firma ' || customer_id, city, region_code, 'DE'"
    " FROM customers WHERE customer_id < 41",
    "ALTER TABLE orders ADD COLUMN country VARCHAR",
    "UPDATE orders SET country = CASE WHEN customer_id < 41 AND order_id % 2 = 0 THEN 'DE'"
    " ELSE 'AT' END",
)
LONGER = (
    SetKey(table="customers", columns=("country", "customer_id")),
    AddRelationship(
        from_table="orders",
        from_columns=("country", "customer_id"),
        to_table="customers",
        to_columns=("country", "customer_id"),
    ),
)
REPLACED = (
    "ALTER TABLE customers ADD COLUMN customer_uuid VARCHAR",
    "UPDATE customers SET customer_uuid = 'u-' || customer_id * 7919",
    "INSERT INTO customers SELECT NULL, 'Firma ' || i, 'City 1', 'N', 'v-' || i * 7919"
    " FROM range(40) t(i)",
    "ALTER TABLE orders ADD COLUMN customer_uuid VARCHAR",
    "UPDATE orders SET customer_uuid = 'u-' || customer_id * 7919",
)
OTHER = (SetKey(table="customers", columns=("customer_uuid",)),)
CASES = {
    "widened": (WIDENED, LONGER),
    "replaced": (REPLACED, OTHER),
    "replaced and dropped": (
        (
            *(REPLACED[place] for place in (0, 1, 3, 4)),
            "ALTER TABLE customers DROP COLUMN customer_id",
            "ALTER TABLE orders DROP COLUMN customer_id",
        ),
        OTHER,
    ),
}


def rekeyed(
    place: Path, technique: str, case: str
) -> tuple[Path, Designed, Designed, tuple[AnyDecision, ...]]:
    """The model of a shop, and the one after a decision on another key."""
    statements, decisions = CASES[case]
    database = place / "shop.duckdb"
    run(database, UNDECLARED)
    before = designed(database, technique)
    run(database, statements)
    return database, before, designed(database, technique, before.basis, decisions), decisions


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
def test_what_was_loaded_stays_and_the_rows_begin_anew(
    technique: str, case: str, tmp_path: Path
) -> None:
    """Every table is rebuilt of the next model, and the forge after it changes nothing."""
    database, before, after, decisions = rekeyed(tmp_path, technique, case)
    assert after.model.evolution is not None
    (found,) = after.model.evolution.rekeyed_tables
    assert (found.table, found.was, found.columns) == ("customers_2", "customers", ("customer_id",))
    assert found.repeats == (case == "widened")
    assert difference(before, after).lost == []
    again = designed(database, technique, after.basis, decisions)
    assert again.model == after.model
    with open_source(str(database)) as source:
        proof = build_and_prove(source, after.plan, after.model)
    assert proof.holds, proof


def test_a_vault_links_what_rows_are_with_what_they_were(tmp_path: Path) -> None:
    _, _, after, _ = rekeyed(tmp_path, "data_vault_2", "widened")
    vault = after.model.dv2
    assert vault is not None
    assert vault.hub("hub_customers").business_key_columns == ("customer_id",)
    assert vault.hub("hub_customers_2").business_key_columns == ("country", "customer_id")
    (same,) = (link for link in vault.links if link.link_type == "same-as")
    assert (same.name, same.table) == ("sal_customers", "customers_2")
    assert [hub.hub for hub in same.hubs] == ["hub_customers_2", "hub_customers"]
    assert after.plan.build("sat_customers").is_retired
    feeding = after.plan.build("hub_customers").ref_models
    assert "stg_customers_2" not in feeding


def test_a_dimension_that_had_versions_has_them_by_its_next_key(tmp_path: Path) -> None:
    """Although no fact refers to it yet: what is overwritten until one does would be lost."""
    statements = [each for each in WIDENED if " orders " not in each]
    database = tmp_path / "shop.duckdb"
    run(database, UNDECLARED)
    before = designed(database, "dimensional")
    run(database, statements)
    after = designed(database, "dimensional", before.basis, LONGER[:1])
    assert after.model.dimensional is not None
    (earlier, later) = (
        after.model.dimensional.dimension(name) for name in ("dim_customers", "dim_customers_2")
    )
    assert (earlier.history, later.history) == ("dim_customers_history", "dim_customers_2_history")
    types = {each.attribute: each.scd_type for each in later.attributes}
    assert {each.attribute: each.scd_type for each in earlier.attributes}.items() <= types.items()


def test_a_key_that_is_gone_says_nothing_of_what_rows_were(tmp_path: Path) -> None:
    _, _, after, _ = rekeyed(tmp_path, "data_vault_2", "replaced and dropped")
    assert after.model.dv2 is not None
    assert all(link.link_type != "same-as" for link in after.model.dv2.links)


def test_another_key_of_the_same_rows_corrects_the_model(tmp_path: Path) -> None:
    """As long as the earlier key holds, nothing has changed but what somebody says of it."""
    database = tmp_path / "shop.duckdb"
    run(database, UNDECLARED)
    before = designed(database, "data_vault_2")
    by_name = (SetKey(table="customers", columns=("company",)),)
    after = designed(database, "data_vault_2", before.basis, by_name)
    evolution = after.model.evolution
    assert evolution is None or evolution.rekeyed_tables == ()


def test_a_key_may_change_twice(tmp_path: Path) -> None:
    database, _, after, decisions = rekeyed(tmp_path, "data_vault_2", "widened")
    run(
        database,
        [
            "ALTER TABLE customers ADD COLUMN branch INTEGER",
            "UPDATE customers SET branch = 1",
            "INSERT INTO customers SELECT customer_id, company || ' II', city, region_code,"
            " country, 2 FROM customers WHERE customer_id < 60",
        ],
    )
    longest = SetKey(table="customers", columns=("country", "customer_id", "branch"))
    third = designed(database, "data_vault_2", after.basis, (longest,))
    assert third.model.evolution is not None
    assert third.model.evolution.rekeyed_tables[1:] == (
        RekeyedTable(
            table="customers_3",
            was="customers_2",
            columns=("country", "customer_id"),
            repeats=True,
        ),
    )
    assert {"hub_customers", "hub_customers_2", "hub_customers_3"} <= relations(third).keys()
    assert decisions
