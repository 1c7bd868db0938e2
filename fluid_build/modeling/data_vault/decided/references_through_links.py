"""References to tables that are links, followed through to the hubs at the links' ends.

No link leads to another link. A table that refers to a row of a link table refers to all of that
row's hubs, and its own link leads there. Two tables are seen through:

- a table whose key is made of the keys of several others, such as the parts of each supplier;
- an event whose key has a number of its own, where all that refers to it is a later event with the
  same key, such as the returns of sales. Both carry the number.
"""

from collections import defaultdict
from collections.abc import Iterator, Set
from dataclasses import replace

from fluid_build.modeling.conceptual import Relationship
from fluid_build.modeling.data_vault.column_purposes import is_distinctive, is_naming
from fluid_build.modeling.data_vault.relating import (
    ends,
    outward_references,
    own_key_columns,
    references_in_key,
)
from fluid_build.modeling.data_vault.source_tables import SourceTables


def through_links(
    tables: SourceTables,
    days: Set[str],
    decided_links: Set[str] = frozenset(),
    no_links: Set[str] = frozenset(),
) -> SourceTables:
    """Return the tables with references to hubs in place of those to link tables.

    ``days`` are the calendars, which are no end of a link. Somebody decided that
    ``decided_links`` are links and that ``no_links`` aren't.
    """
    links = {name for name in decided_links if is_seen_through(tables, name)} | {
        name
        for name in tables.entities
        if name not in no_links and _is_link_referred_to(tables, name, days)
    }
    if not links:
        return tables
    references = {
        name: tuple(_distinct(_followed(tables, links, reference) for reference in own))
        for name, own in tables.references.items()
    }
    referrers: dict[str, list[Relationship]] = defaultdict(list)
    for own in references.values():
        for reference in own:
            referrers[reference.to_entity].append(reference)
    return replace(
        tables,
        references=references,
        referrers={name: tuple(referrers[name]) for name in tables.entities},
    )


def is_seen_through(tables: SourceTables, link: str) -> bool:
    """Return whether all that refers to a link can refer to the hubs in its key instead."""
    key, referrers = set(tables.identity(link)), tables.referrers[link]
    by_key = all(set(r.to_attributes) == key and r.from_entity != link for r in referrers)
    return by_key and bool(referrers) and bool(references_in_key(tables, link))


def _is_link_referred_to(tables: SourceTables, table: str, days: Set[str]) -> bool:
    """Return whether a table with referrers is a link all the same.

    (supplier, part) relates the two, though an order's line refers to the pair. A pair with a name
    of its own, such as a class of a course in a term, is a thing.
    """
    key = set(tables.identity(table))
    referrers = tables.referrers[table]
    if not referrers or any(
        set(r.to_attributes) != key or r.from_entity == table for r in referrers
    ):
        return False
    entity = tables.entities[table]
    if any(is_naming(a) and is_distinctive(a) for a in entity.attributes if a.name not in key):
        return False
    in_key = [r for r in references_in_key(tables, table) if r.to_entity not in days]
    if len(ends(in_key)) >= 2 and not own_key_columns(tables, table, in_key):
        return True
    is_referred_to_by_events = all(_is_later_event(tables, r, days) for r in referrers)
    return bool(in_key) and _relates_more(tables, table, days) and is_referred_to_by_events


def _is_later_event(tables: SourceTables, reference: Relationship, days: Set[str]) -> bool:
    """Return whether a referrer has the same key for some of the rows, and relations besides."""
    child, parent = reference.from_entity, reference.to_entity
    is_for_some = tables.entities[child].rows < tables.entities[parent].rows
    has_same_key = set(reference.from_attributes) == set(tables.identity(child))
    return is_for_some and has_same_key and _relates_more(tables, child, days)


def _relates_more(tables: SourceTables, table: str, days: Set[str]) -> bool:
    """Return whether a measured table refers to something outside its key."""
    entity, key = tables.entities[table], set(tables.identity(table))
    outside = [
        r
        for r in outward_references(tables, table)
        if r.to_entity not in days and not key.intersection(r.from_attributes)
    ]
    return bool(outside) and any(a.measure is not None for a in entity.attributes)


def _distinct(groups: Iterator[Iterator[Relationship]]) -> Iterator[Relationship]:
    """Return references in order, each of the same columns to the same key once."""
    known = set()
    for group in groups:
        for reference in group:
            path = (reference.from_attributes, reference.to_entity, reference.to_attributes)
            if path not in known:
                known.add(path)
                yield reference


def _followed(
    tables: SourceTables, links: Set[str], reference: Relationship
) -> Iterator[Relationship]:
    """Return a reference, or where it leads to a link those to the hubs in the link's key."""
    link = reference.to_entity
    if link not in links:
        yield reference
        return
    pairs = dict(zip(reference.to_attributes, reference.from_attributes, strict=True))
    for end in references_in_key(tables, link):
        through = reference.model_copy(
            update={
                "from_attributes": tuple(pairs[column] for column in end.from_attributes),
                "to_entity": end.to_entity,
                "to_attributes": end.to_attributes,
                "role": "",
                "reason": f"{reference.reason.rstrip('.')}, by way of {link}.",
            }
        )
        yield from _followed(tables, links, through)
