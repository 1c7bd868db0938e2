"""An intent anchored in a source: what it says of entities, as decisions about their tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fluid_build.decisions.language import (
    AddRelationship,
    AnyDecision,
    Describe,
    Domain,
    Owner,
    PersonalData,
    ProductName,
    Rename,
    SetKey,
)
from fluid_build.pipeline.intent.intent import (
    Intent,
    IntentAttribute,
    IntentEntity,
    IntentReference,
    reference_columns,
)
from fluid_build.sources.base import Table


@dataclass(frozen=True, slots=True)
class AnchoredIntent:
    """The decisions of an intent, and the parts of it that the source doesn't have."""

    decisions: tuple[AnyDecision, ...]
    missing: tuple[str, ...]


def product_decisions(intent: Intent) -> tuple[AnyDecision, ...]:
    """Return what an intent says of the product itself, and its own decisions."""
    product: list[AnyDecision] = []
    if intent.name:
        product.append(ProductName(name=intent.name))
    if intent.domain:
        product.append(Domain(domain=intent.domain))
    if intent.owner:
        product.append(Owner(team=intent.owner.team, email=intent.owner.email))
    return (*product, *intent.decisions)


def anchored(intent: Intent, tables: Sequence[Table]) -> AnchoredIntent:
    """Return an intent as decisions about tables of a source.

    An entity is a table if it says so, or if they have the same name but for case, underscores and
    a plural's s. The data is asked later: a key that doesn't hold is refused then.
    """
    places = _tables_of_entities(intent, tables)
    decisions: list[AnyDecision] = []
    missing: list[str] = []
    for entity in intent.entities:
        table = places.get(entity.name)
        if table is None:
            missing.append(entity.name)
            continue
        decisions += _about_table(entity, table)
        for attribute in entity.attributes:
            column = _column(attribute, table)
            if column is None:
                missing.append(f"{entity.name}.{attribute.name}")
            else:
                decisions += _about_column(attribute, table.name, column)
    entities = {entity.name: entity for entity in intent.entities}
    for entity in intent.entities:
        for reference in entity.references:
            if not {entity.name, reference.to} <= places.keys():
                continue
            relationship = _relationship(entity, reference, entities[reference.to], places)
            if relationship is None:
                missing.append(f"{entity.name}'s reference to {reference.to}")
            else:
                decisions.append(relationship)
    return AnchoredIntent((*decisions, *product_decisions(intent)), tuple(missing))


def _tables_of_entities(intent: Intent, tables: Sequence[Table]) -> dict[str, Table]:
    """Return the tables of the entities that have one, by entity."""
    by_name = {_plain(table.name): table for table in tables}
    by_name |= {_plain(table.own_name): table for table in tables}
    by_name |= {table.name: table for table in tables}
    places = {
        entity.name: by_name.get(entity.table or "")
        or by_name.get(_plain(entity.table or entity.name))
        for entity in intent.entities
    }
    return {name: table for name, table in places.items() if table is not None}


def _relationship(
    child: IntentEntity,
    reference: IntentReference,
    parent: IntentEntity,
    places: Mapping[str, Table],
) -> AddRelationship | None:
    """Return a reference between tables; None if its columns can't be found."""
    child_table, parent_table = places[child.name], places[parent.name]
    parent_columns = _columns(parent, parent.key_columns, parent_table)
    if parent_columns is None:
        return None
    child_columns = _columns(child, reference_columns(reference, parent), child_table)
    if child_columns is None and not reference.columns and child != parent:
        # Many sources call a reference what it refers to.
        child_columns = _columns(child, parent_columns, child_table)
    if child_columns is None or (child == parent and child_columns == parent_columns):
        return None
    return AddRelationship(
        from_table=child_table.name,
        from_columns=child_columns,
        to_table=parent_table.name,
        to_columns=parent_columns,
    )


def _about_table(entity: IntentEntity, table: Table) -> Iterator[AnyDecision]:
    if _plain(entity.name) != _plain(table.own_name):
        yield Rename(table=table.name, new_name=entity.name)
    if entity.description:
        yield Describe(table=table.name, text=entity.description)
    key = _columns(entity, entity.key, table) if entity.key else None
    if key is not None:
        yield SetKey(table=table.name, columns=key)


def _about_column(attribute: IntentAttribute, table: str, column: str) -> Iterator[AnyDecision]:
    if _plain(attribute.name) != _plain(column):
        yield Rename(table=table, column=column, new_name=attribute.name)
    if attribute.description:
        yield Describe(table=table, column=column, text=attribute.description)
    if attribute.is_personal:
        yield PersonalData(table=table, column=column)


def _columns(entity: IntentEntity, names: Sequence[str], table: Table) -> tuple[str, ...] | None:
    """Return the columns of attributes of an entity; None if one of them isn't there."""
    attributes = {attribute.name: attribute for attribute in entity.attributes}
    columns = [
        _column(attributes.get(name) or IntentAttribute.model_construct(name=name), table)
        for name in names
    ]
    known = tuple(column for column in columns if column is not None)
    return known if len(known) == len(columns) else None


def _column(attribute: IntentAttribute, table: Table) -> str | None:
    names = [column.name for column in table.columns]
    wanted = attribute.column or attribute.name
    if wanted in names:
        return wanted
    return next((name for name in names if _plain(name) == _plain(wanted)), None)


def _plain(name: str) -> str:
    """Return a name without case, underscores, blanks, and the s of a plural."""
    plain = "".join(c for c in name.lower() if c.isalnum() or c == ".")
    return plain.removesuffix("s")
