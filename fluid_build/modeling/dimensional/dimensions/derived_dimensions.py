"""Dimensions made of a fact's own columns: its flags, and an address that is written into it.

Each combination of values that occurs is one member, identified by the hash of its values.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fluid_build.decisions.language import Split
from fluid_build.decisions.reasons import decided_reason
from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.dimensional.column_purposes import is_flag, is_numbering, kind
from fluid_build.modeling.dimensional.elements import Dimension, DimensionAttribute, DimensionType
from fluid_build.modeling.dimensional.judging.reference_graph import AttributeNames
from fluid_build.modeling.dimensional.star_layout import StarLayout
from fluid_build.modeling.dimensional.star_names import free_column
from fluid_build.modeling.element import source_columns
from fluid_build.modeling.identifiers import identifier
from fluid_build.modeling.measures import is_category_name
from fluid_build.profiling.names.words import words
from fluid_build.text import counted, listed

_MOST_COMBINATIONS = 10_000
"""Members that a junk dimension may come to: beyond, it's no short list, and flags stay apart."""
_FEWEST_ROWS = 50
"""Rows from which on values that come back together say something."""
_LARGEST_GROUP_SHARE = 0.5
"""Distinct values per row up to which a group of columns is worth its dimension."""
_FEWEST_COLUMNS = 3
"""Columns that make a group: two that share their first word (``start_at``, ``start_by``) don't."""
_OF_AN_ADDRESS = frozenset({"address", "city", "country", "country_code", "postal_code", "region"})


@dataclass(frozen=True, slots=True)
class DerivedDimension:
    """A dimension of an event's own columns, with their names in the source."""

    dimension: Dimension
    attributes: AttributeNames


def derived_dimensions(
    layout: StarLayout, entity: Entity, used_relations: set[str], grain: AttributeNames = ()
) -> tuple[DerivedDimension, ...]:
    """Return the dimensions of an event's own columns, except for those of its grain."""
    available = [
        attribute
        for attribute in entity.attributes
        if attribute.name not in grain and _is_available(layout, entity, attribute)
    ]
    groups = dict(_groups(entity, available))
    derived = [
        _derived_dimension(
            layout, entity, group, f"{prefix}_{_noun(group)}", "standard", used_relations
        )
        for prefix, group in groups.items()
    ]
    grouped = {attribute.name for group in groups.values() for attribute in group}
    flags = _flags([attribute for attribute in available if attribute.name not in grouped])
    if flags:
        stem = f"{layout.names.member(entity.name)}_flags"
        derived.append(_derived_dimension(layout, entity, flags, stem, "junk", used_relations))
    return tuple(derived)


def split_dimensions(
    layout: StarLayout,
    entity: Entity,
    splits: Sequence[Split],
    used_relations: set[str],
    grain: AttributeNames = (),
) -> tuple[DerivedDimension, ...]:
    """Return the dimensions that decisions split off an event, as far as nothing else needs them.

    Columns of its grain, its key and its references stay in the fact, and a column can be split
    off once.
    """
    graph = layout.graph
    used = {*grain, *graph.keys[entity.name]}
    used |= {a.name for a in entity.attributes if graph.is_referring(entity.name, a.name)}
    split_off: list[DerivedDimension] = []
    for split in splits:
        names = {*split.columns, *split.attributes}
        if names & used or not names <= graph.attribute_names(entity.name):
            continue
        used |= names
        group = [attribute for attribute in entity.attributes if attribute.name in names]
        stem = identifier(split.entity).removeprefix("dim_")
        derived = _derived_dimension(layout, entity, group, stem, "standard", used_relations)
        dimension = derived.dimension.model_copy(update={"reason": _reason_of_split(split)})
        split_off.append(DerivedDimension(dimension, derived.attributes))
    return tuple(split_off)


def _reason_of_split(split: Split) -> str:
    verb = "identifies" if len(split.columns) == 1 else "identify"
    columns = listed(split.columns)
    reason = f"{decided_reason(split)} {columns} of {split.table} {verb} its members"
    violations = split.evidence.violations if split.evidence is not None else 0
    if not violations:
        return f"{reason}."
    return (
        f"{reason}: declared and violated in {counted(violations, 'row')}, so each combination of"
        " values is a member."
    )


