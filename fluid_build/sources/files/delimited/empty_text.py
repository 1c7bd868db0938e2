"""Columns of delimited files in which ``""`` stands beside nothing at all.

Some programs write empty text as ``""`` and a missing value as nothing, others write either for
both. Fluid Forge reads both as null, and says so where a column has both.
"""

import re
from collections.abc import Collection, Iterator, Sequence

import duckdb

from fluid_build.sources.files.delimited.readable import Readable, own_names
from fluid_build.sources.files.delimited.rows import rows_of_file
from fluid_build.sources.text_values import encodings
from fluid_build.text import counted

_NOTE = 'Empty text ("") in {} and nothing in {} are both null.'
_BLOCK = 1 << 20
_COLUMNS_A_QUERY = 200
"""DuckDB takes time to plan thousands of expressions at once."""


def notes_on_empty_text(
    connection: duckdb.DuckDBPyConnection, files: Sequence[Readable], columns: Collection[str]
) -> dict[str, str]:
    """Return a note for each of the columns with both kinds of nothing, by the column's name."""
    figures: dict[str, tuple[int, int]] = {}
    for file in files:
        if _may_have_empty_text(file):
            for name, empty, missing in _counted(connection, file, columns):
                before = figures.get(name, (0, 0))
                figures[name] = (before[0] + empty, before[1] + missing)
    return {
        name: _NOTE.format(counted(empty, "row"), f"{missing:,}")
        for name, (empty, missing) in figures.items()
        if empty and missing
    }


def _may_have_empty_text(file: Readable) -> bool:
    """Return whether a file has ``""`` where a value may begin and end."""
    if file.place.suffix.lower() in encodings.ZSTD:
        return True
    around = re.escape(file.dialect.delimiter.encode())
    empty = re.compile(rb'(?:^|[\r\n]|%b)""(?:$|[\r\n]|%b)' % (around, around))
    end = b""
    with encodings.opened(file.place) as content:
        while block := content.read(_BLOCK):
            # Most files have no "", many not even a quote: that is seen in a fraction of the time.
            if b'"' in block or b'"' in end:
                text = end + block
                if b'""' in text and empty.search(text):
                    return True
            end = (end + block[-3:])[-3:]
    return False


def _counted(
    connection: duckdb.DuckDBPyConnection, file: Readable, columns: Collection[str]
) -> Iterator[tuple[str, int, int]]:
    """Yield the columns of a file with how many values are empty text, and how many are nothing."""
    places = [(i, name) for i, name in enumerate(own_names(file.dialect)) if name in columns]
    for start in range(0, len(places), _COLUMNS_A_QUERY):
        some = places[start : start + _COLUMNS_A_QUERY]
        counts = ", ".join(
            f"count(*) FILTER (f{i} = ''), count(*) FILTER (f{i} IS NULL)" for i, _ in some
        )
        rows = rows_of_file(file, "ignore_errors=true, allow_quoted_nulls=false")
        found = connection.execute(f"SELECT {counts} FROM {rows}").fetchone() or ()
        for (_, name), empty, missing in zip(some, found[::2], found[1::2], strict=True):
            yield name, empty, missing
