"""The names of a star's tables and columns: short, without repeated words, keys in the singular."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from fluid_build.lexicon import ends, loose_terms, terms
from fluid_build.modeling.conceptual import Entity, Relationship
from fluid_build.modeling.identifiers import LONGEST_IDENTIFIER, identifier
from fluid_build.modeling.sql_names import SqlNames, fit, free_identifier, is_reserved
from fluid_build.profiling.names.habits import common_prefix_words
from fluid_build.profiling.names.words import between_key_words, singular, strip_key_words, words

_BUILD_ALIASES = frozenset("built latest members own referred versions".split())
"""Aliases that the SQL of builds and checks uses for its own parts."""
_TYPES = frozenset("date time timestamp interval text year month day key value".split())
"""Words that some engine reads as a type or a function in front of a dot."""
_MOMENTS = loose_terms("date", "day", "moment", "moment_mark", "hour")
"""Words for a date or a time in the languages of Europe, which say nothing about an event."""
_UNTOLD = _MOMENTS | loose_terms(
    "begin_mark",
    "effective",
    "end",
    "from_word",
    "moment_mark",
    "period",
    "start",
    "until",
    "validity",
)
"""Words of days that many tables have: without their table, nobody knows what began or ended."""


@dataclass(frozen=True, slots=True)
class StarNames:
    """The names of a star's parts, made from those of the source."""

    sql: SqlNames

    def stem(self, entity: str) -> str:
        """Return an entity's name without the words that say what kind of table it was."""
        parts = self.sql.stem(entity).strip("_").split("_")
        while len(parts) > 1 and parts[0] in terms("layer", "layer_word"):
            parts = parts[1:]
        while len(parts) > 1 and parts[-1] in terms("layer", "layer_word"):
            parts = parts[:-1]
        return "_".join(parts)

    def member(self, entity: str) -> str:
        """Return what one row of an entity is called: its stem in the singular."""
        *first, last = self.stem(entity).split("_")
        return "_".join((*first, singular(last)))

    def column(self, entity: str, attribute: str) -> str:
        """Return the column that an attribute is in the staging."""
        return self.sql.column(entity, attribute)

    def bare_column(self, entity: Entity, attribute: str) -> str:
        """Return a column without the prefix that all columns of its table share.

        A name that was decided stays as it is.
        """
        name = self.column(entity.name, attribute)
        if entity.attribute(attribute).new_name is not None:
            return name
        # References often begin with "fk" rather than with the table's prefix.
        own = [a.name for a in entity.attributes if words(a.name)[:1] != ("fk",)]
        shared = common_prefix_words(own) if attribute in own else 0
        if not shared or len(words(attribute)) <= shared:
            return name
        return "_".join(name.split("_")[shared:]) or name

    def role(self, relationship: Relationship) -> str:
        """Return what a child calls this parent, as part of a name; "" where it has no word."""
        return identifier(relationship.role) if relationship.role else ""

    def role_by_columns(self, relationship: Relationship, child: Entity) -> str:
        """Return a role that is never empty: by default the referring columns without "key"."""
        if relationship.role:
            return identifier(relationship.role)
        return self.role_of_columns(child, relationship.from_attributes)

    def role_of_columns(self, child: Entity, attributes: Sequence[str]) -> str:
        """Return what the columns of a reference say, without "key"."""
        columns = [
            tuple(self.bare_column(child, attribute).strip("_").split("_"))
            for attribute in attributes
        ]
        parts = [part for column in columns for part in between_key_words(strip_key_words(column))]
        # A number alone says nothing: address_id_2 is called that, and not 2.
        return "_".join(parts if any(map(str.isalpha, parts)) else columns[0])

    def date_role(self, entity: Entity, attribute: str) -> str:
        """Return the role in which a fact refers to the calendar by a date: ``order_date``.

        The word for a date or time is left out first, in whichever language it is.
        """
        parts = self.bare_column(entity, attribute).strip("_").split("_")
        while len(parts) > 1 and _is_empty_word(parts[0]) and parts[1].isalpha():
            parts = parts[1:]
            while len(parts) > 1 and parts[0] in terms("preposition", "article"):
                parts = parts[1:]
        if parts[-1].endswith(ends("date", "day")):
            return "_".join(parts)
        while len(parts) > 1 and _is_empty_word(parts[-1]):
            parts = parts[:-1]
        if parts[-1].endswith(ends("date", "day")):
            return "_".join(parts)
        if parts[-1] in _MOMENTS:
            return "date"
        parts[-1] = parts[-1].removesuffix("time")
        return "_".join(parts if parts[-1].endswith("date") else (*parts, "date"))


def _is_empty_word(word: str) -> bool:
    """Return whether a word of a date's name says nothing: a word for a date, or one letter."""
    return word in _MOMENTS or (len(word) == 1 and word.isalpha())


def is_plain_day(role: str) -> bool:
    """Return whether the role of a day says no more than that it's one: ``date``, ``time``."""
    return set(role.split("_")) <= _MOMENTS


def is_untold_day(role: str) -> bool:
    """Return whether it takes the table to know which day it is: ``date``, ``valid_from_date``."""
    return set(role.split("_")) <= _UNTOLD


def prefixed(prefix: str, name: str) -> str:
    """Return a name with a prefix, without repeating the words that both share."""
    head, tail = prefix.split("_"), name.split("_")
    if f"_{prefix}_" in f"_{name}_":
        return name
    for overlap in range(min(len(head), len(tail)), 0, -1):
        start = [singular(word) for word in tail[:overlap]]
        if [singular(word) for word in head[-overlap:]] == start:
            return fit(*head[:-overlap], *tail) if len(head) > overlap else name
    return fit(prefix, name)


def free_column(name: str, used_names: set[str]) -> str:
    """Return a legal column name that isn't used yet, and add it to the used ones."""
    free = free_identifier(_legal(name), used_names)
    used_names.add(free)
    return free


def free_alias(name: str, used_names: Collection[str]) -> str:
    """Return a legal name for a join that isn't used yet, no type, and not used by the builds."""
    legal = _legal(name)
    if legal in _TYPES:
        legal = f"{legal}_"
    return free_identifier(legal, {*used_names, *_BUILD_ALIASES})


def _legal(name: str) -> str:
    is_plain = len(name) <= LONGEST_IDENTIFIER and not name[0].isdigit()
    plain = name if is_plain else identifier(name)
    return f"{plain}_" if is_reserved(plain) and not name.endswith("_") else plain
