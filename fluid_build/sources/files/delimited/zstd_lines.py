"""The lines of zstd files, which DuckDB hands out: Python before 3.14 can't look into them."""

from pathlib import Path

import duckdb

from fluid_build import limits
from fluid_build.sources.sql import literal
from fluid_build.sources.text_values import encodings
from fluid_build.sources.uri import as_pattern

_TOO_LONG = ("Maximum line size", "maximum_object_size")
"""What DuckDB's CSV and JSON readers say of a line that is too long for them."""


_FIRST_LINES = 4_000_000
"""Lines that are counted first: most files have fewer, so that one look is enough."""


def longest_line() -> int:
    """Say how many bytes a line of a text file may have."""
    return limits.LINE_MEGABYTES.value * 1024 * 1024


def as_lines(path: Path) -> str:
    """Return a table function with the lines of a zstd file, in one column ``line``."""
    return (
        f"read_csv({literal(as_pattern(str(path)))}, auto_detect=false, header=false,"
        " delim='\x1f', quote='', escape='', columns={'line': 'VARCHAR'}, compression='zstd',"
        f" max_line_size={longest_line()})"
    )


def start_of(connection: duckdb.DuckDBPyConnection, path: Path) -> tuple[str, bool]:
    """Return text from the start of a zstd file, and whether that is all of it."""
    most = 2_000
    rows = connection.execute(f"SELECT line FROM {as_lines(path)} LIMIT {most}").fetchall()
    return "".join(f"{line or ''}\n" for (line,) in rows), len(rows) < most


def _check_expansion(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Count the bytes of a file that doesn't say how many it has, more lines each time."""
    lines = _FIRST_LINES
    while True:
        row = connection.execute(
            "SELECT count(*), coalesce(sum(strlen(line) + 1), 0)"
            f" FROM (SELECT line FROM {as_lines(path)} LIMIT {lines})"
        ).fetchone()
        read, size = row or (0, 0)
        encodings.check_expansion(path.stat().st_size, int(size))
        if read < lines:
            return
        lines *= 8


def check(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Raise ValueError for a zstd file with a line that's too long, or that expands too much.

    The reader of CSV ends without a word at a last line that overflows its buffer, so that the
    table would lack a row. The reader of JSON lines complains, and sooner; what it takes for no
    JSON is of no interest here.
    """
    longest = longest_line()
    content = encodings.zstd_content(path)
    if 0 < content <= longest:
        return
    try:
        if content:
            connection.execute(f"SELECT sum(strlen(line)) FROM {as_lines(path)}").fetchone()
        else:
            _check_expansion(connection, path)
        connection.execute(
            f"SELECT count(*) FROM read_ndjson_objects({literal(as_pattern(str(path)))},"
            f" ignore_errors=true, compression='zstd', maximum_object_size={longest})"
        ).fetchone()
    except duckdb.Error as error:
        if any(message in str(error) for message in _TOO_LONG):
            raise ValueError(encodings.too_long(longest)) from None
        raise
