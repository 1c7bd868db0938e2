"""Rows of a delta that say that they're deleted are deletions, and no versions with a mark."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fluid_build.modeling.logical import PartialDelivery, Technique
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.databases import database, loaded, modelled
from tests.transform.test_deliveries import Warehouse

TABLES = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, full_name VARCHAR, city VARCHAR, op VARCHAR)",
    *(f"INSERT INTO customer VALUES ({i}, 'n{i}', 'c{i % 7}', 'U')" for i in range(1, 31)),
    "CREATE TABLE payment (id INTEGER PRIMARY KEY,"
    " customer_id INTEGER REFERENCES customer (id), paid_on DATE, amount DECIMAL(8,2))",
    *(
        f"INSERT INTO payment VALUES ({i}, {1 + i % 30}, DATE '2024-01-01' + {i % 28}, {i}.5)"
        for i in range(1, 61)
    ),
)
MARKED = PartialDelivery(table="customer", kind="delta", mark="op", marks=("D", "X"))
_TECHNIQUES: tuple[Technique, ...] = ("flat", "data_vault_2", "dimensional")
THERE = {
    "flat": "SELECT id, full_name FROM {}.customer",
    "data_vault_2": "SELECT id, full_name FROM {0}.hub_customer JOIN (SELECT *, RANK() OVER"
    " (PARTITION BY customer_hk ORDER BY load_date DESC) AS place FROM {0}.sat_customer) AS s"
    " USING (customer_hk) WHERE place = 1 AND NOT is_deleted",
    "dimensional": "SELECT id, full_name FROM {}.dim_customer WHERE NOT is_deleted AND is_current"
    " AND id IS NOT NULL",
}
VERSIONS = {
    "data_vault_2": "SELECT s.is_deleted, s.op FROM {0}.sat_customer AS s JOIN {0}.hub_customer"
    " USING (customer_hk) WHERE id = 3 ORDER BY s.load_date",
    "dimensional": "SELECT is_deleted, op FROM {0}.dim_customer_history WHERE id = 3"
    " ORDER BY load_date",
}


@contextmanager
def warehouse(file: Path, technique: Technique, delivery: PartialDelivery) -> Iterator[Warehouse]:
    """A warehouse that was loaded once of a DuckDB file, in which nobody checks a key."""
    with modelled(file, technique) as shop:
        model = shop.model.model_copy(update={"deliveries": (delivery,)})
        tables = shop.source.tables
    plan = transform_plan(model)
    with loaded(file, tables, plan) as built:
        found = Warehouse(built, model, plan)
        for table in ("payment", "customer"):
            found.change(
                f"CREATE TABLE shop.copied AS FROM shop.{table}",
                f"DROP TABLE shop.{table}",
                f"ALTER TABLE shop.copied RENAME TO {table}",
            )
        yield found


def _delivers(shop: Warehouse, *rows: str) -> None:
    shop.change("DELETE FROM shop.customer")
    shop.change(*(f"INSERT INTO shop.customer VALUES ({row})" for row in rows))
    shop.load()


@pytest.mark.parametrize("technique", _TECHNIQUES)
def test_a_marked_row_is_a_deletion_until_an_unmarked_one_comes(
    tmp_path: Path, technique: Technique
) -> None:
    """All else that a marked row says is nothing; one that was never there adds nothing."""
    with warehouse(database(tmp_path / "shop.db", *TABLES), technique, MARKED) as shop:
        names = {i: f"n{i}" for i in range(1, 31)}

        def there() -> dict[object, object]:
            assert shop.proof().holds, shop.proof()
            return {key: row[0] for key, *row in shop.rows(THERE[technique].format("model"))}

        _delivers(shop, "3, NULL, NULL, 'D'", "4, 'x', 'c1', 'U'", "99, NULL, NULL, 'X'")
        names |= {4: "x"}
        del names[3]
        assert there() == names
        _delivers(shop, "3, NULL, NULL, 'D'", "5, 'y', 'c1', NULL")
        names |= {5: "y"}
        assert there() == names
        _delivers(shop, "3, 'back', 'c9', 'U'")
        names |= {3: "back"}
        assert there() == names
        if technique in VERSIONS:
            assert [gone for gone, _ in shop.rows(VERSIONS[technique].format("model"))] == [
                False,
                True,
                False,
            ]
            marks = {mark for _, mark in shop.rows(VERSIONS[technique].format("model"))}
            assert marks == {"U"}


def test_without_values_any_value_marks(tmp_path: Path) -> None:
    tables = tuple(
        each.replace("op VARCHAR", "deleted_at TIMESTAMP").replace("'U'", "NULL") for each in TABLES
    )
    delivery = PartialDelivery(table="customer", kind="delta", mark="deleted_at")
    with warehouse(database(tmp_path / "shop.db", *tables), "data_vault_2", delivery) as shop:
        _delivers(shop, "3, 'n3', 'c3', TIMESTAMP '2000-01-01 10:00:00'")
        assert 3 not in {key for key, _ in shop.rows(THERE["data_vault_2"].format("model"))}
        assert shop.proof().holds


def test_a_key_that_is_marked_and_not_in_one_delivery_is_set_apart(
    tmp_path: Path,
) -> None:
    """Nobody knows which of the rows comes last, so neither is loaded."""
    with warehouse(database(tmp_path / "shop.db", *TABLES), "flat", MARKED) as shop:
        _delivers(shop, "3, 'x', 'c1', 'U'", "3, NULL, NULL, 'D'")
        assert shop.rows("SELECT count(*) FROM model.stg_customer WHERE id = 3") == [(0,)]
        apart = "SELECT broken_rule FROM model.quarantine_customer WHERE source_row LIKE '%3%'"
        assert set(shop.rows(apart)) == {("repeated id",)}
        _delivers(shop, "3, NULL, NULL, 'D'")
        assert shop.rows("SELECT count(*) FROM model.stg_customer WHERE id = 3") == [(0,)]


@pytest.mark.parametrize("technique", _TECHNIQUES)
def test_a_first_delivery_may_have_marked_rows(tmp_path: Path, technique: Technique) -> None:
    tables = (*TABLES, "UPDATE customer SET op = 'D' WHERE id = 30", "DELETE FROM payment")
    with warehouse(database(tmp_path / "shop.db", *tables), technique, MARKED) as shop:
        assert len(shop.rows(THERE[technique].format("model"))) == 29
        assert shop.proof().holds, shop.proof()
