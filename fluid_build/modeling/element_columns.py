"""The relations that a model is built as, and their columns that come from the source."""

from collections.abc import Iterator, Mapping, Sequence

from fluid_build.modeling.data_vault.elements import DataVaultModel, Hub, Link, Satellite
from fluid_build.modeling.dimensional.elements import Bridge, Dimension, Fact
from fluid_build.modeling.element import SourceColumn
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import TECHNICAL, SqlNames, sql_names

Columns = Mapping[str, SourceColumn]
"""Columns of a relation by their name there."""


def relation_names(model: LogicalModel) -> tuple[str, ...]:
    """Return the names of all relations but the staging."""
    if model.dv2 is not None:
        return tuple(sorted(model.dv2.relation_names))
    if model.dimensional is not None:
        return model.dimensional.relation_names
    return tuple(sql_names(model.conceptual).tables.values())


def element_tables(model: LogicalModel) -> dict[str, str]:
    """Return for each relation that is made of one table the table's name at the source."""
    if model.dv2 is not None:
        vault = model.dv2
        hubs = {hub.name: hub.entity_name for hub in vault.hubs}
        return hubs | {
            part.name: part.table
            for parts in (
                vault.links,
                vault.satellites,
                vault.reference_tables,
                vault.keyless_tables,
            )
            for part in parts
        }
    if model.dimensional is not None:
        return {
            element.name: element.entity_name
            for element in star_elements(model)
            if element.entity_name
        }
    names = sql_names(model.conceptual)
    return {names.table(entity.name): entity.name for entity in model.conceptual.entities}


def star_elements(model: LogicalModel) -> list[Fact | Dimension | Bridge]:
    """Return the facts, dimensions and bridges of a model, if it has any."""
    star = model.dimensional
    elements: list[Fact | Dimension | Bridge] = []
    if star is not None:
        elements += [*star.facts, *star.dimensions, *star.bridges]
    return elements


def element_columns(model: LogicalModel) -> dict[str, Columns]:
    """Return for each relation its columns that are columns of the source."""
    names = sql_names(model.conceptual)
    if model.dv2 is not None:
        return {
            relation: _columns_of(names, table, columns)
            for relation, table, columns in _vault_columns(model.dv2)
        }
    if model.dimensional is not None:
        return {element.name: dict(_star_columns(element)) for element in star_elements(model)}
    return {
        names.table(entity.name): _columns_of(
            names, entity.name, [a.name for a in entity.attributes]
        )
        for entity in model.conceptual.entities
    }


def model_columns(model: LogicalModel) -> dict[str, frozenset[str]]:
    """Return for each relation its columns, and so also the keys that the model adds."""
    columns = {name: {*of_source} for name, of_source in element_columns(model).items()}
    added = model.column_names.replaced.values()
    if model.dv2 is not None:
        parts: list[Hub | Link | Satellite]
        parts = [*model.dv2.hubs, *model.dv2.links, *model.dv2.satellites]
        for part in parts:
            columns[part.name] |= {part.hash_key, *TECHNICAL, *added}
        for link in model.dv2.links:
            columns[link.name] |= {hub.hash_key for hub in link.hubs}
    if model.dimensional is not None:
        for fact in model.dimensional.facts:
            columns[fact.name] |= {reference.key for reference in fact.dimensions}
        for bridge in model.dimensional.bridges:
            columns[bridge.name] |= {reference.key for reference in bridge.references}
        for dimension in model.dimensional.dimensions:
            columns[dimension.name] |= {
                dimension.surrogate_key,
                dimension.member_key,
                *(attribute.name for attribute in dimension.attributes),
                *(link.key for link in dimension.links),
            }
    return {name: frozenset(of_relation) for name, of_relation in columns.items()}


def _vault_columns(vault: DataVaultModel) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield each relation with its table and the columns of it that it holds."""
    for hub in vault.hubs:
        yield hub.name, hub.entity_name, hub.business_key_columns
    for link in vault.links:
        yield link.name, link.table, (*link.dependent_child_keys, *link.columns)
    for satellite in vault.satellites:
        yield (satellite.name, satellite.table, (*satellite.multi_active_keys, *satellite.columns))
    for code_list in vault.reference_tables:
        yield code_list.name, code_list.table, (*code_list.key_columns, *code_list.columns)
    for keyless in vault.keyless_tables:
        yield keyless.name, keyless.table, keyless.columns


def _columns_of(names: SqlNames, table: str, columns: Sequence[str]) -> Columns:
    return {
        names.column(table, column): SourceColumn(table=table, column=column) for column in columns
    }


def _star_columns(element: Fact | Dimension | Bridge) -> Iterator[tuple[str, SourceColumn]]:
    joins = () if isinstance(element, Bridge) else element.joins
    entities = {"": element.entity_name, **{join.name: join.entity for join in joins}}
    for attribute in element.attributes:
        if attribute.attribute and entities[attribute.source]:
            table = entities[attribute.source]
            yield attribute.name, SourceColumn(table=table, column=attribute.attribute)
    if isinstance(element, Fact):
        for measure in element.measures:
            table = element.entity_name
            yield measure.name, SourceColumn(table=table, column=measure.column)
