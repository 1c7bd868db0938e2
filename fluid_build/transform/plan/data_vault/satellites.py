"""The satellites: what a source table says of a hub or link, with its history."""

from collections.abc import Iterator, Sequence

from fluid_build.modeling.data_vault.elements import Hub, Link, Satellite
from fluid_build.text import listed
from fluid_build.transform.plan.built_columns import DELETED_COLUMN, LOAD_DATE_COLUMN
from fluid_build.transform.plan.construction_tests import (
    every_key_exists,
    not_null,
    reference,
    unique,
)
from fluid_build.transform.plan.data_vault.columns import (
    HASH_DIFF,
    RECORD_SOURCE,
    in_key,
    parent_key,
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
from fluid_build.transform.plan.data_vault.keys import row_key
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import Build, MacroCall, Relation, SqlType
from fluid_build.transform.plan.history import History
from fluid_build.transform.plan.retirement import retired_build
from fluid_build.transform.plan.validity import AppliedDate


def satellite_history(satellite: Satellite, sources: VaultSources) -> History:
    """Return the history of a satellite's parent, or of each multi-active key of it."""
    names = sources.names
    parts = satellite.multi_active_keys
    keys = names.columns_of(satellite.table, parts)
    payload = names.columns_of(satellite.table, satellite.columns)
    technical = ("load_date", "record_source", "is_deleted", *(["hash_diff"] if payload else []))
    return History(
        name=satellite.name,
        columns=(satellite.hash_key, *technical, *keys, *payload),
        keys=(satellite.hash_key, *keys),
        grouped_by=(satellite.hash_key, *comparables(sources.columns(satellite.table, parts))),
        hash_key=satellite.hash_key,
    )


def _has_ghost(sources: VaultSources, satellite: Satellite) -> bool:
    return satellite.name in sources.satellites_with_ghost


def satellite_builds(sources: VaultSources) -> Iterator[Build]:
    """Return one build for each satellite."""
    parents: dict[str, Hub | Link] = {hub.name: hub for hub in sources.vault.hubs}
    parents |= {link.name: link for link in sources.vault.links}
    for satellite in sources.vault.satellites:
        yield _satellite(sources, satellite, parents[satellite.parent])


def _satellite(sources: VaultSources, satellite: Satellite, parent: Hub | Link) -> Build:
    keys = sources.columns(satellite.table, satellite.multi_active_keys)
    payload = sources.columns(satellite.table, satellite.columns)
    if _has_ghost(sources, satellite):
        payload = tuple(column.model_copy(update={"required": False}) for column in payload)
    applied = _applied(sources, satellite)
    columns = (
        parent_key(satellite, parent),
        in_key(LOAD_DATE_COLUMN),
        RECORD_SOURCE,
        DELETED_COLUMN,
        *([HASH_DIFF] if payload else []),
        *retagged(keys, "primary-key"),
        *retagged(payload),
        *([applied.column] if applied else []),
    )
    link = parent if isinstance(parent, Link) else None
    key = (satellite.hash_key, "load_date", *(column.name for column in keys))
    identifying = row_key(satellite, link)
    build = history_build(
        satellite,
        _call(sources, satellite, link),
        sources.vault.hash_key_strategy,
        staging=sources.names.staging(satellite.table),
        columns=columns,
        key=key,
        added=added_columns(sources, satellite.table, satellite.columns),
        tests=(
            unique(satellite.name, key, _why_one_row(sources, satellite, identifying)),
            not_null(satellite.name, satellite.hash_key, "A hash key is never null."),
            reference(
                satellite.name,
                satellite.hash_key,
                parent.name,
                parent.hash_key,
                every_key_exists(parent.name),
            ),
        ),
    )
    return build if sources.remaining.has_satellite(satellite) else retired_build(build)


def _why_one_row(sources: VaultSources, satellite: Satellite, key: Sequence[str]) -> str:
    """Return why a satellite has one row for a key and load."""
    if satellite.name not in sources.of_references:
        return one_row_a_load(satellite.table, key)
    return (
        f"{listed(key)} decides {listed(satellite.columns)}. If there are several rows, correct"
        f" those of {satellite.table} that disagree, then reload."
    )


def _call(sources: VaultSources, satellite: Satellite, link: Link | None) -> MacroCall:
    """Return how a satellite is loaded; rows without the reference of its link are left out."""
    payload = sources.columns(satellite.table, satellite.columns)
    applied = _applied(sources, satellite)
    types = {column.name: SqlType(column.type) for column in payload}
    return history_call(
        "vault_satellite",
        satellite_history(satellite, sources),
        staging=Relation(sources.names.staging(satellite.table)),
        key=satellite.hash_key,
        **compared_columns(sources, satellite.table, satellite.columns),
        multi_active=list(sources.names.columns_of(satellite.table, satellite.multi_active_keys)),
        distinct=satellite.name in sources.of_references,
        marked=satellite.table in sources.keys,
        if_linked=link is not None and sources.is_of_a_reference(link),
        has_ghost=_has_ghost(sources, satellite),
        ghost=types if _has_ghost(sources, satellite) else {},
        **(applied.arguments if applied else {}),
    )


def _applied(sources: VaultSources, satellite: Satellite) -> AppliedDate | None:
    """Return from when the rows of a satellite hold, unless that's when they were loaded.

    A stamp is of the row that its table describes, and that's no row of a link: where one ends and
    another begins, both go by the load.
    """
    is_dated = satellite.name in sources.of_hub_rows
    return applied_in_vault(sources, satellite.table) if is_dated else None
