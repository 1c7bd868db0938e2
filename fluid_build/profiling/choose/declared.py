"""Declared keys: kept as the source declares them, and checked against the data all the same."""

from collections.abc import Sequence

import duckdb

from fluid_build.profiling.evidence import (
    are_unique,
    describe_declared,
    key_evidence,
    reference_evidence,
)
from fluid_build.profiling.measure.schema import MeasuredTable
from fluid_build.profiling.measure.value_cache import ValueCache
from fluid_build.profiling.profile import ForeignKey, KeyClaim
from fluid_build.profiling.references.inclusion import measure_inclusion
from fluid_build.sources.base import DeclaredForeignKey


def check_declared_keys(
    connection: duckdb.DuckDBPyConnection, table: MeasuredTable
) -> list[KeyClaim]:
    """Check the declared primary and unique keys of a table; the primary key comes first."""
    source = table.stats.table
    declared = [source.primary_key] if source.primary_key else []
    declared.extend(key for key in source.unique_keys if key and key != source.primary_key)
    return [
        KeyClaim(columns=key, evidence=key_evidence(connection, table, key, "declared"))
        for key in declared
        if all(name in table.by_name for name in key)
    ]


def check_declared_references(
    cache: ValueCache, tables: Sequence[MeasuredTable]
) -> list[ForeignKey]:
    """Measure the declared foreign keys of all tables whose columns were read."""
    by_name = {table.name: table for table in tables}
    checked = []
    for child in tables:
        for declared in child.stats.table.foreign_keys:
            parent = by_name.get(declared.to_table)
            if (
                parent is not None
                and set(declared.columns) <= child.by_name.keys()
                and set(declared.to_columns) <= parent.by_name.keys()
            ):
                checked.append(check_declared_reference(cache, child, declared, parent))
    return checked


def check_declared_reference(
    cache: ValueCache, child: MeasuredTable, declared: DeclaredForeignKey, parent: MeasuredTable
) -> ForeignKey:
    """Measure a declared foreign key; it is kept whatever the outcome."""
    columns = [child.by_name[name] for name in declared.columns]
    keys = [parent.by_name[name] for name in declared.to_columns]
    inclusion = measure_inclusion(cache, columns, keys)
    # Of a sample, or with spellings of numbers, fewer rows may be without a match than there.
    by_collation = min(declared.by_collation, inclusion.orphans)
    reason = describe_declared(inclusion, child, parent, by_collation)
    return ForeignKey(
        from_table=child.name,
        from_columns=declared.columns,
        to_table=parent.name,
        to_columns=declared.to_columns,
        origin="declared",
        confidence=1.0,
        cardinality="one-to-one" if are_unique(columns) else "many-to-one",
        evidence=reference_evidence(
            columns, keys, inclusion, "declared", None, reason, by_collation
        ),
    )
