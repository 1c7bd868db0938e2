"""The hubs: every business key once, from every table that holds it, its own table first."""

from collections.abc import Iterator, Sequence

from fluid_build.modeling.data_vault.elements import Hub, HubReference
from fluid_build.modeling.sql_names import free_identifier
from fluid_build.transform.plan.built_columns import LOAD_DATE_COLUMN
from fluid_build.transform.plan.construction_tests import not_null, unique
from fluid_build.transform.plan.data_vault.columns import RECORD_SOURCE, hub_key
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import (
    Build,
    BuildTest,
    MacroCall,
    PlanColumn,
    Relation,
    Sql,
    SqlType,
)
from fluid_build.transform.plan.hashing import comparable
from fluid_build.transform.plan.macro_calls import called_sql, macro_call
from fluid_build.transform.plan.retirement import retired_build


def hub_builds(sources: VaultSources) -> Iterator[Build]:
    """Return one build for each hub."""
    for hub in sources.vault.hubs:
        yield _hub(sources, hub)


def _hub(sources: VaultSources, hub: Hub) -> Build:
    business_key = sources.business_key(hub)
    present = [feed for feed in sources.feeds[hub.name] if sources.remaining.has_reference(*feed)]
    call = _call(sources, hub, business_key, present or sources.feeds[hub.name])
    made = called_sql(call, hub.name, sources.vault.hash_key_strategy)
    build = Build(
        name=hub.name,
        layer="raw_vault",
        materialization="incremental",
        title=hub.entity_name,
        description=hub.description,
        sql=made.sql,
        next_load=made.next_load,
        call=call,
        ref_models=tuple(
            dict.fromkeys(sources.names.staging(table) for table, _ in sources.feeds[hub.name])
        ),
        columns=(hub_key(sources, hub), LOAD_DATE_COLUMN, RECORD_SOURCE, *business_key),
        key=(hub.hash_key,),
        tests=tuple(_tests(sources, hub, business_key)),
        mapped_source_tables=hub.mapped_source_tables,
        source_columns=hub.source_columns,
        reason=hub.reason,
    )
    return build if present else retired_build(build)


def _call(
    sources: VaultSources,
    hub: Hub,
    business_key: tuple[PlanColumn, ...],
    feeds: Sequence[tuple[str, HubReference]],
) -> MacroCall:
    names = [column.name for column in business_key]
    precedence, rank = free_identifier("precedence", names), free_identifier("rank_of_row", names)
    return macro_call(
        "vault_hub",
        key=hub.hash_key,
        business_key=names,
        feeds=[_feed(sources, hub, business_key, *feed) for feed in feeds],
        # Keys that differ in case alone are one key, spelled as the first of them in order.
        spelling=names if sources.vault.hash_key_strategy.folds_keys else [],
        **_ghost(sources, hub, business_key),
        precedence=precedence if precedence != "precedence" else "",
        rank=rank if rank != "rank_of_row" else "",
    )


def _ghost(
    sources: VaultSources, hub: Hub, business_key: tuple[PlanColumn, ...]
) -> dict[str, object]:
    """Return the types of a ghost's columns, and the rows that need it unless it's always there.

    As long as every row has its reference, a hub has business keys alone.
    """
    if not sources.may_have_ghost(hub):
        return {}
    ghost: dict[str, object] = {p.name: SqlType(p.type) for p in business_key}
    if hub.has_ghost:
        return {"ghost": ghost}
    needed_by = [
        {
            "staging": Relation(sources.names.staging(table)),
            "key": reference.hash_key,
            **({"marked": True} if table in sources.keys else {}),
        }
        for table, reference in sources.needing_ghost(hub)
        if sources.remaining.has_reference(table, reference)
    ]
    return {"ghost": ghost, "needed_by": needed_by} if needed_by else {}


def _feed(
    sources: VaultSources,
    hub: Hub,
    business_key: tuple[PlanColumn, ...],
    table: str,
    reference: HubReference,
) -> dict[str, object]:
    """Return how one of the tables that feed a hub has its business key."""
    columns = sources.columns(table, reference.columns)
    pairs = list(zip(columns, business_key, strict=True))
    feed: dict[str, object] = {"staging": Relation(sources.names.staging(table))}
    if reference.hash_key != hub.hash_key:
        feed["key"] = reference.hash_key
    if any(column.name != part.name for column, part in pairs):
        feed["columns"] = [column.name for column in columns]
    casts = {part.name: Sql(_cast(column, part)) for column, part in pairs}
    if cast := {p.name: casts[p.name] for c, p in pairs if casts[p.name] != c.name}:
        feed["cast"] = cast
    if sources.is_own(hub, table, reference):
        feed["own"] = True
    if table in sources.keys:
        feed["marked"] = True
    return feed


def _cast(column: PlanColumn, part: PlanColumn) -> str:
    value = comparable(column.name, column.type)
    return value if column.type == part.type else f"CAST({value} AS {part.type})"


def _tests(
    sources: VaultSources, hub: Hub, business_key: tuple[PlanColumn, ...]
) -> Iterator[BuildTest]:
    yield unique(hub.name, (hub.hash_key,), "A hub has each business key once.")
    yield not_null(hub.name, hub.hash_key, "A hash key is never null.")
    for column in business_key:
        if column.required:
            test = not_null(hub.name, column.name, "No part of a business key is null.")
            yield test.model_copy(update={"scope": sources.business_keys(hub)})
