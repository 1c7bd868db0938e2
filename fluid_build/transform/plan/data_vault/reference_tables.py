"""The reference tables: code lists, with the history of each code."""

from collections.abc import Iterator

from fluid_build.modeling.data_vault.elements import ReferenceTable
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.built_columns import DELETED_COLUMN, LOAD_DATE_COLUMN
from fluid_build.transform.plan.construction_tests import not_null, unique
from fluid_build.transform.plan.data_vault.columns import (
    HASH_DIFF,
    RECORD_SOURCE,
    in_key,
    retagged,
)
from fluid_build.transform.plan.data_vault.histories import (
    added_columns,
    applied_in_vault,
    comparables,
    compared_columns,
    history_build,
    history_call,
    one_row_a_load,
)
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import Build, Relation, Sql
from fluid_build.transform.plan.history import History
from fluid_build.transform.plan.retirement import retired_build


def reference_history(table: ReferenceTable, sources: VaultSources) -> History:
    """Return the history of each code of a code list."""
    names = sources.names
    code, *more = names.columns_of(table.table, table.key_columns)
    payload = names.columns_of(table.table, table.columns)
    technical = ("load_date", "record_source", "is_deleted", *(["hash_diff"] if payload else []))
    return History(
        name=table.name,
        columns=(code, *technical, *more, *payload),
        keys=(code, *more),
        grouped_by=comparables(sources.columns(table.table, table.key_columns)),
    )


def reference_builds(sources: VaultSources) -> Iterator[Build]:
    """Return one build for each code list."""
    for table in sources.vault.reference_tables:
        yield _reference_table(sources, table)


def _reference_table(sources: VaultSources, table: ReferenceTable) -> Build:
    keys = sources.columns(table.table, table.key_columns)
    payload = sources.columns(table.table, table.columns)
    code, *more = retagged(keys, "primary-key", "business-key")
    staging = sources.staged[table.table].name
    key = (code.name, "load_date", *(column.name for column in more))
    applied = applied_in_vault(sources, table.table)
    call = history_call(
        "vault_reference_table",
        reference_history(table, sources),
        staging=Relation(staging),
        keys=[column.name for column in keys],
        record_source=Sql(literal(sources.record_source(table.table))),
        marked=table.table in sources.keys,
        **compared_columns(sources, table.table, table.columns),
        **(applied.arguments if applied else {}),
    )
    build = history_build(
        table,
        call,
        sources.vault.hash_key_strategy,
        staging=staging,
        columns=(
            code,
            in_key(LOAD_DATE_COLUMN),
            RECORD_SOURCE,
            DELETED_COLUMN,
            *([HASH_DIFF] if payload else []),
            *more,
            *retagged(payload),
            *([applied.column] if applied else []),
        ),
        key=key,
        added=added_columns(sources, table.table, table.columns),
        tests=(
            unique(table.name, key, one_row_a_load(table.table, table.key_columns)),
            *(not_null(table.name, column.name, "A code is never null.") for column in keys),
        ),
    )
    is_loaded = sources.present.has(table.table, *table.key_columns)
    return build if is_loaded else retired_build(build)
