"""Declared keys: taken at their word, and checked against the data all the same."""

import duckdb

from fluid_build.profiling import checks
from fluid_build.profiling.inclusion import (
    Inclusion,
    measure_inclusion,
    orphans_sql,
    place_of,
    repeats_sql,
)
from fluid_build.profiling.measured_tables import MeasuredColumn, MeasuredTable
from fluid_build.profiling.profile import Evidence, ForeignKey, ForeignKeyEvidence, KeyClaim
from fluid_build.profiling.value_cache import ValueCache
from fluid_build.sources.base import DeclaredForeignKey
from fluid_build.sources.sql import quote, quote_all


def check_declared_keys(
    connection: duckdb.DuckDBPyConnection, entity: MeasuredTable
) -> list[KeyClaim]:
    """Check the declared primary and unique keys of a table; the primary key comes first."""
    table = entity.stats.table
    declared = [table.primary_key] if table.primary_key else []
    declared.extend(key for key in table.unique_keys if key and key != table.primary_key)
    return [
        KeyClaim(columns=key, evidence=key_evidence(connection, entity, key, "declared"))
        for key in declared
        if all(name in entity.by_name for name in key)
    ]


def key_evidence(
    connection: duckdb.DuckDBPyConnection, entity: MeasuredTable, key: tuple[str, ...], origin: str
) -> Evidence:
    """Count the rows that repeat a key's values, and those with a null among them."""
    nodes = [entity.by_name[name] for name in key]
    rows = entity.stats.rows
    if len(nodes) == 1 and nodes[0].stats.distinct_exact:
        stats = nodes[0].stats
        nulls, distinct = stats.nulls, stats.distinct
    elif key in entity.candidates.keys:
        nulls, distinct = 0, rows
    else:
        nulls, distinct = _count_distinct(connection, entity, nodes)
    return Evidence(
        origin="declared" if origin == "declared" else "measured",
        rows=rows - nulls,
        nulls=nulls,
        distinct=distinct,
        violations=rows - nulls - distinct,
        sql=_key_check(entity, key, only_nulls=nulls > 0 and rows - nulls == distinct),
    )


def _key_check(entity: MeasuredTable, key: tuple[str, ...], only_nulls: bool) -> str:
    if only_nulls:
        return checks.null_rows(place_of(entity.stats.table), key)
    return repeats_sql(entity.stats.table, key)


def _count_distinct(
    connection: duckdb.DuckDBPyConnection, entity: MeasuredTable, nodes: list[MeasuredColumn]
) -> tuple[int, int]:
    names = quote_all(node.stats.column.alias for node in nodes)
    present = " AND ".join(f"{quote(node.stats.column.alias)} IS NOT NULL" for node in nodes)
    row = connection.execute(
        "SELECT coalesce(sum(n), 0), count(*) FROM (SELECT count(*) AS n"
        f" FROM {entity.stats.table.relation} WHERE {present} GROUP BY {names})"
    ).fetchone()
    present_rows, distinct = (int(figure) for figure in row or (0, 0))
    return entity.stats.rows - present_rows, distinct


def check_declared_reference(
    held: ValueCache,
    child: MeasuredTable,
    declared: DeclaredForeignKey,
    parent: MeasuredTable,
) -> ForeignKey:
    """Measure a declared foreign key; it is kept whatever comes out."""
    nodes = [child.by_name[name] for name in declared.columns]
    keys = [parent.by_name[name] for name in declared.to_columns]
    inclusion = measure_inclusion(held, nodes, keys)
    reason = "declared by the source"
    if inclusion.orphans:
        rows = "one row" if inclusion.orphans == 1 else f"{inclusion.orphans} rows"
        reason += f", and violated by {rows}"
    return ForeignKey(
        from_table=child.name,
        from_columns=declared.columns,
        to_table=parent.name,
        to_columns=declared.to_columns,
        origin="declared",
        confidence=1.0,
        cardinality="one-to-one" if is_unique(nodes) else "many-to-one",
        evidence=reference_evidence(nodes, keys, inclusion, "declared", None, reason),
    )


def is_unique(nodes: list[MeasuredColumn]) -> bool:
    """Whether the columns' values, taken together, repeat in no row."""
    if len(nodes) == 1:
        return nodes[0].stats.unique
    names = {node.stats.name for node in nodes}
    return any(set(key) <= names for key in nodes[0].table.candidates.keys)


def reference_evidence(
    child: list[MeasuredColumn],
    parent: list[MeasuredColumn],
    inclusion: Inclusion,
    origin: str,
    name_score: float | None,
    reason: str,
) -> ForeignKeyEvidence:
    """Lay out the figures of a foreign key, with the query that lists its orphans."""
    rows = child[0].table.stats.rows
    return ForeignKeyEvidence(
        origin="declared" if origin == "declared" else "measured",
        rows=inclusion.rows,
        nulls=rows - inclusion.rows,
        distinct=inclusion.distinct,
        violations=inclusion.orphans,
        matched=inclusion.matched,
        orphans=inclusion.orphans,
        coverage=round(inclusion.coverage, 6),
        name_score=None if name_score is None else round(name_score, 4),
        reason=reason,
        sql=orphans_sql(child, parent),
    )
