"""The SQL names of a model's tables and columns: legal on every target without quotes.

They are ``identifiers`` that avoid the words that some target reserves and the columns that builds
add. Reserved words: the keyword lists of DuckDB, PostgreSQL, Snowflake, BigQuery and Databricks
(ANSI mode).
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fluid_build.modeling.conceptual import Attribute, ConceptualModel, Entity
from fluid_build.modeling.identifiers import LONGEST_IDENTIFIER, identifier, identifiers
from fluid_build.text import free_name

TECHNICAL = frozenset(
    """
    broken_rule hash_diff is_current is_deleted load_date multiplicity record_source row_hash
    valid_from valid_to
    """.split()
)
"""Columns that builds add; a source column of such a name gets a final underscore."""

RESERVED = frozenset(
    """
    account all alter analyse analyze and anti any array as asc assert_rows_modified asymmetric
    at authorization begin between binary both by case cast check cluster collate collation
    column concurrently connect connection constraint contains create cross cube current
    current_catalog current_date current_role current_schema current_time current_timestamp
    current_user database default deferrable define delete desc describe distinct do drop else
    end enum escape except exclude exists external extract false fetch filter following for
    foreign freeze from full function gscluster grant group grouping groups hash having if
    ignore ilike in increment initially inner insert intersect interval into is isnull issue
    join lambda lateral leading left like limit localtime localtimestamp lookup macro map merge
    minus model natural new no not notnull null nulls of offset on only or order organization
    outer over overlaps partition percent pivot pivot_longer pivot_wider placing preceding
    primary proto qualify raise range recursive references regexp respect returning revoke right
    rlike rollup row rows sample schema select semi session_user set show similar some source
    start struct summarize symmetric system_user table tablesample then to trailing treat
    trigger true try_cast unbounded union unique unnest unpivot update user using values
    variadic verbose view when whenever where window with within
    """.split()
)
"""Words that at least one target doesn't accept as a name without quotes."""

_SHARE_WITH_PREFIX = 0.8
"""Share of all tables that must begin alike: what a few lack says nothing about the others."""
_FEWEST_WITH_PREFIX = 4
"""Fewer tables begin with the same word by accident: ``sales_orders``, ``sales_lines``."""


@dataclass(frozen=True, slots=True)
class SqlNames:
    """The SQL names of a model's entities and of their attributes.

    ``sources`` are the ids of their tables at the source, where a decision renamed the entity.
    ``quarantines`` are the relations of the rows that no load takes in.
    """

    tables: Mapping[str, str]
    stagings: Mapping[str, str]
    columns: Mapping[str, Mapping[str, str]]
    stems: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    quarantines: Mapping[str, str] = field(default_factory=dict)

    def table(self, entity: str) -> str:
        """Return what an entity is called, by a decision or by the source."""
        return self.tables[entity]

    def source(self, entity: str) -> str:
        """Return the id of an entity's table at the source: ``source.<id>`` and ``stg_<id>``."""
        return self.sources.get(entity, self.tables[entity])

    def stem(self, entity: str) -> str:
        """Return an entity's name without the prefix that most tables of the source share."""
        return self.stems.get(entity, self.tables[entity])

    def staging(self, entity: str) -> str:
        """Return the name of an entity's staging relation."""
        return self.stagings[entity]

    def quarantine(self, entity: str) -> str:
        """Return the name of the relation of an entity's rows that no load takes in."""
        return self.quarantines[entity]

    def column(self, entity: str, attribute: str) -> str:
        """Return the column that an attribute becomes."""
        return self.columns[entity][attribute]

    def columns_of(self, entity: str, attributes: Iterable[str]) -> tuple[str, ...]:
        """Return the columns that attributes of one entity become, in their order."""
        return tuple(self.columns[entity][attribute] for attribute in attributes)


