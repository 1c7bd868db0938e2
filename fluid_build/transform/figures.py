"""A figure of the source beside the same figure of what was built."""

import math
from decimal import Decimal

import duckdb

from fluid_build.modeling.element import ModelPart
from fluid_build.transform.differing import MOST_SHOWN, fit_to_show
from fluid_build.transform.personal import Personal
from fluid_build.transform.plan import Check, CheckKind

_FLOATS = frozenset({"FLOAT", "DOUBLE"})
_WHOLE = frozenset(
    {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"}
    | {"UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"}
)
_SUMMATION_ERROR = 1e-9
"""How far two sums of the same floats may lie apart, as a share: each order of adding them rounds
differently, and DuckDB adds them in several threads."""


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


def prove_figure(
    connection: duckdb.DuckDBPyConnection, check: Check, hidden: Personal
) -> FigureProof:
    """Run a check; on a difference, look for the rows that show it."""
    expected, expected_type = _figure(connection, check.expected)
    actual, actual_type = _figure(connection, check.actual)
    holds = _agree(expected, expected_type, actual, actual_type)
    return FigureProof(
        name=check.name,
        kind=check.kind,
        expected=expected,
        actual=actual,
        holds=holds,
        reason=check.reason,
        differing=() if holds or not check.differing else _rows(connection, check, hidden),
    )


def _figure(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[str | None, str]:
    # Two rows are fetched so that a query which gives more than one figure is no figure.
    rows = connection.execute(
        f"SELECT CAST(figure AS VARCHAR), typeof(figure) FROM ({query}\n) AS t(figure) LIMIT 2"
    ).fetchall()
    if len(rows) != 1:
        raise duckdb.InvalidInputException(f"a check must give one figure, and gave {len(rows)}")
    text, type_ = rows[0]
    return text, str(type_)


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
    connection: duckdb.DuckDBPyConnection, check: Check, hidden: Personal
) -> tuple[dict[str, str | None], ...]:
    found = connection.execute(
        f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ({check.differing}\n)"
        f" ORDER BY ALL LIMIT {MOST_SHOWN:d}"
    )
    names = [str(column[0]) for column in found.description or ()]
    masked = {name for name in names if name.lower() not in hidden.shown}
    return tuple(fit_to_show(names, values, masked) for values in found.fetchall())
