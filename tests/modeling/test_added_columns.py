"""A column or table that comes is added to a model, and a warehouse gets all that is written."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.look_once.databases import LOOK_ONCE, build_database
from fluid_build.profiling.profile import ColumnProfile, Profile
from tests.modeling.evolved import SHOP, designed, designed_of, difference, measured, run, unwritten

TECHNIQUES = ("data_vault_2", "dimensional")
SPREAD_OUT = (
    "INSERT INTO regions VALUES ('X', 'Nobody is there')",
    "ALTER TABLE regions ADD COLUMN zone VARCHAR",
    "UPDATE regions SET zone = CASE region_code WHEN 'N' THEN 'A' ELSE 'B' END",
)
CHANGES = {
    "a code list got a column, and a code that nobody has": SPREAD_OUT,
    "what refers to a code list went": ("ALTER TABLE customers DROP COLUMN region_code",),
    "a parent of a dimension came": (
        "CREATE TABLE towns (city VARCHAR PRIMARY KEY, country VARCHAR NOT NULL)",
        "INSERT INTO towns SELECT DISTINCT city, 'Country ' || length(city) FROM customers",
    ),
}


@pytest.mark.parametrize("technique", TECHNIQUES)
@pytest.mark.parametrize("change", CHANGES)
def test_a_warehouse_gets_each_column_that_is_written(
    tmp_path: Path, technique: str, change: str
) -> None:
    run(tmp_path / "shop.duckdb", SHOP)
    before = designed(tmp_path / "shop.duckdb", technique)
    run(tmp_path / "shop.duckdb", CHANGES[change])
    after = designed(tmp_path / "shop.duckdb", technique, before.basis)
    assert difference(before, after).lost == []
    assert unwritten(before, after) == []


def grown(profile: Profile, chance: random.Random) -> Profile:
    """A profile in which some tables have more columns, like others of any table."""
    columns = [column for table in profile.tables for column in table.columns]

    def more(rows: int, taken: set[str]) -> Iterator[ColumnProfile]:
        for number in range(chance.randint(0, 2)):
            like = chance.choice(columns)
            name = f"{like.name}_{number}"
            if name not in taken:
                yield like.model_copy(update={"name": name, "rows": rows, "sample": None})

    tables = (
        table.model_copy(
            update={
                "columns": (
                    *table.columns,
                    *more(table.rows, {column.name for column in table.columns}),
                )
            }
        )
        for table in profile.tables
    )
    return profile.model_copy(update={"tables": tuple(tables)})


def changed_by_added_columns(database: Path, technique: str) -> list[str]:
    """What three rounds of added columns change in a model, or don't bring to a warehouse."""
    profile, observations = measured(database)
    before, found = designed_of(profile, observations, technique), []
    chance = random.Random(len(profile.tables))
    for _ in range(3):
        profile = grown(profile, chance)
        after = designed_of(profile, observations, technique, before.basis)
        found += [*difference(before, after).lost, *unwritten(before, after)]
        before = after
    return found


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_added_columns_of_a_shop_change_nothing_else(tmp_path: Path, technique: str) -> None:
    run(tmp_path / "shop.duckdb", SHOP)
    assert changed_by_added_columns(tmp_path / "shop.duckdb", technique) == []


@pytest.mark.slow
@pytest.mark.parametrize("technique", TECHNIQUES)
@pytest.mark.parametrize("script", sorted(LOOK_ONCE.glob("*.sql")), ids=lambda path: path.stem)
def test_added_columns_change_nothing_else(tmp_path: Path, script: Path, technique: str) -> None:
    build_database(script, tmp_path / "source.duckdb")
    assert changed_by_added_columns(tmp_path / "source.duckdb", technique) == []
