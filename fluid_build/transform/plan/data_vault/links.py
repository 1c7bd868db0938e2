"""The links: each combination of hubs once, and never taken out again.

Whether a combination still stands is told by the link's satellite.
"""

from collections.abc import Iterator

from fluid_build.modeling.data_vault.elements import Hub, Link
from fluid_build.transform.plan.construction_tests import not_null
from fluid_build.transform.plan.data_vault.columns import (
    LOADED,
    RECORD_SOURCE,
    leads_to,
    link_key,
    plain,
    reference_key,
    unique,
)
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import LOAD_DATE, Build, BuildTest, PlanColumn


def link_builds(sources: VaultSources) -> Iterator[Build]:
    """One build for each link."""
    hubs = {hub.name: hub for hub in sources.vault.hubs}
    for link in sources.vault.links:
        yield _link(sources, link, hubs)


def _link(sources: VaultSources, link: Link, hubs: dict[str, Hub]) -> Build:
    keys = tuple(
        reference_key(sources, link.table, hub).model_copy(update={"required": True})
        for hub in link.hubs
    )
    children = plain(sources.columns(link.table, link.dependent_child_keys), "business-key")
    return Build(
        name=link.name,
        layer="raw_vault",
        materialization="incremental",
        title=link.name,
        description=link.description,
        sql=_sql(sources, link, (*keys, *children)),
        incremental=(
            f"    AND NOT EXISTS (\n        SELECT 1\n        FROM model.{link.name} AS known\n"
            f"        WHERE known.{link.hash_key} = arriving.{link.hash_key}\n    )"
        ),
        ref_models=(sources.hashed[link.table],),
        columns=(link_key(link), LOADED, RECORD_SOURCE, *keys, *children),
        key=(link.hash_key,),
        tests=tuple(_tests(link, hubs)),
        mapped_source_tables=link.mapped_source_tables,
        source_columns=link.source_columns,
        reason=link.reason,
    )


def _sql(sources: VaultSources, link: Link, columns: tuple[PlanColumn, ...]) -> str:
    listed = "".join(f",\n    arriving.{column.name}" for column in columns)
    return (
        f"SELECT DISTINCT\n    arriving.{link.hash_key},\n    {LOAD_DATE} AS load_date,\n"
        f"    arriving.record_source{listed}\n"
        f"FROM model.{sources.hashed[link.table]} AS arriving\n"
        f"WHERE\n    arriving.{link.hash_key} IS NOT NULL"
    )


def _tests(link: Link, hubs: dict[str, Hub]) -> Iterator[BuildTest]:
    yield unique(link.name, (link.hash_key,), "A link holds each combination once.")
    yield not_null(link.name, link.hash_key, "A hash key is never null.")
    for reference in link.hubs:
        hub = hubs[reference.hub]
        yield not_null(link.name, reference.hash_key, "A link leads to all of its hubs.")
        yield leads_to(link.name, reference.hash_key, hub.name, hub.hash_key, reference.role)
