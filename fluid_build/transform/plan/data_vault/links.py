"""The links: each combination of hubs once, and never removed.

Whether a combination is current is what the link's satellite says.
"""

from collections.abc import Iterator

from fluid_build.modeling.data_vault.elements import HubReference, Link
from fluid_build.transform.plan.built_columns import LOAD_DATE_COLUMN
from fluid_build.transform.plan.construction_tests import (
    every_key_exists,
    not_null,
    reference,
    unique,
)
from fluid_build.transform.plan.data_vault.columns import (
    RECORD_SOURCE,
    link_key,
    reference_key,
    retagged,
)
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import Build, BuildTest, Relation
from fluid_build.transform.plan.macro_calls import called_sql, macro_call
from fluid_build.transform.plan.retirement import retired_build


def link_builds(sources: VaultSources) -> Iterator[Build]:
    """Return one build for each link that has a key."""
    for link in sources.vault.links:
        if not link.of_rows:
            yield _link(sources, link)


def _link(sources: VaultSources, link: Link) -> Build:
    keys = tuple(
        reference_key(sources, link.table, hub).model_copy(update={"required": True})
        for hub in link.hubs
    )
    children = retagged(sources.columns(link.table, link.dependent_child_keys), "business-key")
    columns = (link_key(link), LOAD_DATE_COLUMN, RECORD_SOURCE, *keys, *children)
    staging = sources.names.staging(link.table)
    call = macro_call(
        "vault_link",
        staging=Relation(staging),
        key=link.hash_key,
        columns=[column.name for column in (*keys, *children)],
        **_earlier(sources, link),
        marked=link.table in sources.keys,
    )
    made = called_sql(call, link.name, sources.vault.hash_key_strategy)
    build = Build(
        name=link.name,
        layer="raw_vault",
        materialization="incremental",
        title=link.name,
        description=link.description,
        sql=made.sql,
        next_load=made.next_load,
        call=call,
        ref_models=(staging, *(hub.hub for hub in [sources.earlier_key(link)] if hub is not None)),
        columns=columns,
        key=(link.hash_key,),
        tests=tuple(_tests(sources, link)),
        mapped_source_tables=link.mapped_source_tables,
        source_columns=link.source_columns,
        reason=link.reason,
    )
    return build if sources.remaining.has_link(link) else retired_build(build)


def _earlier(sources: VaultSources, link: Link) -> dict[str, dict[str, object]]:
    """Return how a same-as link finds what a row was under an earlier key."""
    reference = sources.earlier_key(link)
    if reference is None:
        return {}
    hub = sources.hub(reference.hub)
    found: dict[str, object] = {"in": Relation(hub.name), "key": reference.hash_key}
    if hub.hash_key != reference.hash_key:
        found["hub_key"] = hub.hash_key
    return {"earlier": found}


def _tests(sources: VaultSources, link: Link) -> Iterator[BuildTest]:
    yield unique(link.name, (link.hash_key,), "A link has each combination once.")
    yield not_null(link.name, link.hash_key, "A hash key is never null.")
    for hub in link.hubs:
        yield not_null(link.name, hub.hash_key, "A link refers to all of its hubs.")
        yield hub_test(sources, link.name, hub)


def hub_test(sources: VaultSources, relation: str, hub: HubReference) -> BuildTest:
    """Return the test that every hash key by which a relation refers to a hub is in the hub."""
    parent = sources.hub(hub.hub)
    reason = every_key_exists(parent.name)
    return reference(relation, hub.hash_key, parent.name, parent.hash_key, reason, role=hub.role)
