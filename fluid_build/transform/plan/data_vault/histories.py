"""The relations with a history: satellites, code lists and keyless tables."""

from collections.abc import Iterator, Sequence

from fluid_build.modeling.data_vault.elements import (
    Hub,
    KeylessTable,
    Link,
    ReferenceTable,
    Satellite,
)
from fluid_build.modeling.sql_names import SqlNames, free_identifier
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.construction_tests import not_null
from fluid_build.transform.plan.data_vault.columns import (
    DELETED,
    HASH_DIFF,
    LOADED,
    MULTIPLICITY,
    RECORD_SOURCE,
    ROW_HASH,
    leads_to,
    plain,
    reference_key,
    unique,
)
from fluid_build.transform.plan.data_vault.history import History, changes, loading
from fluid_build.transform.plan.data_vault.keys import row_key
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import LOAD_DATE, Build, BuildTest, PlanColumn
from fluid_build.transform.plan.hashing import exact, hashed, written_or_token

_INDENT = "        "


def satellite_history(satellite: Satellite, names: SqlNames) -> History:
    """The history that a satellite keeps: of its parent, or of each of several rows of it."""
    return History(
        name=satellite.name,
        keys=(satellite.hash_key, *names.columns_of(satellite.table, satellite.multi_active_keys)),
        hash=satellite.hash_key,
        compared="hash_diff" if satellite.columns else None,
        carried=names.columns_of(satellite.table, satellite.columns),
    )


def reference_history(table: ReferenceTable, names: SqlNames) -> History:
    """The history that a code list keeps of each code."""
    return History(
        name=table.name,
        keys=names.columns_of(table.table, table.key_columns),
        compared="hash_diff" if table.columns else None,
        carried=names.columns_of(table.table, table.columns),
    )


def keyless_history(table: KeylessTable, names: SqlNames) -> History:
    """The history that a keyless table keeps: how often each row was there."""
    hubs = tuple(hub.hash_key for hub in table.hubs)
    return History(
        name=table.name,
        keys=("row_hash",),
        hash="row_hash",
        compared="multiplicity",
        carried=(*hubs, *names.columns_of(table.table, table.columns)),
        emptied=(("multiplicity", "CAST(0 AS BIGINT)"),),
    )


def satellite_builds(sources: VaultSources) -> Iterator[Build]:
    """One build for each satellite."""
    parents: dict[str, Hub | Link] = {hub.name: hub for hub in sources.vault.hubs}
    parents |= {link.name: link for link in sources.vault.links}
    for satellite in sources.vault.satellites:
        yield _satellite(sources, satellite, parents[satellite.parent])


def _satellite(sources: VaultSources, satellite: Satellite, parent: Hub | Link) -> Build:
    history = satellite_history(satellite, sources.names)
    keys = sources.columns(satellite.table, satellite.multi_active_keys)
    payload = sources.columns(satellite.table, satellite.columns)
    staged = sources.hashed[satellite.table]
    first = PlanColumn(
        name=satellite.hash_key,
        type="VARCHAR",
        contract_type="string",
        required=True,
        description=f"The row of {parent.name} that it belongs to.",
        tags=("hash-key", "primary-key", "foreign-key"),
        mapped_source_tables=satellite.mapped_source_tables,
        source_columns=parent.source_columns,
    )
    selected = [
        satellite.hash_key,
        f"{LOAD_DATE} AS load_date",
        "record_source",
        "FALSE AS is_deleted",
        *([_hash_diff(sources, payload)] if payload else []),
        *(column.name for column in (*keys, *payload)),
    ]
    lacks = isinstance(parent, Link) and sources.is_of_a_reference(parent)
    where = f"\n    WHERE\n{_INDENT}{satellite.hash_key} IS NOT NULL" if lacks else ""
    identity = (satellite.hash_key, "load_date", *(column.name for column in keys))
    told_apart = row_key(satellite, parent if isinstance(parent, Link) else None)
    return Build(
        name=satellite.name,
        layer="raw_vault",
        materialization="incremental",
        title=satellite.name,
        description=satellite.description,
        sql=loading(history, _select(selected, f"model.{staged}") + where),
        incremental=changes(history),
        ref_models=(staged,),
        columns=(
            first,
            _keyed(LOADED),
            RECORD_SOURCE,
            DELETED,
            *([HASH_DIFF] if payload else []),
            *plain(keys, "primary-key"),
            *plain(payload),
        ),
        key=identity,
        tests=(
            unique(satellite.name, identity, _one_row(satellite.table, told_apart)),
            not_null(satellite.name, satellite.hash_key, "A hash key is never null."),
            leads_to(satellite.name, satellite.hash_key, parent.name, parent.hash_key),
        ),
        mapped_source_tables=satellite.mapped_source_tables,
        source_columns=satellite.source_columns,
        reason=satellite.reason,
    )


def _one_row(table: str, key: Sequence[str]) -> str:
    return (
        f"{', '.join(key)} tells the rows of {table} apart, so a load brings one row of each. Where"
        " it brought several, correct them at the source, or forge again, and load anew."
    )


