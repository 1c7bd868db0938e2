"""How marts are stated as calls of macros: their columns, joins, and builds (``macros/*.sql``)."""

from collections.abc import Iterable, Mapping, Sequence

from fluid_build.modeling.dimensional.elements import Dimension, DimensionAttribute, Join
from fluid_build.modeling.types import is_float
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.dimensional.star import HASHING, Star
from fluid_build.transform.plan.elements import MacroCall, Relation, Sql, SqlType
from fluid_build.transform.plan.hashing import key_part, written
from fluid_build.transform.plan.macro_calls import CalledSql, called_sql, macro_call
from fluid_build.transform.plan.sql_layout import as_text

Arguments = dict[str, object]


def mart_call(macro: str, name: str, **arguments: object) -> tuple[MacroCall, CalledSql]:
    """Return the call of a mart, and what it renders to in the mart of that name."""
    call = macro_call(macro, **arguments)
    return call, called_sql(call, name, HASHING)


def filled(**arguments: object) -> Arguments:
    """Return the arguments that aren't empty."""
    return {name: value for name, value in arguments.items() if value}


def renamed(column: str, name: str, default: str = "") -> str:
    """Return a column as macros select it: with its name, where it's not the default."""
    return column if name == (default or column) else f"{column} AS {name}"


def grouped_attributes(dimension: Dimension) -> list[DimensionAttribute]:
    """Return a dimension's attributes in the order in which it has them: its own, then by join.

    Of a join, the flag that says whether there is a row is the first.
    """
    joins = {joined.name: place for place, joined in enumerate(dimension.joins, start=1)}
    return sorted(
        dimension.attributes,
        key=lambda attribute: (joins.get(attribute.source, 0), bool(attribute.attribute)),
    )


def own_columns_argument(star: Star, dimension: Dimension) -> Arguments:
    """Return the columns of a dimension's own entity, each with its type."""
    return _typed(
        star,
        dimension.entity_name,
        ((a.attribute, a.name, "") for a in dimension.attributes if not a.source),
    )


def unknown_argument(dimension: Dimension) -> Arguments:
    """Return what the unknown member says instead of null, by column."""
    return {a.name: Sql(literal(a.unknown)) for a in dimension.attributes if a.unknown}


def joins_argument(star: Star, owner: str, joins: Sequence[Join]) -> dict[str, Arguments]:
    """Return the joins of an element of the entity ``owner``, by their names."""
    return {joined.name: _join(star, owner, joins, joined) for joined in joins}


def dimension_joins_argument(
    star: Star, dimension: Dimension, links: Iterable[str]
) -> dict[str, Arguments]:
    """Return the joins of a dimension that it needs, each with the columns copied from it.

    ``links`` are the columns that its keys of other dimensions are made of.
    """
    arguments = joins_argument(star, dimension.entity_name, dimension.joins)
    needed = {column.partition(".")[0] for column in links if "." in column}
    for joined in reversed(dimension.joins):
        own = [a for a in grouped_attributes(dimension) if a.source == joined.name]
        flags = [a.name for a in own if not a.attribute]
        columns = _typed(
            star,
            joined.entity,
            ((a.attribute, a.name, joined.name) for a in own if a.attribute),
        )
        if own or joined.name in needed:
            needed.add(joined.parent)
            arguments[joined.name] |= filled(is_there=flags[0] if flags else "", columns=columns)
        else:
            del arguments[joined.name]
    return arguments


def _typed(star: Star, entity: str, columns: Iterable[tuple[str, str, str]]) -> Arguments:
    """Return columns with their types; each is an attribute, its name, and the join it's of."""
    typed: Arguments = {}
    for attribute, name, join in columns:
        column = star.column(entity, attribute)
        default = f"{join}_{column}" if join else column
        typed[renamed(column, name, default)] = SqlType(star.type(entity, attribute))
    return typed


def _join(star: Star, owner: str, joins: Sequence[Join], joined: Join) -> Arguments:
    relationship = star.relationships[joined.relationship]
    here, there = relationship.from_attributes, relationship.to_attributes
    if joined.backwards:
        here, there = there, here
    from_entity = star.joined_entity(owner, joins, joined.parent)
    pairs = list(zip(here, there, strict=True))
    prefix = f"{joined.parent}." if joined.parent else ""
    return {
        "staging": Relation(star.names.staging(joined.entity)),
        "on": {
            star.column(joined.entity, theirs): f"{prefix}{star.column(from_entity, ours)}"
            for ours, theirs in pairs
        },
        **filled(
            as_text=[
                star.column(joined.entity, theirs)
                for ours, theirs in pairs
                if not star.is_comparable(
                    star.type(from_entity, ours), star.type(joined.entity, theirs)
                )
            ]
        ),
    }


def hash_as(values: Mapping[str, str], *, is_single: bool = False) -> Arguments:
    """Return the SQL of the parts of a key that are hashed otherwise than as their text.

    ``values`` are columns with their types. A single part of a key isn't escaped.
    """
    parts: Arguments = {}
    for value, type_ in values.items():
        expression, as_type = key_part(value, type_)
        # No text of a number with fractions has a character that would be escaped.
        is_plain = is_single or is_float(type_)
        sql = as_text(expression, as_type) if is_plain else written(expression, as_type, HASHING)
        usual = {f"CAST({value} AS VARCHAR)"}
        if type_ == "VARCHAR":
            usual |= {value, written(value, type_, HASHING)}
        if sql not in usual:
            parts[value] = Sql(sql)
    return parts
