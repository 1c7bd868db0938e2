"""Dates and times in text, by the rules for delimited text: each value has to come back.

For sources that say themselves that a text is one, as JSON's reader and declared types do.
"""

from collections.abc import Collection
from typing import Literal, TypeAlias

import duckdb

from fluid_build.sources.text_values.conventions import coincidence, decide_alone, may_coincide
from fluid_build.sources.text_values.decimals import Settled
from fluid_build.sources.text_values.text_classes import class_sql

MomentClass: TypeAlias = Literal["date", "timestamp", "utc", "offset", "time"]

_SPELLINGS_NOTE = (
    "Read as text: it has moments in several spellings, such as 2024-01-01 00:00:00 and"
    " 2024-01-01T00:00, which would become one value."
)
DATES_AND_MOMENTS: tuple[MomentClass, ...] = ("date", "timestamp", "utc", "offset")


def settle_text(
    connection: duckdb.DuckDBPyConnection, values: str, among: Collection[MomentClass]
) -> Settled:
    """Return the type of all values of a text, which are of some classes if they aren't text.

    ``values`` is a query for them, as ``v``. The note says what isn't kept of how they're written,
    or why they stay text, where that isn't plain.
    """
    classes = _ask(connection, f"bit_or({class_sql('v', among)})", values)
    if not isinstance(classes, int):
        return Settled("VARCHAR")
    decision = decide_alone(classes)
    reading = decision.reading
    if reading is None:
        return Settled("VARCHAR", decision.note)
    if may_coincide(classes, reading):
        question, note = coincidence("v", reading)
        if _ask(connection, question, values):
            return Settled("VARCHAR", note)
    if _ask(
        connection,
        f"count(DISTINCT v) > count(DISTINCT {reading.template.replace('{c}', 'v')})",
        values,
    ):
        return Settled("VARCHAR", _SPELLINGS_NOTE)
    return Settled(reading.type, decision.note)


def _ask(connection: duckdb.DuckDBPyConnection, question: str, values: str) -> object:
    row = connection.execute(f"SELECT {question} FROM ({values}) WHERE v IS NOT NULL").fetchone()
    return row[0] if row else None