def reference_builds(sources: VaultSources) -> Iterator[Build]:
    """One build for each code list."""
    for table in sources.vault.reference_tables:
        yield _reference(sources, table)


def _reference(sources: VaultSources, table: ReferenceTable) -> Build:
    history = reference_history(table, sources.names)
    keys = sources.columns(table.table, table.key_columns)
    payload = sources.columns(table.table, table.columns)
    staged = sources.staged[table.table].name
    names = [column.name for column in (*keys, *payload)]
    selected = [
        names[0],
        f"{LOAD_DATE} AS load_date",
        f"{literal(sources.record_source(table.table))} AS record_source",
        "FALSE AS is_deleted",
        *([_hash_diff(sources, payload)] if payload else []),
        *names[1:],
    ]
    identity = (names[0], "load_date", *(column.name for column in keys[1:]))
    code, *more = plain(keys, "primary-key", "business-key")
    return Build(
        name=table.name,
        layer="raw_vault",
        materialization="incremental",
        title=table.table,
        description=table.description,
        sql=loading(history, _select(selected, f"model.{staged}")),
        incremental=changes(history),
        ref_models=(staged,),
        columns=(
            code,
            _keyed(LOADED),
            RECORD_SOURCE,
            DELETED,
            *([HASH_DIFF] if payload else []),
            *more,
            *plain(payload),
        ),
        key=identity,
        tests=(
            unique(table.name, identity, _one_row(table.table, table.key_columns)),
            *(not_null(table.name, column.name, "A code is never null.") for column in keys),
        ),
        mapped_source_tables=table.mapped_source_tables,
        source_columns=table.source_columns,
        reason=table.reason,
    )


def keyless_builds(sources: VaultSources) -> Iterator[Build]:
    """One build for each keyless table."""
    hubs = {hub.name: hub for hub in sources.vault.hubs}
    for table in sources.vault.keyless_tables:
        yield _keyless(sources, table, hubs)


def _keyless(sources: VaultSources, table: KeylessTable, hubs: dict[str, Hub]) -> Build:
    history = keyless_history(table, sources.names)
    payload = sources.columns(table.table, table.columns)
    references = tuple(reference_key(sources, table.table, hub) for hub in table.hubs)
    staged = sources.hashed[table.table]
    return Build(
        name=table.name,
        layer="raw_vault",
        materialization="incremental",
        title=table.table,
        description=table.description,
        sql=loading(history, _counted(history, f"model.{staged}")),
        incremental=changes(history),
        ref_models=(staged,),
        columns=(
            ROW_HASH,
            _keyed(LOADED),
            RECORD_SOURCE,
            DELETED,
            MULTIPLICITY,
            *references,
            *plain(payload),
        ),
        key=("row_hash", "load_date"),
        tests=tuple(_keyless_tests(table, hubs)),
        mapped_source_tables=table.mapped_source_tables,
        source_columns=table.source_columns,
        reason=table.reason,
    )


def _keyless_tests(table: KeylessTable, hubs: dict[str, Hub]) -> Iterator[BuildTest]:
    reason = "Equal rows are kept once, with how often they occur."
    yield unique(table.name, ("row_hash", "load_date"), reason)
    yield not_null(table.name, "row_hash", "A row hash is never null.")
    for reference in table.hubs:
        hub = hubs[reference.hub]
        yield leads_to(table.name, reference.hash_key, hub.name, hub.hash_key, reference.role)


def _counted(history: History, relation: str) -> str:
    """Each row once, with how often it is there; by its hash, as not every type can be grouped."""
    place = free_identifier("place", history.columns)
    inner = f",\n{_INDENT}    ".join(("row_hash", "record_source", *history.carried))
    carried = "".join(f",\n{_INDENT}{column}" for column in history.carried)
    return (
        f"    SELECT\n{_INDENT}row_hash,\n{_INDENT}{LOAD_DATE} AS load_date,\n"
        f"{_INDENT}record_source,\n{_INDENT}FALSE AS is_deleted,\n{_INDENT}multiplicity{carried}\n"
        f"    FROM (\n{_INDENT}SELECT\n{_INDENT}    {inner},\n"
        f"{_INDENT}    COUNT(*) OVER (PARTITION BY row_hash) AS multiplicity,\n"
        f"{_INDENT}    ROW_NUMBER() OVER (PARTITION BY row_hash ORDER BY row_hash) AS {place}\n"
        f"{_INDENT}FROM {relation}\n    ) AS counted\n    WHERE\n{_INDENT}{place} = 1"
    )


def _hash_diff(sources: VaultSources, payload: Sequence[PlanColumn]) -> str:
    strategy = exact(sources.vault.hash_key_strategy)
    parts = [written_or_token(column.name, column.type, strategy) for column in payload]
    return f"{hashed(parts, strategy, _INDENT)} AS hash_diff"


def _select(selected: Sequence[str], relation: str) -> str:
    return f"    SELECT\n{_INDENT}" + f",\n{_INDENT}".join(selected) + f"\n    FROM {relation}"


def _keyed(column: PlanColumn) -> PlanColumn:
    return column.model_copy(update={"tags": (*column.tags, "primary-key")})
