"""Who refers to whom: the references of a conceptual model that a star can follow.

A reference counts where its target identifies a row, so that following it neither loses nor doubles
a row. Any other reference is left as a plain column.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from fluid_build.lexicon import loose_terms, terms
from fluid_build.modeling.conceptual import Attribute, ConceptualModel, Entity, Relationship
from fluid_build.modeling.dimensional.column_purposes import (
    event_dates,
    is_calendar,
    is_date,
    is_record_stamp,
    names_record_author,
    tells_rows_apart,
)
from fluid_build.modeling.measures import value_bounds
from fluid_build.modeling.types import column_type, family
from fluid_build.observations.observe import NO_OBSERVATIONS, Observations
from fluid_build.profiling.names.words import singular, words
from fluid_build.profiling.profile import ColumnProfile, Profile, TableProfile

_FEWEST_TABLES = 3
"""Tables that must have a record stamp of one name for it to be a habit of the schema."""
_SHARE_OF_TABLES = 0.25
"""Share of all tables that must have it. Not every table records when it was written."""
_FEWEST_OTHER_TABLES = 5
"""The same for a date of which the name doesn't say that it's about the record."""
_SHARE_OF_OTHER_TABLES = 0.3
_GENERAL = loose_terms("date", "day", "moment", "begin_mark", "end", "until")
"""Words for dates of anything. Tables that have a column of such a name share no habit."""

Column = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RecordKeeping:
    """The columns by which the source habitually keeps records, each with its entity.

    ``stamps`` say when a row was written or changed, ``authors`` who did it.
    """

    stamps: frozenset[Column]
    authors: frozenset[Column]

    def has_author(self, entity: Entity) -> bool:
        """Return whether an entity's rows say who wrote or changed them."""
        return any((entity.name, attribute.name) in self.authors for attribute in entity.attributes)


def _record_keeping(entities: Collection[Entity]) -> RecordKeeping:
    """Return the columns of a source that are about its records, by what its tables share.

    A creation date makes an event where nothing else does, but not where it's a habit of the
    database: a person whose record has a date and an author is still a person.
    """
    tables = Counter(
        name for entity in entities for name in {a.name.casefold() for a in entity.attributes}
    )

    def is_habit(attribute: Attribute, fewest: int, share: float) -> bool:
        return tables[attribute.name.casefold()] >= max(fewest, share * len(entities))

    stamps, authors = set(), set()
    for entity in entities:
        for attribute in entity.attributes:
            if is_record_stamp(attribute) or names_record_author(attribute):
                is_shared = is_habit(attribute, _FEWEST_TABLES, _SHARE_OF_TABLES)
            else:
                is_shared = is_habit(attribute, _FEWEST_OTHER_TABLES, _SHARE_OF_OTHER_TABLES)
            if is_date(attribute) and is_shared and not set(words(attribute.name)) <= _GENERAL:
                stamps.add((entity.name, attribute.name))
            elif names_record_author(attribute) and is_shared:
                authors.add((entity.name, attribute.name))
    return RecordKeeping(frozenset(stamps), frozenset(authors))


_FEWEST_VALUES = 8
"""Rows with a value from which on distinct text isn't chance."""
_DISTINCT_SHARE = 0.9
_SHORTEST, _LONGEST = 4, 40
"""Characters of a name on average; a shorter text is a code, a longer one a remark."""
_LETTERS = 0.8
"""Share of letters among the characters other than spaces; a number or address has fewer."""


def _looks_like_name(column: ColumnProfile) -> bool:
    """Return whether nearly every row has a short text of letters of its own.

    Names of columns are known in some languages only, so the values count, whatever it's called.
    """
    filled = column.rows - column.nulls
    if family(column_type(column)) != "text" or column.semantic_type is not None:
        return False
    if filled < _FEWEST_VALUES or column.distinct < _DISTINCT_SHARE * filled:
        return False
    if not _SHORTEST <= (column.avg_length or 0) <= _LONGEST:
        return False
    text = "".join(value.value for value in column.top_values).replace(" ", "")
    return bool(text) and sum(map(str.isalpha, text)) >= _LETTERS * len(text)


AttributeNames = tuple[str, ...]
_MOSTLY_FILLED = 0.5
"""Share of rows that must have a value for a reference to say what its table is about."""
_ENDS_OF_PAIR = 2


