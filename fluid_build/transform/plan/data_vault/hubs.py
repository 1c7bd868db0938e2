"""The hubs: every business key once, from every table that holds it, first of all its own."""

from collections.abc import Iterator

from fluid_build.modeling.data_vault.elements import Hub, HubReference
from fluid_build.modeling.sql_names import free_identifier
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.construction_tests import not_null
from fluid_build.transform.plan.data_vault.columns import (
    LOADED,
    RECORD_SOURCE,
    hub_key,
    unique,
)
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import LOAD_DATE, Build, BuildTest, PlanColumn
from fluid_build.transform.plan.hashing import zero_key

GHOST = "ghost record"
"""The record source of the row that the zero key leads to."""


def hub_builds(sources: VaultSources) -> Iterator[Build]:
    """One build for each hub."""
    for hub in sources.vault.hubs:
        yield _hub(sources, hub)


def _hub(sources: VaultSources, hub: Hub) -> Build:
    business_key = sources.business_key(hub)
    feeds = sources.feeds[hub.name]
    return Build(
        name=hub.name,
        layer="raw_vault",
        materialization="incremental",
        title=hub.entity_name,
        description=hub.description,
        sql=_sql(sources, hub, business_key),
        incremental=(
            f"    AND NOT EXISTS (\n        SELECT 1\n        FROM model.{hub.name} AS known\n"
            f"        WHERE known.{hub.hash_key} = ranked.{hub.hash_key}\n    )"
        ),
        ref_models=tuple(dict.fromkeys(sources.hashed[table] for table, _ in feeds)),
        columns=(hub_key(sources, hub), LOADED, RECORD_SOURCE, *business_key),
        key=(hub.hash_key,),
        tests=tuple(_tests(hub, business_key)),
        mapped_source_tables=hub.mapped_source_tables,
        source_columns=hub.source_columns,
        reason=hub.reason,
    )


def _sql(sources: VaultSources, hub: Hub, business_key: tuple[PlanColumn, ...]) -> str:
    names = [column.name for column in business_key]
    precedence = free_identifier("precedence", names)
    place = free_identifier("place", names)
    branches = [_ghost(sources, hub, business_key, precedence)] if hub.has_ghost else []
    branches += [
        _branch(sources, hub, business_key, feed, f"{number} AS {precedence}")
        for number, feed in enumerate(sources.feeds[hub.name], start=1)
    ]
    arriving = "\n    UNION ALL\n".join(branches)
    # Keys that differ in case alone are one key, written as the first of them in order.
    spelled = f", {', '.join(names)}" if sources.vault.hash_key_strategy.case == "upper" else ""
    listed = "".join(f",\n    ranked.{name}" for name in names)
    inner = "".join(f",\n        {name}" for name in names)
    return (
        f"WITH arriving AS (\n{arriving}\n),\nranked AS (\n    SELECT\n        {hub.hash_key},\n"
        f"        record_source{inner},\n        ROW_NUMBER() OVER (\n"
        f"            PARTITION BY {hub.hash_key}\n"
        f"            ORDER BY {precedence}{spelled}\n        ) AS {place}\n    FROM arriving\n)\n"
        f"SELECT\n    ranked.{hub.hash_key},\n    {LOAD_DATE} AS load_date,\n"
        f"    ranked.record_source{listed}\nFROM ranked\nWHERE\n    ranked.{place} = 1"
    )


def _branch(
    sources: VaultSources,
    hub: Hub,
    business_key: tuple[PlanColumn, ...],
    feed: tuple[str, HubReference],
    precedence: str,
) -> str:
    table, reference = feed
    columns = sources.columns(table, reference.columns)
    selected = [_as(reference.hash_key, hub.hash_key)]
    selected += [
        _as(column.name, part.name, part.type if column.type != part.type else None)
        for column, part in zip(columns, business_key, strict=True)
    ]
    selected += ["record_source", precedence]
    own = sources.is_own(hub, table, reference)
    filled = "\n        AND ".join(f"{column.name} IS NOT NULL" for column in columns)
    where = "" if own else f"\n    WHERE\n        {filled}"
    return (
        f"    SELECT{'' if own else ' DISTINCT'}\n        "
        + ",\n        ".join(selected)
        + f"\n    FROM model.{sources.hashed[table]}{where}"
    )


def _ghost(
    sources: VaultSources, hub: Hub, business_key: tuple[PlanColumn, ...], precedence: str
) -> str:
    selected = [f"{zero_key(sources.vault.hash_key_strategy)} AS {hub.hash_key}"]
    selected += [f"CAST(NULL AS {part.type}) AS {part.name}" for part in business_key]
    selected += [f"{literal(GHOST)} AS record_source", f"0 AS {precedence}"]
    return "    SELECT\n        " + ",\n        ".join(selected)


def _as(name: str, wanted: str, type_: str | None = None) -> str:
    if type_ is not None:
        return f"CAST({name} AS {type_}) AS {wanted}"
    return name if name == wanted else f"{name} AS {wanted}"


def _tests(hub: Hub, business_key: tuple[PlanColumn, ...]) -> Iterator[BuildTest]:
    yield unique(hub.name, (hub.hash_key,), "A hub holds each business key once.")
    yield not_null(hub.name, hub.hash_key, "A hash key is never null.")
    for column in business_key:
        if column.required:
            reason = "A business key is complete."
            yield not_null(hub.name, column.name, reason)
