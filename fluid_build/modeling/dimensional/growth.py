"""How a star grows: what it has stays as it is, and what came later is added at the end.

A new column is one more column of its fact or dimension, a new table a fact or dimension of its
own: Ralph Kimball and Margy Ross, "The Data Warehouse Toolkit", third edition, on the graceful
extension of dimensional models.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeAlias

from fluid_build.decisions.language import Classify, Role
from fluid_build.modeling.conceptual import ConceptualModel, Relationship
from fluid_build.modeling.dimensional.calendars.calendar import calendar_dates
from fluid_build.modeling.dimensional.dimensions.choice import is_covered
from fluid_build.modeling.dimensional.elements import (
    Bridge,
    Dimension,
    DimensionalModel,
    DimensionAttribute,
    DimensionLink,
    DimensionReference,
    Fact,
    FactAttribute,
    Join,
)
from fluid_build.modeling.dimensional.star_names import StarNames, free_column
from fluid_build.modeling.element import SourceColumn
from fluid_build.modeling.sql_names import free_identifier, sql_names

_Element: TypeAlias = Fact | Dimension | Bridge
_DERIVED = frozenset({"junk", "mini"})
"""Dimensions of combinations: another column would give each of them another key."""


def changed_roles(
    kept: DimensionalModel, fresh: DimensionalModel, earlier: Mapping[str, str]
) -> dict[str, Classify]:
    """Return the roles that tables have, of those to which a new design would give another one.

    A table has the role of the ``earlier`` one whose rows it has by another key.
    """
    before, after = _roles(kept), _roles(fresh)
    before = {t: before[was] for t, was in earlier.items() if t in after and was in before} | before
    return {
        table: Classify(table=table, role=role)
        for table, role in before.items()
        if after.get(table) != role
    }


def _roles(star: DimensionalModel) -> dict[str, Role]:
    roles: dict[str, Role] = {
        dimension.entity_name: "date" if dimension.dimension_type == "date" else "dimension"
        for dimension in star.dimensions
        if dimension.entity_name and dimension.dimension_type not in _DERIVED
    }
    roles |= {bridge.entity_name: "bridge" for bridge in star.bridges if bridge.entity_name}
    return roles | {
        fact.entity_name: "fact"
        for fact in star.facts
        if not fact.snapshot_of and fact.service_days is None
    }


def grown_star(
    kept: DimensionalModel,
    fresh: DimensionalModel,
    conceptual: ConceptualModel,
    tables: Set[str],
    columns: Sequence[SourceColumn],
    looser: Set[str] = frozenset(),
) -> DimensionalModel:
    """Return the star with what the new ``tables`` and ``columns`` bring.

    ``fresh`` is a design of everything, from which what is new is taken. A table that a dimension
    joins by a ``looser`` relationship has rows that it doesn't meet. They get a dimension too where
    no relation has all rows of their table; what was there before doesn't refer to it.
    """
    opened = {
        join.entity
        for dimension in kept.dimensions
        for join in dimension.joins
        if join.complete and join.relationship in looser
    }
    kept = kept.model_copy(
        update={"dimensions": tuple(_opened(d, opened) for d in kept.dimensions)}
    )
    alone = opened - _roles(kept).keys()
    growth = _Growth(kept, fresh, conceptual, tables, frozenset(columns), alone)
    growth.name_new_elements()
    facts = [growth.longer_fact(fact) for fact in kept.facts]
    dimensions = [growth.longer_dimension(dimension) for dimension in kept.dimensions]
    bridges = [growth.longer_bridge(bridge) for bridge in kept.bridges]
    facts += [growth.renamed_fact(fact) for fact in growth.new_facts]
    bridges += [growth.renamed_bridge(bridge) for bridge in growth.new_bridges]
    used = {r.dimension for fact in facts for r in fact.dimensions}
    used |= {r.dimension for bridge in bridges for r in bridge.references}
    dimensions += growth.new_dimensions(used)
    grown = kept.model_copy(
        update={
            "facts": tuple(facts),
            "dimensions": tuple(_with_uses(dimension, facts) for dimension in dimensions),
            "bridges": tuple(bridges),
            "left_out": (
                *kept.left_out,
                *(t for t in fresh.left_out if growth.is_new_element(t.name)),
            ),
        }
    )
    return _with_columns(grown, conceptual, columns)


def _opened(dimension: Dimension, opened: Set[str]) -> Dimension:
    """Return a dimension whose joins of some tables don't meet all of their rows."""
    if not any(join.entity in opened for join in dimension.joins):
        return dimension
    joins = (
        join.model_copy(update={"complete": join.complete and join.entity not in opened})
        for join in dimension.joins
    )
    return dimension.model_copy(update={"joins": tuple(joins)})


