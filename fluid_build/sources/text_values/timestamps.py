"""The type that holds dates and times written as text by a server, digit for digit.

Servers keep moments more finely than DuckDB's TIMESTAMP (up to 100 ns in SQL Server, 1 ns in
Oracle), and some keep the offset from UTC that each was written with.
"""

from typing import Literal, TypeAlias

import duckdb

from fluid_build.sources.text_values.decimals import Settled

Moment: TypeAlias = Literal["timestamp", "timestamp with offset", "time"]

FINER = "'\\.[0-9]{6}[0-9]*[1-9]'"
"""A fraction of a second with a digit beyond microseconds that isn't zero."""
_OFFSET = "'[+-][0-9]{2}:[0-9]{2}$'"


def settle_moment(
    connection: duckdb.DuckDBPyConnection, relation: str, column: str, moment: Moment
) -> Settled:
    """Return a type for a text column of moments, ``YYYY-MM-DD HH:MM:SS.fffffffff+HH:MM``.

    A time has no date, and only a timestamp with offset has an offset. ``column`` is quoted SQL.
    The type is VARCHAR, with a note, where DuckDB's own would change a value.
    """
    if moment == "time":
        return _settle(connection, relation, column, ("TIME",))
    if moment == "timestamp":
        return _settle(connection, relation, column, ("TIMESTAMP", "TIMESTAMP_NS"))
    offsets = connection.execute(
        f"SELECT DISTINCT regexp_extract({column}, {_OFFSET}) FROM {relation}"
        f" WHERE {column} IS NOT NULL LIMIT 2"
    ).fetchall()
    if len(offsets) > 1:
        return Settled(
            "VARCHAR",
            "Its values have several offsets from UTC, which DuckDB's types don't keep;"
            " read as text.",
        )
    settled = _settle(connection, relation, column, ("TIMESTAMP WITH TIME ZONE",))
    (offset,) = offsets[0] if offsets else ("",)
    if settled.note or not offset or offset == "+00:00":
        return settled
    return Settled(settled.type, f"All of its values have the offset {offset}; read as UTC.")


def _settle(
    connection: duckdb.DuckDBPyConnection, relation: str, column: str, types: tuple[str, ...]
) -> Settled:
    """Return the first type that takes every value as it is."""
    for type_ in types:
        too_fine = "false" if type_ == "TIMESTAMP_NS" else f"regexp_matches({column}, {FINER})"
        row = connection.execute(
            f"SELECT count(*) FROM {relation} WHERE {column} IS NOT NULL"
            f" AND ({too_fine} OR TRY_CAST({column} AS {type_}) IS NULL)"
        ).fetchone()
        if row == (0,):
            return Settled(type_)
    return Settled(
        "VARCHAR", "Some of its values are finer or further away than DuckDB's types; read as text."
    )
