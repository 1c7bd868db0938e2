"""A FLUID contract of what a plan builds: one expose a table, and what is promised of it.

What was measured is no part of it: that is the evidence, in a file of its own.
"""

from fluid_build import __version__
from fluid_build.contract.fluid import (
    BusinessContext,
    FluidContract,
    Generator,
    Metadata,
    ProductOwner,
    Provenance,
)
from fluid_build.contract.fluid.common import FreeForm, Labels
from fluid_build.contract.keys import names_label
from fluid_build.contract.write.evidence import EVIDENCE_FILE
from fluid_build.contract.write.exposes import Measured, expose
from fluid_build.errors import EmptySourceError
from fluid_build.modeling.identifiers import identifier, tag
from fluid_build.modeling.logical import LogicalModel, Product
from fluid_build.profiling.profile import Profile
from fluid_build.text import counted, listed
from fluid_build.transform.plan.elements import PlanColumn, TransformPlan
from fluid_build.transform.plan.project_tools import ProjectTool

UNASSIGNED = "unassigned"
_UNNAMED = "unnamed"


def contract_from_model(
    profile: Profile,
    model: LogicalModel,
    plan: TransformPlan,
    *,
    target: str = "duckdb",
    tool: ProjectTool = "dbt",
) -> FluidContract:
    """Return the contract of what a plan builds; EmptySourceError where there is no table.

    What nobody measured, declared or decided is not invented: owner and domain then read
    ``unassigned``.
    """
    if not plan.published:
        raise EmptySourceError(
            f"{profile.source_name!r} has no readable tables",
            hint="A contract needs at least one table. `fluid profile` shows what was skipped.",
        )
    product = model.product or Product()
    measured = Measured.of(profile)
    return FluidContract(
        fluid_version="0.7.2",
        kind="DataProduct",
        id=identifier(profile.source_name),
        name=model.title or _UNNAMED,
        description=_description(profile, model, product),
        domain=product.domain or UNASSIGNED,
        tags=sorted({tag(profile.source_kind), tag(model.technique)}),
        labels=_product_labels(profile, model),
        metadata=_metadata(product),
        builds=[_build(plan, target, tool)],
        exposes=[expose(build, measured, plan, target, tool) for build in plan.published],
        lineage=_lineage(profile, plan),
        lifecycle={"state": "preview"},
    )


def _description(profile: Profile, model: LogicalModel, product: Product) -> str:
    tables = counted(len(profile.tables), "table")
    relationships = counted(len(model.conceptual.relationships), "relationship")
    declared = "its DDL" if profile.catalog is None else profile.catalog.catalog
    how = "inferred from its data" if profile.has_data else f"as declared in {declared}"
    facts = f"{profile.source_name}: {tables} and {relationships} between them, {how}."
    unassigned = [
        label
        for label, value in (("an owner", product.team), ("a domain", product.domain))
        if value is None
    ]
    if not unassigned:
        return facts
    return f"{facts} Assign {listed(unassigned)} before you publish it."


def _product_labels(profile: Profile, model: LogicalModel) -> Labels:
    product = model.product or Product()
    labels = {
        "source-kind": profile.source_kind,
        "technique": model.technique,
        "evidence": EVIDENCE_FILE,
    }
    sources = dict.fromkeys(table.source for table in profile.tables if table.source)
    if sources:
        labels["sources"] = names_label(list(sources))
    if profile.skipped:
        labels["skipped"] = names_label([skipped.name for skipped in profile.skipped])
    if product.domain_from:
        labels["domain-origin"] = f"declared in {product.domain_from}"
    if product.owner_from:
        labels["owner-origin"] = f"declared in {product.owner_from}"
    if profile.ignored:
        labels["ignored"] = names_label(list(profile.ignored))
    return labels


def _metadata(product: Product) -> Metadata:
    return Metadata(
        provenance=Provenance(
            schema_version=1,
            kind="ContractMetadata",
            generated_by=Generator(tool="fluid-forge", version=__version__),
        ),
        owner=ProductOwner(team=product.team or UNASSIGNED, email=product.email),
        business_context=BusinessContext(domain=product.domain or UNASSIGNED),
    )


def _build(plan: TransformPlan, target: str, tool: ProjectTool) -> FreeForm:
    """Return the project next to the contract, which builds everything that is exposed."""
    return {
        "id": f"{plan.name}_{tool}",
        "description": f"The {tool} project next to this contract builds every table that it"
        " exposes.",
        "pattern": "hybrid-reference",
        "engine": f"dbt-{target}" if tool == "dbt" else "custom",
        "repository": f"./{tool}",
        "outputs": [build.name for build in plan.published],
        "properties": {
            "model": plan.name,
            "materializations": {build.name: build.materialization for build in plan.published},
        },
    }


def _lineage(profile: Profile, plan: TransformPlan) -> FreeForm:
    """Return each column with its source columns; the sources have no contract of their own."""
    products = {
        table.name: f"source.{identifier(table.source or profile.source_name)}"
        for table in profile.tables
    }
    mappings: dict[str, list[FreeForm]] = {source.table: [] for source in plan.sources}
    for build in plan.published:
        for column in build.columns:
            calculated = {} if _is_copied(column) else {"transformation": {"type": "calculation"}}
            for origin in column.source_columns:
                mapping = {
                    "sourceField": origin.column,
                    "targetField": f"{build.name}.{column.name}",
                    **calculated,
                }
                # A table that the source no longer has is no source of anything new.
                mappings.get(origin.table, []).append(mapping)
    upstream: list[FreeForm] = []
    for source in plan.sources:
        of_source, labels = mappings[source.table], _catalog_lineage(profile, source.table)
        if source.id != source.table:
            labels["source-tables"] = names_label([source.table])
        upstream.append(
            {
                "productId": products[source.table],
                "exposeId": source.id,
                **({"fieldMappings": of_source} if of_source else {}),
                "relationship": "direct_consumption",
                **({"labels": labels} if labels else {}),
            }
        )
    return {
        "granularity": "field_level",
        "upstream": upstream,
        "labels": {"upstream-kind": "source system without a contract"},
    }


def _catalog_lineage(profile: Profile, table: str) -> Labels:
    """Return what a data catalog says that a source table is made of."""
    facts = profile.catalog.tables.get(table) if profile.catalog else None
    return {"catalog-upstream": names_label(facts.upstream)} if facts and facts.upstream else {}


def _is_copied(column: PlanColumn) -> bool:
    tables = {origin.table for origin in column.source_columns}
    return len(tables) == len(column.source_columns) and "hash-key" not in column.tags
