"""The type of a column whose declared type allows more than DuckDB's.

MySQL keeps numbers in a truth value, and durations in a time.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

import duckdb

from fluid_build.sources.text_values.decimals import Settled
from fluid_build.text import counted

LooseType: TypeAlias = Literal["boolean or number", "time or duration"]
"""The type that a column gets if all values fit, and the one that it gets if not."""


def settle_loosely(
    connection: duckdb.DuckDBPyConnection, relation: str, column: str, loose_type: LooseType
) -> Settled | None:
    """Return a type that holds all values of a staged column; None for the one that it has.

    ``column`` is quoted SQL, staged as a number where that's the alternative, and else as text.
    """
    condition, type_, otherwise, problem = _RULES[loose_type]
    row = connection.execute(
        f"SELECT count(*) FILTER ({condition.format(column)}) FROM {relation}"
    ).fetchone()
    misfits = row[0] if row else 0
    if not misfits:
        return Settled(type_)
    return Settled(otherwise, f"{counted(misfits, 'value')} {problem}") if otherwise else None


_RULES: Mapping[LooseType, tuple[str, str, str, str]] = {
    "boolean or number": ("{} NOT IN (0, 1)", "BOOLEAN", "", ""),
    "time or duration": (
        "{0} > '' AND TRY_CAST({0} AS TIME) IS NULL",
        "TIME",
        "INTERVAL",
        "negative or beyond 24 hours; read as INTERVAL.",
    ),
}
"""The condition of a value that doesn't fit, the two types, and a note on the misfits."""