def broken_joins(star: DimensionalModel, conceptual: ConceptualModel) -> list[Relationship]:
    """Return the relationships by which dimensions join all rows of a table, but not today's."""
    found = {relationship.name: relationship for relationship in conceptual.relationships}
    broken: dict[str, Relationship] = {}
    for dimension in star.dimensions:
        for join in dimension.joins:
            by = found[join.relationship]
            if join.complete and not (
                not by.evidence.orphans
                if join.backwards
                else is_covered(conceptual.entity(by.to_entity), by)
            ):
                broken[by.name] = by
    return list(broken.values())


def _identity(element: _Element) -> tuple[object, ...]:
    """Return what an element is, whatever it's called."""
    if isinstance(element, Fact):
        return (
            "fact",
            element.entity_name,
            bool(element.snapshot_of),
            element.service_days is None,
        )
    if isinstance(element, Dimension):
        type_ = element.dimension_type
        if type_ in _DERIVED:
            return (type_, element.entity_name, element.natural_key_columns)
        return ("dimension", element.entity_name, type_ == "time")
    return ("bridge", element.entity_name, element.left_columns, element.right_columns)


@dataclass
class _Growth:
    """What a star gets of a new design; ``names`` are those of its relations here.

    Tables that stand ``alone`` become relations, to which what was there before doesn't refer.
    """

    kept: DimensionalModel
    fresh: DimensionalModel
    conceptual: ConceptualModel
    tables: Set[str]
    columns: Set[SourceColumn]
    alone: Set[str]
    names: dict[str, str] = field(default_factory=dict)
    new_facts: list[Fact] = field(default_factory=list)
    new_bridges: list[Bridge] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.used = set(self.kept.relation_names)
        self.by_identity: dict[tuple[object, ...], _Element] = {
            _identity(element): element for element in _elements(self.fresh)
        }
        kept = {_identity(element): element.name for element in _elements(self.kept)}
        for identity, element in self.by_identity.items():
            if identity in kept:
                self.names[element.name] = kept[identity]

    def name_new_elements(self) -> None:
        """Choose what is new, each under a name that is free."""
        for fact in self.fresh.facts:
            if fact.name not in self.names and self.is_new_element(fact.entity_name):
                self.new_facts.append(fact)
                self.name(fact.name)
        for bridge in self.fresh.bridges:
            is_new = self.is_new_element(bridge.entity_name) or (
                bridge.hierarchy_pairs is not None and self._is_new_dimension(bridge.left)
            )
            if bridge.name not in self.names and is_new:
                self.new_bridges.append(bridge)
                self.name(bridge.name)

    def _is_new_dimension(self, name: str) -> bool:
        named = (d.entity_name for d in self.fresh.dimensions if d.name == name)
        return any(map(self.is_new_element, named))

    def is_new_element(self, table: str) -> bool:
        return table in self.tables or table in self.alone

    def name(self, fresh: str) -> str:
        """Return the name that a relation of the new design has here."""
        if fresh not in self.names:
            self.names[fresh] = free_identifier(fresh, self.used)
            self.used.add(self.names[fresh])
        return self.names[fresh]

    # What is new.

    def new_dimensions(self, used: Set[str]) -> list[Dimension]:
        """Return the dimensions of new tables, and others that what is new refers to."""
        kept = {dimension.name for dimension in self.kept.dimensions}
        wanted, found = set(used), dict[str, Dimension]()
        while True:
            more = {
                dimension.name: dimension
                for dimension in self.fresh.dimensions
                if dimension.name not in found
                and self.names.get(dimension.name) not in kept
                and (
                    self.is_new_element(dimension.entity_name)
                    or self.names.get(dimension.name) in wanted
                )
            }
            if not more:
                return [self._renamed_dimension(dimension) for dimension in found.values()]
            found |= more
            wanted |= {self.name(e.dimension) for d in more.values() for e in d.links}

    def _renamed_dimension(self, dimension: Dimension) -> Dimension:
        links = tuple(
            link.model_copy(update={"dimension": self.name(link.dimension)})
            for link in dimension.links
        )
        history = dimension.history and self.name(dimension.history)
        return dimension.model_copy(
            update={"name": self.name(dimension.name), "links": links, "history": history}
        )

    def renamed_fact(self, fact: Fact) -> Fact:
        """Return a new fact with the names that relations have here."""
        update: dict[str, object] = {
            "name": self.name(fact.name),
            "dimensions": tuple(map(self._renamed_reference, fact.dimensions)),
            "snapshot_of": fact.snapshot_of and self.name(fact.snapshot_of),
        }
        if fact.service_days is not None:
            held_by = self.name(fact.service_days.held_by)
            update["service_days"] = fact.service_days.model_copy(update={"held_by": held_by})
        return fact.model_copy(update=update)

    def renamed_bridge(self, bridge: Bridge) -> Bridge:
        """Return a new bridge with the names that relations have here."""
        return bridge.model_copy(
            update={
                "name": self.name(bridge.name),
                "left": self.name(bridge.left),
                "right": self.name(bridge.right),
                "references": tuple(map(self._renamed_reference, bridge.references)),
            }
        )

    def _renamed_reference(self, reference: DimensionReference) -> DimensionReference:
        return reference.model_copy(update={"dimension": self.name(reference.dimension)})

    # What gets longer.

    def longer_fact(self, kept: Fact) -> Fact:
        """Return a fact with the measures, references and attributes that came."""
        fresh = self._designed(kept)
        if not isinstance(fresh, Fact):
            return kept
        used = _fact_columns(kept)
        joins = self._new_joins(kept.joins, fresh.joins)
        entities = _entities(fresh)
        measures = [
            measure.model_copy(update={"name": free_column(measure.name, used)})
            for measure in fresh.measures
            if self._is_new(fresh.entity_name, measure.column)
        ]
        references = [
            reference.model_copy(
                update={
                    "dimension": self.name(reference.dimension),
                    "key": free_column(reference.key, used),
                    "carried": (),
                }
            )
            for reference in fresh.dimensions
            if self._refers_anew(entities, reference)
        ]
        attributes = self._new_attributes(fresh, used)
        return kept.model_copy(
            update={
                "joins": (*kept.joins, *joins),
                "measures": (*kept.measures, *measures),
                "dimensions": (*kept.dimensions, *references),
                "attributes": (*kept.attributes, *attributes),
                "mapped_source_tables": tuple(
                    dict.fromkeys((*kept.mapped_source_tables, *(j.entity for j in joins)))
                ),
            }
        )

    def longer_bridge(self, kept: Bridge) -> Bridge:
        """Return a bridge with the attributes that came."""
        fresh = self._designed(kept)
        if not isinstance(fresh, Bridge):
            return kept
        attributes = self._new_attributes(fresh, _bridge_columns(kept))
        return kept.model_copy(update={"attributes": (*kept.attributes, *attributes)})

    def longer_dimension(self, kept: Dimension) -> Dimension:
        """Return a dimension with the attributes and links that came."""
        fresh = self._designed(kept)
        if not isinstance(fresh, Dimension) or kept.dimension_type in _DERIVED:
            return kept
        if kept.is_generated:
            return kept
        entities, used = _entities(fresh), _dimension_columns(kept)
        joins = self._new_joins(kept.joins, fresh.joins)
        attributes = [
            attribute.model_copy(
                update={
                    "name": free_column(attribute.name, used),
                    "scd_type": attribute.scd_type if kept.history else min(attribute.scd_type, 1),
                }
            )
            for attribute in fresh.attributes
            if attribute.source in {join.name for join in joins}
            or self._is_new(entities[attribute.source], attribute.attribute)
        ]
        links = self._new_links(kept, fresh, used)
        return kept.model_copy(
            update={
                "joins": (*kept.joins, *joins),
                "attributes": (*kept.attributes, *attributes),
                "links": (*kept.links, *links),
                "mapped_source_tables": tuple(
                    dict.fromkeys((*kept.mapped_source_tables, *(j.entity for j in joins)))
                ),
                "source_columns": tuple(
                    dict.fromkeys(
                        (*kept.source_columns, *(c for a in attributes for c in a.source_columns))
                    )
                ),
            }
        )

    def _designed(self, kept: _Element) -> _Element | None:
        """Return the same element of the new design."""
        return self.by_identity.get(_identity(kept))

    def _is_new(self, table: str, column: str) -> bool:
        return SourceColumn(table=table, column=column) in self.columns

    def _new_joins(self, kept: Sequence[Join], fresh: Sequence[Join]) -> list[Join]:
        """Return the joins of new tables, which start from joins that are there."""
        names = {"", *(join.name for join in kept)}
        joins = []
        for join in fresh:
            if join.entity in self.tables and join.name not in names and join.parent in names:
                joins.append(join)
                names.add(join.name)
        return joins

    def _new_attributes(self, fresh: Fact | Bridge, used: set[str]) -> list[FactAttribute]:
        entities = _entities(fresh)
        return [
            attribute.model_copy(update={"name": free_column(attribute.name, used)})
            for attribute in fresh.attributes
            if self._is_new(entities[attribute.source], attribute.attribute)
        ]

    def _refers_anew(self, entities: Mapping[str, str], reference: DimensionReference) -> bool:
        """Return whether a reference of a known fact's own row is by what came, or to it."""
        dimension = next(d for d in self.fresh.dimensions if d.name == reference.dimension)
        if reference.source or not reference.columns or dimension.dimension_type in _DERIVED:
            return False
        by_new = any(self._is_new(entities[""], column) for column in reference.columns)
        return by_new or dimension.entity_name in self.tables

    def _new_links(
        self, kept: Dimension, fresh: Dimension, used: set[str]
    ) -> Iterator[DimensionLink]:
        joins = {join.name for join in kept.joins}
        outer = {d.name for d in self.fresh.dimensions if d.entity_name in self.tables}
        for link in fresh.links:
            if link.dimension in outer and (not link.source or link.source in joins):
                key = free_column(link.key, used)
                yield link.model_copy(update={"dimension": self.name(link.dimension), "key": key})


