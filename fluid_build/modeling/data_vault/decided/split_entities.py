"""Entities that somebody decided to split off from a table: a hub, and what describes it."""

from collections.abc import Iterable
from dataclasses import replace

from fluid_build.decisions.language import Split
from fluid_build.decisions.model_decisions import ModelDecisions
from fluid_build.decisions.reasons import decided_reason
from fluid_build.modeling.conceptual import Entity, EntityKey, Relationship
from fluid_build.modeling.data_vault.decided.keys import null_obstacle
from fluid_build.modeling.data_vault.source_tables import SourceTables, SplitEntity
from fluid_build.modeling.identifiers import identifier
from fluid_build.profiling.names.parsing import ParsedNames, ParsedTableName
from fluid_build.profiling.names.words import words
from fluid_build.profiling.profile import Evidence, ForeignKeyEvidence
from fluid_build.text import counted, free_name, listed


def split_obstacle(tables: SourceTables, split: Split) -> str:
    """Return why columns of a table can't have a hub of their own; "" where they can."""
    entity = tables.entities.get(split.table)
    names = {attribute.name for attribute in entity.attributes} if entity else set()
    if entity is None or not {*split.columns, *split.attributes} <= names:
        missing = listed(f"`{name}`" for name in (*split.columns, *split.attributes))
        return f"The model has no table `{split.table}` with {missing}."
    columns = listed(f"`{column}`" for column in split.columns)
    if len(set(split.columns)) < len(split.columns):
        return f"A column of `{split.table}` is named twice."
    nulls = null_obstacle(entity, split.columns)
    if nulls:
        return f"{nulls}, and a hub needs a key for each."
    identity = set(tables.identity(split.table))
    if not identity:
        return f"No key identifies the {counted(entity.rows, 'row')} of `{split.table}`."
    if identity <= set(split.columns):
        return f"{columns} identifies the rows of `{split.table}` itself."
    own = [name for name in split.attributes if name in identity]
    if own:
        return f"`{own[0]}` is part of the key of `{split.table}`, which stays with its rows."
    if not split.attributes:
        return ""
    if split.evidence is None:
        return f"Nobody measured whether {columns} has a single value of each attribute."
    violations = split.evidence.violations
    return (
        f"{columns} doesn't decide the attributes of `{split.entity}`: they differ in"
        f" {counted(violations, 'case')}."
        if violations
        else ""
    )


def contradicting_role(decisions: ModelDecisions, split: Split) -> str:
    """Return which decided role leaves a table no hub to split from; "" where none does."""
    role = decisions.vault_roles.get(split.table)
    if role is not None and role.role in {"link", "reference"}:
        return f"`{split.table}` is decided to be a {role.role}, and only a hub is split."
    return ""


def with_split_entities(tables: SourceTables, splits: Iterable[Split]) -> SourceTables:
    """Return the tables with an entity, and a reference to it, for each split.

    An attribute goes to the first entity that it describes.
    """
    for split in splits:
        tables = _with_entity(tables, split)
    return tables


def _with_entity(tables: SourceTables, split: Split) -> SourceTables:
    table = tables.entities[split.table]
    spelling = f"{table.source}.{split.entity}" if table.source else split.entity
    name = free_name(spelling, tables.entities)
    reason = decided_reason(split)
    entity = _entity(table, name, split, reason)
    reference = Relationship(
        name=identifier(f"{table.name} to {split.entity}"),
        from_entity=table.name,
        from_attributes=split.columns,
        to_entity=name,
        to_attributes=split.columns,
        cardinality="many-to-one",
        from_participation="mandatory",
        to_participation="mandatory",
        origin="declared",
        confidence=1.0,
        evidence=ForeignKeyEvidence(origin="declared", rows=table.rows, matched=table.rows),
        mapped_source_tables=(table.name,),
        reason=reason,
    )
    columns = [attribute.name for attribute in table.attributes]
    parsed = tables.parsed_names[split.table].columns
    entity_words = words(split.entity)
    names = ParsedNames(
        ParsedTableName(entity_words, "".join(entity_words)),
        tuple(parsed[columns.index(column)] for column in split.columns),
    )
    moved = {
        attribute
        for earlier in tables.splits.values()
        if earlier.table == split.table
        for attribute in earlier.attributes
    }
    attributes = tuple(column for column in split.attributes if column not in moved)
    references = {**tables.references, name: ()}
    references[split.table] = (*references[split.table], reference)
    return replace(
        tables,
        parsed_names={**tables.parsed_names, name: names},
        called=tables.called | {entity_words},
        entities={**tables.entities, name: entity},
        identities={**tables.identities, name: entity.keys[0]},
        references=references,
        referrers={**tables.referrers, name: (reference,)},
        homes={**tables.homes, name: split.table},
        splits={**tables.splits, name: SplitEntity(split.table, attributes, reason)},
    )


def _entity(table: Entity, name: str, split: Split, reason: str) -> Entity:
    distinct = split.evidence.distinct if split.evidence else None
    key = EntityKey(
        kind="primary",
        attributes=split.columns,
        origin="declared",
        holds=True,
        evidence=Evidence(origin="declared", rows=distinct or table.rows, distinct=distinct),
        reason=f"{listed(split.columns)} {'identifies' if len(split.columns) == 1 else 'identify'}"
        f" a {split.entity}.",
    )
    return Entity(
        name=name,
        source=table.source,
        rows=distinct or table.rows,
        attributes=tuple(table.attribute(column) for column in split.columns),
        keys=(key,),
        reason=reason,
    )
