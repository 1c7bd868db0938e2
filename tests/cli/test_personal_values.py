"""No personal value reaches a screen or a file, from whatever source and however deeply nested."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from fluid_build.contract.exports.formats import FORMATS
from tests.cli.running import Fluid
from tests.postgres import PostgresDatabase

CANARIES = ("kanari", "1512345678", "DE89370400440532013000", "4111111111111111", "6b616e617269")
"""Parts of every personal value below; the last is "kanari" in hexadecimal."""

_ROWS = 120
_NOTES = (
    "Please write to kanari.note@example.org before you deliver the parcel.",
    "The neighbour can be called on +49 1512345678 when nobody is at home today.",
    "Refund goes to the account DE89370400440532013000 of the sender, as we said.",
    "Paid with the card 4111111111111111 at the desk, a receipt was printed there.",
    "Left at the door, nobody was at home, and it did not rain that day.",
)


def _document(number: int) -> dict[str, Any]:
    """What is known of a parcel's receiver; few differ, so that they look like a category."""
    who = number % 3
    return {
        "name": f"Kanari Schmidt{who}",
        "email": f"kanari{who}@example.org",
        "visits": who,
        "places": [{"street": f"Kanarienweg {who + 1}", "phones": ["+49 1512345678"]}],
    }


def _rows() -> Iterator[tuple[Any, ...]]:
    for number in range(_ROWS):
        document = json.dumps(_document(number))
        who = number % 3
        yield (
            number + 7000,
            document,
            f"<to email='kanari{who}@example.org'><name>Kanari Schmidt{who}</name></to>",
            _NOTES[number % len(_NOTES)],
            # One value of many is an address: no sample has to see it.
            f"kanari{number}@example.org" if number % 40 == 39 else f"door {number % 7}",
            ("open", "sent", "lost")[number % 3],
            number % 17 + 0.5,
        )


COLUMNS = {
    "parcel_id": "INTEGER",
    "receiver": "VARCHAR",
    "markup": "VARCHAR",
    "note": "VARCHAR",
    "dropped_at": "VARCHAR",
    "state": "VARCHAR",
    "weight": "DECIMAL(8,2)",
}


def _create(database: duckdb.DuckDBPyConnection) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    database.execute(f"CREATE TABLE parcel ({columns})")
    database.executemany(
        f"INSERT INTO parcel VALUES ({', '.join('?' * len(COLUMNS))})", list(_rows())
    )


_NESTED = """
CREATE TABLE nested AS SELECT
    parcel_id,
    CAST(receiver AS JSON) AS as_json,
    from_json(receiver, '{"name": "VARCHAR", "email": "VARCHAR"}') AS as_struct,
    [receiver ->> 'email', 'kanari@example.org'] AS as_list,
    MAP {receiver ->> 'email': receiver ->> 'name'} AS as_map
    {more}
FROM parcel
"""
_ONLY_DUCKDB = """,
    CAST(union_value(name := receiver ->> 'name') AS UNION(name VARCHAR, n INTEGER)) AS as_union,
    [[receiver ->> 'email']] AS lists_of_lists,
    CAST([receiver ->> 'name', 'Kanari Meier'] AS VARCHAR[2]) AS as_array,
    CAST(receiver ->> 'email' AS BLOB) AS as_blob
"""


def duckdb_file(folder: Path) -> Path:
    """Every nested type that DuckDB has."""
    with duckdb.connect(str(folder / "post.duckdb")) as database:
        _create(database)
        database.execute(_NESTED.replace("{more}", _ONLY_DUCKDB))
    return folder / "post.duckdb"


def sqlite_file(folder: Path) -> Path:
    """Documents as text, as SQLite's JSON functions expect them."""
    with closing(sqlite3.connect(folder / "post.sqlite")) as database, database:
        columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        database.execute(f"CREATE TABLE parcel ({columns})")
        marks = ", ".join("?" * len(COLUMNS))
        database.executemany(f"INSERT INTO parcel VALUES ({marks})", list(_rows()))
    return folder / "post.sqlite"


