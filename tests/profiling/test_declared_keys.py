"""Declared keys are taken as declared, and checked against the data all the same."""

import sqlite3
from pathlib import Path

import duckdb

from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import ForeignKey, KeyClaim, Profile
from fluid_build.sources import open_source

ORDERED = """
    CREATE TABLE hall (site INTEGER, hall INTEGER, name TEXT, PRIMARY KEY (site, hall));
    INSERT INTO hall VALUES (1, 10, 'a'), (1, 20, 'b'), (2, 10, 'c');
    CREATE TABLE show (show_no INTEGER PRIMARY KEY, h INTEGER, s INTEGER, title TEXT UNIQUE,
        FOREIGN KEY (h, s) REFERENCES hall (hall, site));
    INSERT INTO show VALUES (1, 10, 1, 'x'), (2, 10, 2, 'y'), (3, 20, 2, 'z'), (4, NULL, 1, NULL);
"""


def sqlite_profile(folder: Path, script: str) -> Profile:
    """The profile of an SQLite file, which keeps declarations that its rows violate."""
    path = folder / "shop.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(script)
    connection.close()
    with open_source(str(path)) as source:
        return profile_source(source)


def claim(profile: Profile, table: str, *columns: str) -> KeyClaim:
    (found,) = (c for c in profile.table(table).declared_keys if c.columns == columns)
    return found


def only(profile: Profile) -> ForeignKey:
    (found,) = (key for key in profile.foreign_keys if key.origin == "declared")
    return found


def test_a_declared_key_that_holds_is_the_primary_key(tmp_path: Path) -> None:
    """What is declared is chosen, said to be declared, and shown to hold."""
    found = sqlite_profile(tmp_path, ORDERED)
    table = found.table("hall")
    assert (table.primary_key, table.primary_key_origin) == (("site", "hall"), "declared")
    assert claim(found, "hall", "site", "hall").holds
    evidence = table.primary_key_evidence
    assert evidence is not None
    assert (evidence.origin, evidence.rows, evidence.distinct) == ("declared", 3, 3)


def test_a_unique_key_is_checked_with_nulls_left_out(tmp_path: Path) -> None:
    """A declared unique key is listed with its figures."""
    evidence = claim(sqlite_profile(tmp_path, ORDERED), "show", "title").evidence
    assert (evidence.rows, evidence.nulls, evidence.violations) == (3, 1, 0)


def test_declared_columns_pair_in_their_order(tmp_path: Path) -> None:
    """A composite key that is declared in another order than the table's pairs as declared."""
    key = only(sqlite_profile(tmp_path, ORDERED))
    assert (key.from_columns, key.to_columns) == (("h", "s"), ("hall", "site"))


def test_orphans_of_a_declared_reference_are_shown(tmp_path: Path) -> None:
    """A declared reference is kept, sure as declared, with the rows that violate it counted."""
    key = only(sqlite_profile(tmp_path, ORDERED))
    evidence = key.evidence
    assert (key.confidence, key.implied, evidence.origin) == (1.0, False, "declared")
    assert (evidence.rows, evidence.nulls, evidence.matched, evidence.orphans) == (3, 1, 2, 1)
    with sqlite3.connect(tmp_path / "shop.sqlite") as connection:
        assert connection.execute(evidence.sql).fetchall() == [(3, 20, 2, "z")]
    connection.close()


def test_a_violated_unique_key_is_shown(tmp_path: Path) -> None:
    """A declared key that rows repeat does not hold, and its query returns the repeats."""
    path = tmp_path / "parts.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE part (part_no INTEGER, label VARCHAR)")
        connection.execute(
            "INSERT INTO part VALUES (1, 'a'), (1, 'b'), (2, 'c'), (NULL, 'd'), (NULL, 'e')"
        )
    with open_source(f"duckdb:///{path}") as source:
        (table,) = source.tables
        declared = type(table)(
            table.name, table.columns, table.relation, ("part_no",), (("label",),), (), table.schema
        )
        source.tables = (declared,)
        found = profile_source(source)
    broken = claim(found, "part", "part_no")
    with duckdb.connect(str(path), read_only=True) as connection:
        assert connection.execute(broken.evidence.sql).fetchall() == [(1, 2)]
    assert not broken.holds
    assert (broken.evidence.rows, broken.evidence.nulls, broken.evidence.violations) == (3, 2, 1)
    assert claim(found, "part", "label").holds
    assert found.table("part").primary_key == ("part_no",)
    assert found.table("part").candidate_keys == (("label",),)


def test_a_violated_primary_key_is_kept_and_shown(tmp_path: Path) -> None:
    """SQLite lets nulls into a primary key; it is taken as declared, and does not hold."""
    found = sqlite_profile(
        tmp_path,
        "CREATE TABLE t (code TEXT PRIMARY KEY, n INTEGER);"
        "INSERT INTO t VALUES ('a', 1), (NULL, 2), (NULL, 3)",
    )
    assert found.table("t").primary_key == ("code",)
    assert not claim(found, "t", "code").holds
    assert claim(found, "t", "code").evidence.nulls == 2


def test_what_is_declared_is_not_claimed_again(tmp_path: Path) -> None:
    """A reference that is declared is listed once."""
    found = sqlite_profile(
        tmp_path,
        "CREATE TABLE city (city_id INTEGER PRIMARY KEY, name TEXT);"
        "CREATE TABLE street (street_id INTEGER PRIMARY KEY, city_id INTEGER REFERENCES city);"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90)"
        " INSERT INTO city SELECT i, 'c' || i FROM n;"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
        " INSERT INTO street SELECT i, 1 + i * 7 % 90 FROM n;",
    )
    assert [(k.from_columns, k.to_columns, k.origin) for k in found.foreign_keys] == [
        (("city_id",), ("city_id",), "declared")
    ]


def test_declared_keys_of_empty_tables_are_kept(tmp_path: Path) -> None:
    """Where there are no rows the declaration stands, and the figures say that nothing was read."""
    found = sqlite_profile(
        tmp_path,
        "CREATE TABLE city (city_id INTEGER PRIMARY KEY);"
        "CREATE TABLE street (id INTEGER PRIMARY KEY, city_id INTEGER REFERENCES city (city_id));",
    )
    assert found.table("city").primary_key == ("city_id",)
    evidence = only(found).evidence
    assert (evidence.rows, evidence.matched, evidence.orphans) == (0, 0, 0)


def test_a_key_that_only_nulls_violate_is_checked_for_nulls(tmp_path: Path) -> None:
    """SQLite lets nulls into a primary key; the query lists those rows, not repeats."""
    script = "CREATE TABLE p (id TEXT PRIMARY KEY); INSERT INTO p VALUES ('a'), (NULL), (NULL);"
    evidence = claim(sqlite_profile(tmp_path, script), "p", "id").evidence
    with sqlite3.connect(tmp_path / "shop.sqlite") as connection:
        found = connection.execute(evidence.sql).fetchall()
    connection.close()
    assert (evidence.nulls, evidence.violations, found) == (2, 0, [(None,), (None,)])
