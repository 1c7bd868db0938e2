"""Columns named like the aliases in our queries, and numbers at the limits of their types."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pyarrow
import pytest
from pyarrow import parquet

from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.sources.sql import quote
from tests.profiling.databases import measured_column, profiled, references, show

KEYS = (
    ("value", "n"),
    ("rows", "key"),
    ("v0", "v1"),
    ("c0", "c1"),
    ("found", "is_key"),
    ("child", "parent"),
    ("fluid_child", "fluid_parent"),
    ("column_index", "hits"),
    ("probes", "judged"),
    ("part", "pairs"),
    ("agreed", "fluid_row"),
    ("a", "b"),
    ("select", "group"),
    (" ", 'quo"te'),
    ("Group By", "semi;colon--"),
    ("$1", "?"),
    ("x%s", "x" * 70),
    ("ünï", "🙂"),
)
"""Names of the two columns that identify the rows of a table."""
NUMBERED = (("v0", "v1"), ("c0", "c1"))
"""Of these, names that only number their columns: equal numbers don't mean equal columns."""
ATTRIBUTES = ("count", "rowid", "*", "per%cent")
"""Names that don't read like a key's."""
LARGE = 120_000
"""Rows of a table in which all pairs of rows with a common value are compared."""


def tables() -> Iterator[tuple[str, str]]:
    """Yield names with SQL: for each key a table that it identifies, and one that refers to it."""
    attributes = ", ".join(f"(i + {at}) % 3 AS {quote(name)}" for at, name in enumerate(ATTRIBUTES))
    for number, (first, second) in enumerate(KEYS):
        rows = LARGE if number == 0 else 5_000 if number % 2 else 300
        key = (
            f"{1000 * (number + 3)} + {{}} AS {quote(first)},"
            f" 'k{number}-' || {{}} AS {quote(second)}"
        )
        place, visit = (
            key.format("i // 90", "i % 90"),
            key.format(f"i % {rows // 90}", "i * 7 % 90"),
        )
        yield f"place_{number}", f"SELECT {place}, {attributes} FROM range({rows}) t(i)"
        yield (
            f"visit_{number}",
            f"SELECT i AS visit_id, {visit}, {attributes} FROM range({min(2 * rows, 9_000)}) t(i)",
        )


def write_duckdb(folder: Path) -> Path:
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        for name, query in tables():
            connection.execute(f"CREATE TABLE {name} AS {query}")
    return folder / "t.duckdb"


def write_parquet(folder: Path) -> Path:
    with duckdb.connect() as connection:
        for name, query in tables():
            connection.execute(f"COPY ({query}) TO '{folder}/{name}.parquet' (ROW_GROUP_SIZE 4096)")
    return folder


def write_sqlite(folder: Path) -> Path:
    with duckdb.connect() as connection, sqlite3.connect(folder / "t.sqlite") as database:
        for name, query in tables():
            rows = connection.execute(query)
            columns = [
                f"{quote(column)} {'TEXT' if type_ == duckdb.STRING else 'INTEGER'}"
                for column, type_, *_ in rows.description
            ]
            database.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
            places = ", ".join("?" * len(columns))
            database.executemany(f"INSERT INTO {name} VALUES ({places})", rows.fetchall())
    return folder / "t.sqlite"


WRITERS = (write_duckdb, write_parquet, write_sqlite)


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_no_column_name_collides_with_ours(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    """Keys and references are found and counted whatever the columns are called."""
    with open_source(write(tmp_path)) as source:
        profile = profile_source(source)
    assert profile.skipped == ()
    shown = {show(key): key for key in profile.foreign_keys}
    for number, key in enumerate(KEYS):
        place, visit = profile.table(f"place_{number}"), profile.table(f"visit_{number}")
        assert (place.primary_key, visit.primary_key) == (key, ("visit_id",))
        if key in NUMBERED:
            continue
        names = ", ".join(key)
        evidence = shown[f"visit_{number}({names}) -> place_{number}({names})"].evidence
        assert (evidence.matched, evidence.orphans) == (visit.rows, 0)
        assert [place.column(name).distinct for name in ATTRIBUTES] == [3] * len(ATTRIBUTES)


def test_names_that_differ_in_case_or_are_empty_are_profiled(tmp_path: Path) -> None:
    """Parquet files have such columns; each keeps its name."""
    rows = range(6_000)
    columns = [[i // 80 for i in rows], [f"k{i % 80}" for i in rows], [i % 7 for i in rows]]
    table = pyarrow.table([pyarrow.array(values) for values in columns], ["Value", "value", ""])
    parquet.write_table(table, tmp_path / "t.parquet")
    with open_source(tmp_path) as source:
        profile = profile_source(source)
    assert profile.skipped == ()
    assert profile.table("t").primary_key == ("Value", "value")
    assert [column.name for column in profile.table("t").columns] == ["Value", "value", ""]


@pytest.mark.parametrize("type_", ["TINYINT", "UTINYINT", "SMALLINT", "USMALLINT"])
def test_a_key_of_narrow_integers_is_found(type_: str) -> None:
    """The numbers are packed into one without exceeding the range of their own type."""
    first = 0 if type_.startswith("U") else -100
    profile = profiled(
        f"CREATE TABLE seat AS SELECT CAST({first} + i // 200 AS {type_}) AS row_id,"
        f" CAST({first} + i % 200 AS {type_}) AS place_id FROM range(40000) t(i)"
    )
    assert profile.skipped == ()
    assert profile.table("seat").primary_key == ("row_id", "place_id")


LARGEST = {
    "UHUGEINT": "340282366920938463463374607431768211455",
    "HUGEINT": "170141183460469231731687303715884105727",
    "BIGNUM": "9" * 60,
    "DECIMAL(38,0)": "9" * 38,
}


@pytest.mark.parametrize("rows", [900, 40_000])
@pytest.mark.parametrize("type_", LARGEST)
def test_numbers_too_large_for_another_type_are_compared(type_: str, rows: int) -> None:
    """A reference to them is found though its own type can't hold the largest of them."""
    profile = profiled(
        f"CREATE TABLE item AS SELECT CAST(CASE WHEN i = 0 THEN '{LARGEST[type_]}'"
        f" ELSE CAST(3 * i AS VARCHAR) END AS {type_}) AS item_id FROM range({rows}) t(i);"
        "CREATE TABLE sale AS SELECT i AS sale_id, 3 * pick(i, 1, 800) + 3 AS item_id"
        f" FROM range({2 * rows}) t(i)"
    )
    assert profile.skipped == ()
    assert references(profile) == {"sale(item_id) -> item(item_id)"}


@pytest.mark.parametrize("value", ["repeat('0', 40000)", "repeat('1', 500) || '.5'"])
def test_text_longer_than_any_number_is_text(value: str) -> None:
    (column,) = measured_column(f"{value} || i", "range(5) AS t(i)").columns
    assert column.measured_type is None


def test_blanks_after_a_number_are_no_digits() -> None:
    (column,) = measured_column("rpad(CAST(i AS VARCHAR), 600, ' ')", "range(5) AS t(i)").columns
    assert column.measured_type == "BIGINT"
