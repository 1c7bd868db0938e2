"""Tables and columns that the source calls otherwise now: every command goes on, by both names."""

from pathlib import Path
from random import Random

import duckdb
import pytest

from tests.cli.running import Fluid
from tests.modeling.evolved import SHOP
from tests.modeling.evolved import run as change

DECIDED = (
    ("classify", "products", "dimension"),
    ("measure", "orders.total", "additive"),
    ("personal-data", "customers.company"),
    ("describe", "order_lines.quantity", "How many pieces."),
)
"""Decisions from before the renaming, by the names of then."""

KEY = ", NOT NULL (order_id, line_no)"
"""DuckDB renames no column of a table with a key."""


def renamed(database: Path, random: Random) -> list[tuple[str, str]]:
    """Rename some columns and tables, and return for each what it was and is."""
    with duckdb.connect(str(database)) as connection:
        found = connection.execute(
            "SELECT table_name, list(column_name) FROM duckdb_columns() WHERE NOT internal"
            " GROUP BY table_name ORDER BY table_name"
        ).fetchall()
    names = []
    for table, columns in found:
        if random.random() < 0.6:
            column = random.choice(sorted(columns))
            change(database, [f"ALTER TABLE {table} RENAME COLUMN {column} TO {column}_neu"])
            names.append((f"{table}.{column}", f"{column}_neu"))
    for table, _ in found:
        if random.random() < 0.4:
            change(database, [f"ALTER TABLE {table} RENAME TO {table}_neu"])
            names.append((table, f"{table}_neu"))
    return names


@pytest.mark.parametrize("technique", ["flat", "dv2", "dimensional"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_command_goes_on_by_old_and_new_names(
    fluid: Fluid, tmp_path: Path, technique: str, seed: int
) -> None:
    """Nothing is refused, lost or built anew, and a decision by a later name counts as well."""
    shop, out = tmp_path / "shop.duckdb", tmp_path / "out"
    keyless = [each.replace(" PRIMARY KEY", " NOT NULL").replace(KEY, "") for each in SHOP]
    change(shop, keyless)
    source = ("--uri", shop, "--technique", technique)
    forge = ("forge", "data-model", "from-source", *source, "-o", out)
    assert fluid(*forge).code == 0
    for decision in DECIDED:
        assert fluid("decide", out, *decision).code == 0, decision
    assert fluid(*forge).code == 0
    relations = {path.name for path in (out / "dbt" / "models").rglob("*.sql")}
    names = renamed(shop, Random(seed))
    # What's in a table is only compared once it's known which table it is.
    for was, now in sorted(names, key=lambda each: "." in each[0]):
        outcome = fluid("decide", out, "renamed", was, now)
        assert outcome.code == 0, outcome.err
    outcome = fluid("plan", out)
    assert outcome.code in {0, 3}, outcome.out + outcome.err
    outcome = fluid(*forge)
    assert outcome.code == 0, outcome.out + outcome.err
    assert "Proven" in outcome.out
    assert "efused" not in outcome.out + outcome.err
    assert {path.name for path in (out / "dbt" / "models").rglob("*.sql")} == relations
    outcome = fluid("verify", out)
    assert outcome.code == 0, outcome.out + outcome.err
    assert fluid("review", out).code == 0
    now = dict(names)
    for kind, target, *values in DECIDED:
        table, _, column = target.partition(".")
        place = ".".join(filter(None, (now.get(table, table), column and now.get(target, column))))
        assert fluid("decide", out, kind, place, *values).code == 0, place
    assert "efused" not in fluid(*forge).err
