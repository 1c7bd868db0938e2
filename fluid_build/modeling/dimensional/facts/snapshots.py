"""Periodic snapshots of what the source keeps only as it is now.

An employee's salary, the balance of an account, the stock of a product: the source overwrites
such a level, so nobody can say what it was last month. A snapshot fact records it at each load, one
row for each member and day. It's made for each dimension that has a level, unless a fact of the
source has the history of that level already. Levels add up over members, but not over time.
A column marked personal is no measure, so it's never recorded.

What merely describes a member gets none, such as a price or the population of a town: its versions
are in the dimension.
"""

from collections.abc import Iterator, Mapping, Sequence

from fluid_build.lexicon import terms
from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.dimensional.calendars.calendar import CALENDAR_DAY, GeneratedCalendar
from fluid_build.modeling.dimensional.column_purposes import is_person
from fluid_build.modeling.dimensional.dimensions.references import reference_to_version
from fluid_build.modeling.dimensional.dimensions.scd_types import is_level
from fluid_build.modeling.dimensional.elements import (
    Dimension,
    DimensionReference,
    Fact,
    FactAttribute,
    Measure,
)
from fluid_build.modeling.dimensional.star_layout import StarLayout
from fluid_build.modeling.dimensional.star_names import free_column
from fluid_build.modeling.element import Alternative, source_columns
from fluid_build.modeling.measures.measure_role import semi_additive
from fluid_build.modeling.metric_terms import currency_of, stated_additivity
from fluid_build.profiling.names.words import singular, words
from fluid_build.text import listed

SNAPSHOT_DATE = "snapshot_date"
"""The day of the load, and with ``_key`` the key of that day in the calendar."""
LEVEL = semi_additive("a level adds up over members, but not over time")
"""What each number of a snapshot is, whatever it is in the source."""
_UNKNOWN_HISTORY = Alternative(
    choice="only an attribute of the dimension",
    reason="each row shows one value of it, and a sum over members needs its value at a time",
)


def describe_snapshots(
    layout: StarLayout,
    dimensions: Mapping[str, Dimension],
    facts: Sequence[Fact],
    calendar: GeneratedCalendar,
    used_relations: set[str],
) -> tuple[Fact, ...]:
    """Return the snapshot facts of dimensions with levels; ``dimensions`` are by entity."""
    snapshots = []
    for entity_name, dimension in dimensions.items():
        entity = layout.graph.entities[entity_name]
        levels = [a for a in entity.attributes if _is_recorded(layout, dimension, facts, a)]
        if levels and dimension.dimension_type != "date" and dimension.natural_key_columns:
            name = free_column(f"fct_{layout.names.member(entity_name)}_snapshot", used_relations)
            builder = _Snapshot(layout, dimensions, calendar, entity, dimension)
            snapshots.append(builder.fact(name, levels))
    return tuple(snapshots)


def recorded_attributes(snapshots: Sequence[Fact], dimension: Dimension) -> dict[str, str]:
    """Return the attributes of a dimension whose past is in a snapshot, each with that fact."""
    return {
        measure.column: snapshot.name
        for snapshot in snapshots
        if snapshot.snapshot_of == dimension.name
        for measure in snapshot.measures
    }


def _is_recorded(
    layout: StarLayout, dimension: Dimension, facts: Sequence[Fact], attribute: Attribute
) -> bool:
    graph, entity = layout.graph, dimension.entity_name
    if not is_level(attribute) or attribute.name in graph.keys[entity]:
        return False
    return not graph.is_referring(entity, attribute.name) and not any(
        _has_history(fact, dimension, attribute) for fact in facts
    )


def _has_history(fact: Fact, dimension: Dimension, attribute: Attribute) -> bool:
    """Return whether a dated fact measures the same of the members of a dimension."""
    if fact.dated_by is None or dimension.name not in {r.dimension for r in fact.dimensions}:
        return False
    named = _levels_named(fact.entity_name)
    level = _levels_named(attribute.name)
    return any(level & (named | _levels_named(measure.column)) for measure in fact.measures)


