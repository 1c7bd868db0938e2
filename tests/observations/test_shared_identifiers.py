"""Identifiers that several tables share without a key that all of them could refer to."""

from pathlib import Path

import duckdb
import pytest

from fluid_build.observations.observe import Observations, observe
from fluid_build.observations.shared_identifiers import PartOfKeyReference, SplitReference
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source

SHAPES = """
    CREATE TABLE shapes (shape_id VARCHAR, sequence INTEGER, lat DOUBLE,
      PRIMARY KEY (shape_id, sequence));
    INSERT INTO shapes SELECT 's' || i // 10, i % 10, i / 7 FROM range(200) AS t(i);
    CREATE TABLE trips AS
    SELECT 't' || i AS trip_id, CASE WHEN i % 4 > 0 THEN 's' || i % 25 END AS shape_id
    FROM range(100) AS t(i)
"""


def observed(folder: Path, statements: str) -> Observations:
    database = folder / "shop.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(statements)
    with open_source(str(database)) as source:
        return observe(source, profile_source(source))


def test_a_column_with_a_part_of_another_tables_key_is_measured(tmp_path: Path) -> None:
    (reference,) = observed(tmp_path, SHAPES).part_of_key_references
    assert reference == PartOfKeyReference("trips", "shape_id", "shapes", "shape_id", 75, 15)


RATINGS = """
    CREATE TABLE rating AS
    SELECT 7 + u * 13 AS user_id, f * 11 AS film_id, (u + f) % 5 AS stars
    FROM range(40) AS u(u), range(30) AS f(f) WHERE (u * f) % 3 < 2;
    CREATE TABLE tag AS
    SELECT 7 + u * 26 AS user_id, f * 11 AS film_id, 'w' || (u + f) % 4 AS word
    FROM range(25) AS u(u), range(30) AS f(f) WHERE (u * f) % 7 = 1;
    ALTER TABLE rating ADD PRIMARY KEY (user_id, film_id);
    ALTER TABLE tag ADD PRIMARY KEY (user_id, film_id, word)
"""


def test_an_identifier_in_several_keys_that_no_table_lists_is_found(tmp_path: Path) -> None:
    found = {i.home.column: i for i in observed(tmp_path, RATINGS).unlisted_identifiers}
    users = found["user_id"]
    assert (users.home.table, users.home.values) == ("rating", 40)
    (use,) = users.uses
    assert (use.table, use.known < use.values) == ("tag", True)


def test_an_identifier_that_a_table_lists_is_left_out(tmp_path: Path) -> None:
    listed = f"{RATINGS}; CREATE TABLE film AS SELECT f * 11 AS film_id FROM range(30) AS f(f)"
    found = observed(tmp_path, f"{listed}; ALTER TABLE film ADD PRIMARY KEY (film_id)")
    assert [i.home.column for i in found.unlisted_identifiers] == ["user_id"]


@pytest.mark.parametrize("name", ["a_movies", "z_movies"])
def test_a_table_that_lists_an_identifier_counts_wherever_it_is_read(
    tmp_path: Path, name: str
) -> None:
    """Some ratings are of movies that aren't listed, so no reference leads there."""
    statements = f"""
        CREATE TABLE {name} (movie_code VARCHAR PRIMARY KEY, title VARCHAR);
        INSERT INTO {name} SELECT 'm' || (i + 300), 't' || i FROM range(1, 90) AS t(i);
        CREATE TABLE ratings (user_code VARCHAR, movie_code VARCHAR, score INTEGER,
          PRIMARY KEY (user_code, movie_code));
        CREATE TABLE tags (user_code VARCHAR, movie_code VARCHAR, score INTEGER,
          PRIMARY KEY (user_code, movie_code));
        INSERT INTO ratings SELECT 'u' || i * 7 % 50, 'm' || i * 3 % 330, i % 7
        FROM range(1, 400) AS t(i) ON CONFLICT DO NOTHING;
        INSERT INTO tags SELECT 'u' || i * 11 % 50, 'm' || (i * 3 + 1) % 330, i % 7
        FROM range(1, 400) AS t(i) ON CONFLICT DO NOTHING
    """
    identifiers = observed(tmp_path, statements).unlisted_identifiers
    assert [identifier.home.column for identifier in identifiers] == ["user_code"]


def _catalogue(first: str, second: str) -> str:
    return f"""
        CREATE TABLE sets AS SELECT {first} AS set_num, 'n' || i AS title FROM range(90) AS t(i);
        CREATE TABLE figures AS
        SELECT {second} AS fig_num, 'f' || i AS title FROM range(40) AS t(i);
        ALTER TABLE sets ADD PRIMARY KEY (set_num);
        ALTER TABLE figures ADD PRIMARY KEY (fig_num);
        CREATE TABLE inventories AS
        SELECT i AS id, set_num, i % 3 AS version FROM (
          SELECT row_number() OVER () AS i, set_num
          FROM (SELECT set_num FROM sets UNION ALL SELECT fig_num FROM figures))
    """


def test_a_column_that_refers_to_either_of_two_tables_is_found(tmp_path: Path) -> None:
    statements = _catalogue("'set-' || i || '-1'", "'fig-' || i")
    (split,) = observed(tmp_path, statements).split_references
    assert split == SplitReference(
        "inventories", "set_num", "sets", "set_num", "figures", "fig_num", 130, 90, 40
    )


@pytest.mark.parametrize("second", ["'set-' || i + 89 || '-1'", "'set-' || i || '-1'"])
def test_keys_that_are_in_both_tables_are_not_of_one_kind(tmp_path: Path, second: str) -> None:
    assert observed(tmp_path, _catalogue("'set-' || i || '-1'", second)).split_references == ()


def test_a_table_of_too_many_rows_is_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fluid_build.observations.shared_identifiers._MOST_ROWS", 30)
    statements = _catalogue("'set-' || i || '-1'", "'fig-' || i")
    observations = observed(tmp_path, f"{SHAPES}; {RATINGS}; {statements}")
    assert not observations.part_of_key_references
    assert not observations.unlisted_identifiers
    assert not observations.split_references
