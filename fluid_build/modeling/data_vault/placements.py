"""Where each table goes in a vault: hub, link, satellite of another table's hub, or code list.

It follows from what identifies a row, from who refers to it, and from what becomes of it.

- A *hub* lists what a business identifies. Rows that other tables refer to are identified by that.
  Of the others, those are that have a name or a number that people know, or a life of their own: a
  status, or dates that are filled in as things go on. So are orders, contracts and whatever else
  a business numbers as a matter of course.
- A *link* says which hubs belong together: a key made of several other keys, or nothing but
  references. A number of its own that nobody refers to doesn't make it a hub. It's a dependent
  child key of the link, which tells apart rows between the same hubs.
- A *transactional link* is a link for what happens once and then stays as it was. Its rows are
  measured or dated, but not valid until a day that is set later. It may have a single end: the
  payments of an invoice, the headcounts of a department.
- A *satellite* describes a hub: a table with another's whole key, or, as a multi-active one, a
  table with several rows that describe a row of a single other table at the same time, such as
  phones. Texts in several languages are satellites of what they're about.
- A *reference table* explains codes or days. Columns refer to it, but no link does.
- Rows that no key identifies are a transactional link too, if they refer to hubs: all of their
  values identify them. If they refer to nothing, they're stored as they are, and counted.

A table whose key is made of several other keys is a link even where others refer to it: they are
then related to its hubs, because no link leads to another link.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

from fluid_build.modeling.conceptual import Entity, Relationship
from fluid_build.modeling.data_vault.column_purposes import (
    is_date,
    is_period,
    is_technical,
    is_valid_from,
)
from fluid_build.modeling.data_vault.entity_evidence import (
    count_descriptive,
    ends_later,
    entity_evidence,
    happens_to_one,
    identifies_others,
    is_event,
    is_measured,
    is_snapshot,
    naming_columns,
    numbers_its_rows,
)
from fluid_build.modeling.data_vault.reference_lists import calendars, code_lists
from fluid_build.modeling.data_vault.relating import (
    ends,
    language_part,
    name_parents,
    outward_references,
    own_key_columns,
    references_in_key,
    subject,
)
from fluid_build.modeling.data_vault.source_overlaps import describe_shared
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.data_vault.subtypes import (
    only_relates,
    relating_reason,
    subtype_reason,
    supertypes,
)
from fluid_build.modeling.data_vault.table_names import is_event_name, is_line_name
from fluid_build.modeling.element import Alternative
from fluid_build.profiling.profile import Profile
from fluid_build.text import counted

PlacementKind = Literal[
    "hub", "subtype", "link", "transaction", "multi-active", "reference", "keyless"
]
_MOST_DESCRIPTIVE = 2
"""Columns that describe a relationship. With more, the table is about something of its own."""
_MOST_ENDS_OF_ENTITY = 3
"""References that every row has, from which on a table without names relates the others."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a table goes in the vault, and why; ``alternatives`` are the places that lost.

    ``parent`` is the reference that the table's key is made of. A subtype and a multi-active
    satellite have one; both belong to the parent's hub.
    """

    kind: PlacementKind
    reason: str
    parent: Relationship | None = None
    alternatives: tuple[Alternative, ...] = ()

    @property
    def has_hub(self) -> bool:
        """Whether the table's rows are instances of a hub, its own or a supertype's."""
        return self.kind in {"hub", "subtype"}


NOTHING_DECIDED: Mapping[str, Placement] = {}


def placements(
    profile: Profile, tables: SourceTables, decided: Mapping[str, Placement] = NOTHING_DECIDED
) -> dict[str, Placement]:
    """Return where every table goes; those in ``decided`` go where somebody decided.

    What needs no look at the other tables' placements comes first: keyless tables, calendars and
    tables of mere references. Code lists come before subtypes and hubs, which don't link to them.
    """
    placed: dict[str, Placement] = {
        name: Placement("reference", reason) for name, reason in calendars(tables).items()
    }
    placed |= decided
    days = {name for name, placement in placed.items() if placement.kind == "reference"}
    for name, entity in tables.entities.items():
        if name in decided:
            continue
        if not tables.identities[name]:
            placed[name] = Placement("keyless", f"No key identifies a row: {_no_key(entity)}.")
        elif name not in placed and _has_only_references(tables, entity, days):
            parents = name_parents(tables.references[name])
            placed[name] = Placement("link", f"The table holds only references, to {parents}.")
    links = {name for name, placement in placed.items() if placement.kind == "link"}
    codes = code_lists(profile, tables, links)
    for name, reason in codes.items():
        if not _is_entity_elsewhere(tables, name, codes.keys()):
            placed.setdefault(name, Placement("reference", reason))
    lists = {name for name, placement in placed.items() if placement.kind == "reference"}
    for name in links - decided.keys():
        if not _has_only_references(tables, tables.entities[name], lists):
            del placed[name]
    for shared in tables.shared_hubs:
        reason = f"Sources share its key: {'; '.join(map(describe_shared, shared.overlaps))}."
        for name in shared.columns:
            placed.setdefault(name, Placement("hub", reason))
    hubs = {name for name, placement in decided.items() if placement.kind == "hub"}
    for name, relationship in supertypes(tables, set(placed), hubs).items():
        placed[name] = Placement("subtype", subtype_reason(relationship), relationship)
    without_hub = {name for name, placement in decided.items() if not placement.has_hub}
    lists = {name for name, placement in placed.items() if placement.kind == "reference"}
    lists |= without_hub
    by_key = {
        name: placed.get(name) or _placement_by_key(tables, entity, lists)
        for name, entity in tables.entities.items()
    }
    return {
        name: decided[name] if name in decided else _final(tables, by_key, name)
        for name in tables.entities
    }


def _final(tables: SourceTables, placed: Mapping[str, Placement], table: str) -> Placement:
    """Return the placement of a table, seen with where the tables that it refers to are placed."""
    placement = _unless_derived(tables, placed[table], table)
    references = [
        r for r in tables.references[table] if placed[r.to_entity].kind in {"hub", "subtype"}
    ]
    if placement.kind != "keyless" or not references:
        return placement
    parents = name_parents(references)
    if tables.identities[table]:
        return replace(
            placement, kind="transaction", reason=f"{placement.reason} They link {parents}."
        )
    reason = (
        f"{placement.reason} Its rows link {parents}; each is identified by all of its values, and"
        " counted."
    )
    alternative = Alternative(choice="a table stored by itself", reason="no key identifies a row")
    happens_once = is_event(tables.entities[table]) or is_event_name(tables, table)
    kind: PlacementKind = "transaction" if happens_once else "link"
    return Placement(kind, reason, alternatives=(alternative,))


def _unless_derived(tables: SourceTables, placement: Placement, table: str) -> Placement:
    """Return the placement of a table; one that only holds totals of another is no hub.

    ``sales_by_month`` has a key of its own, but its rows are computed from the sales.
    """
    totals = next(
        (a for a in tables.observations.aggregates if a.table == table and a.is_exact), None
    )
    if totals is None or tables.referrers[table]:
        return placement
    note = f"Its rows are totals of {totals.summed}, which a business vault computes."
    alternative = Alternative(
        choice="left to the business vault", reason=f"{totals.detail} gives the same figures"
    )
    kind: PlacementKind = "keyless" if placement.kind == "hub" else placement.kind
    reason = note if placement.kind == "hub" else f"{placement.reason} {note}"
    return replace(
        placement, kind=kind, reason=reason, alternatives=(*placement.alternatives, alternative)
    )


def _is_entity_elsewhere(tables: SourceTables, name: str, codes: Set[str]) -> bool:
    """Return whether another source has more to say of the keys of what looks like a code list.

    Forty shops with a name here are shops with an address, a manager and sales over there.
    """
    shared = tables.shared_hub(name)
    return shared is not None and not shared.columns.keys() <= codes


def _has_only_references(tables: SourceTables, entity: Entity, days: Set[str]) -> bool:
    """Return whether a table has only references to several others, flags and technical columns.

    Such a table is a link even if a part of its references is unique: with few rows, the data may
    show a smaller key than the table was meant to have. A number of its own changes nothing.
    """
    references = [r for r in outward_references(tables, entity.name) if r.to_entity not in days]
    if tables.referrers[entity.name] or len(ends(references)) < 2:
        return False
    referring = {c for r in tables.references[entity.name] for c in r.from_attributes}
    key = set(tables.identity(entity.name))
    if not key <= referring and (len(key) > 1 or key & referring):
        return False
    if not key <= referring and not all(
        tables.is_complete(entity.name, r.from_attributes) for r in references
    ):
        return False
    return all(
        a.name in referring | key or is_technical(a) or a.type == "boolean"
        for a in entity.attributes
    )


def _no_key(entity: Entity) -> str:
    if not entity.rows:
        return "the table has no rows, and no key is declared"
    broken = next((key for key in entity.keys if not key.holds and key.kind != "candidate"), None)
    if broken is None:
        return "none was found in its columns"
    evidence = broken.evidence
    return (
        f"its key ({', '.join(broken.attributes)}) is violated by"
        f" {counted(evidence.violations, 'row')} and null in {evidence.nulls:,}"
    )


def _placement_by_key(tables: SourceTables, entity: Entity, lists: Set[str]) -> Placement:
    """Return the placement of a table whose key isn't just another table's key."""
    name = entity.name
    if name in tables.homes:
        return Placement("hub", "A hub lists keys whether or not a table of the source does.")
    references = [r for r in outward_references(tables, name) if r.to_entity not in lists]
    users = dict.fromkeys(r.from_entity for r in tables.referrers[name] if r.from_entity != name)
    if users:
        reason = f"The table has its own key, and {subject(users, 'refers', 'refer')} to it."
        return Placement("hub", reason)
    if any(r.to_entity == name for r in references):
        return Placement("hub", "The table has its own key and refers to itself.")
    if any(r.to_entity not in lists for r in references_in_key(tables, name)):
        return _placement_by_references_in_key(tables, entity, references, lists)
    return _placement_by_own_key(tables, entity, references)


def _placement_by_references_in_key(
    tables: SourceTables, entity: Entity, references: Sequence[Relationship], lists: Set[str]
) -> Placement:
    """Return the placement of a table that nothing refers to, and whose key refers to others.

    (order, product) is a link, (order, line) with a product too, (customer, number) of one phone
    among several a multi-active satellite, and (store, day) with figures a transactional link.
    """
    name = entity.name
    in_key = [r for r in references_in_key(tables, name) if r.to_entity not in lists]
    own_columns = own_key_columns(tables, name, in_key)
    described = language_part(tables, name)
    if described is not None and described.to_entity not in lists:
        reason = f"Its texts describe rows of {described.to_entity}, in one language each."
        return Placement("multi-active", reason, described)
    if len(ends(in_key)) >= 2 and not own_columns:
        return Placement("link", f"Its key consists of the keys of {name_parents(in_key)}.")
    related = ends([*in_key, *references])
    if not own_columns and only_relates(tables, name, lists):
        return Placement(_link_kind(entity), relating_reason(tables, name))
    if not own_columns:
        parents = name_parents(in_key)
        reason = f"Its key refers to {parents}, but to columns other than the primary key there."
        return Placement("hub", reason)
    if len(related) == 1 and numbers_its_rows(entity, own_columns):
        names = naming_columns(tables, entity)
        if names:
            return Placement("hub", f"The table has its own key, and {names[0]} names its rows.")
    distinguishing = subject(own_columns, "distinguishes", "distinguish")
    if len(related) == 1 and identifies_others(tables, entity, own_columns):
        identifying = subject(own_columns, "identifies", "identify")
        reason = f"Its rows link {name_parents(in_key)} with what {identifying}."
        return Placement(_link_kind(entity), reason)
    if len(related) == 1:
        return _several_of_one(tables, entity, in_key[0], f"{distinguishing} them")
    reason = f"Its rows link {name_parents(related)}; {distinguishing} them."
    key = tables.identity(name)
    is_dated = any(
        is_date(column) and not is_valid_from(column) for column in map(entity.attribute, key)
    )
    is_dated |= any(r.to_entity in lists for r in references_in_key(tables, name))
    is_listed_snapshot = is_dated and any(a.measure is not None for a in entity.attributes)
    happens_once = is_dated and not (is_period(entity.attributes) or ends_later(tables, entity))
    stays = is_listed_snapshot or happens_once or is_snapshot(entity, key) or is_measured(entity)
    return Placement("transaction" if stays else "link", reason)


def _several_of_one(
    tables: SourceTables, entity: Entity, parent: Relationship, distinguishing: str
) -> Placement:
    """Return the placement of a table of which several rows belong to one row of its parent.

    What happened is a link as it would be with a second parent; what describes the parent at the
    same time is a satellite with several rows.
    """
    reason = f"Several rows belong to one row of {parent.to_entity}; {distinguishing}."
    if happens_to_one(entity, tables.identity(entity.name)):
        as_satellite = Alternative(
            choice="a multi-active satellite",
            reason=f"all rows of one {parent.to_entity} would be loaded again with each new one",
        )
        return Placement("transaction", reason, alternatives=(as_satellite,))
    return Placement("multi-active", reason, parent)


def _placement_by_own_key(
    tables: SourceTables, entity: Entity, references: Sequence[Relationship]
) -> Placement:
    """Return the placement of a table that nothing refers to, and whose key is its own.

    A payment (id, order, customer, amount) happens once between hubs; a review (id, product, text)
    is one of several of a product; an employee's contract with a status is a thing of its own.
    """
    name = entity.name
    related = ends(references)
    complete = [r for r in related if tables.is_complete(name, r.from_attributes)]
    is_composite = len(tables.identity(name)) > 1 and len(related) > 1
    if not complete and not is_composite:
        evidence = entity_evidence(tables, entity)
        return Placement(
            "hub", f"The table has its own key{f', and {evidence}' if evidence else ''}."
        )
    parents = [reference.to_entity for reference in related]
    if not is_line_name(tables, name, parents) and (evidence := entity_evidence(tables, entity)):
        reason = f"The table has its own key, and {evidence}."
        return Placement("hub", reason, alternatives=_relation_instead(related))
    key = ", ".join(tables.identity(name))
    as_hub = Alternative(choice="a hub", reason=f"{key} identifies its rows")
    if len(related) == 1:
        if not is_event(entity) and count_descriptive(tables, entity) > _MOST_DESCRIPTIVE:
            return Placement("hub", "The table has its own key and several descriptive columns.")
        distinguishing = f"nothing refers to {key}, which distinguishes them"
        placement = _several_of_one(tables, entity, complete[0], distinguishing)
        return replace(placement, alternatives=(as_hub, *placement.alternatives))
    if is_event(entity):
        reason = (
            f"Each row is an event that links {name_parents(related)}; nothing refers to {key}."
        )
        return Placement("transaction", reason, alternatives=(as_hub,))
    is_described = count_descriptive(tables, entity) > _MOST_DESCRIPTIVE
    if is_described and len(complete) < _MOST_ENDS_OF_ENTITY:
        return Placement("hub", "The table has its own key and several descriptive columns.")
    reason = f"Its rows link {name_parents(related)}; nothing refers to {key}."
    return Placement("link", reason, alternatives=(as_hub,))


def _relation_instead(related: Sequence[Relationship]) -> tuple[Alternative, ...]:
    """Return what a hub that nothing refers to could have been: a link, if it has two ends."""
    if len(related) < 2:
        return ()
    return (Alternative(choice="a link", reason=f"its rows link {name_parents(related)}"),)


def _link_kind(entity: Entity) -> PlacementKind:
    """Return the kind of a link: transactional where its rows are events."""
    return "transaction" if is_event(entity) else "link"
