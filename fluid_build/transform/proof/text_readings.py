"""Columns of text that were read as numbers or truths although their values, together, are codes.

Compared one by one, ``61E8`` is 6.1 billion, ``1.10`` is 1.1 and ``NO`` is false. Whether a column
may be read so is asked again here, of the source's own text.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import duckdb

from fluid_build.profiling.truth_words import MOST_SPELLINGS, are_truths
from fluid_build.sources.conventions import DECIMAL_MARKS, with_decimal_point
from fluid_build.sources.exact_numbers import (
    NUMBER_TYPES,
    are_versions,
    coincide_sql,
    facts_sql,
    read_facts,
)
from fluid_build.sources.sql import quote
from fluid_build.transform.plan.elements import ValueColumn


def misread_columns(
    connection: duckdb.DuckDBPyConnection, original: str, columns: Sequence[ValueColumn]
) -> tuple[str, ...]:
    """Return the columns that are codes, of those that a person didn't decide on.

    ``original`` is a query for the text of a source table.
    """
    open_ = [column for column in columns if not column.decided]
    aggregates = [_aggregates(column) for column in open_]
    selected = [aggregate for some in aggregates for aggregate in some]
    if not selected:
        return ()
    row = connection.execute(f"SELECT {', '.join(selected)} FROM ({original}\n)").fetchone()
    figures = iter(row or ())
    return tuple(
        column.name
        for column, some in zip(open_, aggregates, strict=True)
        if _is_misread(column, list(islice(figures, len(some))))
    )


def _aggregates(column: ValueColumn) -> tuple[str, ...]:
    text = f"trim(CAST({quote(column.name)} AS VARCHAR))"
    if column.type == "BOOLEAN":
        return (f"list(DISTINCT {text})[:{MOST_SPELLINGS}]",)
    if not column.type.startswith(NUMBER_TYPES):
        return ()
    mark = DECIMAL_MARKS.get(column.spelling)
    number = text if mark is None else with_decimal_point(text, mark)
    return coincide_sql(text, mark or "."), *facts_sql(number)


def _is_misread(column: ValueColumn, figures: Sequence[object]) -> bool:
    if not figures:
        return False
    if column.type == "BOOLEAN":
        return not are_truths(column.name, list(_texts(figures[0])))
    coincide, *numbers = figures
    facts = read_facts(tuple(numbers))
    return bool(coincide) or facts.has_codes or are_versions(facts)


def _texts(spellings: object) -> Iterator[str]:
    if isinstance(spellings, list):
        yield from (str(spelling) for spelling in spellings if spelling is not None)
