"""A FLUID contract from what was measured: one expose a table, each claim with its evidence."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fluid_build import __version__
from fluid_build.contract.evidence_labels import Labels, names_label
from fluid_build.contract.fluid import (
    Binding,
    BindingLocation,
    BusinessContext,
    ContractColumn,
    DqSpec,
    Expose,
    ExposeContract,
    FluidContract,
    Generator,
    Lifecycle,
    Lineage,
    Metadata,
    Owner,
    Provenance,
    Upstream,
)
from fluid_build.contract.quality_rules import quality_rules
from fluid_build.contract.semantic_section import semantics
from fluid_build.errors import EmptySourceError
from fluid_build.modeling.conceptual import Attribute, Entity, Relationship
from fluid_build.modeling.key_columns import key_columns
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.measures import MeasureRole
from fluid_build.modeling.naming import identifier, identifiers, tag
from fluid_build.modeling.semantic_layer import measures_by_table
from fluid_build.profiling.profile import ColumnProfile, Profile, TableProfile

UNASSIGNED = "unassigned"
_FIRST_VERSION = "0.1.0"
_UNNAMED = "unnamed"
# Servers are somewhere else; everything else is read from the machine it lies on.
_PLATFORMS = {"postgres": "other"}


@dataclass(frozen=True, slots=True)
class _Context:
    """What every expose needs to know of the whole."""

    profile: Profile
    ids: Mapping[str, str]
    references: Mapping[str, Sequence[Relationship]]
    measures: Mapping[str, Mapping[str, MeasureRole]]
    keys: Mapping[str, set[str]]


def contract_from_model(profile: Profile, model: LogicalModel) -> FluidContract:
    """The contract of a profile and its model; EmptySourceError where there is no table.

    What nobody measured or declared is not invented: owner and domain read ``unassigned``.
    """
    entities = model.conceptual.entities
    if not entities:
        raise EmptySourceError(
            f"{profile.source_name!r} has no table that could be read",
            hint="A contract needs at least one table; look at what was skipped and why.",
        )
    references: dict[str, list[Relationship]] = defaultdict(list)
    for relationship in model.conceptual.relationships:
        references[relationship.from_entity].append(relationship)
    context = _Context(
        profile=profile,
        ids=identifiers(entity.name for entity in entities),
        references=references,
        measures=measures_by_table(profile),
        keys=key_columns(profile),
    )
    return FluidContract(
        fluid_version="0.7.2",
        kind="DataProduct",
        id=identifier(profile.source_name),
        name=profile.source_name or _UNNAMED,
        description=_description(profile, model),
        domain=UNASSIGNED,
        tags=sorted({tag(profile.source_kind), tag(model.technique)}),
        labels=_product_labels(profile, model),
        metadata=_metadata(),
        exposes=[_expose(entity, context) for entity in entities],
        lineage=_lineage(profile, entities, context.ids),
        lifecycle=Lifecycle(state="preview"),
    )


def _description(profile: Profile, model: LogicalModel) -> str:
    tables = _count(len(profile.tables), "table")
    relationships = _count(len(model.conceptual.relationships), "relationship")
    how = "measured on its data" if profile.has_data else "as its DDL declares it"
    return (
        f"{profile.source_name}: {tables} and {relationships} between tables, {how}. "
        "Owner and domain are to be assigned by a person."
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _product_labels(profile: Profile, model: LogicalModel) -> Labels:
    labels = {
        "source-kind": profile.source_kind,
        "technique": model.technique,
        "tables": str(len(profile.tables)),
    }
    if profile.skipped:
        labels["skipped"] = names_label([skipped.name for skipped in profile.skipped])
    return labels


def _metadata() -> Metadata:
    return Metadata(
        provenance=Provenance(
            schema_version=1,
            kind="ContractMetadata",
            generated_by=Generator(tool="fluid-forge", version=__version__),
        ),
        owner=Owner(team=UNASSIGNED),
        business_context=BusinessContext(domain=UNASSIGNED),
    )


def _lineage(profile: Profile, entities: Sequence[Entity], ids: Mapping[str, str]) -> Lineage:
    """Each table from the source table of the same name; the source has no contract of its own."""
    product = f"source.{identifier(profile.source_name)}"
    return Lineage(
        granularity="table_level",
        upstream=[
            Upstream(
                product_id=product,
                expose_id=ids[entity.name],
                relationship="direct_consumption",
                labels={"source-tables": names_label(entity.mapped_source_tables)},
            )
            for entity in entities
        ],
        labels={"upstream-kind": "source system without a contract"},
    )


def _expose(entity: Entity, context: _Context) -> Expose:
    table = context.profile.table(entity.name)
    references = context.references.get(entity.name, ())
    keys = context.keys[entity.name]
    id_ = context.ids[entity.name]
    rules = quality_rules(id_, entity, table, references, keys)
    return Expose(
        expose_id=id_,
        title=entity.name or _UNNAMED,
        description=entity.description or None,
        version=_FIRST_VERSION,
        kind="table",
        tags=_expose_tags(entity, context.profile.has_data) or None,
        labels=_expose_labels(entity, table, context.profile.has_data),
        contract=ExposeContract(
            columns=_columns(entity, table, references),
            dq=DqSpec(rules=rules) if rules else None,
        ),
        binding=_binding(context.profile, table),
        semantics=semantics(entity, references, context.measures[entity.name], keys, context.ids),
    )


def _expose_tags(entity: Entity, has_data: bool) -> list[str]:
    found = {
        "pii": any(attribute.pii for attribute in entity.attributes),
        "no-key": entity.primary_key is None,
        "empty": has_data and entity.rows == 0,
    }
    return [name for name, holds in found.items() if holds]


def _expose_labels(entity: Entity, table: TableProfile, has_data: bool) -> Labels:
    labels = {"source-table": entity.name}
    if has_data:
        labels["rows"] = str(entity.rows)
    if table.notes:
        labels["notes"] = " ".join(table.notes)
    primary = entity.primary_key
    if primary is not None:
        labels["primary-key"] = names_label(primary.attributes)
        labels["primary-key-origin"] = primary.origin
        labels["primary-key-reason"] = primary.reason
    return labels


def _columns(
    entity: Entity, table: TableProfile, references: Sequence[Relationship]
) -> list[ContractColumn]:
    primary = set(entity.primary_key.attributes) if entity.primary_key else set()
    unique = {key.attributes[0] for key in entity.keys if key.holds and len(key.attributes) == 1}
    targets = _targets(references)
    return [
        _column(
            attribute,
            column,
            {
                "primary-key": attribute.name in primary,
                "foreign-key": attribute.name in targets,
                "unique": attribute.name in unique,
                "pii": attribute.pii,
            },
            targets.get(attribute.name, []),
        )
        for attribute, column in zip(entity.attributes, table.columns, strict=True)
    ]


def _targets(references: Sequence[Relationship]) -> dict[str, list[str]]:
    """For each column that refers to something, what it refers to."""
    targets: dict[str, list[str]] = defaultdict(list)
    for reference in references:
        pairs = zip(reference.from_attributes, reference.to_attributes, strict=True)
        for ours, theirs in pairs:
            targets[ours].append(f"{reference.to_entity}.{theirs}")
    return targets


def _column(
    attribute: Attribute, column: ColumnProfile, roles: Mapping[str, bool], targets: list[str]
) -> ContractColumn:
    identifies = roles["primary-key"] or roles["foreign-key"]
    return ContractColumn(
        name=attribute.name or _UNNAMED,
        type=attribute.type,
        required=attribute.required,
        description=attribute.description or None,
        sensitivity="pii" if attribute.pii else None,
        semantic_type=attribute.semantic_type or ("identifier" if identifies else None),
        tags=[name for name, holds in roles.items() if holds] or None,
        labels=_column_labels(attribute, column, targets),
    )


def _column_labels(attribute: Attribute, column: ColumnProfile, targets: list[str]) -> Labels:
    labels: Labels = {"origin": attribute.evidence.origin}
    if attribute.evidence.distinct is not None:
        labels["nulls"] = str(column.nulls)
        labels["distinct"] = str(column.distinct)
        labels["distinct-exact"] = "true" if column.distinct_exact else "false"
    spelled = column.declared_type or column.type
    if spelled.lower().replace(" ", "") != attribute.type:
        labels["source-type"] = spelled
    if column.measured_type is not None:
        labels["type-reason"] = f"Stored as {column.type}; every value is a {column.measured_type}."
    if column.semantic_type is not None and column.semantic_reason:
        labels["semantic-reason"] = column.semantic_reason
    if targets:
        labels["references"] = names_label(list(dict.fromkeys(targets)))
    if column.notes:
        labels["notes"] = " ".join(column.notes)
    return labels


def _binding(profile: Profile, table: TableProfile) -> Binding:
    return Binding.model_validate(
        {
            "platform": _PLATFORMS.get(profile.source_kind, "local"),
            "format": "other",
            "location": BindingLocation(database=profile.source_name, table=table.name),
            "properties": {"kind": profile.source_kind},
        }
    )
