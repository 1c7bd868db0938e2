"""Tables that a decision merges into another: parts of that table's dimension, row by row."""

from collections.abc import Iterable

from fluid_build.decisions.language import Merge
from fluid_build.decisions.reasons import decided_reason
from fluid_build.modeling.conceptual import ConceptualModel, Entity, Relationship
from fluid_build.modeling.dimensional.elements import DimensionalModel
from fluid_build.modeling.element import source_columns
from fluid_build.modeling.identifiers import identifier
from fluid_build.modeling.sql_names import free_identifier
from fluid_build.profiling.profile import ForeignKeyEvidence
from fluid_build.text import counted, listed


def with_merges(conceptual: ConceptualModel, merges: Iterable[Merge]) -> ConceptualModel:
    """Return the model with a reference between merged tables, where it lacks one.

    A merge that would lose a row adds nothing.
    """
    relationships = list(conceptual.relationships)
    for merge in merges:
        reference = merge_reference(conceptual, merge)
        if reference is None and not merge_obstacle(conceptual, merge):
            relationships.append(_reference(merge, {r.name for r in relationships}))
    return conceptual.model_copy(update={"relationships": tuple(relationships)})


def without_unused_merges(
    conceptual: ConceptualModel, unmerged: ConceptualModel, star: DimensionalModel
) -> ConceptualModel:
    """Return the model without the references of merges that the star doesn't use.

    ``unmerged`` is the model without any of them.
    """
    names = {reference.name for reference in unmerged.relationships}
    names |= {join.relationship for dimension in star.dimensions for join in dimension.joins}
    used = tuple(r for r in conceptual.relationships if r.name in names)
    return conceptual.model_copy(update={"relationships": used})


def merge_reference(conceptual: ConceptualModel, merge: Merge) -> Relationship | None:
    """Return the reference by which each row of a merged table finds its other part."""
    pairs = set(zip(merge.columns, merge.into_columns, strict=True))
    for reference in conceptual.relationships:
        ends = (reference.from_entity, reference.to_entity)
        columns = zip(reference.from_attributes, reference.to_attributes, strict=True)
        if ends == (merge.table, merge.into_table) and set(columns) == pairs:
            return reference
    return None


def merge_obstacle(conceptual: ConceptualModel, merge: Merge) -> str:
    """Return why merging would lose or repeat rows; "" where it wouldn't."""
    entities = {entity.name: entity for entity in conceptual.entities}
    missing = next((n for n in (merge.table, merge.into_table) if n not in entities), None)
    if missing is not None:
        return f"`{missing}` isn't a table of the model."
    sides = ((merge.table, merge.columns), (merge.into_table, merge.into_columns))
    for name, columns in sides:
        if not _is_key(entities[name], columns):
            return f"`{name}` can't be merged: {listed(columns)} isn't a key of it that holds."
    unmatched = _unmatched_rows(conceptual, merge)
    if unmatched is None:
        return f"Nothing shows that each row of `{merge.table}` has one in `{merge.into_table}`."
    if unmatched:
        return (
            f"`{merge.table}` can't be merged into `{merge.into_table}`: {unmatched:,} of"
            f" {counted(entities[merge.table].rows, 'row')} have no row there and would be lost."
        )
    blocking = [
        reference
        for reference in conceptual.relationships
        if reference.to_entity == merge.table != reference.from_entity
        and set(reference.to_attributes) != set(merge.columns)
    ]
    if blocking:
        return (
            f"`{merge.table}` can't be merged: `{blocking[0].from_entity}` refers to it by"
            f" {listed(blocking[0].to_attributes)}."
        )
    return ""


def _is_key(entity: Entity, columns: tuple[str, ...]) -> bool:
    return any(key.holds and set(key.attributes) == set(columns) for key in entity.keys)


def _unmatched_rows(conceptual: ConceptualModel, merge: Merge) -> int | None:
    """Return how many rows find no other part; None where that isn't known."""
    reference = merge_reference(conceptual, merge)
    if reference is not None:
        return reference.evidence.orphans + reference.evidence.nulls
    evidence = merge.evidence
    if evidence is None or evidence.matched is None:
        return None
    return evidence.nulls + evidence.rows - evidence.matched


def _reference(merge: Merge, used_names: set[str]) -> Relationship:
    evidence = merge.evidence
    rows = evidence.rows if evidence is not None else 0
    columns = (
        *source_columns(merge.table, merge.columns),
        *source_columns(merge.into_table, merge.into_columns),
    )
    name = identifier(f"{merge.table} {' '.join(merge.columns)} to {merge.into_table}")
    return Relationship(
        name=free_identifier(name, used_names),
        from_entity=merge.table,
        from_attributes=merge.columns,
        to_entity=merge.into_table,
        to_attributes=merge.into_columns,
        cardinality="one-to-one",
        from_participation="mandatory",
        to_participation="optional",
        origin="measured",
        confidence=1.0,
        evidence=ForeignKeyEvidence(
            origin="measured",
            rows=rows,
            matched=rows,
            distinct=rows,
            sql=evidence.sql if evidence is not None else "",
        ),
        mapped_source_tables=(merge.table, merge.into_table),
        source_columns=columns,
        reason=f"{decided_reason(merge)} Both describe the same entity.",
    )