@dataclass(frozen=True, slots=True)
class ReferenceGraph:
    """Entities by name, with what identifies their rows and the references between them.

    ``parents`` are the references of an entity to others, ``loops`` those to itself, ``children``
    those of others to it. ``keys`` holds the natural key, () where there is none. ``unique`` are
    all sets of attributes that identify a row.
    """

    observations: Observations
    entities: Mapping[str, Entity]
    keys: Mapping[str, AttributeNames]
    parents: Mapping[str, tuple[Relationship, ...]]
    loops: Mapping[str, tuple[Relationship, ...]]
    children: Mapping[str, tuple[Relationship, ...]]
    unique: Mapping[str, frozenset[frozenset[str]]]
    relationships: Mapping[str, Relationship]
    record_keeping: RecordKeeping
    has_data: bool
    longest_texts: Mapping[tuple[str, str], int]
    """By entity and attribute, the characters of the longest text."""
    bounds: Mapping[tuple[str, str], tuple[float, float]]
    """By entity and attribute, the least and the greatest number; NaN where they aren't known."""
    names: frozenset[tuple[str, str]]
    """Entities and attributes whose values look like names, whatever the attribute is called."""
    calendars: frozenset[str]
    """Entities with a row for each day."""
    spans: Mapping[tuple[str, str], tuple[date, date]]
    """By entity and attribute, the first and last day of a date; not where they aren't known."""

    def relationship(self, name: str) -> Relationship:
        """Return the reference of that name; raise KeyError if there is none."""
        return self.relationships[name]

    def direct_parents(self, entity: str) -> tuple[Relationship, ...]:
        """Return an entity's references to others, without those that other references imply."""
        return tuple(parent for parent in self.parents[entity] if not parent.implied)

    def is_unique(self, entity: str, attributes: AttributeNames) -> bool:
        """Return whether no two rows of an entity share the values of these attributes."""
        return frozenset(attributes) in self.unique[entity]

    def is_referring(self, entity: str, attribute: str) -> bool:
        """Return whether an attribute is part of a reference, to another entity or the same.

        Who wrote a record counts, though a star doesn't follow that reference.
        """
        references = (*self.parents[entity], *self.loops[entity])
        return (entity, attribute) in self.record_keeping.authors or any(
            attribute in reference.from_attributes for reference in references
        )

    def is_service(self, entity: str) -> bool:
        """Return whether an entity's rows are services that run on weekdays between two dates."""
        services = self.observations.recurring_services
        return bool(self.keys[entity]) and any(service.table == entity for service in services)

    def event_dates(self, entity: Entity) -> tuple[Attribute, ...]:
        """Return the dates that may make an entity an event.

        The date when the record was written does so only where it isn't a habit, in a log, or
        where nobody signs the record and the row or its lines measure something, or it's the only
        content of a row that relates others (a vote).
        """
        dates = event_dates(entity)
        stamps = self.record_keeping.stamps
        events = tuple(
            date
            for date in dates
            if (entity.name, date.name) not in stamps or tells_rows_apart(entity, date)
        )
        if events or terms("log") & {singular(word) for word in words(entity.name)}:
            return events or dates
        lines = (self.entities[child.from_entity] for child in self.children[entity.name])
        measures = any(a.measure for each in (entity, *lines) for a in each.attributes)
        is_event = measures or self.happens_to_pairs(entity)
        return dates if is_event and not self.record_keeping.has_author(entity) else ()

    def happens_to_pairs(self, entity: Entity) -> bool:
        """Return whether an entity's rows have a number, a date and two references, and no more.

        The same pair occurs several times, so that a row says when it happened to the pair.
        """
        references = tuple(filter(is_filled, self.direct_parents(entity.name)))
        ends = tuple(name for reference in references for name in reference.from_attributes)
        key = self.keys[entity.name]
        has_own_number = len(key) == 1 and key[0] not in ends
        if not has_own_number or len({r.to_entity for r in references}) != _ENDS_OF_PAIR:
            return False
        dates = [a for a in entity.attributes if a.name not in {*ends, *key}]
        is_repeated = entity.rows > 0 and not self.is_unique(entity.name, ends)
        return is_repeated and not self.children[entity.name] and [*map(is_date, dates)] == [True]

    def attribute_names(self, entity: str) -> set[str]:
        """Return the names of an entity's attributes."""
        return {attribute.name for attribute in self.entities[entity].attributes}


