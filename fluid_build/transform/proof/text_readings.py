"""Columns of text that were read as numbers or truths although their values, together, are codes.

Compared one by one, ``61E8`` is 6.1 billion, ``1.10`` is 1.1 and ``NO`` is false. Whether a column
may be read so is asked again here, of the source's own text.
"""

from collections.abc import Iterator, Sequence

import duckdb

from fluid_build.profiling.measure.truth_words import MOST_SPELLINGS, are_truths
from fluid_build.sources.sql import quote
from fluid_build.sources.text_values.conventions import DECIMAL_MARKS
from fluid_build.sources.text_values.exact_numbers import NUMBER_TYPES, are_codes_sql
from fluid_build.transform.plan.elements import ValueColumn


def misread_columns(
    connection: duckdb.DuckDBPyConnection, original: str, columns: Sequence[ValueColumn]
) -> tuple[str, ...]:
    """Return the columns that are codes, of those that a person didn't decide on.

    ``original`` is a query for the text of a source table.
    """
    questions = {
        column.name: question
        for column in columns
        if not column.decided and (question := _question(column))
    }
    if not questions:
        return ()
    row = connection.execute(
        f"SELECT {', '.join(questions.values())} FROM ({original}\n)"
    ).fetchone()
    answers = zip(questions, row or (), strict=True)
    return tuple(name for name, answer in answers if _is_misread(name, answer))


def _question(column: ValueColumn) -> str:
    """Return the SQL aggregate that tells whether a column is codes; "" where it can't be."""
    text = f"trim(CAST({quote(column.name)} AS VARCHAR))"
    if column.type == "BOOLEAN":
        return f"list(DISTINCT {text})[:{MOST_SPELLINGS}]"
    if not column.type.startswith(NUMBER_TYPES):
        return ""
    return are_codes_sql(text, DECIMAL_MARKS.get(column.spelling, "."))


def _is_misread(name: str, answer: object) -> bool:
    return answer if isinstance(answer, bool) else not are_truths(name, list(_texts(answer)))


def _texts(spellings: object) -> Iterator[str]:
    if isinstance(spellings, list):
        yield from (str(spelling) for spelling in spellings if spelling is not None)
