"""Dimensions made of a fact's own columns: the flags of an event, and an address written into it.

Each combination of values that occurs is one member, named by the hash of its values.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.dimensional.column_purposes import is_flag, is_numbering, kind
from fluid_build.modeling.dimensional.dimensions import StarLayout
from fluid_build.modeling.dimensional.elements import Dimension, DimensionAttribute, DimensionType
from fluid_build.modeling.dimensional.reference_graph import Names
from fluid_build.modeling.dimensional.star_names import free_column
from fluid_build.modeling.element import SourceColumn
from fluid_build.modeling.measures import is_code
from fluid_build.profiling.names import words

_MOST_COMBINATIONS = 10_000
_FEWEST_ROWS = 50
_REPEATED = 0.5
_FEWEST_COLUMNS = 3
_OF_AN_ADDRESS = frozenset({"address", "city", "country", "country_code", "postal_code", "region"})


@dataclass(frozen=True, slots=True)
class Derived:
    """A dimension of an event's own columns, with their names in the source."""

    dimension: Dimension
    attributes: Names


def derived_dimensions(layout: StarLayout, entity: Entity, taken: set[str]) -> tuple[Derived, ...]:
    """The dimensions of an event's own columns; ``taken`` are the names of relations so far."""
    free = [one for one in entity.attributes if _is_free(layout, entity, one)]
    groups = dict(_groups(entity, free))
    grouped = {one.name for group in groups.values() for one in group}
    found = [
        _dimension(layout, entity, group, f"{prefix}_{_noun(group)}", "standard", taken)
        for prefix, group in groups.items()
    ]
    flags = _flags([one for one in free if one.name not in grouped])
    if flags:
        name = f"{layout.names.member(entity.name)}_flags"
        found.append(_dimension(layout, entity, flags, name, "junk", taken))
    return tuple(found)


def _is_free(layout: StarLayout, entity: Entity, one: Attribute) -> bool:
    graph = layout.graph
    key = graph.keys[entity.name]
    return (
        one.measure is None
        and one.name not in key
        and not graph.is_referring(entity.name, one.name)
    )


def _flags(free: list[Attribute]) -> list[Attribute]:
    """The flags of an event, where there are several, as many as stay a short list together."""
    found: list[Attribute] = []
    combinations = 1
    for one in free:
        values = (one.evidence.distinct or 1) + bool(one.evidence.nulls)
        if is_flag(one) and combinations * values <= _MOST_COMBINATIONS:
            found.append(one)
            combinations *= values
    return found if len(found) > 1 else []


def _groups(entity: Entity, free: list[Attribute]) -> Iterator[tuple[str, list[Attribute]]]:
    """Columns of text under one first word whose values come again and again."""
    if entity.rows < _FEWEST_ROWS:
        return
    by_prefix: dict[str, list[Attribute]] = {}
    for one in free:
        parts = words(one.name)
        if kind(one) == "text" and len(parts) > 1 and not _numbers_the_event(one):
            by_prefix.setdefault(parts[0], []).append(one)
    if len(by_prefix) == 1 and len(free) == sum(map(len, by_prefix.values())):
        return
    for prefix, found in by_prefix.items():
        group = [one for one in found if one.evidence.distinct]
        most = max((one.evidence.distinct or 0 for one in group), default=0)
        if len(group) >= _FEWEST_COLUMNS and 1 < most <= _REPEATED * entity.rows:
            yield prefix, group


def _numbers_the_event(one: Attribute) -> bool:
    """Whether a column numbers the event, other than by a code of a place."""
    if one.semantic_type in _OF_AN_ADDRESS or is_code(one.name):
        return False
    return is_numbering(one)


def _noun(group: list[Attribute]) -> str:
    return "address" if any(one.semantic_type in _OF_AN_ADDRESS for one in group) else "details"


def _dimension(
    layout: StarLayout,
    entity: Entity,
    group: list[Attribute],
    stem: str,
    type_: DimensionType,
    taken: set[str],
) -> Derived:
    names = layout.names
    columns = {one.name: names.column(entity.name, one.name) for one in group}
    own = set(columns.values())
    key = free_column(f"{stem}_key", own)
    listed = ", ".join(columns)
    reason = (
        f"The flags {listed} of {entity.name}: together a short list, and no dimension each."
        if type_ == "junk"
        else f"{listed} of {entity.name} come again and again together: they describe one thing."
    )
    dimension = Dimension(
        name=free_column(f"dim_{stem}", taken),
        entity_name=entity.name,
        dimension_type=type_,
        surrogate_key=key,
        natural_key_columns=tuple(columns.values()),
        attributes=tuple(
            DimensionAttribute(
                name=columns[one.name],
                type=one.type,
                scd_type=0,
                description=one.description,
                attribute=one.name,
                mapped_source_tables=(entity.name,),
                source_columns=(SourceColumn(table=entity.name, column=one.name),),
                reason="A combination of values never changes: another one is another member.",
            )
            for one in group
        ),
        mapped_source_tables=(entity.name,),
        source_columns=tuple(SourceColumn(table=entity.name, column=name) for name in columns),
        reason=reason,
    )
    return Derived(dimension, tuple(columns))
