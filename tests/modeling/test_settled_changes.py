"""What a model has followed is no change of its source any more."""

from pathlib import Path

import duckdb
import pytest

from bench.changing_shop.changes import CHANGES, SHOP
from fluid_build.changes import SourceChange
from fluid_build.decisions.language import AnyDecision, Renamed
from fluid_build.decisions.renames import renames
from fluid_build.forging.stages import Designed
from fluid_build.modeling.evolution import Evolution
from fluid_build.verification.present_source import news
from tests.modeling.evolved import designed, measured

MORE = {
    "integer to decimal": "ALTER TABLE products ALTER COLUMN weight_kg TYPE DECIMAL(8, 3)",
    "table renamed": "ALTER TABLE branches RENAME TO offices",
    "declared as never null": "ALTER TABLE customers ALTER COLUMN rating SET NOT NULL",
    "nulls gone": "UPDATE orders SET total = 1 WHERE total IS NULL",
    "all rows went": "DELETE FROM branches",
    "rows without a parent": "DELETE FROM products WHERE product_id < 4",
}
DECIDED = {
    "column renamed": Renamed(table="customers", column="town", was="city"),
    "table renamed": Renamed(table="offices", was="branches"),
}
EVERYTHING = {**CHANGES, **MORE}


def changes_since(
    model: Designed, database: Path, decisions: tuple[AnyDecision, ...]
) -> tuple[SourceChange, ...]:
    """What is news to a model, by its profile as the folder has it."""
    evolution = model.model.evolution or Evolution()
    present, _ = measured(database)
    return news(model.profile, evolution, present, renames(decisions))


@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
@pytest.mark.parametrize("change", EVERYTHING)
def test_what_a_model_has_followed_is_no_news(tmp_path: Path, change: str, technique: str) -> None:
    database = tmp_path / "shop.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(SHOP)
    before = designed(database, technique)
    with duckdb.connect(str(database)) as connection:
        connection.execute(EVERYTHING[change] or "SELECT 1")
    decisions = tuple(decision for name, decision in DECIDED.items() if name == change)
    after = designed(database, technique, before.basis, decisions)
    assert changes_since(after, database, decisions) == ()
    again = designed(database, technique, after.basis, decisions)
    assert again.model == after.model


def test_a_whole_number_that_becomes_a_decimal_is_told_once(tmp_path: Path) -> None:
    database = tmp_path / "shop.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(SHOP)
    before = designed(database, "data_vault_2")
    with duckdb.connect(str(database)) as connection:
        connection.execute(MORE["integer to decimal"])
    (change,) = changes_since(before, database, ())
    assert str(change) == (
        "products.weight_kg is DECIMAL(8,3) now, and was INTEGER; DECIMAL(13,3) holds both"
    )
    assert change.effect == "safe"
