"""Columns that are called like the names in our own queries, in every kind of source."""

import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pytest

from fluid_build.forging import forge
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import ColumnProfile, Profile
from fluid_build.sources import open_source
from fluid_build.sources.sql import literal, quote

KINDS = ("csv", "parquet", "json", "sqlite", "duckdb", "postgres")
TECHNIQUES = ("flat", "data_vault_2", "dimensional")

NAMES = (
    *"value n rows key count rowid v0 v1 node a b t c p left total hits figure times".split(),
    *"k0 c0 c1 e0 child parent source model part probes judged found agreed fluid_row".split(),
    *"row_count place k ours theirs head h kind absent column parted latest kept known".split(),
    *"staged arriving ranked link hub own built referred original replaced_at".split(),
    *"version_number multiplicity load_date hash_diff row_hash record_source".split(),
    *"recency surplus precedence match_1 found_1 key_1 standing".split(),
    *("it's", 'say "hi"', "two words", "Ünïcode", "semi;colon", "{{ jinja }}", "%s", "$x"),
)
PLAIN = tuple(f"plain_{number}x" for number in range(len(NAMES)))


def _value(number: int) -> str:
    """The SQL of a column: a key, few values, near-unique text, gaps, dates, in turn."""
    return (
        "i",
        f"i % {number + 3}",
        f"'w' || (i * 7919 % {4700 + number})",
        f"CASE WHEN i % 11 = {number % 11} THEN NULL ELSE 'x' || (i % 40) END",
        f"i * 0.5 + {number}",
        f"DATE '2020-01-01' + CAST(i % {400 + number} AS INTEGER)",
    )[number % 6]


def _rows(names: tuple[str, ...], rows: int) -> str:
    columns = ", ".join(f"{_value(n)} AS {quote(name)}" for n, name in enumerate(names))
    return f"SELECT {columns} FROM range({rows}) AS r(i)"


def _parts(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The names of each table: keys are sought among few columns far quicker than among all."""
    return [names[start : start + 19] for start in range(0, len(names), 19)]


def _make(kind: str, folder: Path, names: tuple[str, ...], rows: int, database: Any) -> str:
    """A source with a table for each part of those columns."""
    folder.mkdir()
    tables = {f"t{n}": _rows(part, rows - n) for n, part in enumerate(_parts(names))}
    file = folder / "shop.duckdb"
    with duckdb.connect(str(file) if kind == "duckdb" else ":memory:") as connection:
        for table, query in tables.items():
            connection.execute(f"CREATE TABLE {table} AS {query}")
        if kind == "duckdb":
            return f"duckdb:///{file}"
        if kind in ("csv", "parquet", "json"):
            for table in tables:
                target = literal(str(folder / f"{table}.{kind}"))
                connection.execute(f"COPY {table} TO {target} (FORMAT {kind})")
            return str(folder)
        if kind == "sqlite":
            return _sqlite(connection, folder / "shop.db", tuple(tables))
        return _postgres(connection, database, folder, tuple(tables))


def _columns(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    kinds = {"BIGINT": "BIGINT", "DATE": "DATE", "VARCHAR": "VARCHAR(40)"}
    described = connection.execute(f"DESCRIBE {table}").fetchall()
    return ", ".join(
        f"{quote(name)} {kinds.get(type_, 'NUMERIC')}" for name, type_, *_ in described
    )


def _sqlite(connection: duckdb.DuckDBPyConnection, file: Path, tables: tuple[str, ...]) -> str:
    with sqlite3.connect(file) as target:
        for table in tables:
            target.execute(f"CREATE TABLE {table} ({_columns(connection, table)})")
            rows = connection.execute(f"SELECT COLUMNS(*)::VARCHAR FROM {table}").fetchall()
            marks = ", ".join("?" * len(rows[0]))
            target.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    target.close()
    return f"sqlite:///{file}"


def _postgres(
    connection: duckdb.DuckDBPyConnection, database: Any, folder: Path, tables: tuple[str, ...]
) -> str:
    for table in tables:
        file = folder / f"{table}.csv"
        connection.execute(f"COPY {table} TO {literal(str(file))} (HEADER false)")
        database.run(f"DROP TABLE IF EXISTS {table}")
        database.run(f"CREATE TABLE {table} ({_columns(connection, table)})")
        database.run(f"\\copy {table} FROM {literal(str(file))} (FORMAT csv)")
    return str(database.uri)


def _figures(column: ColumnProfile) -> tuple[object, ...]:
    """What was measured of a column, whatever it's called."""
    return (
        column.type,
        column.rows,
        column.nulls,
        column.distinct,
        column.distinct_exact,
        column.min_length,
        column.max_length,
        column.avg_length,
        column.measured_type,
    )


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def database(kind: str, request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue("postgres") if kind == "postgres" else None


def _profile(uri: str) -> Profile:
    with open_source(uri) as source:
        return profile_source(source)


@pytest.mark.parametrize("rows", [60, 6000])
def test_names_of_our_own_queries_change_no_figure(
    kind: str, rows: int, tmp_path: Path, database: Any
) -> None:
    """A table is measured alike whatever its columns are called, and none is skipped."""
    # JSON and Postgres of the same rows take the same paths, and are read under both names.
    plain = _profile(_make(kind, tmp_path / "plain", PLAIN, rows, database))
    hostile = _profile(_make(kind, tmp_path / "hostile", NAMES, rows, database))
    assert hostile.skipped == plain.skipped == ()
    for ours, theirs in zip(hostile.tables, plain.tables, strict=True):
        assert [_figures(column) for column in ours.columns] == [
            _figures(column) for column in theirs.columns
        ]
    found = [tuple(column.name for column in table.columns) for table in hostile.tables]
    assert found == _parts(NAMES)


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_names_of_our_own_queries_are_forged_with_proof(
    kind: str, technique: str, tmp_path: Path, database: Any
) -> None:
    """A table with such columns is modelled and built, and comes back whole."""
    uri = _make(kind, tmp_path / "data", NAMES, 90, database)
    with open_source(uri) as source:
        forged = forge(source, technique=technique)
    assert forged.profile.skipped == ()
    assert forged.proof.verdict == "proven"
    assert len(forged.proof.tables) == len(_parts(NAMES))