def _levels_named(name: str) -> set[str]:
    """Return the levels that a name speaks of; all words for pay or for a stock are one."""
    parts = {singular(word) for word in words(name)} & terms("level", "pay_level")
    families = {"pay": terms("pay_level"), "stock": terms("stock")}
    return parts | {family for family, names in families.items() if parts & names}


def _retention(entity: Entity) -> str:
    """Return the sentence that a snapshot keeps levels of people, "" if they aren't people."""
    if not is_person(entity):
        return ""
    return " It keeps what a person had on each day, also after the source has erased it."


class _Snapshot:
    """One snapshot fact in the making, with the names that are used in it."""

    def __init__(
        self,
        layout: StarLayout,
        dimensions: Mapping[str, Dimension],
        calendar: GeneratedCalendar,
        entity: Entity,
        dimension: Dimension,
    ) -> None:
        self._layout, self._dimensions, self._calendar = layout, dimensions, calendar
        self._entity, self._dimension = entity, dimension
        self._used_columns = {SNAPSHOT_DATE}

    def fact(self, name: str, levels: Sequence[Attribute]) -> Fact:
        """Return the fact that records the levels of a dimension's members."""
        key = self._layout.graph.keys[self._entity.name]
        member = self._layout.names.member(self._entity.name).replace("_", " ")
        references = tuple(self._references())
        attributes = tuple(self._key_attributes(key))
        return Fact(
            name=name,
            entity_name=self._entity.name,
            description=f"The state of each {member} at each load.",
            fact_type="periodic_snapshot",
            grain=f"One row for each {member} and day of loading: {', '.join(key)}.",
            grain_columns=(*(attribute.name for attribute in attributes), SNAPSHOT_DATE),
            measures=tuple(self._measures(levels)),
            dimensions=references,
            degenerate_dimensions=tuple(attribute.name for attribute in attributes),
            attributes=attributes,
            snapshot_of=self._dimension.name,
            mapped_source_tables=(self._entity.name,),
            source_columns=source_columns(self._entity.name, key),
            reason=(
                f"{self._entity.name} shows {listed([level.name for level in levels])} without a"
                f" date, so each load records it.{_retention(self._entity)}"
            ),
            alternatives=(_UNKNOWN_HISTORY,),
        )

    def _references(self) -> Iterator[DimensionReference]:
        layout, dimension = self._layout, self._dimension
        yield DimensionReference(
            dimension=dimension.name,
            columns=layout.graph.keys[self._entity.name],
            key=free_column(dimension.surrogate_key, self._used_columns),
            to_columns=dimension.natural_key_columns,
            reason="The version of the member at the load.",
        )
        for parent in layout.graph.direct_parents(self._entity.name):
            is_dimension = layout.roles[parent.to_entity].kind in {"dimension", "part"}
            if is_dimension and layout.whole(parent.to_entity) in self._dimensions:
                yield reference_to_version(layout, self._dimensions, parent, self._used_columns)
        yield DimensionReference(
            dimension=self._calendar.name,
            role=SNAPSHOT_DATE,
            columns=(),
            key=free_column(f"{SNAPSHOT_DATE}_key", self._used_columns),
            to_columns=(CALENDAR_DAY,),
            reason="The day of the load.",
        )

    def _key_attributes(self, key: Sequence[str]) -> Iterator[FactAttribute]:
        for name in key:
            attribute = self._entity.attribute(name)
            yield FactAttribute(
                name=self._free_name(name),
                type=attribute.type,
                attribute=name,
                description=attribute.description,
                mapped_source_tables=(self._entity.name,),
                source_columns=source_columns(self._entity.name, (name,)),
                reason="It identifies the member: a degenerate dimension.",
            )

    def _measures(self, levels: Sequence[Attribute]) -> Iterator[Measure]:
        for level in levels:
            within = currency_of(self._entity, level)
            yield Measure(
                name=self._free_name(level.name),
                column=level.name,
                aggregation="avg",
                additivity="semi-additive",
                within=within,
                description=level.description,
                mapped_source_tables=(self._entity.name,),
                source_columns=source_columns(self._entity.name, (level.name,)),
                reason=stated_additivity(LEVEL, within),
            )

    def _free_name(self, attribute: str) -> str:
        column = self._layout.names.column(self._entity.name, attribute)
        return free_column(column, self._used_columns)
