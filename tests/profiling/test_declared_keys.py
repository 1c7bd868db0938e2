"""Declared keys are kept as declared, and checked against the data all the same."""

import sqlite3
from pathlib import Path

import duckdb

from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import ForeignKey, KeyClaim, Profile
from fluid_build.report.notices import notices
from fluid_build.sources import open_source

ORDERED = """
    CREATE TABLE hall (site INTEGER, hall INTEGER, name TEXT, PRIMARY KEY (site, hall));
    INSERT INTO hall VALUES (1, 10, 'a'), (1, 20, 'b'), (2, 10, 'c');
    CREATE TABLE show (show_no INTEGER PRIMARY KEY, h INTEGER, s INTEGER, title TEXT UNIQUE,
        FOREIGN KEY (h, s) REFERENCES hall (hall, site));
    INSERT INTO show VALUES (1, 10, 1, 'x'), (2, 10, 2, 'y'), (3, 20, 2, 'z'), (4, NULL, 1, NULL);
"""


def sqlite_profile(folder: Path, script: str) -> Profile:
    """Return the profile of an SQLite file, which may hold rows that violate its declarations."""
    path = folder / "shop.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(script)
    connection.close()
    with open_source(str(path)) as source:
        return profile_source(source)


def claim(profile: Profile, table: str, *columns: str) -> KeyClaim:
    (key_claim,) = (c for c in profile.table(table).declared_keys if c.columns == columns)
    return key_claim


def only(profile: Profile) -> ForeignKey:
    (foreign_key,) = (key for key in profile.foreign_keys if key.origin == "declared")
    return foreign_key


def test_a_declared_key_that_holds_is_the_primary_key(tmp_path: Path) -> None:
    """A declared key is chosen, marked as declared, and shown to hold."""
    profile = sqlite_profile(tmp_path, ORDERED)
    table = profile.table("hall")
    assert (table.primary_key, table.primary_key_origin) == (("site", "hall"), "declared")
    assert claim(profile, "hall", "site", "hall").holds
    evidence = table.primary_key_evidence
    assert evidence is not None
    assert (evidence.origin, evidence.rows, evidence.distinct) == ("declared", 3, 3)


def test_a_unique_key_is_checked_without_nulls(tmp_path: Path) -> None:
    """A declared unique key is listed with its figures."""
    evidence = claim(sqlite_profile(tmp_path, ORDERED), "show", "title").evidence
    assert (evidence.rows, evidence.nulls, evidence.violations) == (3, 1, 0)


def test_declared_columns_pair_in_their_order(tmp_path: Path) -> None:
    """A composite key declared in another order than the table's columns pairs as declared."""
    key = only(sqlite_profile(tmp_path, ORDERED))
    assert (key.from_columns, key.to_columns) == (("h", "s"), ("hall", "site"))


def test_orphans_of_a_declared_reference_are_shown(tmp_path: Path) -> None:
    """A declared reference stays certain, and the rows that violate it are counted."""
    key = only(sqlite_profile(tmp_path, ORDERED))
    evidence = key.evidence
    assert (key.confidence, key.implied, evidence.origin) == (1.0, False, "declared")
    assert (evidence.rows, evidence.nulls, evidence.matched, evidence.orphans) == (3, 1, 2, 1)
    with sqlite3.connect(tmp_path / "shop.sqlite") as connection:
        assert connection.execute(evidence.sql).fetchall() == [(3, 20, 2, "z")]
    connection.close()


def test_rows_that_refer_by_the_source_s_collation_do_not_violate_it(tmp_path: Path) -> None:
    """They are orphans to whoever compares bytes, and the source isn't accused of them."""
    script = """
        CREATE TABLE hall (code TEXT COLLATE NOCASE PRIMARY KEY); INSERT INTO hall VALUES ('Ab');
        CREATE TABLE show (id INTEGER PRIMARY KEY, hall TEXT REFERENCES hall);
        INSERT INTO show VALUES (1, 'AB'), (2, 'ab'), (3, 'Ab');
    """
    held = sqlite_profile(tmp_path, script)
    evidence = only(held).evidence
    assert (evidence.orphans, evidence.by_collation) == (2, 2)
    assert evidence.reason == "declared by the source, and held in 2 rows by its collation alone"
    broken = sqlite_profile(tmp_path, "INSERT INTO show VALUES (4, 'zz')")
    assert only(broken).evidence.reason.endswith("by its collation alone, but 1 row violates it")
    found = [
        [
            notice.text
            for notice in notices(profile, build_model(profile).conceptual)
            if notice.kind == "orphans"
        ]
        for profile in (held, broken)
    ]
    assert found == [
        [],
        [
            "3 of 4 rows (75.0%) have no match in hall. The source declares this relationship."
            " Its collation finds one for 2 of them."
        ],
    ]


