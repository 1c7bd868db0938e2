"""What in a file settles how its numbers and dates are read: a value, or how many of them."""

from collections.abc import Mapping, Sequence

import duckdb

from fluid_build.sources.text_values.conventions import DATE_FORMATS, Decision, Reading, contested
from fluid_build.sources.text_values.conventions import settling_classes as classes_settling
from fluid_build.sources.text_values.personal_text import spelled_like
from fluid_build.sources.text_values.text_classes import class_sql
from fluid_build.text import clip


def outvoted_columns(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    texts: Sequence[str | None],
    masks: Sequence[int],
) -> set[int]:
    """Return the positions of contested columns that too few of their own values settle.

    ``texts`` are the columns' values as SQL, None for a column whose text is gone; such a column
    counts as outvoted, so that it's read again as text.
    """
    outvoted = set()
    for position, contest in contested(masks).items():
        text = texts[position]
        if text is None:
            outvoted.add(position)
            continue
        row = connection.execute(
            f"SELECT count_if(class & {contest.settling} <> 0),"
            f" count_if(class & {contest.either} <> 0)"
            f" FROM (SELECT {class_sql('v')} AS class FROM (SELECT {text} AS v FROM {relation}))"
        ).fetchone() or (0, 0)
        if row[0] < contest.clearly * row[1]:
            outvoted.add(position)
    return outvoted


def example_of(
    connection: duckdb.DuckDBPyConnection, relation: str, name: str, text: str, reading: Reading
) -> str:
    """Return how a value is spelled that allows only this reading; empty if there is none.

    ``name`` and ``text`` are SQL: the column, and its values as they're classed.
    """
    settling = classes_settling(reading)
    if not settling or reading.type == "DATE":
        return ""
    row = connection.execute(
        f"SELECT shown FROM (SELECT {name} AS shown, {text} AS v FROM {relation})"
        f" WHERE {class_sql('v')} & {settling} <> 0 LIMIT 1"
    ).fetchone()
    return spelled_like(row[0]) if row else ""


def evidence_of(reading: Reading, example: str) -> str:
    """Write a sentence on why a column's own values allow but one convention."""
    if reading.spelling in DATE_FORMATS["dmy"]:
        return "Day first: some of its dates have a day above 12."
    if reading.spelling in DATE_FORMATS["mdy"]:
        return "Month first: some of its dates have a day above 12."
    mark = "comma" if reading.spelling == "," else "point"
    values = f"values spelled like {example}" if example else "some values"
    return f"Decimal {mark}: {values} allow no other reading."


def with_evidence(decision: Decision, columns: Sequence[str], examples: Mapping[int, str]) -> str:
    """Return a decision's note with the column that settled it, and how that one is spelled."""
    if decision.settled_by is None:
        return decision.note
    column = f"`{clip(columns[decision.settled_by], 60)}`"
    example = examples.get(decision.settled_by, "")
    having = f" has values spelled like {example}" if example else ""
    return f"{decision.note.removesuffix('.')}: {column}{having}."
