"""Made-up databases are the same every time, and their true keys are true."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from bench.worlds.hazards import HAZARDS
from bench.worlds.tables import Column
from bench.worlds.world import World, make_world

SEED = 9
WITHOUT_NONE = frozenset({"digits", "bridges", "descriptions"})
"""Hazards with which each value of a reference is a parent's."""


@pytest.fixture(scope="module")
def worlds() -> list[World]:
    return [make_world(SEED, number, WITHOUT_NONE) for number in range(4)]


def test_a_seed_gives_the_same_bytes_each_time(worlds: list[World], tmp_path: Path) -> None:
    """Nothing but the seed decides what is written."""
    world = min(worlds, key=lambda world: sum(table.rows for table in world.tables))
    number = worlds.index(world)
    world.write(tmp_path / "first")
    make_world(SEED, number, WITHOUT_NONE).write(tmp_path / "second")
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
            # Digits may be numbers in one table and text in another.
            values = [tuple(map(str, row)) for row in _rows(child) if None not in row]
            known = [tuple(map(str, row)) for row in _rows(parent)]
            assert len(set(known)) == len(known)
            known_rows = set(known)
            share = sum(row in known_rows for row in set(values)) / len(set(values))
            assert share >= 0.9, key
            checked += 1
    assert checked > 30


def _rows(columns: list[Column]) -> "zip[tuple[object, ...]]":
    return zip(*(column.values for column in columns), strict=True)


def _hazardous(hazard: str) -> Iterator[World]:
    """Yield smaller worlds with a hazard."""
    for number in range(8):
        world = make_world(SEED, number, frozenset({hazard}))
        if 6 <= len(world.tables) < 25:
            yield world


@pytest.mark.parametrize("hazard", HAZARDS)
def test_a_hazard_changes_databases_whose_keys_are_still_true(hazard: str) -> None:
    """Each changes some database, and what refers to something does so afterwards."""
    changed = 0
    for world in _hazardous(hazard):
        number = int(world.name.rsplit("_", 1)[-1])
        changed += _contents(world) != _contents(make_world(SEED, number, frozenset()))
        assert all(len(column.values) == t.rows for t in world.tables for column in t.columns)
        for table in world.tables:
            assert len(set(_rows(table.key))) == (table.rows if table.key else 0), table.name
        assert any(key["supported"] for key in world.truth()["foreign_keys"])
    assert changed


def _contents(world: World) -> list[tuple[str, str, list[object]]]:
    return [(t.name, c.name, c.values) for t in world.tables for c in t.columns]


def test_a_value_for_none_refers_to_nothing() -> None:
    """0, -1 or N/A is no key of the parent, and no orphan either."""
    checked = 0
    for world in _hazardous("sentinels"):
        links = [link for t in world.tables for link in t.links if link.none is not None]
        for link in links:
            assert link.none in link.columns[0].values
            assert str(link.none) not in set(map(str, link.parent_columns[0].values))
        names = {link.columns[0].name for link in links}
        keys = world.truth()["foreign_keys"]
        checked += sum(key["supported"] for key in keys if set(key["from_columns"]) <= names)
    assert checked


@pytest.mark.parametrize("hazard", ["client in keys", "version in keys", "validity in keys"])
def test_what_is_in_every_key_is_in_those_of_codes_too(hazard: str) -> None:
    for world in _hazardous(hazard):
        scoped = [table for table in world.tables if table.key and table.tenant]
        assert all(table.tenant is table.key[0] for table in scoped)


def test_a_member_of_a_key_has_another_name_where_it_is_referred_to() -> None:
    links = [
        link for world in _hazardous("renamed members") for t in world.tables for link in t.links
        if len(link.columns) > 1
    ]  # fmt: skip
    assert any(link.columns[-1].name != link.parent_columns[-1].name for link in links)


def test_a_bridge_has_each_key_of_its_parent_once() -> None:
    """Its column is a tempting home for all that refers to the parent."""
    bridges = [t for world in _hazardous("bridges") for t in world.tables
               if t.entity.kind == "bridge"]  # fmt: skip
    assert bridges
    for table in bridges:
        (link,) = table.links
        assert set(link.columns[0].values) == set(link.parent_columns[0].values)
