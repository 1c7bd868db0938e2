"""The keyless tables: each different row once, with the history of how often it's there."""

from collections.abc import Iterator

from fluid_build.modeling.data_vault.elements import KeylessTable
from fluid_build.modeling.sql_names import SqlNames, free_identifier
from fluid_build.transform.plan.built_columns import DELETED_COLUMN, LOAD_DATE_COLUMN
from fluid_build.transform.plan.construction_tests import not_null, unique
from fluid_build.transform.plan.data_vault.columns import (
    MULTIPLICITY,
    RECORD_SOURCE,
    ROW_HASH,
    in_key,
    reference_key,
    retagged,
)
from fluid_build.transform.plan.data_vault.histories import history_build
from fluid_build.transform.plan.data_vault.links import hub_test
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import LOAD_DATE, Build
from fluid_build.transform.plan.history import History
from fluid_build.transform.plan.sql_layout import nested, query


def keyless_history(table: KeylessTable, names: SqlNames) -> History:
    """Return the history of a keyless table: how often each row was there."""
    hubs = (hub.hash_key for hub in table.hubs)
    technical = ("load_date", "record_source", "is_deleted", "multiplicity")
    return History(
        name=table.name,
        columns=("row_hash", *technical, *hubs, *names.columns_of(table.table, table.columns)),
        keys=("row_hash",),
        compared="multiplicity",
        hash_key="row_hash",
        on_deletion=(("multiplicity", "CAST(0 AS BIGINT)"),),
    )


def keyless_builds(sources: VaultSources) -> Iterator[Build]:
    """Return one build for each keyless table."""
    for table in sources.vault.keyless_tables:
        yield _keyless_table(sources, table)


def _keyless_table(sources: VaultSources, table: KeylessTable) -> Build:
    history = keyless_history(table, sources.names)
    staging = sources.hashed[table.table]
    key = ("row_hash", "load_date")
    return history_build(
        table,
        history,
        arriving=_counted_rows(history, f"model.{staging}"),
        staging=staging,
        columns=(
            ROW_HASH,
            in_key(LOAD_DATE_COLUMN),
            RECORD_SOURCE,
            DELETED_COLUMN,
            MULTIPLICITY,
            *(reference_key(sources, table.table, hub) for hub in table.hubs),
            *retagged(sources.columns(table.table, table.columns)),
        ),
        key=key,
        tests=(
            unique(table.name, key, "Equal rows are stored once, with how often they occur."),
            not_null(table.name, "row_hash", "A row hash is never null."),
            *(hub_test(sources, table.name, hub) for hub in table.hubs),
        ),
    )


def _counted_rows(history: History, relation: str) -> str:
    """Return each row once with its count; by its hash, as not every type can be grouped."""
    occurrence = free_identifier("occurrence", history.columns)
    computed = {
        "load_date": LOAD_DATE,
        "is_deleted": "FALSE",
        "multiplicity": "COUNT(*) OVER (PARTITION BY row_hash)",
    }
    numbered = query(
        [
            *((computed.get(column, column), column) for column in history.columns),
            ("ROW_NUMBER() OVER (PARTITION BY row_hash ORDER BY row_hash)", occurrence),
        ],
        relation,
    )
    return query(history.columns, f"{nested(numbered)} AS counted", where=[f"{occurrence} = 1"])
