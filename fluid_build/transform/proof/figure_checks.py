"""A figure of the source beside the same figure of what was built."""

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
"""How far two sums of the same floats may lie apart, as a share: each order of adding them rounds
differently, and DuckDB adds them in several threads."""


_MOST_AT_ONCE = 40
"""Queries in one statement: its fixed cost is shared by then, and its plan is still small."""

_Figure = tuple[str | None, str]
"""A figure as text, None for a null, with DuckDB's name of its type."""


class FigureProof(ModelPart):
    """A check and what it gave: both figures as text (None for a null) and whether they agree.

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
    """Run checks together; on a difference, look for the rows that show it.

    Raises duckdb.Error where a query can't be run or gives other than one figure.
    """
    queries = dict.fromkeys(query for check in checks for query in (check.expected, check.actual))
    figures = _figures(connection, list(queries))
    return tuple(
        _judged(connection, check, figures[check.expected], figures[check.actual], hidden)
        for check in checks
    )


def prove_figure(
    connection: duckdb.DuckDBPyConnection, check: Check, hidden: HiddenColumns
) -> FigureProof:
    """Run a single check."""
    (found,) = prove_figures(connection, (check,), hidden)
    return found


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
    """The figure of each query: many queries in one statement, one by one if that fails."""
    found: dict[str, _Figure] = {}
    for start in range(0, len(queries), _MOST_AT_ONCE):
        part = queries[start : start + _MOST_AT_ONCE]
        together = _together(connection, part)
        # On its own, the query that is at fault says so.
        found |= together or {query: _figure(connection, query) for query in part}
    return found


def _together(
    connection: duckdb.DuckDBPyConnection, queries: Sequence[str]
) -> dict[str, _Figure] | None:
    """The figures of several queries; None where one of them fails or gives other than one."""
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
        raise duckdb.InvalidInputException(f"a check must give one figure, and gave {len(rows)}")
    text, type_ = rows[0]
    return text, str(type_)


def _shown(query: str) -> str:
    # Two rows are fetched so that a query which gives more than one figure is no figure.
    return (
        "SELECT CAST(figure AS VARCHAR) AS figure, typeof(figure) AS type"
        f" FROM ({query}\n) AS t(figure) LIMIT 2"
    )


def _agree(expected: str | None, expected_type: str, actual: str | None, actual_type: str) -> bool:
    if expected is None or actual is None:
        return expected is actual
    types = {expected_type, actual_type}
    if types & _FLOATS:
        ours, theirs = float(expected), float(actual)
        same = math.isclose(ours, theirs, rel_tol=_SUMMATION_ERROR)
        return same or (math.isnan(ours) and math.isnan(theirs))
    if all(_is_exact(type_) for type_ in types):
        return Decimal(expected) == Decimal(actual)
    return expected == actual


def _is_exact(type_: str) -> bool:
    return type_ in _WHOLE or type_.startswith("DECIMAL(")


def _rows(
    connection: duckdb.DuckDBPyConnection, check: Check, hidden: HiddenColumns
) -> tuple[dict[str, str | None], ...]:
    found = connection.execute(
        f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ({check.differing}\n)"
        f" ORDER BY ALL LIMIT {MOST_SHOWN:d}"
    )
    names = [str(column[0]) for column in found.description or ()]
    masked = {name for name in names if name.lower() not in hidden.shown}
    return tuple(fit_to_show(names, values, masked) for values in found.fetchall())
