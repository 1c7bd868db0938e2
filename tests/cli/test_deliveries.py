"""A source that has only what changed is applied night after night, and nothing is lost."""

import json
from pathlib import Path

import duckdb
import pytest

from tests.cli.running import STATEMENTS, Fluid, run
from tests.cli.test_apply import Applying, Rows, contract_version, duckdb_shop, postgres_shop
from tests.forges import forged

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


def csv_shop(fluid: Fluid, place: Path, technique: str) -> Applying:
    """A shop in CSV files, of which orders have what changed."""
    run(place / "shop.duckdb", *STATEMENTS)
    files = place / "shop"
    files.mkdir()
    with duckdb.connect(str(place / "shop.duckdb")) as connection:
        for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            connection.execute(f"COPY {table} TO '{files / table}.csv' (HEADER)")
    folder = forged(files, place / "model", technique)
    decided = fluid("decide", folder, "delivery", "orders", "delta")
    assert decided.code == 0, decided.err
    return Applying(folder, lambda changes: run(place / "shop.duckdb", *changes), None, fluid)


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


@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
def test_a_night_without_a_file_is_a_night_without_a_change(
    fluid: Fluid, tmp_path: Path, dbt: None, technique: str
) -> None:
    """Plan and apply name the table; the model, its contract and all rows stay as they were."""
    shop = csv_shop(fluid, tmp_path, technique)
    first = shop.apply()
    assert first.code == 0, first.out + first.err
    known, version, models = shop.rows(), contract_version(shop.folder), _models(shop)
    orders = tmp_path / "shop" / "orders.csv"
    file = orders.read_text()
    orders.unlink()
    planned = fluid("plan", shop.folder)
    assert "orders has no file" in planned.out, planned.out + planned.err
    applied = shop.apply()
    assert applied.code == 0, applied.out + applied.err
    assert "orders has no file" in applied.out
    assert _histories(shop.rows()) == _histories(known)
    assert (contract_version(shop.folder), _models(shop)) == (version, models)
    orders.write_text(f"{file.splitlines()[0]}\n9001,101,77.5\n")
    again = shop.apply()
    assert again.code == 0, again.out + again.err
    assert "has no file" not in again.out
    kept = shop.query("SELECT count(*), count(DISTINCT order_id) FROM {}.kept_orders")
    assert kept == [(len(file.splitlines()), len(file.splitlines()))]


def _histories(rows: Rows) -> Rows:
    """The rows of what only gets rows added, but for snapshots of each day."""
    return {
        name: found
        for name, found in rows.items()
        if name.startswith(("hub_", "sat_", "lnk_", "kept_")) or name.endswith("_history")
    }
