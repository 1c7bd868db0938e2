"""A small shop database to try Fluid Forge on, made on the spot."""

import secrets
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from fluid_build.demo.shop import SCHEMA, TOTAL_ROWS, made_up
from fluid_build.errors import OutputError
from fluid_build.regular_files import open_regular

__all__ = ["TOTAL_ROWS", "build_shop"]

_MARK = 0x464C5549
"""SQLite's ``application_id`` of a demo shop, by which it is known again."""
_MARK_AT = 68
"""Where in the file it stands (https://www.sqlite.org/fileformat2.html)."""


def build_shop(path: Path) -> None:
    """Make the demo shop, an SQLite file of fourteen tables and 200,000 rows, at that path.

    The rows are the same every time, and with one version of SQLite so are the bytes. An older demo
    shop is replaced; the new file takes its place when it is whole, and whatever goes wrong
    leaves nothing behind. Raises OutputError where the file cannot be written, or where something
    else than a demo shop is in the way.
    """
    made: list[Path] = []
    partial = path.with_name(f".{path.name}-{secrets.token_hex(4)}.partial")
    try:
        if path.exists() and not (path.is_file() and _is_demo_shop(path)):
            raise OutputError(
                f"{path} is there already, and is no demo shop.",
                hint="Name another folder; nothing was touched.",
            )
        _make_folders(path.parent, made)
        _write(partial)
        partial.replace(path)
    except BaseException as error:
        with suppress(OSError):  # Where the path leads through a file, nothing was made.
            partial.unlink(missing_ok=True)
        for folder in reversed(made):
            folder.rmdir()
        if isinstance(error, OSError | sqlite3.Error):
            raise _refused(path, error) from error
        raise


def _make_folders(folder: Path, made: list[Path]) -> None:
    for missing in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
        missing.mkdir()
        made.append(missing)


def _is_demo_shop(path: Path) -> bool:
    with open_regular(path) as file:
        header = file.read(_MARK_AT + 4)
    return header.startswith(b"SQLite format 3\0") and header[_MARK_AT:] == _MARK.to_bytes(4, "big")


def _write(path: Path) -> None:
    # Nothing needs to survive a crash here: the file is only moved to its place when it is whole.
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        database.execute(f"PRAGMA application_id = {_MARK}")
        database.execute("BEGIN")
        for table, rows in made_up().items():
            database.execute(f"CREATE TABLE {table} ({SCHEMA[table]})")
            places = ", ".join("?" * len(rows[0]))
            database.executemany(f"INSERT INTO {table} VALUES ({places})", rows)
        database.execute("COMMIT")


def _refused(path: Path, error: OSError | sqlite3.Error) -> OutputError:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return OutputError(
        f"{path} could not be written: {reason}.",
        hint="Name a folder that you may write to, on a disk with 50 MB of room.",
    )
