"""Claims that columns identify the rows of a table, counted on every row."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fluid_build.decisions.language import BusinessKey, DecisionEvidence, Grain, SetKey
from fluid_build.decisions.verdicts import Verdict, refused
from fluid_build.decisions.weighing.claims import Claims, judged, not_measured, query_figures
from fluid_build.decisions.weighing.names import columns_label, label
from fluid_build.profiling import checks
from fluid_build.sources.sql import quote
from fluid_build.text import counted, listed, noun

_INEXACT = re.compile(r"FLOAT|DOUBLE|REAL|DECIMAL\(\d+,\s*[1-9]")
"""Types of numbers with a fraction: an identifier has none."""
_AMOUNTS = frozenset({"money", "percentage"})


@dataclass(frozen=True, slots=True)
class KeyFigures:
    """How often the values of some columns repeat. ``rows`` are those without a null in them."""

    rows: int
    nulls: int
    distinct: int

    @property
    def repeats(self) -> int:
        """Rows that repeat the values of another row."""
        return self.rows - self.distinct


def weigh_key(claims: Claims, decision: SetKey | BusinessKey | Grain) -> Verdict:
    """Return the verdict on a claim that columns are never null and never repeat."""
    table = claims.table(decision.table)
    sql = checks.repeated_or_null_values(table.sql, decision.columns)
    if decision.table not in claims.tables:
        if decision.by == "model" and _replaces_declared_key(claims, decision):
            return refused(
                decision,
                f"The source declares another key of {label(table.name)}, and there are no rows to"
                " check this one on.",
            )
        return not_measured(decision, sql)
    figures = key_figures(claims, decision.table, decision.columns)
    evidence = DecisionEvidence(
        rows=figures.rows,
        nulls=figures.nulls,
        distinct=figures.distinct,
        violations=figures.repeats + figures.nulls,
        sql=sql,
    )
    name = columns_label(table.name, decision.columns)
    doubt = _doubt(claims, decision) if decision.by == "model" else ""
    if doubt and not evidence.violations:
        return refused(decision, doubt, evidence)
    return judged(
        decision,
        evidence,
        holds=f"{name} is unique and never null in {counted(table.rows, 'row')}.",
        broken=describe_repeats(name, figures),
    )


def key_figures(claims: Claims, table: str, columns: Sequence[str]) -> KeyFigures:
    """Count the rows, nulls and distinct values of columns, taken together, on every row."""
    observed = claims.tables[table]
    names = quoted(claims, table, columns)
    present = " AND ".join(f"{name} IS NOT NULL" for name in names)
    total, rows, distinct = query_figures(
        claims,
        "SELECT sum(n), sum(n) FILTER (is_present), count(*) FILTER (is_present)"
        f" FROM (SELECT {present} AS is_present, count(*) AS n FROM {observed.relation}"
        f" GROUP BY {', '.join(names)})",
    )
    return KeyFigures(rows, total - rows, distinct)


def describe_repeats(name: str, figures: KeyFigures) -> str:
    """Return why columns aren't a key, with the figures."""
    total = counted(figures.rows + figures.nulls, "row")
    repeated = (
        f"{figures.repeats:,} of {total} {noun(figures.repeats, 'repeats', 'repeat')} a value"
    )
    nulls = f"{figures.nulls:,} {noun(figures.nulls, 'has', 'have')} a null"
    if not figures.nulls:
        return f"{name} isn't unique: {repeated}."
    if not figures.repeats:
        return f"{name} doesn't identify every row: of {total}, {nulls}."
    return f"{name} isn't unique: {repeated}, and {nulls}."


def _doubt(claims: Claims, decision: SetKey | BusinessKey | Grain) -> str:
    """Return why columns that are unique aren't what identifies a row; "" where they may be.

    Amounts are often unique in a few rows, and a key that other tables refer to is the key.
    """
    table = claims.table(decision.table)
    for column in map(table.column, decision.columns):
        if _INEXACT.match(column.measured_type or column.type) or column.semantic_type in _AMOUNTS:
            name = columns_label(table.name, (column.name,))
            return f"{name} holds amounts, which identify nothing even where none occurs twice."
    if not isinstance(decision, SetKey) or set(table.primary_key or ()) <= set(decision.columns):
        return ""
    referring = [
        key.from_table
        for key in claims.profile.foreign_keys
        if key.to_table == table.name and key.to_columns == table.primary_key
    ]
    if not referring:
        return ""
    key_name = columns_label(table.name, table.primary_key or ())
    tables = sorted(set(referring))
    verb = noun(len(tables), "refers", "refer")
    return f"{key_name} is its key: {listed(tables)} {verb} to it."


def _replaces_declared_key(claims: Claims, decision: SetKey | BusinessKey | Grain) -> bool:
    table = claims.table(decision.table)
    return (
        decision.decision == "set_key"
        and table.primary_key_origin == "declared"
        and set(table.primary_key or ()) != set(decision.columns)
    )


def quoted(claims: Claims, table: str, columns: Sequence[str]) -> list[str]:
    """Return columns of a table as they're named in its relation, for SQL."""
    return [quote(claims.tables[table].aliases[column]) for column in columns]
