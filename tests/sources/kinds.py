"""The same small database, written as every kind of source."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import duckdb

from fluid_build.sources.sql import quote
from fluid_build.sources.uri import MemoryAddress, in_memory

COLUMNS: dict[str, dict[str, str]] = {
    "Order Details": {"order": "INTEGER", "line no": "INTEGER", "select": "VARCHAR(20)"},
    "customer": {"id": "INTEGER", "name": "VARCHAR(40)", "born": "DATE", "note": "VARCHAR(9)"},
    "group": {"id": "INTEGER", "amount": "NUMERIC(10,2)"},
    "nothing yet": {"id": "INTEGER", "what": "VARCHAR(5)"},
}
ROWS: dict[str, list[tuple[object, ...]]] = {
    "Order Details": [(1, 1, "first"), (1, 2, "it's"), (2, 1, 'say "hi", you')],
    "customer": [
        (1, "Zoë", "1990-05-17", None),
        (2, "日本", "2001-12-31", None),
        (3, "O'Brien", None, None),
    ],
    "group": [(1, "19.99"), (2, "0.10"), (3, "1000.00")],
    "nothing yet": [],
}


def _create(name: str) -> str:
    columns = ", ".join(f"{quote(column)} {kind}" for column, kind in COLUMNS[name].items())
    return f"CREATE TABLE {quote(name)} ({columns})"


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


def statements() -> list[str]:
    """DDL and inserts that every SQL database takes."""
    found = []
    for name, rows in ROWS.items():
        found.append(_create(name))
        for row in rows:
            values = ", ".join(_literal(value) for value in row)
            found.append(f"INSERT INTO {quote(name)} VALUES ({values})")
    return found


def sqlite_file(folder: Path) -> str:
    path = folder / "shop.sqlite"
    with sqlite3.connect(path) as connection:
        for statement in statements():
            connection.execute(statement)
    connection.close()
    return f"sqlite:///{path}"


def duckdb_file(folder: Path) -> str:
    path = folder / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        for statement in statements():
            connection.execute(statement)
    return f"duckdb:///{path}"


def csv_folder(folder: Path) -> str:
    return _copies(folder, "csv", "FORMAT csv, HEADER")


def parquet_folder(folder: Path) -> str:
    return _copies(folder, "parquet", "FORMAT parquet")


def _copies(folder: Path, ending: str, options: str) -> str:
    with duckdb.connect() as connection:
        for statement in statements():
            connection.execute(statement)
        for name in ROWS:
            target = str(folder / f"{name}.{ending}").replace("'", "''")
            connection.execute(f"COPY {quote(name)} TO '{target}' ({options})")
    return str(folder)


def json_folder(folder: Path) -> str:
    # A JSON file without a record has no columns, so that it cannot stand for an empty table.
    for name, rows in ROWS.items():
        if rows:
            records = [dict(zip(COLUMNS[name], row, strict=True)) for row in rows]
            text = json.dumps(records, ensure_ascii=False)
            (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return str(folder)


def arrow_tables() -> MemoryAddress:
    """The tables in memory, as Arrow tables."""
    with duckdb.connect() as connection:
        for statement in statements():
            connection.execute(statement)
        return in_memory(
            {
                name: connection.sql(f"FROM {quote(name)}").to_arrow_table()
                for name in sorted(ROWS, key=str.lower)
            }
        )


MAKERS: dict[str, Callable[[Path], str]] = {
    "sqlite": sqlite_file,
    "duckdb": duckdb_file,
    "csv": csv_folder,
    "parquet": parquet_folder,
    "json": json_folder,
}