def test_a_violated_unique_key_is_shown(tmp_path: Path) -> None:
    """A declared key with repeated and missing values doesn't hold, and its query returns them."""
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
        profile = profile_source(source)
    broken = claim(profile, "part", "part_no")
    with duckdb.connect(str(path), read_only=True) as connection:
        assert set(connection.execute(broken.evidence.sql).fetchall()) == {(1, 2), (None, 2)}
    assert not broken.holds
    assert (broken.evidence.rows, broken.evidence.nulls, broken.evidence.violations) == (3, 2, 1)
    assert claim(profile, "part", "label").holds
    assert profile.table("part").primary_key == ("part_no",)
    assert profile.table("part").candidate_keys == (("label",),)


def test_a_violated_primary_key_is_kept_and_shown(tmp_path: Path) -> None:
    """SQLite allows nulls in a primary key; the key is kept and doesn't hold."""
    profile = sqlite_profile(
        tmp_path,
        "CREATE TABLE t (code TEXT PRIMARY KEY, n INTEGER);"
        "INSERT INTO t VALUES ('a', 1), (NULL, 2), (NULL, 3)",
    )
    assert profile.table("t").primary_key == ("code",)
    assert not claim(profile, "t", "code").holds
    assert claim(profile, "t", "code").evidence.nulls == 2


def test_a_declared_reference_is_not_listed_twice(tmp_path: Path) -> None:
    """A reference that is declared and measured is listed once."""
    profile = sqlite_profile(
        tmp_path,
        "CREATE TABLE city (city_id INTEGER PRIMARY KEY, name TEXT);"
        "CREATE TABLE street (street_id INTEGER PRIMARY KEY, city_id INTEGER REFERENCES city);"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90)"
        " INSERT INTO city SELECT i, 'c' || i FROM n;"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
        " INSERT INTO street SELECT i, 1 + i * 7 % 90 FROM n;",
    )
    assert [(k.from_columns, k.to_columns, k.origin) for k in profile.foreign_keys] == [
        (("city_id",), ("city_id",), "declared")
    ]


def test_declared_keys_of_empty_tables_are_kept(tmp_path: Path) -> None:
    """Without rows the declaration stays, and the figures say that nothing was read."""
    profile = sqlite_profile(
        tmp_path,
        "CREATE TABLE city (city_id INTEGER PRIMARY KEY);"
        "CREATE TABLE street (id INTEGER PRIMARY KEY, city_id INTEGER REFERENCES city (city_id));",
    )
    assert profile.table("city").primary_key == ("city_id",)
    evidence = only(profile).evidence
    assert (evidence.rows, evidence.matched, evidence.orphans) == (0, 0, 0)


def test_a_key_that_only_nulls_violate_is_checked_for_nulls(tmp_path: Path) -> None:
    """SQLite allows nulls in a primary key; the query lists those rows, not repeats."""
    script = "CREATE TABLE p (id TEXT PRIMARY KEY); INSERT INTO p VALUES ('a'), (NULL), (NULL);"
    evidence = claim(sqlite_profile(tmp_path, script), "p", "id").evidence
    with sqlite3.connect(tmp_path / "shop.sqlite") as connection:
        found = connection.execute(evidence.sql).fetchall()
    connection.close()
    assert (evidence.nulls, evidence.violations, found) == (2, 0, [(None,), (None,)])


NUMBERED = """
    CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 29)
    INSERT INTO customer SELECT i, 'N' || i FROM n;
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer VARCHAR(20) REFERENCES customer(id));
"""


def test_words_among_the_numbers_of_a_declared_reference_are_orphans(tmp_path: Path) -> None:
    """Comparing them fails in DuckDB, which took the table for one that can't be read."""
    words = (
        "INSERT INTO orders SELECT id, CASE WHEN id % 7 THEN id ELSE 'unknown' END FROM customer;"
    )
    profile = sqlite_profile(tmp_path, NUMBERED + words)
    assert [table.name for table in profile.tables] == ["customer", "orders"]
    evidence = only(profile).evidence
    with sqlite3.connect(tmp_path / "shop.sqlite") as connection:
        assert len(connection.execute(evidence.sql).fetchall()) == evidence.violations == 4
    connection.close()


def test_two_spellings_of_one_number_are_two_rows_of_one_parent(tmp_path: Path) -> None:
    """Texts that differ say nothing of how often a number comes."""
    spelled = (
        "INSERT INTO orders SELECT id, id FROM customer; INSERT INTO orders VALUES (99, ' 5 ');"
    )
    assert only(sqlite_profile(tmp_path, NUMBERED + spelled)).cardinality == "many-to-one"
