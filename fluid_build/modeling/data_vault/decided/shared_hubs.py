"""Tables of different sources that a hub brings together, by the business key that they share."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fluid_build.modeling.conceptual import Entity, Relationship
from fluid_build.modeling.data_vault.business_keys import business_key, may_identify
from fluid_build.modeling.data_vault.key_types import are_written_alike, vault_type
from fluid_build.modeling.data_vault.source_overlaps import SharedHub, ends, is_same_key
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.observations.key_overlaps import KeyOverlap


def with_shared_hubs(tables: SourceTables) -> SourceTables:
    """Return tables with what those of different sources share: business keys, as measured.

    At most one table of each source is part of a hub, the one with the strongest evidence. A table
    that extends another one follows that, and a table that others extend keeps its identity as
    business key.
    """
    eligible = [
        overlap
        for overlap in tables.observations.key_overlaps
        if is_same_key(overlap)
        and all(_may_be_key(tables, table, column) for table, column in ends(overlap))
        and _are_written_alike(tables, overlap)
    ]
    if not eligible:
        return tables
    defaults = {
        table: business_key(tables, tables.entities[table], key, ()).key.attributes
        for overlap in eligible
        for table, _ in ends(overlap)
        if (key := tables.identities[table]) is not None
    }
    groups: list[_Group] = []
    for overlap in sorted(eligible, key=lambda overlap: _rank(overlap, defaults)):
        _add(groups, overlap, tables.entities)
    order = {name: place for place, name in enumerate(tables.entities)}
    shared = (
        SharedHub(
            columns=dict(sorted(group.columns.items(), key=lambda item: order[item[0]])),
            overlaps=tuple(group.overlaps),
        )
        for group in groups
    )
    return replace(tables, shared_hubs=tuple(shared))


@dataclass(slots=True)
class _Group:
    columns: dict[str, str]
    overlaps: list[KeyOverlap]


def _add(groups: list[_Group], overlap: KeyOverlap, entities: Mapping[str, Entity]) -> None:
    """Add an overlap to the groups where it contradicts none of the stronger ones before it."""
    columns_of_ends = dict(ends(overlap))
    touched = [group for group in groups if not columns_of_ends.keys().isdisjoint(group.columns)]
    columns: dict[str, str] = {}
    for each in (*(group.columns for group in touched), columns_of_ends):
        for table, column in each.items():
            if columns.setdefault(table, column) != column:
                return
    sources = [entities[table].source for table in columns]
    if len(set(sources)) < len(sources):
        return
    for group in touched:
        groups.remove(group)
    known = [each for group in touched for each in group.overlaps]
    groups.append(_Group(columns, [*known, overlap]))


def _rank(
    overlap: KeyOverlap, defaults: Mapping[str, tuple[str, ...]]
) -> tuple[bool, bool, bool, float]:
    """Return a sort key: business keys first, then tables of one name, then by shared values."""
    are_default = all(defaults.get(table) == (column,) for table, column in ends(overlap))
    return not overlap.are_tables_alike, not are_default, overlap.is_dense, -overlap.share


def _may_be_key(tables: SourceTables, table: str, column: str) -> bool:
    """Return whether a shared hub may be built on a column: the table's key, or a code."""
    identity, decided = tables.identities[table], tables.decided_keys.get(table)
    if decided is not None and (decided.key.attributes != (column,) or not decided.key.holds):
        return False
    if identity is None or any(_is_extension(tables, each) for each in tables.references[table]):
        return False
    if identity.attributes == (column,):
        return True
    is_extended = any(_is_extension(tables, each) for each in tables.referrers[table])
    return not is_extended and may_identify(tables.entities[table], column)


def _is_extension(tables: SourceTables, reference: Relationship) -> bool:
    """Return whether a table refers to another by its whole key."""
    return set(reference.from_attributes) == set(tables.identity(reference.from_entity))


def _are_written_alike(tables: SourceTables, overlap: KeyOverlap) -> bool:
    left, right = (
        vault_type(tables.entities[table].attribute(column)) for table, column in ends(overlap)
    )
    return are_written_alike([left], [right])
