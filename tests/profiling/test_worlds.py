"""Made-up databases are the same every time, and their true keys are true."""

import random
from itertools import chain
from pathlib import Path

import pytest

from bench.worlds.habits import draw_habits
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


def _drawn(feature: str, value: object) -> World:
    """Return the first smaller world that has a feature."""
    for number in range(300):
        name = f"{SEED}/{number}"
        habits = draw_habits(random.Random(name), random.Random(f"{name}/later"))
        if getattr(habits, feature) == value and 6 <= habits.tables < 20 and not habits.stores_text:
            return make_world(SEED, number)
    raise AssertionError(feature)


def test_a_value_for_none_refers_to_nothing() -> None:
    """0, -1 or N/A is no key of the parent, and no orphan either."""
    world = _drawn("has_sentinels", True)
    links = [link for t in world.tables for link in t.links if link.none is not None]
    assert links
    for link in links:
        values, keys = set(link.columns[0].values), set(link.parent_columns[0].values)
        assert link.none in values
        assert link.none not in keys
    names = {link.columns[0].name for link in links}
    keys = world.truth()["foreign_keys"]
    assert any(key["supported"] for key in keys if set(key["from_columns"]) <= names)


def test_a_version_is_in_every_key() -> None:
    """Codes have it too, not only what happens."""
    world = _drawn("scope", "version")
    scoped = [table for table in world.tables if table.key and table.tenant]
    assert all(table.tenant in table.key for table in scoped)
    assert {"lookup", "event"} <= {table.entity.kind for table in scoped}


def test_a_member_of_a_key_has_another_name_where_it_is_referred_to() -> None:
    world = _drawn("has_renamed_members", True)
    links = [link for t in world.tables for link in t.links if len(link.columns) > 1]
    renamed = [link for link in links if link.columns[-1].name != link.parent_columns[-1].name]
    assert renamed or not links
