"""A small shop database to try Fluid Forge on, made on the spot.

Its names and phrases are data (``shop.toml``), and its rows one seeded sequence. ``truth.json``
says what the database doesn't: its keys, references, better names and descriptions.
"""

import sqlite3
from contextlib import closing
from importlib.resources import files
from pathlib import Path

from fluid_build.artifacts import write_artifacts
from fluid_build.demo.data import TABLES
from fluid_build.demo.shop import TOTAL_ROWS, make_rows
from fluid_build.errors import OutputError
from fluid_build.regular_files import open_regular
from fluid_build.temporary import owned_folder

__all__ = ["TOTAL_ROWS", "build_shop", "truth_of_shop"]

_APPLICATION_ID = 0x464C5549
"""Marks an SQLite file as a demo shop, so that only demo shops are replaced."""
_APPLICATION_ID_OFFSET = 68
"""Where SQLite keeps the mark (https://www.sqlite.org/fileformat2.html)."""


def build_shop(path: Path) -> None:
    """Write the demo shop to that path: an SQLite file of fourteen tables and 200,000 rows.

    The rows are the same every time, and with one version of SQLite so are the bytes. An older demo
    shop is replaced. Raises OutputError, and leaves everything as it was, where the file can't be
    written or anything but a demo shop is in the way.
    """
    if path.exists() and not (path.is_file() and _is_demo_shop(path)):
        raise OutputError(
            f"{path} already exists and isn't a demo shop.",
            hint="Choose another folder. Nothing was changed.",
        )
    try:
        with owned_folder() as folder:
            _write_database(folder.path / path.name)
            write_artifacts(path.parent, {path.name: folder.path / path.name})
    except (OSError, sqlite3.Error) as error:
        raise OutputError(
            f"{path} couldn't be written: {error}.",
            hint="The demo needs 50 MB of disk space, there and in the folder for temporary files.",
        ) from error


def truth_of_shop() -> bytes:
    """Return what is true of the demo shop, as JSON."""
    return (files(__package__) / "truth.json").read_bytes()


def _is_demo_shop(path: Path) -> bool:
    with open_regular(path) as file:
        header = file.read(_APPLICATION_ID_OFFSET + 4)
    mark = _APPLICATION_ID.to_bytes(4, "big")
    return header.startswith(b"SQLite format 3\0") and header[_APPLICATION_ID_OFFSET:] == mark


def _write_database(path: Path) -> None:
    # A crash may lose this file: it's only moved into place once it's whole.
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        database.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        database.execute("BEGIN")
        for table, rows in make_rows().items():
            database.execute(f"CREATE TABLE {table} ({TABLES[table]})")
            placeholders = ", ".join("?" * len(rows[0]))
            database.executemany(f"INSERT INTO {table} VALUES ({placeholders})", rows)
        database.execute("COMMIT")
