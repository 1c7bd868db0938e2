"""Values of delimited files that are ``""``, and so empty text rather than nothing at all.

Some programs write empty text as ``""`` and a missing value as nothing, others write either for
both. Fluid Forge reads both as null, and says so of each column of text that has ``""``.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import duckdb

from fluid_build.sources.files.delimited.readable import Readable
from fluid_build.sources.sql import quote
from fluid_build.sources.text_values import encodings
from fluid_build.text import counted

_BESIDE_NOTHING = 'Empty text ("") in {} and nothing in {} are both null.'
_ALONE = 'Empty text ("") in {} is null.'
_BLOCK = 1 << 20
_COLUMNS_A_QUERY = 200
"""DuckDB takes time to plan thousands of expressions at once."""

Figures = Mapping[str, tuple[int, int]]
"""How many values of a column are empty text, and how many are nothing, by the column's name."""


def may_have_empty_text(file: Readable) -> bool:
    """Return whether a file has ``""`` where a value may begin and end."""
    if file.place.suffix.lower() in encodings.ZSTD:
        return True
    if not file.text.marks.has_quote_pairs:
        return False
    beside = rb"[\r\n%b]" % re.escape(file.dialect.delimiter.encode())
    empty = re.compile(rb'""(?<=%b"")(?=%b)' % (beside, beside))
    end = b"\n"
    with encodings.opened(file.place) as content:
        while block := content.read(_BLOCK):
            text = end + block
            if empty.search(text):
                return True
            end = text[-3:]
    return empty.search(end + b"\n") is not None


def replace_empty_text(
    connection: duckdb.DuckDBPyConnection, relation: str, first: int, columns: Mapping[str, str]
) -> Figures:
    """Make empty text null in the rows of a table from a row id on; return what there was of it.

    ``columns`` are those of text, by the names that the figures are asked for.
    """
    figures: dict[str, tuple[int, int]] = {}
    names = list(columns)
    rows = f"{relation} WHERE rowid >= {first}"
    for start in range(0, len(names), _COLUMNS_A_QUERY):
        some = names[start : start + _COLUMNS_A_QUERY]
        quoted = [quote(columns[name]) for name in some]
        counts = ", ".join(
            f"count(*) FILTER ({column} = ''), count(*) FILTER ({column} IS NULL)"
            for column in quoted
        )
        found = connection.execute(f"SELECT {counts} FROM {rows}").fetchone() or ()
        pairs = zip(found[::2], found[1::2], strict=True)
        figures |= dict(zip(some, pairs, strict=True))
    filled = [quote(columns[name]) for name, (empty, _) in figures.items() if empty]
    if filled:
        nulls = ", ".join(f"{column} = nullif({column}, '')" for column in filled)
        connection.execute(f"UPDATE {relation} SET {nulls} WHERE rowid >= {first}")
    return figures


def notes_on_empty_text(files: Sequence[Figures], columns: Iterable[str]) -> dict[str, str]:
    """Return a note for each of the columns with empty text, by the column's name."""
    notes = {}
    for name in columns:
        empty = sum(file[name][0] for file in files if name in file)
        missing = sum(file[name][1] for file in files if name in file)
        if empty:
            note = _BESIDE_NOTHING if missing else _ALONE
            notes[name] = note.format(counted(empty, "row"), f"{missing:,}")
    return notes
