"""Profiles of made-up databases of many tables, without the minute that measuring them takes."""

import duckdb

from bench.synthetic import MadeTable, tables
from fluid_build.profiling.profile import (
    ColumnProfile,
    Evidence,
    ForeignKey,
    ForeignKeyEvidence,
    Profile,
    TableProfile,
)

_ORPHANS = 3


def synthetic_profile(count: int) -> Profile:
    """Return what would be measured of that many tables; every request has some orphans."""
    made = tables(count)
    names = {table.name for table in made}
    with duckdb.connect() as connection:
        profiles = tuple(_table_profile(connection, table) for table in made)
    return Profile(
        source_kind="duckdb",
        source_name=f"synthetic of {count} tables",
        tables=profiles,
        foreign_keys=tuple(
            ForeignKey(
                from_table=table.name,
                from_columns=reference.columns,
                to_table=reference.to_table,
                to_columns=reference.to_columns,
                origin="measured",
                confidence=0.98,
                evidence=_reference_evidence(table),
            )
            for table in made
            for reference in table.references
            if reference.to_table in names
        ),
    )


def _table_profile(connection: duckdb.DuckDBPyConnection, table: MadeTable) -> TableProfile:
    selected = ", ".join(sql for _, sql in table.columns)
    types = connection.sql(f"SELECT {selected} FROM range(1) AS t(i)").types
    columns = tuple(
        ColumnProfile(
            name=name,
            type=str(type_),
            rows=table.rows,
            nulls=0,
            distinct=table.rows if (name,) == table.key else min(40, table.rows),
        )
        for (name, _), type_ in zip(table.columns, types, strict=True)
    )
    return TableProfile(
        name=table.name,
        rows=table.rows,
        columns=columns,
        primary_key=table.key,
        primary_key_origin="measured",
        primary_key_reason="named for its table, first column",
        primary_key_evidence=Evidence(origin="measured", rows=table.rows, distinct=table.rows),
        candidate_keys=(table.key,),
    )


def _reference_evidence(table: MadeTable) -> ForeignKeyEvidence:
    orphans = _ORPHANS if table.name.endswith("_request") else 0
    return ForeignKeyEvidence(
        origin="measured",
        rows=table.rows,
        matched=table.rows - orphans,
        orphans=orphans,
        violations=orphans,
    )
