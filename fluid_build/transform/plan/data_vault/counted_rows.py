"""Relations without a key: each different row once, with the history of how often it's there.

A table that refers to hubs is a link, with the payload in it; one that refers to none is stored by
itself.
"""

from collections.abc import Iterator

from fluid_build.modeling.data_vault.elements import HubReference, KeylessTable, Link
from fluid_build.modeling.sql_names import SqlNames, free_identifier
from fluid_build.transform.plan.built_columns import DELETED_COLUMN, LOAD_DATE_COLUMN
from fluid_build.transform.plan.construction_tests import not_null, unique
from fluid_build.transform.plan.data_vault.columns import (
    MULTIPLICITY,
    RECORD_SOURCE,
    in_key,
    reference_key,
    retagged,
    row_key,
)
from fluid_build.transform.plan.data_vault.histories import history_build, history_call
from fluid_build.transform.plan.data_vault.links import hub_test
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import Build, BuildTest, Relation
from fluid_build.transform.plan.history import History
from fluid_build.transform.plan.retirement import retired_build


def counted_history(relation: KeylessTable | Link, names: SqlNames) -> History:
    """Return the history of a relation without a key: how often each row was there."""
    key = row_key(relation).name
    hubs = (hub.hash_key for hub in _hubs(relation))
    technical = ("load_date", "record_source", "is_deleted", "multiplicity")
    return History(
        name=relation.name,
        columns=(key, *technical, *hubs, *names.columns_of(relation.table, relation.columns)),
        keys=(key,),
        grouped_by=(key,),
        hash_key=key,
    )


def counted_builds(sources: VaultSources) -> Iterator[Build]:
    """Return one build for each relation without a key."""
    for relation in sources.counted.values():
        yield _counted_relation(sources, relation)


def _counted_relation(sources: VaultSources, relation: KeylessTable | Link) -> Build:
    history = counted_history(relation, sources.names)
    staging = sources.names.staging(relation.table)
    row_hash = row_key(relation)
    key = (row_hash.name, "load_date")
    hubs = tuple(
        reference_key(sources, relation.table, hub).model_copy(update={"required": True})
        for hub in _hubs(relation)
    )
    occurrence = free_identifier("occurrence", history.columns)
    build = history_build(
        relation,
        history_call(
            "vault_counted_rows",
            history,
            staging=Relation(staging),
            key=row_hash.name,
            marked=relation.table in sources.keys,
            columns=[
                *(column.name for column in hubs),
                *sources.names.columns_of(relation.table, relation.columns),
            ],
            occurrence=occurrence if occurrence != "occurrence" else "",
        ),
        sources.vault.hash_key_strategy,
        staging=staging,
        columns=(
            row_hash,
            in_key(LOAD_DATE_COLUMN),
            RECORD_SOURCE,
            DELETED_COLUMN,
            MULTIPLICITY,
            *hubs,
            *retagged(sources.columns(relation.table, relation.columns)),
        ),
        key=key,
        tests=tuple(_tests(sources, relation, key)),
    )
    return build if sources.present.has_table(relation.table) else retired_build(build)


def _tests(
    sources: VaultSources, relation: KeylessTable | Link, key: tuple[str, ...]
) -> Iterator[BuildTest]:
    yield unique(relation.name, key, "Equal rows are stored once, with how often they occur.")
    yield not_null(relation.name, key[0], "A row hash is never null.")
    for hub in _hubs(relation):
        yield not_null(relation.name, hub.hash_key, "A link refers to all of its hubs.")
        yield hub_test(sources, relation.name, hub)


def _hubs(relation: KeylessTable | Link) -> tuple[HubReference, ...]:
    return relation.hubs if isinstance(relation, Link) else ()
