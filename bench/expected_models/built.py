"""The elements of a logical model, in the form in which they're compared with the expected ones."""

from collections.abc import Iterable, Iterator, Mapping

from bench.expected_models.elements import BuiltElement, Column
from fluid_build.modeling.data_vault.elements import DataVaultModel, Link
from fluid_build.modeling.dimensional.elements import (
    Bridge,
    DimensionalModel,
    DimensionReference,
    Fact,
)
from fluid_build.modeling.element import Element
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import sql_names

_UNSCORED = frozenset({"outrigger", "junk", "time"})
"""Types of dimensions that aren't elements of their own. The columns of an outrigger are copied
into dimensions that refer to it; it only keeps members that none refers to. Whether flags make a
junk dimension or stay in the fact is a matter of taste. The times of a day are of no table."""


def built_elements(model: LogicalModel) -> list[BuiltElement]:
    """Return the elements of a star or a vault."""
    if model.dimensional is not None:
        return list(_star_elements(model, model.dimensional))
    if model.dv2 is not None:
        return list(_vault_elements(model.dv2))
    raise ValueError(f"A {model.technique} model has no elements to compare.")


def _star_elements(model: LogicalModel, star: DimensionalModel) -> Iterator[BuiltElement]:
    for fact in star.facts:
        # Service days follow from other elements, and no table of the source has them.
        if fact.service_days is None:
            yield _fact(fact, model, star)
    for bridge in star.bridges:
        # So do the pairs of a hierarchy.
        if bridge.hierarchy_pairs is None:
            yield BuiltElement(
                bridge.entity_name, "bridge", grain=_grain(bridge, bridge.references, model)
            )
    event_tables = {fact.entity_name for fact in star.facts}
    primary_keys = {
        entity.name: set(entity.primary_key.attributes)
        for entity in model.conceptual.entities
        if entity.primary_key is not None
    }
    for dimension in star.dimensions:
        if dimension.dimension_type in _UNSCORED:
            continue
        if dimension.dimension_type == "date":
            yield BuiltElement(dimension.entity_name, "date")
            continue
        columns = _columns(dimension)
        is_derived = dimension.entity_name in event_tables and not (
            primary_keys.get(dimension.entity_name, set()) & {column.name for column in columns}
        )
        yield BuiltElement(
            dimension.entity_name, "dimension", columns=columns if is_derived else frozenset()
        )


def _fact(fact: Fact, model: LogicalModel, star: DimensionalModel) -> BuiltElement:
    return BuiltElement(
        fact.entity_name,
        "fact",
        type=fact.fact_type,
        grain=_grain(fact, fact.dimensions, model),
        date=_event_date(fact, model, star),
        # A measure that is calculated of several columns is an expert's bonus, not a column.
        measures={
            next(iter(columns)): measure.additivity
            for measure in fact.measures
            if len(columns := _columns(measure)) == 1
        },
    )


def _event_date(fact: Fact, model: LogicalModel, star: DimensionalModel) -> Column | None:
    """Return the column that dates an event; a key of a date table stands for the date there."""
    if fact.dated_by is None:
        return None
    join = next((join for join in fact.joins if join.name == fact.dated_by.source), None)
    if join is None:
        return Column(fact.entity_name, fact.dated_by.attribute)
    calendars = {d.entity_name for d in star.dimensions if d.dimension_type == "date"}
    reference = next(r for r in model.conceptual.relationships if r.name == join.relationship)
    if join.entity in calendars and len(reference.from_attributes) == 1:
        return Column(reference.from_entity, reference.from_attributes[0])
    return Column(join.entity, fact.dated_by.attribute)


def _grain(
    element: Fact | Bridge, references: Iterable[DimensionReference], model: LogicalModel
) -> frozenset[str]:
    """Return the columns of the source that identify a row of a fact or bridge."""
    names = sql_names(model.conceptual).columns.get(element.entity_name, {})
    sources = {built: (column,) for column, built in names.items()}
    sources |= {reference.key: reference.columns for reference in references}
    return frozenset(
        column for built in element.grain_columns for column in sources.get(built, (built,))
    )


def _columns(element: Element) -> frozenset[Column]:
    return frozenset(Column(column.table, column.column) for column in element.source_columns)


def _vault_elements(vault: DataVaultModel) -> Iterator[BuiltElement]:
    hub_tables = {hub.name: hub.entity_name for hub in vault.hubs}
    links: dict[str, list[Link]] = {}
    for hub in vault.hubs:
        yield BuiltElement(hub.entity_name, "hub", key=frozenset(hub.business_key_columns))
    for link in vault.links:
        # A hub's references to other hubs follow from its foreign keys, unless they're an event.
        if link.table not in hub_tables.values() or link.link_type == "transactional":
            links.setdefault(link.table, []).append(link)
    for table, own_links in links.items():
        yield BuiltElement(
            table,
            "link",
            type=own_links[0].link_type.replace("-", "_"),
            parents=_link_parents(own_links, hub_tables),
        )
    link_tables = {link.name: link.table for link in vault.links}
    yield from _satellites(vault, {**hub_tables, **link_tables})
    for reference in vault.reference_tables:
        yield BuiltElement(reference.table, "reference")
    for table in vault.keyless_tables:
        yield BuiltElement(table.table, "keyless")


def _link_parents(links: Iterable[Link], hub_tables: Mapping[str, str]) -> tuple[str, ...]:
    """Return the tables whose hubs the links of one table connect, each role once."""
    roles = dict.fromkeys((hub.hub, hub.role) for link in links for hub in link.hubs)
    return tuple(hub_tables[hub] for hub, _ in roles)


def _satellites(vault: DataVaultModel, parent_tables: Mapping[str, str]) -> Iterator[BuiltElement]:
    """Return the satellites that aren't simply what a table says about its own hub or link.

    A table of which a hub and its descriptions are made is one element, unless the descriptions are
    many for each key. A payload that is divided among several satellites counts once.
    """
    shapes: dict[tuple[str, str], bool] = {}
    for satellite in vault.satellites:
        parent = parent_tables[satellite.parent]
        is_multi_active = bool(satellite.multi_active_keys)
        if satellite.kind == "descriptive" and (parent != satellite.table or is_multi_active):
            place = (satellite.table, parent)
            shapes[place] = shapes.get(place, False) or is_multi_active
    for (table, parent), is_multi_active in shapes.items():
        yield BuiltElement(
            table,
            "satellite",
            type="multi_active" if is_multi_active else "standard",
            parents=(parent,),
        )