def reference_graph(
    profile: Profile, conceptual: ConceptualModel, observations: Observations = NO_OBSERVATIONS
) -> ReferenceGraph:
    """Return the references of a profiled source that a star can follow."""
    entities = {entity.name: entity for entity in conceptual.entities}
    kept_records = _record_keeping(conceptual.entities)
    unique = {
        table.name: _unique_sets(table, entities[table.name])
        for table in profile.tables
        if table.name in entities
    }
    leading = tuple(
        reference
        for reference in _usable_references(conceptual, unique)
        if not any(
            (reference.from_entity, name) in kept_records.authors
            for name in reference.from_attributes
        )
    )
    keys = {
        entity.name: _natural_key(entity, leading) or _key_without_rows(entity, profile)
        for entity in conceptual.entities
    }
    usable = tuple(reference for reference in leading if keys[reference.to_entity])
    names = [entity.name for entity in conceptual.entities]
    loops = [r for r in usable if r.from_entity == r.to_entity and not r.implied]
    in_source = {(k.from_table, k.from_columns, k.to_table) for k in profile.foreign_keys}
    # A decision to merge two tables relates them, but none refers to the other by itself.
    between = [
        r
        for r in usable
        if r.from_entity != r.to_entity
        and (r.from_entity, r.from_attributes, r.to_entity) in in_source
    ]
    return ReferenceGraph(
        observations=observations,
        entities=entities,
        keys=keys,
        parents={name: tuple(r for r in between if r.from_entity == name) for name in names},
        loops={name: tuple(r for r in loops if r.from_entity == name) for name in names},
        children={name: tuple(r for r in between if r.to_entity == name) for name in names},
        unique=unique,
        relationships={r.name: r for r in conceptual.relationships},
        record_keeping=kept_records,
        has_data=profile.has_data,
        longest_texts={
            (table.name, column.name): column.max_length or 0
            for table in profile.tables
            for column in table.columns
        },
        names=frozenset(
            (table.name, column.name)
            for table in profile.tables
            for column in table.columns
            if _looks_like_name(column)
        ),
        bounds={
            (table.name, column.name): value_bounds(column)
            for table in profile.tables
            for column in table.columns
        },
        calendars=frozenset(e.name for e in conceptual.entities if is_calendar(e)),
        spans={
            (table.name, column.name): span
            for table in profile.tables
            for column in table.columns
            if (span := _span(column)) is not None
        },
    )


def _span(column: ColumnProfile) -> tuple[date, date] | None:
    """Return the first and last day of a date; None where it's written in another order."""
    if family(column_type(column)) not in {"date", "timestamp"}:
        return None
    try:
        first, last = (date.fromisoformat((end or "")[:10]) for end in (column.min, column.max))
    except ValueError:
        return None
    return first, last


def bridge_ends(graph: ReferenceGraph, entity: str) -> tuple[Relationship, ...]:
    """Return what a bridge relates: what it refers to, apart from the days of a calendar."""
    return tuple(r for r in graph.direct_parents(entity) if r.to_entity not in graph.calendars)


def is_filled(relationship: Relationship) -> bool:
    """Return whether at least half of the child's rows have a value, or no row was seen.

    Of 1,000 customers, ten name another one who recruited them: they aren't about recruiting.
    """
    evidence = relationship.evidence
    rows = evidence.rows + evidence.nulls
    return rows == 0 or evidence.rows >= _MOSTLY_FILLED * rows


def is_mandatory(relationship: Relationship) -> bool:
    """Return whether every child row has its parent: there are neither nulls nor orphans."""
    return relationship.from_participation == "mandatory"


def _unique_sets(table: TableProfile, entity: Entity) -> frozenset[frozenset[str]]:
    """Return the sets of attributes that no two rows share, apart from nulls."""
    candidates = {frozenset(key) for key in table.candidate_keys}
    unviolated = {
        frozenset(key.attributes)
        for key in entity.keys
        if key.holds or (key.kind == "declared" and not key.evidence.violations)
    }
    return frozenset(candidates | unviolated)


def _usable_references(
    conceptual: ConceptualModel, unique: Mapping[str, frozenset[frozenset[str]]]
) -> Iterator[Relationship]:
    """Return each distinct reference to a unique target, those that others imply last."""
    seen: set[tuple[str, str, frozenset[tuple[str, str]]]] = set()
    for reference in sorted(conceptual.relationships, key=lambda reference: reference.implied):
        pairs = frozenset(zip(reference.from_attributes, reference.to_attributes, strict=True))
        ends = (reference.from_entity, reference.to_entity, pairs)
        if ends in seen or frozenset(reference.to_attributes) not in unique[reference.to_entity]:
            continue
        if (
            reference.from_entity == reference.to_entity
            and reference.from_attributes == reference.to_attributes
        ):
            continue
        seen.add(ends)
        yield reference


def _natural_key(entity: Entity, usable: tuple[Relationship, ...]) -> AttributeNames:
    """Return the chosen key where it holds, else the attributes that most others refer to.

    A row with a null in its key would be no member: nothing could find it, and others may equal it.
    """
    primary = entity.primary_key
    if primary is not None and primary.holds:
        return primary.attributes
    targets = [
        r.to_attributes
        for r in usable
        if r.to_entity == entity.name
        and not any(entity.attribute(name).evidence.nulls for name in r.to_attributes)
    ]
    return max(targets, key=targets.count) if targets else ()


def _key_without_rows(entity: Entity, profile: Profile) -> AttributeNames:
    """Return all attributes of an entity without rows, since no two rows of it are equal."""
    if not profile.has_data or entity.rows:
        return ()
    return tuple(attribute.name for attribute in entity.attributes)
