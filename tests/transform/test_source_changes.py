"""What is noticed of a source that has changed since it was forged."""

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest

from fluid_build.errors import SourceChangedError
from fluid_build.modeling.logical import LogicalModel
from fluid_build.sources import open_source
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.source_changes import check_unchanged
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


def _after(shop: tuple[Path, LogicalModel], statements: Sequence[str]) -> None:
    path, model = shop
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    with open_source(path) as source:
        check_unchanged(source, model, transform_plan(model))


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
    _after(shop, [statement])


def test_a_table_that_was_skipped_is_not_new(shop: tuple[Path, LogicalModel]) -> None:
    """It was there when the source was forged, and could not be read."""
    path, model = shop
    conceptual = model.conceptual.model_copy(update={"skipped": ("broken",)})
    seen = model.model_copy(update={"conceptual": conceptual})
    _after((path, seen), ["CREATE TABLE broken (a INTEGER)"])


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        (["DROP TABLE orders"], "the table 'orders' is gone"),
        (["CREATE TABLE extra (a INTEGER)"], "the table 'extra' is new"),
        (
            ["ALTER TABLE orders DROP amount"],
            "the table 'orders' no longer has the column 'amount'",
        ),
        (["ALTER TABLE orders ADD z INTEGER"], "the table 'orders' has a new column 'z'"),
        (
            ["ALTER TABLE orders ALTER order_id TYPE BIGINT"],
            "'orders' has 'order_id' as BIGINT, which was INTEGER",
        ),
        (
            ["UPDATE orders SET amount = 'much' WHERE order_id < 2"],
            "'orders' has 2 values in 'amount' that can't be converted to DOUBLE ('much')",
        ),
        (
            ["UPDATE orders SET number = '007' WHERE order_id = 7"],
            "'orders' has a value in 'number' that can't be converted to BIGINT ('007')",
        ),
        (
            ["UPDATE customer SET born = '1980-02-01' WHERE customer_id = 7"],
            "'customer' has a value in 'born' that can't be converted to DATE",
        ),
    ],
)
def test_what_the_model_needs_is_missed(
    shop: tuple[Path, LogicalModel], statements: Sequence[str], told: str
) -> None:
    """It is said which table has changed, and how."""
    with pytest.raises(SourceChangedError) as caught:
        _after(shop, statements)
    assert told in caught.value.message
    assert "Run `fluid forge` again" in (caught.value.hint or "")


def test_no_personal_value_is_shown_in_a_change(tmp_path: Path) -> None:
    """A date of birth that is none any more is counted and not shown."""
    path = database(tmp_path / "shop.duckdb", *SHOP[:1], SHOP[2].replace("born", "x"))
    with duckdb.connect(str(path)) as connection:
        connection.execute("ALTER TABLE customer RENAME born TO date_of_birth")
    with modelled(path) as one:
        model = one.model
        assert model.conceptual.entities[0].attribute("date_of_birth").pii
    with pytest.raises(SourceChangedError) as caught:
        _after((path, model), ["UPDATE customer SET date_of_birth = 'secret' WHERE rowid = 1"])
    assert "has a value in 'date_of_birth'" in caught.value.message
    assert "secret" not in caught.value.message


def test_many_changes_are_counted(shop: tuple[Path, LogicalModel]) -> None:
    """The first few are named, the others counted."""
    with pytest.raises(SourceChangedError, match="and 3 more"):
        _after(shop, [f"CREATE TABLE t{i} (a INTEGER)" for i in range(8)])
