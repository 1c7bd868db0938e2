"""Made-up databases are the same every time, and their true keys are true."""

from itertools import chain
from pathlib import Path

import pytest

from bench.worlds.tables import Column
from bench.worlds.world import World, make_world

SEED = 9


@pytest.fixture(scope="module")
def worlds() -> list[World]:
    return [make_world(SEED, number) for number in range(4)]


def test_a_seed_gives_the_same_bytes_each_time(worlds: list[World], tmp_path: Path) -> None:
    """Nothing but the seed decides what is written."""
    world = min(worlds, key=lambda world: sum(table.rows for table in world.tables))
    number = worlds.index(world)
    world.write(tmp_path / "first")
    make_world(SEED, number).write(tmp_path / "second")
    files = sorted(path for path in (tmp_path / "first").rglob("*") if path.is_file())
    assert files
    for path in files:
        again = tmp_path / "second" / path.relative_to(tmp_path / "first")
        assert path.read_bytes() == again.read_bytes()


def test_primary_keys_identify_the_rows(worlds: list[World]) -> None:
    """No key has a null or the same values twice."""
    tables = list(chain.from_iterable(world.tables for world in worlds))
    keyed = [table for table in tables if table.key]
    assert keyed
    for table in keyed:
        rows = list(_rows(table.key))
        assert len(set(rows)) == table.rows, table.name
        assert all(None not in row for row in rows), table.name


def test_supported_references_hold_but_for_a_few_orphans(worlds: list[World]) -> None:
    """Nearly all values of a reference are in the parent, which has each once."""
    checked = 0
    for world in worlds:
        columns = {(t.name, c.name): c for t in world.tables for c in t.columns}
        for key in world.truth()["foreign_keys"]:
            if not key["supported"]:
                continue
            child = [columns[key["from_table"], name] for name in key["from_columns"]]
            parent = [columns[key["to_table"], name] for name in key["to_columns"]]
            values = [row for row in _rows(child) if None not in row]
            known = list(_rows(parent))
            assert len(set(known)) == len(known)
            known_rows = set(known)
            share = sum(row in known_rows for row in set(values)) / len(set(values))
            assert share >= 0.9, key
            checked += 1
    assert checked > 30


def _rows(columns: list[Column]) -> "zip[tuple[object, ...]]":
    return zip(*(column.values for column in columns), strict=True)