def _elements(star: DimensionalModel) -> tuple[_Element, ...]:
    return (*star.facts, *star.dimensions, *star.bridges)


def _entities(element: _Element) -> dict[str, str]:
    """Return the entities of an element by their joins, its own by ""."""
    joins = () if isinstance(element, Bridge) else element.joins
    return {"": element.entity_name, **{join.name: join.entity for join in joins}}


def _fact_columns(fact: Fact) -> set[str]:
    return {
        *(reference.key for reference in fact.dimensions),
        *(name for reference in fact.dimensions for _, name in reference.carried),
        *(attribute.name for attribute in fact.attributes),
        *(measure.name for measure in fact.measures),
    }


def _dimension_columns(dimension: Dimension) -> set[str]:
    return {
        dimension.surrogate_key,
        dimension.member_key,
        *(attribute.name for attribute in dimension.attributes),
        *(link.key for link in dimension.links),
    }


def _bridge_columns(bridge: Bridge) -> set[str]:
    return {
        *(reference.key for reference in bridge.references),
        *(attribute.name for attribute in bridge.attributes),
    }


def _columns(element: _Element) -> set[str]:
    """Return the names of an element's columns."""
    if isinstance(element, Fact):
        return _fact_columns(element)
    return (
        _dimension_columns(element) if isinstance(element, Dimension) else _bridge_columns(element)
    )


