"""Which values no longer fit the model that was made of their source."""

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest

from fluid_build.changes import ChangeKind, SourceChange
from fluid_build.modeling.logical import LogicalModel
from fluid_build.sources import open_source
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.source_changes import value_changes
from tests.transform.databases import database, modelled

SHOP = (
    "CREATE TABLE customer (customer_id INTEGER, born VARCHAR)",
    "CREATE TABLE orders (order_id INTEGER, amount VARCHAR, number VARCHAR, Email VARCHAR)",
    "INSERT INTO customer SELECT i, '0' || (1 + i % 9) || '.02.1980' FROM range(40) t(i)",
    "INSERT INTO orders SELECT i, i || '.50', i, 'p' || i || '@example.org' FROM range(40) t(i)",
)


@pytest.fixture
def shop(tmp_path: Path) -> tuple[Path, LogicalModel]:
    """A source and the model that was made of it."""
    path = database(tmp_path / "shop.duckdb", *SHOP)
    with modelled(path) as one:
        return path, one.model


def _after(shop: tuple[Path, LogicalModel], statements: Sequence[str]) -> list[SourceChange]:
    path, model = shop
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    with open_source(path) as source:
        return list(value_changes(source, model, transform_plan(model)))


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 1",
        "DELETE FROM orders",
        "INSERT INTO orders VALUES (100, '7.25', '7', NULL), (101, NULL, NULL, NULL)",
        "INSERT INTO customer VALUES (100, '31.12.1999')",
    ],
)
def test_other_rows_are_no_change(shop: tuple[Path, LogicalModel], statement: str) -> None:
    """A source lives: rows come and go, and the model still fits."""
    assert _after(shop, [statement]) == []


@pytest.mark.parametrize(
    ("statements", "rows", "told"),
    [
        (
            ["UPDATE orders SET amount = 'much' WHERE order_id < 2"],
            2,
            "orders.amount has 2 values that can't be converted to DOUBLE ('much')",
        ),
        (
            ["UPDATE orders SET number = '007' WHERE order_id = 7"],
            1,
            "orders.number has a value that can't be converted to BIGINT ('007')",
        ),
        (
            ["UPDATE customer SET born = '1980-02-01' WHERE customer_id = 7"],
            1,
            "customer.born has a value that can't be converted to DATE",
        ),
    ],
)
def test_a_value_that_is_no_longer_of_its_type_is_told_with_its_rows(
    shop: tuple[Path, LogicalModel], statements: Sequence[str], rows: int, told: str
) -> None:
    (change,) = _after(shop, statements)
    assert (change.kind, change.evidence.violations) == (ChangeKind.VALUES_MISFIT, rows)
    assert str(change).startswith(told)


def test_no_personal_value_is_shown_in_a_change(tmp_path: Path) -> None:
    """A date of birth that is none any more is counted and not shown."""
    path = database(tmp_path / "shop.duckdb", *SHOP[:1], SHOP[2].replace("born", "x"))
    with duckdb.connect(str(path)) as connection:
        connection.execute("ALTER TABLE customer RENAME born TO date_of_birth")
    with modelled(path) as one:
        model = one.model
        assert model.conceptual.entities[0].attribute("date_of_birth").pii
    statement = "UPDATE customer SET date_of_birth = 'secret' WHERE rowid = 1"
    (change,) = _after((path, model), [statement])
    assert "customer.date_of_birth has a value" in str(change)
    assert "secret" not in str(change)
