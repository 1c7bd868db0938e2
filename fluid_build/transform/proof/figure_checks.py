"""Figures of the source, each compared with the same figure of what was built."""

import math
from collections.abc import Sequence
from decimal import Decimal

import duckdb

from fluid_build.modeling.element import ModelPart
from fluid_build.transform.plan.elements import Check, CheckKind
from fluid_build.transform.proof.differing_rows import MOST_SHOWN, fit_to_show
from fluid_build.transform.proof.hidden_columns import HiddenColumns

_FLOATS = frozenset({"FLOAT", "DOUBLE"})
_WHOLE = frozenset(
    {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"}
    | {"UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"}
)
_SUMMATION_ERROR = 1e-9
"""By how much two sums of the same floats may differ, as a share: each order of adding them rounds
differently, and DuckDB adds them in several threads."""

_MOST_AT_ONCE = 40
"""Queries in one statement: enough to share its fixed cost, few enough for a small plan."""

_Figure = tuple[str | None, str]
"""A figure as text, None for a null, with DuckDB's name of its type."""


class FigureProof(ModelPart):
    """The result of a check: both figures as text (None for a null) and whether they agree.

    ``differing`` are the first rows that show a difference, masked and clipped.
    """

    name: str
    kind: CheckKind
    expected: str | None
    actual: str | None
    holds: bool
    reason: str = ""
    differing: tuple[dict[str, str | None], ...] = ()


def prove_figures(
    connection: duckdb.DuckDBPyConnection, checks: Sequence[Check], hidden: HiddenColumns
) -> tuple[FigureProof, ...]:
    """Run checks together; where figures differ, look for rows that show why.

    Raises duckdb.Error where a query can't be run or doesn't return exactly one figure.
    """
    queries = dict.fromkeys(query for check in checks for query in (check.expected, check.actual))
    figures = _figures(connection, list(queries))
    return tuple(
        _judged(connection, check, figures[check.expected], figures[check.actual], hidden)
        for check in checks
    )


def _judged(
    connection: duckdb.DuckDBPyConnection,
    check: Check,
    expected: _Figure,
    actual: _Figure,
    hidden: HiddenColumns,
) -> FigureProof:
    holds = _agree(*expected, *actual)
    return FigureProof(
        name=check.name,
        kind=check.kind,
        expected=expected[0],
        actual=actual[0],
        holds=holds,
        reason=check.reason,
        differing=() if holds or not check.differing else _rows(connection, check, hidden),
    )


def _figures(connection: duckdb.DuckDBPyConnection, queries: Sequence[str]) -> dict[str, _Figure]:
    """Return the figure of each query: many queries in one statement, one by one if that fails."""
    figures: dict[str, _Figure] = {}
    for start in range(0, len(queries), _MOST_AT_ONCE):
        part = queries[start : start + _MOST_AT_ONCE]
        together = _together(connection, part)
        # Run one by one, the query that fails raises its own error.
        figures |= together or {query: _figure(connection, query) for query in part}
    return figures


def _together(
    connection: duckdb.DuckDBPyConnection, queries: Sequence[str]
) -> dict[str, _Figure] | None:
    """Return the figures of several queries; None where one doesn't return exactly one figure."""
    statement = "\nUNION ALL\n".join(
        f"SELECT {number} AS number, * FROM ({_shown(query)})"
        for number, query in enumerate(queries)
    )
    try:
        rows = connection.execute(statement).fetchall()
    except duckdb.InterruptException:
        raise
    except duckdb.Error:
        return None
    if sorted(number for number, _, _ in rows) != list(range(len(queries))):
        return None
    return {queries[number]: (text, str(type_)) for number, text, type_ in rows}


def _figure(connection: duckdb.DuckDBPyConnection, query: str) -> _Figure:
    rows = connection.execute(_shown(query)).fetchall()
    if len(rows) != 1:
        raise duckdb.InvalidInputException(
            f"a check must return one figure, but returned {len(rows)}"
        )
    text, type_ = rows[0]
    return text, str(type_)


def _shown(query: str) -> str:
    # Two rows are fetched, so that a query with more than one figure is noticed.
    return (
        "SELECT CAST(figure AS VARCHAR) AS figure, typeof(figure) AS type"
        f" FROM ({query}\n) AS t(figure) LIMIT 2"
    )


def _agree(expected: str | None, expected_type: str, actual: str | None, actual_type: str) -> bool:
    if expected is None or actual is None:
        return expected is actual
    types = {expected_type, actual_type}
    if types & _FLOATS:
        expected_sum, actual_sum = float(expected), float(actual)
        same = math.isclose(expected_sum, actual_sum, rel_tol=_SUMMATION_ERROR)
        return same or (math.isnan(expected_sum) and math.isnan(actual_sum))
    if all(_is_exact(type_) for type_ in types):
        return Decimal(expected) == Decimal(actual)
    return expected == actual


def _is_exact(type_: str) -> bool:
    return type_ in _WHOLE or type_.startswith("DECIMAL(")


def _rows(
    connection: duckdb.DuckDBPyConnection, check: Check, hidden: HiddenColumns
) -> tuple[dict[str, str | None], ...]:
    rows = connection.execute(
        f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ({check.differing}\n)"
        f" ORDER BY ALL LIMIT {MOST_SHOWN:d}"
    )
    names = [str(column[0]) for column in rows.description or ()]
    masked = {name for name in names if name.lower() not in hidden.shown}
    return tuple(fit_to_show(names, values, masked) for values in rows.fetchall())