def _with_uses(dimension: Dimension, facts: Sequence[Fact]) -> Dimension:
    """Return the dimension with the roles in which facts use it now, those that it had first."""
    uses = [
        (fact.name, reference)
        for fact in facts
        for reference in fact.dimensions
        if reference.dimension == dimension.name
    ]
    roles = dict.fromkeys((*dimension.roles, *(r.role for _, r in uses if r.role)))
    update: dict[str, object] = {
        "conformed": dimension.conformed or len({fact for fact, _ in uses}) > 1,
        "roles": tuple(roles),
    }
    if dimension.is_generated and dimension.dimension_type == "date":
        dates = dict.fromkeys((*dimension.source_columns, *calendar_dates(dimension.name, facts)))
        update["source_columns"] = tuple(dates)
        update["mapped_source_tables"] = tuple(dict.fromkeys(date.table for date in dates))
    return dimension.model_copy(update=update)


# Columns that no part of the new design has where the star could take it from.


def _with_columns(
    star: DimensionalModel, conceptual: ConceptualModel, columns: Sequence[SourceColumn]
) -> DimensionalModel:
    """Return the star with each new column somewhere, as a plain one of its table's element."""
    names = StarNames(sql_names(conceptual))
    for column in columns:
        if not _is_held(star, conceptual, column):
            star = _with_column(star, conceptual, names, column)
    return star


