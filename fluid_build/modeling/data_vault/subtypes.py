"""Which tables share another table's hub, because their keys are keys of the same things.

The inclusion of keys decides. Where a table's whole key is included in another's, its rows extend
rows of that table, and it becomes a satellite of that table's hub. Where only a part of it is, the
two are kinds of different things whose numbers overlap, and each has a hub: the keys that don't
fit would be stubs in the other's hub, about which nothing is known.

Two tables whose keys have no value in common may still list one kind of thing: where a column
refers to either of them, they share a hub.

With few rows, a table that relates two others may have each row of one just once. Its key looks
like that of a subtype, but nobody declared it, and the table's name or contents say that it's a
relationship.
"""

from collections.abc import Iterator, Mapping, Set
from functools import partial

from fluid_build.modeling.conceptual import Relationship
from fluid_build.modeling.data_vault.column_purposes import (
    is_bookkeeping,
    is_distinctive,
    is_event_date,
    is_naming,
    is_technical,
)
from fluid_build.modeling.data_vault.key_types import are_written_alike, vault_type
from fluid_build.modeling.data_vault.relating import ends, name_parents, outward_references, subject
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.data_vault.table_names import (
    is_line_name,
    is_named_for_all,
    lists_languages,
)
from fluid_build.modeling.identifiers import identifier
from fluid_build.profiling.profile import ForeignKeyEvidence
from fluid_build.text import counted

OTHER_KIND = "same kind: "
"""How the names of references begin that no row has; no name of a real one has a blank."""
_MOST_STRAY = 0.05
"""Share of a subtype's keys that its supertype may lack: more isn't a few lost rows any more."""
_MOST_OF_RELATIONSHIP = 2
"""Columns that a relationship may have of its own; what has more says something of its parent."""


def supertypes(
    tables: SourceTables, placed: Set[str], hubs: Set[str] = frozenset()
) -> dict[str, Relationship]:
    """Return the tables whose whole key is another table's key, each with that reference.

    Neither of the two is in ``placed``, but the other may be in ``hubs``. Where such tables refer
    to each other in a circle, the one with the most rows gets the hub.
    """
    by_table: dict[str, Relationship] = {}
    for name in tables.entities:
        candidates = [
            reference
            for reference in tables.references[name]
            if extends(tables, reference)
            and name not in placed
            and reference.to_entity not in placed - hubs
        ]
        if candidates and not only_relates(tables, name, placed):
            by_table[name] = min(candidates, key=partial(_rank_as_supertype, tables))
    for reference in _alternatives(tables):
        child, parent = reference.from_entity, reference.to_entity
        is_free = {child, parent}.isdisjoint({*placed, *by_table})
        if is_free and extends(tables, reference):
            by_table[child] = reference
    for name in tables.entities:
        circle = _circle(by_table, name)
        if circle:
            del by_table[max(circle, key=lambda table: tables.entities[table].rows)]
    return by_table


def only_relates(tables: SourceTables, table: str, lists: Set[str]) -> bool:
    """Return whether a table relates others, though its measured key is a reference to just one.

    ``lists`` are the tables that are no end of a link.
    """
    identity, entity = tables.identities[table], tables.entities[table]
    references = [
        r
        for r in outward_references(tables, table)
        if r.to_entity not in lists and not lists_languages(tables, r.to_entity)
    ]
    related = [r for r in ends(references) if tables.is_complete(table, r.from_attributes)]
    is_declared = identity is not None and identity.origin == "declared"
    if is_declared or tables.referrers[table] or len(related) < 2:
        return False
    parents = [r.to_entity for r in related]
    if is_named_for_all(tables, table, parents) or is_line_name(tables, table, parents):
        return True
    referring = {column for r in references for column in r.from_attributes}
    own = [
        a
        for a in entity.attributes
        if a.name not in referring and not is_technical(a) and not is_bookkeeping(a)
    ]
    # Where each row has a name besides, an opening day dates a thing and no relationship.
    has_names = any(is_naming(a) and is_distinctive(a) for a in own)
    happens = any(map(is_event_date, own)) and not has_names
    return happens or len(own) <= _MOST_OF_RELATIONSHIP