def _files(folder: Path, ending: str, *tables: str) -> Path:
    data = folder / "post"
    data.mkdir()
    with duckdb.connect() as database:
        _create(database)
        database.execute(_NESTED.replace("{more}", ""))
        for table in tables:
            database.execute(f"COPY {table} TO '{data}/{table}.{ending}'")
    return data


def csv_files(folder: Path) -> Path:
    """Documents in quoted fields, and nested values as DuckDB writes them to CSV."""
    return _files(folder, "csv", "parcel", "nested")


def parquet_files(folder: Path) -> Path:
    """Structs, lists and maps of Parquet's own."""
    return _files(folder, "parquet", "parcel", "nested")


def json_files(folder: Path) -> Path:
    """Records with objects and lists in them."""
    return _files(folder, "json", "parcel", "nested")


def postgres_database(postgres: PostgresDatabase) -> str:
    """jsonb, json, arrays, a composite type, xml-like text and bytes of PostgreSQL."""
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    values = ",\n".join("(" + ", ".join(_literal(value) for value in row) + ")" for row in _rows())
    postgres.run(
        f"""
        CREATE TABLE parcel ({columns});
        INSERT INTO parcel VALUES {values};
        CREATE TYPE person AS (name text, email text);
        CREATE TABLE nested AS SELECT
            parcel_id,
            receiver::json AS as_json,
            receiver::jsonb AS as_jsonb,
            ARRAY[receiver::jsonb ->> 'email', 'kanari@example.org'] AS as_array,
            ROW(receiver::jsonb ->> 'name', 'x')::person AS as_composite,
            convert_to(receiver::jsonb ->> 'email', 'UTF8') AS as_bytes
        FROM parcel;
        """
    )
    return postgres.uri


def _literal(value: Any) -> str:
    return "'" + str(value).replace("'", "''") + "'"


MAKERS: dict[str, Callable[[Path], Path]] = {
    "duckdb": duckdb_file,
    "sqlite": sqlite_file,
    "csv": csv_files,
    "parquet": parquet_files,
    "json": json_files,
}
TECHNIQUES = ("flat", "data_vault_2", "dimensional")
FORGE = ("forge", "data-model", "from-source")


