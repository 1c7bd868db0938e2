"""A column that gets a wider type stays what it is in the model: only what is stored gets wider."""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from bench.look_once.databases import LOOK_ONCE, build_database
from fluid_build.modeling.element import SourceColumn
from fluid_build.profiling.profile import Profile
from tests.modeling.evolved import (
    SHOP,
    designed_of,
    difference,
    measured,
    run,
    with_types,
)

_SCRIPTS = sorted(LOOK_ONCE.glob("*.sql"))
TECHNIQUES = ("data_vault_2", "dimensional")
WIDER: Mapping[str, tuple[str, ...]] = {
    "INTEGER": ("BIGINT", "DECIMAL(14,2)", "VARCHAR"),
    "BIGINT": ("DECIMAL(24,2)", "VARCHAR"),
    "DECIMAL": ("DECIMAL(30,6)", "DOUBLE", "VARCHAR"),
    "DOUBLE": ("VARCHAR",),
    "DATE": ("TIMESTAMP", "VARCHAR"),
    "TIMESTAMP": ("VARCHAR",),
    "BOOLEAN": ("VARCHAR",),
    "VARCHAR": ("VARCHAR(900)",),
}
"""Types that hold more than another."""


def widenings(profile: Profile) -> Iterator[dict[SourceColumn, str]]:
    """Every column with its first wider type, its second one, and some columns with any."""
    wider = {
        SourceColumn(table=table.name, column=column.name): types
        for table in profile.tables
        for column in table.columns
        if (types := WIDER.get(column.type.partition("(")[0]))
    }
    for step in range(3):
        yield {column: types[min(step, len(types) - 1)] for column, types in wider.items()}
    chance = random.Random(len(wider))
    for _ in range(2):
        yield {c: chance.choice(types) for c, types in wider.items() if chance.random() < 0.3}


def changed_by_widening(database: Path, technique: str) -> list[str]:
    """The relations that wider types change in a model."""
    profile, observations = measured(database)
    before = designed_of(profile, observations, technique)
    found = []
    for types in widenings(profile):
        present = with_types(profile, types)
        after = designed_of(present, observations, technique, before.basis)
        changed = difference(before, after)
        found += [*changed.lost, *changed.new_relations]
        assert {(c.table, c.column) for c in types} >= {
            (c.table, c.column) for c in after.basis.evolution.retyped_columns
        }
    return found


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_wider_type_of_any_column_changes_no_relation_of_a_shop(
    tmp_path: Path, technique: str
) -> None:
    run(tmp_path / "shop.duckdb", SHOP)
    assert changed_by_widening(tmp_path / "shop.duckdb", technique) == []


@pytest.mark.slow
@pytest.mark.parametrize("technique", TECHNIQUES)
@pytest.mark.parametrize("script", _SCRIPTS, ids=lambda path: path.stem)
def test_a_wider_type_of_any_column_changes_no_relation(
    tmp_path: Path, script: Path, technique: str
) -> None:
    build_database(script, tmp_path / "source.duckdb")
    assert changed_by_widening(tmp_path / "source.duckdb", technique) == []
