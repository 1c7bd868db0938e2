"""The names of a star's tables and columns: short, keys in the singular, and free of stutter."""

from collections.abc import Collection
from dataclasses import dataclass

from fluid_build.modeling.conceptual import Entity, Relationship
from fluid_build.modeling.identifiers import identifier
from fluid_build.modeling.sql_names import SqlNames, fit, free_identifier, is_reserved
from fluid_build.profiling.names import common_prefix_words, singular, strip_key_suffix, words

_TECHNICAL = frozenset(
    "dim dimension fact fct lkp lookup ods raw src stage staging stg tbl".split()
)
_BUILD_ALIASES = frozenset("built latest members own referred versions".split())
"""What the builds and checks call their own parts."""
_TYPES = frozenset("date time timestamp interval text year month day key value".split())
_MOMENTS = frozenset("at date datetime day dt on time timestamp tms ts".split())


@dataclass(frozen=True, slots=True)
class StarNames:
    """The names of a model's parts, made from those of the source."""

    sql: SqlNames

    def stem(self, entity: str) -> str:
        """An entity's name without the words that say what kind of table it is."""
        parts = self.sql.table(entity).strip("_").split("_")
        while len(parts) > 1 and parts[0] in _TECHNICAL:
            parts = parts[1:]
        while len(parts) > 1 and parts[-1] in _TECHNICAL:
            parts = parts[:-1]
        return "_".join(parts)

    def member(self, entity: str) -> str:
        """One of what an entity holds: its stem in the singular."""
        *first, last = self.stem(entity).split("_")
        return "_".join((*first, singular(last)))

    def column(self, entity: str, attribute: str) -> str:
        """The column that an attribute of the staging is called."""
        return self.sql.column(entity, attribute)

    def bare_column(self, entity: Entity, attribute: str) -> str:
        """A column without the prefix that all columns of its table share."""
        name = self.column(entity.name, attribute)
        shared = common_prefix_words([one.name for one in entity.attributes])
        if not shared or len(words(attribute)) <= shared:
            return name
        return "_".join(name.split("_")[shared:]) or name

    def role(self, relationship: Relationship) -> str:
        """What a child calls this parent, as part of a name; "" where it has no word for it."""
        return identifier(relationship.role) if relationship.role else ""

    def spoken_role(self, relationship: Relationship, child: Entity) -> str:
        """A role that is never empty: the referring columns without the words that mean key."""
        if relationship.role:
            return identifier(relationship.role)
        columns = [
            tuple(self.bare_column(child, one).strip("_").split("_"))
            for one in relationship.from_attributes
        ]
        named = [part for column in columns for part in strip_key_suffix(column)]
        return "_".join(named or columns[0])

    def moment(self, entity: str, attribute: str) -> str:
        """What a date is called where a fact refers to the calendar by it: ``order_date``."""
        parts = self.column(entity, attribute).strip("_").split("_")
        if parts[-1].endswith(("date", "day", "dt")):
            return "_".join(parts)
        while len(parts) > 1 and parts[-1] in _MOMENTS:
            parts = parts[:-1]
        return "_".join((*parts, "date"))


def prefixed(prefix: str, name: str) -> str:
    """A name under a prefix, without saying what it says already."""
    head, tail = prefix.split("_"), name.split("_")
    if f"_{prefix}_" in f"_{name}_":
        return name
    for overlap in range(min(len(head), len(tail)), 0, -1):
        said = [singular(word) for word in tail[:overlap]]
        if [singular(word) for word in head[-overlap:]] == said:
            return fit(*head[:-overlap], *tail) if len(head) > overlap else name
    return fit(prefix, name)


def free_column(wanted: str, taken: set[str]) -> str:
    """A legal column name that is not taken, and is now."""
    name = free_identifier(_legal(wanted), taken)
    taken.add(name)
    return name


def free_alias(wanted: str, taken: Collection[str]) -> str:
    """A legal name for a join: not taken, no type's name, and none that the builds use."""
    legal = _legal(wanted)
    return free_identifier(f"{legal}_" if legal in _TYPES else legal, {*taken, *_BUILD_ALIASES})


def _legal(name: str) -> str:
    plain = identifier(name) if len(name) > 60 else name
    return f"{plain}_" if is_reserved(plain) and not name.endswith("_") else plain
