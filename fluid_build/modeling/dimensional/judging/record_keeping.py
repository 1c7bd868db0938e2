"""What columns say about the record itself: when it was written, and by whom.

A creation date makes an event where nothing else does, but not where it's a habit of the database:
a person whose record has a date and an author is still a person.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from fluid_build.lexicon import loose_terms, terms
from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.dimensional.column_purposes import (
    is_date,
    is_record_stamp,
    names_record_author,
)
from fluid_build.profiling.names.words import singular, words

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


def record_keeping(entities: Collection[Entity]) -> RecordKeeping:
    """Return the columns of a source that are about its records, by what its tables share."""
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


def is_log(entity: Entity) -> bool:
    """Return whether an entity's name says that its records are events themselves."""
    return bool(terms("log") & {singular(word) for word in words(entity.name)})
