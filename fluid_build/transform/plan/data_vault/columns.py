"""The columns that a vault adds to those of the source, and the tests of its relations."""

from collections.abc import Sequence

from fluid_build.modeling.data_vault.elements import Hub, HubReference, Link
from fluid_build.modeling.element import source_columns
from fluid_build.modeling.sql_names import fit
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import BuildTest, PlanColumn

RECORD_SOURCE = PlanColumn(
    name="record_source",
    type="VARCHAR",
    contract_type="string",
    required=True,
    description="The source and its table that the row came from first.",
    tags=("technical",),
)
LOADED = PlanColumn(
    name="load_date",
    type="TIMESTAMP",
    contract_type="timestamp",
    required=True,
    description="When the row was loaded.",
    tags=("technical",),
)
DELETED = PlanColumn(
    name="is_deleted",
    type="BOOLEAN",
    contract_type="boolean",
    required=True,
    description="Whether the source no longer had it at the load date.",
    tags=("technical",),
)
HASH_DIFF = PlanColumn(
    name="hash_diff",
    type="VARCHAR",
    contract_type="string",
    required=True,
    description="A hash of the descriptive columns: it differs where one of them does.",
    tags=("technical",),
)
MULTIPLICITY = PlanColumn(
    name="multiplicity",
    type="BIGINT",
    contract_type="bigint",
    required=True,
    description="How often the row was in the source at the load date.",
    tags=("technical",),
)
ROW_HASH = PlanColumn(
    name="row_hash",
    type="VARCHAR",
    contract_type="string",
    required=True,
    description="A hash of the whole row.",
    tags=("hash-key", "primary-key"),
)


def hub_key(sources: VaultSources, hub: Hub) -> PlanColumn:
    """The hash key of a hub, in the hub."""
    key = sources.business_key(hub)
    return PlanColumn(
        name=hub.hash_key,
        type="VARCHAR",
        contract_type="string",
        required=True,
        description=f"The hash of {', '.join(column.name for column in key)}.",
        tags=("hash-key", "primary-key"),
        mapped_source_tables=hub.mapped_source_tables,
        source_columns=hub.source_columns,
        reason=hub.reason,
    )


def link_key(link: Link) -> PlanColumn:
    """The hash key of a link, in the link."""
    hubs = ", ".join(hub.hash_key for hub in link.hubs)
    beside = f" with {', '.join(link.dependent_child_keys)}" if link.dependent_child_keys else ""
    return PlanColumn(
        name=link.hash_key,
        type="VARCHAR",
        contract_type="string",
        required=True,
        description=f"The hash of the business keys behind {hubs}{beside}.",
        tags=("hash-key", "primary-key"),
        mapped_source_tables=link.mapped_source_tables,
        source_columns=link.source_columns,
        reason=link.reason,
    )


def reference_key(sources: VaultSources, table: str, reference: HubReference) -> PlanColumn:
    """The hash key of a hub in what a source table's rows lead to it from."""
    role = f" as {reference.role}" if reference.role else ""
    missing = " The zero key stands for none." if reference.optional else ""
    return PlanColumn(
        name=reference.hash_key,
        type="VARCHAR",
        contract_type="string",
        required=sources.leads_always(table, reference),
        description=f"The row of {reference.hub} that it belongs to{role}.{missing}",
        tags=("hash-key", "foreign-key"),
        mapped_source_tables=(table,),
        source_columns=source_columns(table, reference.columns),
    )


def plain(columns: Sequence[PlanColumn], *tags: str) -> tuple[PlanColumn, ...]:
    """Staged columns in another relation, where they are neither key nor unique unless told."""
    return tuple(column.model_copy(update={"tags": tags}) for column in columns)


def unique(model: str, columns: Sequence[str], reason: str) -> BuildTest:
    """No two rows agree in all of the columns."""
    return BuildTest(
        name=fit(model, "unique"),
        kind="unique",
        columns=tuple(columns),
        key_kind="primary",
        reason=reason,
    )


def leads_to(model: str, column: str, parent: str, key: str, role: str = "") -> BuildTest:
    """Every hash key is one of the parent's."""
    return BuildTest(
        name=fit(model, column, "reference"),
        kind="relationships",
        columns=(column,),
        to_model=parent,
        to_columns=(key,),
        cardinality="many-to-one",
        role=role,
        reason=f"{parent} is loaded from everything that leads to it.",
    )
