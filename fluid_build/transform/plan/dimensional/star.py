"""A star with everything that its SQL is made of at hand: relations, aliases, types, joins."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fluid_build.modeling.conceptual import Attribute, ConceptualModel, Entity, Relationship
from fluid_build.modeling.data_vault.elements import HashKeyStrategy
from fluid_build.modeling.dimensional.elements import Dimension, DimensionalModel, Join
from fluid_build.modeling.dimensional.star_names import free_alias
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import SqlNames
from fluid_build.modeling.types import is_number
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.hashing import HASH_TYPE, written_or_token
from fluid_build.transform.plan.staging import by_value, staged_type, staging_builds

KEY_TYPE = HASH_TYPE
DATE_KEY_TYPE = "BIGINT"
BEGINNING = "TIMESTAMP '0001-01-01 00:00:00'"
END = "TIMESTAMP '9999-12-31 00:00:00'"
LAST_MOMENT = "TIMESTAMP '9999-12-30 00:00:00'"
"""A moment at which every version of today is valid: where an event has no day, or none to come."""
_HASHING = HashKeyStrategy()

Typed = tuple[str, str]
"""An SQL expression and DuckDB's type of it."""

Relation = Callable[[str], str]
"""The SQL that may follow FROM, of an entity with our names and types."""


@dataclass(frozen=True, slots=True)
class Star:
    """A dimensional model, the names of its columns, and its parts by name."""

    conceptual: ConceptualModel
    model: DimensionalModel
    names: SqlNames
    entities: Mapping[str, Entity]
    relationships: Mapping[str, Relationship]
    dimensions: Mapping[str, Dimension]
    selects: Mapping[str, str]
    """By entity, the query that gives it our names and types by the source alone."""

    def column(self, entity: str, attribute: str) -> str:
        """The staged column of an attribute."""
        return self.names.column(entity, attribute)

    def attribute(self, entity: str, attribute: str) -> Attribute:
        """The attribute of that name."""
        return self.entities[entity].attribute(attribute)

    def type(self, entity: str, attribute: str) -> str:
        """DuckDB's type of a staged attribute."""
        return staged_type(self.attribute(entity, attribute), by_value)

    def staged(self, entity: str) -> str:
        """An entity's staging relation in SQL."""
        return f"model.{self.names.staging(entity)}"

    def alias(self, entity: str, joins: Iterable[Join]) -> str:
        """What an element's own entity is called in its SQL."""
        return free_alias(self.names.table(entity), {one.name for one in joins})

    def joined_entity(self, entity: str, joins: Iterable[Join], source: str) -> str:
        """The entity that a join, or "" for none, leads to."""
        return {"": entity, **{one.name: one.entity for one in joins}}[source]

    def equal(self, left: str, left_type: str, right: str, right_type: str) -> str:
        """A condition that two values are the same, whatever their types."""
        if left_type == right_type or (is_number(left_type) and is_number(right_type)):
            return f"{left} = {right}"
        return f"{as_text(left, left_type)} = {as_text(right, right_type)}"


def star_of(model: LogicalModel, names: SqlNames) -> Star:
    """The star of a dimensional model."""
    assert model.dimensional is not None, "a model of another technique has no star"
    return Star(
        conceptual=model.conceptual,
        model=model.dimensional,
        names=names,
        entities={one.name: one for one in model.conceptual.entities},
        relationships={one.name: one for one in model.conceptual.relationships},
        dimensions={one.name: one for one in model.dimensional.dimensions},
        selects={one.title: one.sql for one in staging_builds(model.conceptual, names, by_value)},
    )


def natural_key(star: Star, dimension: Dimension) -> tuple[Attribute, ...]:
    """The attributes of the dimension's own entity that are its natural key, in order."""
    own = {one.name: one.attribute for one in dimension.attributes if not one.source}
    return tuple(
        star.attribute(dimension.entity_name, own[name]) for name in dimension.natural_key_columns
    )


def join_clauses(
    star: Star,
    joins: Sequence[Join],
    columns: Callable[[str, str], str],
    *,
    relation: Relation | None = None,
    kind: str = "LEFT JOIN",
) -> list[str]:
    """The joins of an element, one clause each.

    ``columns`` gives the SQL of a column of the element's own entity, by entity and attribute.
    """
    entities = {one.name: one.entity for one in joins}
    found = []
    for join in joins:
        one = star.relationships[join.relationship]
        here, there = one.from_attributes, one.to_attributes
        owner = one.from_entity
        if join.backwards:
            here, there, owner = there, here, one.to_entity
        conditions = []
        for ours, theirs in zip(here, there, strict=True):
            if join.parent:
                assert entities[join.parent] == owner, "a join hangs on what it relates to"
                left = f"{join.parent}.{star.column(owner, ours)}"
            else:
                left = columns(owner, ours)
            right = f"{join.name}.{star.column(join.entity, theirs)}"
            conditions.append(
                star.equal(left, star.type(owner, ours), right, star.type(join.entity, theirs))
            )
        found.append(joined(kind, (relation or star.staged)(join.entity), join.name, conditions))
    return found


def joined(kind: str, relation: str, alias: str, conditions: Sequence[str]) -> str:
    """One join clause."""
    return f"{kind} {relation} AS {alias}\n    ON " + "\n    AND ".join(conditions)


def hashed_key(values: Sequence[Typed]) -> str:
    """The surrogate key of a natural key, of which no part is null."""
    if len(values) == 1:
        return f"{_HASHING.algorithm}({as_text(*values[0])})"
    return hashed(values)


def hashed(values: Sequence[Typed]) -> str:
    """The hash of several values, which may be null; different ones never share its input."""
    parts = [written_or_token(expression, type_, _HASHING) for expression, type_ in values]
    delimiter = f" || {literal(_HASHING.delimiter)} || "
    return f"{_HASHING.algorithm}({delimiter.join(parts)})"


def key_or_unknown(key: str, unknown: str, present: str) -> str:
    """A key where a joined row is there, the unknown member's where it is not."""
    return f"CASE WHEN {present} IS NULL THEN {unknown} ELSE {key} END"


def selected(columns: Iterable[tuple[str, str]], *, indent: str = "    ") -> str:
    """A select list of (expression, name), one column a line."""
    return ",\n".join(
        f"{indent}{expression}"
        if expression.rpartition(".")[2] == name
        else f"{indent}{expression} AS {name}"
        for expression, name in columns
    )


def as_text(expression: str, type_: str) -> str:
    """A value as text."""
    return expression if type_ == "VARCHAR" else f"CAST({expression} AS VARCHAR)"


def indented(sql: str, by: str = "    ") -> str:
    """SQL moved to the right."""
    return "\n".join(by + line if line else line for line in sql.splitlines())
