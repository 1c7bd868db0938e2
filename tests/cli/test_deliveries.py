"""A source that has only what changed is applied night after night, and nothing is lost."""

import json
from pathlib import Path

import pytest

from tests.cli.running import Fluid
from tests.cli.test_apply import Applying, duckdb_shop, postgres_shop

_EMPTY = ("DELETE FROM orders", "DELETE FROM customer")


@pytest.fixture(params=["duckdb", "postgres"])
def shop(
    request: pytest.FixtureRequest, fluid: Fluid, tmp_path: Path, dbt: None, technique: str
) -> Applying:
    """A shop on each engine, of which a decision says that it delivers what changed."""
    if request.param == "duckdb":
        shop = duckdb_shop(fluid, tmp_path, technique)
    else:
        database = request.getfixturevalue("postgres")
        shop = postgres_shop(fluid, database, tmp_path, technique)
    for table, kind in (("customer", "delta"), ("orders", "append")):
        decided = fluid("decide", shop.folder, "delivery", table, kind)
        assert decided.code == 0, decided.err
    return shop


def _models(shop: Applying) -> dict[str, str]:
    """The SQL of the project's models."""
    folder = shop.folder / "dbt" / "models"
    return {str(path): path.read_text() for path in sorted(folder.rglob("*.sql"))}


@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
def test_nights_of_deltas_are_applied(shop: Applying, technique: str) -> None:
    """Each is proven, says what is kept, and leaves the model as it is."""
    first = shop.apply()
    assert first.code == 0, first.out + first.err
    models = _models(shop)
    for night in range(1, 4):
        shop.change(
            (
                *_EMPTY,
                f"INSERT INTO customer VALUES ({100 + 7 * night}, 'new{night}@x.org', 'Bern')",
                f"INSERT INTO orders VALUES ({7000 + night}, {128 + 7 * night}, 1.5)",
            )
        )
        applied = shop.apply("--json")
        assert applied.code == 0, applied.out + applied.err
        said = json.loads(applied.out)
        assert said["holds"], said
        assert _models(shop) == models
    hub = "hub_customer" if technique == "data_vault_2" else "dim_customer"
    ((members,),) = shop.query(f"SELECT count(DISTINCT customer_id) FROM {{}}.{hub}")
    assert members == 40
    if technique == "data_vault_2":
        assert shop.query("SELECT count(*) FROM {}.sat_customer WHERE is_deleted") == [(0,)]
    refused = shop.rollback("--yes")
    assert refused.code != 0
    assert "kept_customer" in refused.out + refused.err
