"""The hubs: every business key once, from every table that holds it, its own table first."""

from collections.abc import Iterator

from fluid_build.modeling.data_vault.elements import Hub, HubReference
from fluid_build.modeling.sql_names import free_identifier
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.built_columns import LOAD_DATE_COLUMN
from fluid_build.transform.plan.construction_tests import not_null, unique
from fluid_build.transform.plan.data_vault.columns import RECORD_SOURCE, hub_key
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import LOAD_DATE, Build, BuildTest, PlanColumn
from fluid_build.transform.plan.hashing import comparable, zero_key
from fluid_build.transform.plan.history import only_new
from fluid_build.transform.plan.sql_layout import query, select_list, union_all, with_ctes

GHOST = "ghost record"
"""The record source of the row that the zero key refers to."""


def hub_builds(sources: VaultSources) -> Iterator[Build]:
    """Return one build for each hub."""
    for hub in sources.vault.hubs:
        yield _hub(sources, hub)


def _hub(sources: VaultSources, hub: Hub) -> Build:
    business_key = sources.business_key(hub)
    return Build(
        name=hub.name,
        layer="raw_vault",
        materialization="incremental",
        title=hub.entity_name,
        description=hub.description,
        sql=_sql(sources, hub, business_key),
        incremental=only_new(f"model.{hub.name}", hub.hash_key, "ranked"),
        ref_models=tuple(
            dict.fromkeys(sources.names.staging(table) for table, _ in sources.feeds[hub.name])
        ),
        columns=(hub_key(sources, hub), LOAD_DATE_COLUMN, RECORD_SOURCE, *business_key),
        key=(hub.hash_key,),
        tests=tuple(_tests(hub, business_key)),
        mapped_source_tables=hub.mapped_source_tables,
        source_columns=hub.source_columns,
        reason=hub.reason,
    )


def _sql(sources: VaultSources, hub: Hub, business_key: tuple[PlanColumn, ...]) -> str:
    names = [column.name for column in business_key]
    precedence = free_identifier("precedence", names)
    rank = free_identifier("rank_of_row", names)
    branches = [_ghost(sources, hub, business_key, precedence)] if hub.has_ghost else []
    branches += [
        _branch(sources, hub, business_key, feed, (str(number), precedence))
        for number, feed in enumerate(sources.feeds[hub.name], start=1)
    ]
    # Keys that differ in case alone are one key, spelled as the first of them in order.
    spelling = names if sources.vault.hash_key_strategy.case == "upper" else []
    by_precedence = f"PARTITION BY {hub.hash_key} ORDER BY {', '.join((precedence, *spelling))}"
    ranked = query(
        [hub.hash_key, "record_source", *names, (f"ROW_NUMBER() OVER ({by_precedence})", rank)],
        "arriving",
    )
    first = query(
        [
            f"ranked.{hub.hash_key}",
            (LOAD_DATE, "load_date"),
            "ranked.record_source",
            *(f"ranked.{name}" for name in names),
        ],
        "ranked",
        where=[f"ranked.{rank} = 1"],
    )
    return with_ctes([("arriving", union_all(*branches)), ("ranked", ranked)], first)


def _branch(
    sources: VaultSources,
    hub: Hub,
    business_key: tuple[PlanColumn, ...],
    feed: tuple[str, HubReference],
    precedence: tuple[str, str],
) -> str:
    """Return the business keys in one of the tables that feed a hub."""
    table, reference = feed
    columns = sources.columns(table, reference.columns)
    is_own = sources.is_own(hub, table, reference)
    return query(
        [
            (reference.hash_key, hub.hash_key),
            *(
                (_cast(column, part), part.name)
                for column, part in zip(columns, business_key, strict=True)
            ),
            "record_source",
            precedence,
        ],
        f"model.{sources.names.staging(table)}",
        where=() if is_own else [f"{column.name} IS NOT NULL" for column in columns],
        distinct=not is_own,
    )


def _cast(column: PlanColumn, part: PlanColumn) -> str:
    value = comparable(column.name, column.type)
    return value if column.type == part.type else f"CAST({value} AS {part.type})"


def _ghost(
    sources: VaultSources, hub: Hub, business_key: tuple[PlanColumn, ...], precedence: str
) -> str:
    """Return the row that the zero key refers to, so that joins find one."""
    columns = [
        (zero_key(sources.vault.hash_key_strategy), hub.hash_key),
        *((f"CAST(NULL AS {part.type})", part.name) for part in business_key),
        (literal(GHOST), "record_source"),
        ("0", precedence),
    ]
    return f"SELECT\n{select_list(columns)}"


def _tests(hub: Hub, business_key: tuple[PlanColumn, ...]) -> Iterator[BuildTest]:
    yield unique(hub.name, (hub.hash_key,), "A hub has each business key once.")
    yield not_null(hub.name, hub.hash_key, "A hash key is never null.")
    for column in business_key:
        if column.required:
            yield not_null(hub.name, column.name, "No part of a business key is null.")