def with_whole_moments(
    star: DimensionalModel, conceptual: ConceptualModel, wider: Set[SourceColumn]
) -> DimensionalModel:
    """Return the star with a column for each date of a fact that holds more than its day now."""
    generated = {dimension.name for dimension in star.dimensions if dimension.is_generated}
    days = {
        SourceColumn(table=fact.entity_name, column=reference.columns[0])
        for fact in star.facts
        for reference in fact.dimensions
        if reference.dimension in generated and reference.columns and not reference.source
    }
    more = sorted(days & wider, key=lambda column: (column.table, column.column))
    return _with_columns(star, conceptual, more)


def _is_held(star: DimensionalModel, conceptual: ConceptualModel, column: SourceColumn) -> bool:
    is_day = conceptual.entity(column.table).attribute(column.column).type == "date"
    for element in _elements(star):
        entities = _entities(element)
        held = {(entities[a.source], a.attribute) for a in element.attributes if a.attribute}
        if isinstance(element, Fact):
            held |= {(element.entity_name, measure.column) for measure in element.measures}
            # The day is the whole of a date, and the key of a day is in the fact.
            days = {r.columns for r in element.dimensions if is_day and not r.source}
            held |= {(element.entity_name, of_day[0]) for of_day in days if len(of_day) == 1}
        if (column.table, column.column) in held:
            return True
    return any(column.table == table.name for table in star.left_out)


def _with_column(
    star: DimensionalModel, conceptual: ConceptualModel, names: StarNames, column: SourceColumn
) -> DimensionalModel:
    attribute = conceptual.entity(column.table).attribute(column.column)
    element, source = _place(star, column.table)
    if element is None:
        return star
    name = free_column(names.column(column.table, column.column), _columns(element))
    plain = FactAttribute(
        name=name,
        type=attribute.type,
        source=source,
        attribute=column.column,
        description=attribute.description,
        mapped_source_tables=(column.table,),
        source_columns=(column,),
        reason=f"It, or more of it than a day, joined {column.table} later.",
    )
    if isinstance(element, Dimension):
        of_dimension = DimensionAttribute(**dict(plain), scd_type=2 if element.history else 1)
        more: DimensionAttribute | FactAttribute = of_dimension
    else:
        more = plain
    longer = element.model_copy(update={"attributes": (*element.attributes, more)})
    return star.model_copy(
        update={
            kind: tuple(longer if each is element else each for each in getattr(star, kind))
            for kind in ("facts", "dimensions", "bridges")
        }
    )


def _place(star: DimensionalModel, table: str) -> tuple[_Element | None, str]:
    """Return the element that has a table's rows, and the join that leads it there."""
    events: tuple[Fact | Bridge, ...] = (*star.facts, *star.bridges)
    for element in events:
        is_snapshot = isinstance(element, Fact) and element.snapshot_of
        if element.entity_name == table and not is_snapshot:
            return element, ""
    for dimension in star.dimensions:
        if dimension.dimension_type not in _DERIVED and not dimension.is_generated:
            for source, entity in _entities(dimension).items():
                if entity == table:
                    return dimension, source
    return None, ""