@pytest.fixture(params=[*MAKERS, "postgres"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The same parcels in one kind of source after the other."""
    if request.param == "postgres":
        return postgres_database(request.getfixturevalue("postgres"))
    return str(MAKERS[request.param](tmp_path))


def assert_no_canary(text: str, where: object) -> None:
    """Fail, naming the place, where any part of a personal value is in a text."""
    found = [canary for canary in CANARIES if canary.lower() in text.lower()]
    at = text.lower().find(found[0].lower()) if found else 0
    assert not found, (where, text[max(0, at - 300) : at + 100])


def assert_no_canary_in(folder: Path) -> None:
    """Look into every file, but for data itself: copies for dbt, which say that they are such."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "land" not in path.relative_to(folder).parts:
            assert_no_canary(path.read_bytes().decode("utf-8", "replace"), path)


def test_no_screen_of_a_profile_shows_one(fluid: Fluid, source: str) -> None:
    """The overview, one table's columns, and JSON."""
    for arguments in ((), ("--table", "parcel"), ("--json",), ("--debug",)):
        outcome = fluid("profile", source, *arguments)
        assert outcome.code == 0, outcome.err
        assert_no_canary(outcome.out + outcome.err, arguments)


def test_columns_that_hold_some_are_marked(fluid: Fluid, source: str) -> None:
    """Documents and texts with personal data in them are personal, and the rest is not."""
    tables = json.loads(fluid("profile", source, "--json").out)["tables"]
    parcel = {column["name"]: column["pii"] for column in tables[-1]["columns"]}
    assert parcel == {
        "parcel_id": False,
        "receiver": True,
        "markup": True,
        "note": True,
        "dropped_at": True,
        "state": False,
        "weight": False,
    }
    for table in tables[:-1]:
        marked = {column["name"] for column in table["columns"] if column["pii"]}
        with_address = {"as_json", "as_jsonb", "as_struct", "as_list", "as_map"}
        assert marked >= with_address & {column["name"] for column in table["columns"]}


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_no_file_and_no_later_command_shows_one(
    fluid: Fluid, source: str, tmp_path: Path, technique: str
) -> None:
    """What a forge writes, and what verify, test, diff, export and their errors say of it."""
    out = tmp_path / "model"
    contract = out / "contract.fluid.yaml"
    forge = (*FORGE, "--uri", source, "--technique", technique, "-o", out, "--debug")
    for command in (
        forge,
        (*forge, "--json"),
        ("verify", out, "--uri", source, "--debug"),
        ("test", contract, "--uri", source, "--debug"),
        ("diff", contract, contract),
        *(("export", name, contract) for name in FORMATS),
    ):
        outcome = fluid(*command)
        assert "bug" not in outcome.err, outcome.err
        assert_no_canary(outcome.out + outcome.err, command)
    assert_no_canary_in(out)


_BREAK = (
    # Two rows of one key: a vault that relies on it loses one.
    "INSERT INTO parcel SELECT 7000, receiver, markup, note, dropped_at, state, 99"
    " FROM parcel WHERE parcel_id = 7001",
    "UPDATE nested SET parcel_id = 7000 WHERE parcel_id = 7001",
)


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_no_row_that_is_lost_shows_one(fluid: Fluid, tmp_path: Path, technique: str) -> None:
    """The rows that differ are shown, without their nested or personal values."""
    source = duckdb_file(tmp_path)
    out = tmp_path / "model"
    fluid(*FORGE, "--uri", source, "--technique", technique, "-o", out)
    with duckdb.connect(str(source)) as database:
        for statement in _BREAK:
            database.execute(statement)
    for arguments in (("--debug",), ("--json",)):
        outcome = fluid("verify", out, *arguments)
        if technique == "data_vault_2":
            assert outcome.code != 0
        assert_no_canary(outcome.out + outcome.err, arguments)
    tested = fluid("test", out / "contract.fluid.yaml", "--uri", source)
    assert_no_canary(tested.out + tested.err, "test")
    assert_no_canary_in(out)


def test_no_value_that_no_longer_fits_is_quoted(fluid: Fluid, tmp_path: Path) -> None:
    """Where text was all numbers and now holds an address, the error says how many, not which."""
    path = tmp_path / "post.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE parcel (parcel_id INTEGER, weight TEXT)")
        database.executemany(
            "INSERT INTO parcel VALUES (?, ?)", [(i, str(i % 17)) for i in range(100)]
        )
    out = tmp_path / "model"
    assert fluid(*FORGE, "--uri", path, "-o", out).code == 0
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE parcel SET weight = 'kanari@example.org' WHERE parcel_id = 7")
    outcome = fluid("verify", out, "--debug")
    assert outcome.code == 2
    assert "1 value" in outcome.err or "a value" in outcome.err
    assert_no_canary(outcome.out + outcome.err, "verify")


@pytest.mark.parametrize("stray", ["kanari@example.org", "+49 1512345678"])
def test_a_stray_value_among_numbers_is_not_quoted(
    fluid: Fluid, tmp_path: Path, stray: str
) -> None:
    """That a column is text because of it is said, with the figures and without the value."""
    lines = [f"{number},{number * 3}" for number in range(200)]
    (tmp_path / "parcel.csv").write_text("\n".join(["parcel_id,weight", *lines, f"200,{stray}"]))
    for arguments in ((), ("--json",), ("--table", "parcel")):
        outcome = fluid("profile", tmp_path / "parcel.csv", *arguments)
        assert outcome.code == 0
        assert_no_canary(outcome.out + outcome.err, arguments)