def sql_names(conceptual: ConceptualModel) -> SqlNames:
    """Return the SQL names of a model, by the source's names and the decided ones alone."""
    sources = legal_names(entity.name for entity in conceptual.entities)
    tables = _decided_names(conceptual.entities)
    stagings: dict[str, str] = {}
    quarantines: dict[str, str] = {}
    # A source may have a table that is called stg_something itself.
    taken = {*tables.values(), *sources.values()}
    for prefix, found in (("stg", stagings), ("quarantine", quarantines)):
        for entity, table in sources.items():
            found[entity] = free_identifier(fit(prefix, table), taken)
            taken.add(found[entity])
    renamed = {entity.name for entity in conceptual.entities if entity.new_name}
    return SqlNames(
        tables=tables,
        stagings=stagings,
        quarantines=quarantines,
        stems=_stems(sources, {entity: tables[entity] for entity in renamed}),
        sources={entity: sources[entity] for entity in sorted(renamed)},
        columns={entity.name: _decided_names(entity.attributes) for entity in conceptual.entities},
    )


def _decided_names(parts: Sequence[Entity] | Sequence[Attribute]) -> dict[str, str]:
    """Return the legal name of each part by its own name; raise ValueError for a repeated label."""
    labels = {part.name: part.label for part in parts}
    if len(set(labels.values())) < len(labels):
        raise ValueError("a table or column was given a name that another one has")
    legal = legal_names(labels.values())
    return {name: legal[label] for name, label in labels.items()}


def _stems(tables: Mapping[str, str], decided: Mapping[str, str]) -> dict[str, str]:
    """Return each table's name without the longest prefix that most tables share.

    A prefix that is a table's own name is a word of the business, and one whose removal would give
    two tables one name or no proper name stays. A ``decided`` name is the stem itself, and other
    tables lose the same prefix as without it.
    """
    uses = Counter(prefix for name in tables.values() for prefix in _prefixes(name))
    most = max(_FEWEST_WITH_PREFIX, _SHARE_WITH_PREFIX * len(tables))
    shared = {p for p, count in uses.items() if count >= most} - {
        f"{name}_" for name in tables.values()
    }
    stems = {
        entity: name.removeprefix(max(shared.intersection(_prefixes(name)), key=len, default=""))
        for entity, name in tables.items()
    } | dict(decided)
    repeated = Counter(stem.rstrip("_") for stem in stems.values())
    return {
        entity: (
            stem
            if entity in decided or (repeated[stem.rstrip("_")] == 1 and stem[:1].isalpha())
            else tables[entity]
        )
        for entity, stem in stems.items()
    }


def _prefixes(name: str) -> list[str]:
    """Return the beginnings of a name before each of its words but the first."""
    parts = name.rstrip("_").split("_")
    return ["_".join(parts[:size]) + "_" for size in range(1, len(parts))]


def legal_names(names: Iterable[str]) -> dict[str, str]:
    """Return a distinct identifier for each name, none of them reserved or technical.

    A reserved word gets a final underscore, which no other identifier has.
    """
    return {
        name: f"{plain}_" if plain in RESERVED or plain in TECHNICAL else plain
        for name, plain in identifiers(names).items()
    }


def is_reserved(name: str) -> bool:
    """Return whether a target or a build needs a name for itself."""
    plain = identifier(name)
    return plain in RESERVED or plain in TECHNICAL


def fit(prefix: str, *stems: str) -> str:
    """Return ``prefix_stem_stem``, cut and with a hash where it would be too long."""
    name = "_".join((prefix, *stems))
    return name if len(name) <= LONGEST_IDENTIFIER else identifier(name)


def free_identifier(name: str, used: Collection[str]) -> str:
    """Return the name, or the first of ``name_2``, ``name_3``, … that isn't used and fits."""
    return free_name(name, used, LONGEST_IDENTIFIER)


def with_names(sql: str, names: Mapping[str, str]) -> str:
    """Return SQL of our own with other names for what it names without quotes.

    No column of a source has the name of one that loads add, nor a relation's, so each mention of
    such a name means that.
    """
    if not names:
        return sql
    mentions = re.compile(
        r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*"
        rf"|\b(?P<name>{'|'.join(map(re.escape, sorted(names)))})\b"
    )
    return mentions.sub(lambda found: names[found["name"]] if found["name"] else found[0], sql)
