"""What leaves this machine of a row's values: nothing, unless the user shares them.

Personal data never does.
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from fluid_build.assistants.open_sources import MeasuredSource
from fluid_build.assistants.results import ColumnValues, ValueCount
from fluid_build.decisions.language import AddRelationship, SetKey
from fluid_build.decisions.weighing.claims import Claims, open_claims
from fluid_build.decisions.weighing.comparing import ColumnPairs, compared_columns
from fluid_build.profiling.profile import ColumnProfile
from fluid_build.sources.sql import quote
from fluid_build.sources.text_values.personal_text import presentable
from fluid_build.text import clip

_MOST_EXAMPLES = 5
_MOST_FREQUENT = 5
_LONGEST_VALUE = 60


def shared_values(column: ColumnProfile) -> ColumnValues | None:
    """Return the values of a column that may be shown; None of personal data."""
    if column.pii:
        return None
    frequent = [top for top in column.top_values if presentable(top.value)]
    return ColumnValues(
        min=_presentable(column.min),
        max=_presentable(column.max),
        most_frequent=[
            ValueCount(value=clip(top.value, _LONGEST_VALUE), rows=top.count)
            for top in frequent[:_MOST_FREQUENT]
        ],
    )


def repeated_values(measured: MeasuredSource, key: SetKey) -> list[list[str]] | None:
    """Return examples of values that several rows have; None of personal data."""
    claims = open_claims(measured.source, measured.profile)
    if key.table not in claims.tables or _is_personal(claims, key.table, key.columns):
        return None
    table = claims.tables[key.table]
    names = [quote(table.aliases[column]) for column in key.columns]
    return _examples(
        measured.source.connection,
        f"SELECT {', '.join(names)} FROM {table.relation}"
        f" WHERE {' AND '.join(f'{name} IS NOT NULL' for name in names)}"
        " GROUP BY ALL HAVING count(*) > 1",
    )


def orphan_values(measured: MeasuredSource, claim: AddRelationship) -> list[list[str]] | None:
    """Return examples of values without a match in the other table; None of personal data."""
    claims = open_claims(measured.source, measured.profile)
    pairs = ColumnPairs(claim.from_table, claim.from_columns, claim.to_table, claim.to_columns)
    if not {claim.from_table, claim.to_table} <= claims.tables.keys():
        return None
    if _is_personal(claims, claim.from_table, claim.from_columns) or _is_personal(
        claims, claim.to_table, claim.to_columns
    ):
        return None
    compared = compared_columns(claims, pairs)
    if isinstance(compared, str):
        return None
    child, parent = claims.tables[claim.from_table], claims.tables[claim.to_table]
    own = [f"c.{quote(child.aliases[column])}" for column in claim.from_columns]
    keys = [f"p.{quote(parent.aliases[column])}" for column in claim.to_columns]
    values = [pair.from_sql.format(name) for pair, name in zip(compared, own, strict=True)]
    matches = " AND ".join(
        f"{pair.to_sql.format(key)} = {value}"
        for pair, value, key in zip(compared, values, keys, strict=True)
    )
    present = " AND ".join(f"{value} IS NOT NULL" for value in values)
    return _examples(
        measured.source.connection,
        f"SELECT DISTINCT {', '.join(own)} FROM {child.relation} AS c WHERE {present}"
        f" AND NOT EXISTS (SELECT 1 FROM {parent.relation} AS p WHERE {matches})",
    )


def _presentable(value: str | None) -> str | None:
    return clip(value, _LONGEST_VALUE) if value is not None and presentable(value) else None


def _is_personal(claims: Claims, table: str, columns: Sequence[str]) -> bool:
    return any(claims.table(table).column(column).pii for column in columns)


def _examples(connection: duckdb.DuckDBPyConnection, query: str) -> list[list[str]]:
    rows = connection.execute(f"{query} LIMIT {_MOST_EXAMPLES}").fetchall()
    texts = [[str(value) for value in row] for row in rows]
    return [
        [clip(text, _LONGEST_VALUE) for text in row] for row in texts if all(map(presentable, row))
    ]