def _is_available(layout: StarLayout, entity: Entity, attribute: Attribute) -> bool:
    graph = layout.graph
    return (
        attribute.measure is None
        and attribute.name not in graph.keys[entity.name]
        and not graph.is_referring(entity.name, attribute.name)
    )


def _flags(available: list[Attribute]) -> list[Attribute]:
    """Return the flags of an event, as long as their combinations are few; none for a single one.

    A single flag stays in the fact, since its dimension would hold nothing else.
    """
    flags: list[Attribute] = []
    combinations = 1
    for attribute in available:
        values = (attribute.evidence.distinct or 1) + bool(attribute.evidence.nulls)
        if is_flag(attribute) and combinations * values <= _MOST_COMBINATIONS:
            flags.append(attribute)
            combinations *= values
    return flags if len(flags) > 1 else []


def _groups(entity: Entity, available: list[Attribute]) -> Iterator[tuple[str, list[Attribute]]]:
    """Return text columns that share a first word and whose values repeat: ``ship_city``."""
    if entity.rows < _FEWEST_ROWS:
        return
    by_prefix: dict[str, list[Attribute]] = {}
    for attribute in available:
        parts = words(attribute.name)
        if kind(attribute) == "text" and len(parts) > 1 and not _numbers_the_event(attribute):
            by_prefix.setdefault(parts[0], []).append(attribute)
    # One prefix on all columns is the table's own.
    if len(by_prefix) == 1 and len(available) == sum(map(len, by_prefix.values())):
        return
    for prefix, attributes in by_prefix.items():
        group = [attribute for attribute in attributes if attribute.evidence.distinct]
        most = max((attribute.evidence.distinct or 0 for attribute in group), default=0)
        if len(group) >= _FEWEST_COLUMNS and 1 < most <= _LARGEST_GROUP_SHARE * entity.rows:
            yield prefix, group


def _numbers_the_event(attribute: Attribute) -> bool:
    """Return whether a column numbers the event; a postal code or another code doesn't."""
    if attribute.semantic_type in _OF_AN_ADDRESS or is_category_name(attribute.name):
        return False
    return is_numbering(attribute)


def _noun(group: list[Attribute]) -> str:
    return "address" if any(a.semantic_type in _OF_AN_ADDRESS for a in group) else "details"


def _derived_dimension(
    layout: StarLayout,
    entity: Entity,
    group: list[Attribute],
    stem: str,
    dimension_type: DimensionType,
    used_relations: set[str],
) -> DerivedDimension:
    attributes = tuple(attribute.name for attribute in group)
    columns = {name: layout.names.column(entity.name, name) for name in attributes}
    dimension = Dimension(
        name=free_column(f"dim_{stem}", used_relations),
        entity_name=entity.name,
        dimension_type=dimension_type,
        surrogate_key=free_column(f"{stem}_key", set(columns.values())),
        natural_key_columns=tuple(columns.values()),
        attributes=tuple(
            DimensionAttribute(
                name=columns[attribute.name],
                type=attribute.type,
                scd_type=0,
                description=attribute.description,
                attribute=attribute.name,
                mapped_source_tables=(entity.name,),
                source_columns=source_columns(entity.name, (attribute.name,)),
                reason="The combination is the member: different values are a different member.",
            )
            for attribute in group
        ),
        mapped_source_tables=(entity.name,),
        source_columns=source_columns(entity.name, attributes),
        reason=_reason(entity, attributes, dimension_type),
    )
    return DerivedDimension(dimension, attributes)


def _reason(entity: Entity, attributes: AttributeNames, dimension_type: DimensionType) -> str:
    names = ", ".join(attributes)
    if dimension_type == "junk":
        return f"A junk dimension of the flags {names} of {entity.name}: one key instead of them."
    return f"{names} of {entity.name} are named alike, so they're read as one object."