def subtype_reason(reference: Relationship) -> str:
    """Return why a table is a subtype of the one that this reference leads to."""
    if is_other_kind(reference):
        return f"A kind of what {reference.to_entity} lists too: {reference.reason}"
    return (
        f"A subtype of {reference.to_entity}: its key is the key of {reference.to_entity}, so each"
        f" row extends a row of {reference.to_entity}."
    )


def _alternatives(tables: SourceTables) -> Iterator[Relationship]:
    """Return for each two tables that one column refers to a reference from second to first."""
    for split in tables.observations.split_references:
        if not {split.first_table, split.second_table} <= tables.entities.keys():
            continue
        yield Relationship(
            name=f"{OTHER_KIND}{identifier(split.second_table)}",
            from_entity=split.second_table,
            from_attributes=(split.second_column,),
            to_entity=split.first_table,
            to_attributes=(split.first_column,),
            cardinality="one-to-one",
            from_participation="optional",
            to_participation="optional",
            origin="measured",
            confidence=1.0,
            evidence=ForeignKeyEvidence(origin="measured", rows=0),
            mapped_source_tables=(split.second_table, split.first_table),
            reason=f"{split.table}.{split.column} refers to {split.first_table} in"
            f" {counted(split.first_rows, 'row')} and to {split.second_table} in"
            f" {split.second_rows:,}, and no key is in both.",
        )


def relating_reason(tables: SourceTables, table: str) -> str:
    """Return why a table that looks like a subtype relates others."""
    references = ends(outward_references(tables, table))
    columns = subject(tables.identity(table), "is", "are")
    rows = counted(tables.entities[table].rows, "row")
    return (
        f"Its rows link {name_parents(references)}; {columns} unique in its {rows}, but not"
        " declared as a key."
    )


def is_other_kind(reference: Relationship) -> bool:
    """Return whether a reference only says that two tables' keys are of one kind."""
    return reference.name.startswith(OTHER_KIND)


def strays(reference: Relationship) -> bool:
    """Return whether too many of a reference's keys aren't keys of the table it leads to.

    Numbers 1 to 900 of drivers and 1 to 800 of cars overlap; a driver isn't a kind of car.
    """
    evidence = reference.evidence
    if reference.origin == "declared" or not evidence.rows:
        return False
    return evidence.orphans > max(1, _MOST_STRAY * evidence.rows)


def _rank_as_supertype(tables: SourceTables, reference: Relationship) -> tuple[bool, int]:
    """Return a sort key by which declared references come first, then those to larger tables."""
    return reference.origin != "declared", -tables.entities[reference.to_entity].rows


def extends(tables: SourceTables, reference: Relationship) -> bool:
    """Return whether a reference is made of a table's whole key and leads to another's."""
    child, parent = reference.from_entity, reference.to_entity
    if child == parent or set(reference.from_attributes) != set(tables.identity(child)):
        return False
    if set(reference.to_attributes) != set(tables.identity(parent)) or strays(reference):
        return False
    child_entity, parent_entity = tables.entities[child], tables.entities[parent]
    return are_written_alike(
        [vault_type(child_entity.attribute(column)) for column in reference.from_attributes],
        [vault_type(parent_entity.attribute(column)) for column in reference.to_attributes],
    )


def _circle(by_table: Mapping[str, Relationship], start: str) -> list[str]:
    """Return the tables of the circle that ``start`` is part of; none where its chain ends."""
    path = [start]
    while path[-1] in by_table:
        supertype = by_table[path[-1]].to_entity
        if supertype == start:
            return path
        if supertype in path:
            return []
        path.append(supertype)
    return []
