"""The first values of columns of text, by which most columns are told from what is looked for."""

from collections.abc import Iterator, Sequence

import duckdb

from fluid_build.sources.sql import quote
from fluid_build.sources.text_values.text_classes import NULL_WORDS

_ROWS = 50


def first_values(
    connection: duckdb.DuckDBPyConnection, relation: str, columns: Sequence[str]
) -> Iterator[tuple[str, list[str]]]:
    """Yield each column with its values in the first rows, but for those that mean NULL."""
    if columns:
        names = ", ".join(map(quote, columns))
        rows = connection.execute(f"SELECT {names} FROM {relation} LIMIT {_ROWS}").fetchall()
        # Without rows there are no columns either.
        for name, cells in zip(columns, zip(*rows, strict=True), strict=False):
            yield name, [cell for cell in cells if cell and cell not in NULL_WORDS]
