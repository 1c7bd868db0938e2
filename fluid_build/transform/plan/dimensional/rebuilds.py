"""The way back: every source table rebuilt from the star alone.

A fact's references restore the natural keys that they replaced, the calendar restores days, and a
collapsed lookup is read from where it went. If a source row got lost, a comparison with the source
shows it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fluid_build.modeling.conceptual import Entity
from fluid_build.modeling.dimensional.elements import (
    Dimension,
    DimensionReference,
    Join,
    LeftOut,
)
from fluid_build.observations.aggregate_candidates import AggregateColumn, computed_sql
from fluid_build.observations.aggregates import detail_rows
from fluid_build.sources.sql import quote
from fluid_build.transform.plan.dimensional.facts import aliases_of
from fluid_build.transform.plan.dimensional.star import (
    DELETED,
    UNKNOWN,
    FactOrBridge,
    Star,
    columns_of,
    own_columns,
    references_of,
    referred_key,
)
from fluid_build.transform.plan.elements import Rebuild
from fluid_build.transform.plan.sql_layout import conditions, join, nested, query
from fluid_build.transform.plan.staging import (
    by_value,
    delivered,
    original,
    restored,
    value_columns,
)

# Where the rows of a source table are in a star.


@dataclass(frozen=True, slots=True)
class EntityRows:
    """Where an entity's rows are in the star: ``FROM ...``, and the SQL of each attribute."""

    from_clause: str
    expressions: Mapping[str, str]


# The way back to a table of totals that isn't built: it's computed again from its details.


def aggregate_rows(
    star: Star, left_out: LeftOut, rows_of: Callable[[Entity], EntityRows]
) -> EntityRows:
    """Return the rows of a table of totals, computed from what the star holds of its details."""

    def relation(table: str) -> str:
        rows = rows_of(star.entities[table])
        columns = ", ".join(f"{sql} AS {quote(name)}" for name, sql in rows.expressions.items())
        return nested(f"SELECT {columns}\n{rows.from_clause}")

    used = [column.of for column in left_out.columns if column.of]
    details = detail_rows(left_out.detail, used, relation, left_out.part)
    computed = ", ".join(
        f"{_typed(star, left_out, column, details.column(column.of) if column.of else '')}"
        f" AS {quote(column.column)}"
        for column in left_out.columns
    )
    totals = nested(f"SELECT {computed}\nFROM {details.from_clause}\nGROUP BY ALL")
    return EntityRows(
        f"FROM {totals} AS computed",
        {column.column: f"computed.{quote(column.column)}" for column in left_out.columns},
    )


def _typed(star: Star, left_out: LeftOut, column: AggregateColumn, value: str) -> str:
    is_exact = column.of is None or not _type_of(star, left_out, column).startswith(
        ("FLOAT", "DOUBLE")
    )
    sql = computed_sql(column.function, value, column.decimals, is_exact=is_exact)
    return f"CAST({sql} AS {star.type(left_out.name, column.column)})"


def _type_of(star: Star, left_out: LeftOut, column: AggregateColumn) -> str:
    """Return the staged type of what a column is computed from."""
    if column.of is None:
        return ""
    table = column.of.path[-1].to_table if column.of.path else left_out.detail
    return star.type(table, column.of.column)


@dataclass(frozen=True)
class Finder:
    """Finds the rows of source tables in a star."""

    star: Star
    owners: Mapping[str, FactOrBridge] = field(default_factory=dict)
    dimensions: Mapping[str, Dimension] = field(default_factory=dict)
    collapsed: Mapping[str, Sequence[tuple[Dimension, Join]]] = field(default_factory=dict)

    def rows_of(self, entity: Entity) -> EntityRows:
        """Return where an entity's rows are; KeyError where the star doesn't hold them."""
        totals = next((t for t in self.star.model.left_out if t.name == entity.name), None)
        if totals is not None:
            return aggregate_rows(self.star, totals, self.rows_of)
        if entity.name in self.owners:
            return self._in_owner(self.owners[entity.name])
        if entity.name in self.dimensions:
            return self._in_dimension(self.dimensions[entity.name])
        return self._in_joins(entity, self.collapsed[entity.name])

    def _in_owner(self, owner: FactOrBridge) -> EntityRows:
        """Return the fact, joined with the dimensions that hold what its keys replaced."""
        aliases = aliases_of(owner)
        expressions = {attribute: f"built.{name}" for attribute, name in columns_of(owner).items()}
        clauses = [f"FROM model.{owner.name} AS built"]
        for reference in sorted(references_of(owner), key=self._may_lack):
            is_missing = any(name not in expressions for name in reference.columns)
            if reference.source or not is_missing:
                continue
            alias = f"{aliases[reference.key]}_back"
            clauses.append(self._join_back(owner, reference, alias))
            for name, column in zip(reference.columns, reference.to_columns, strict=True):
                expressions.setdefault(name, f"{alias}.{column}")
        return EntityRows("\n".join(clauses), expressions)

    def _may_lack(self, reference: DimensionReference) -> tuple[bool, bool]:
        """Return whether rows may lack what a reference restores, though their columns are filled.

        The calendar and what is made of the columns themselves have every value. Of a reference to
        other rows, one part may be there without the others.
        """
        dimension = self.star.dimensions[reference.dimension]
        has_all = dimension.is_generated or self.star.is_derived(dimension)
        return not has_all, reference.optional

    def _join_back(self, owner: FactOrBridge, reference: DimensionReference, alias: str) -> str:
        dimension = self.star.dimensions[reference.dimension]
        key = referred_key(owner, dimension)
        rows = members(dimension, key, reference.to_columns)
        return join("LEFT JOIN", rows, alias, [f"built.{reference.key} = {alias}.{key}"])

    def _in_dimension(self, dimension: Dimension) -> EntityRows:
        where = f"WHERE\n{conditions(_is_present(dimension))}"
        return EntityRows(f"FROM model.{dimension.name}\n{where}", own_columns(dimension))

    def _in_joins(self, entity: Entity, places: Sequence[tuple[Dimension, Join]]) -> EntityRows:
        """Return an entity that was joined into dimensions: a part of one, or a lookup of several.

        A lookup's row is in any dimension that refers to it, and may be in another one tomorrow.
        """
        columns = self.star.names.columns[entity.name]
        together = "\nUNION ALL\n" if places[0][1].backwards else "\nUNION\n"
        rows = together.join(self._in_join(dimension, join, columns) for dimension, join in places)
        expressions = {attribute: f"joined_in.{name}" for attribute, name in columns.items()}
        return EntityRows(f"FROM {nested(rows)} AS joined_in", expressions)

    def _in_join(self, dimension: Dimension, joined: Join, columns: Mapping[str, str]) -> str:
        """Return the rows of an entity that one dimension holds, by the names of ``columns``."""
        where = _is_present(dimension)
        expressions = self.joined_columns(dimension, joined)
        relationship = self.star.relationships[joined.relationship]
        if joined.backwards:
            where.append(_presence_flag(dimension, joined))
        else:
            where += [f"{expressions[name]} IS NOT NULL" for name in relationship.to_attributes]
        # Rows are made distinct before their values are spelled as the source spells them.
        return query(
            [(expressions[attribute], name) for attribute, name in columns.items()],
            f"model.{dimension.name}",
            where=where,
            distinct=not joined.backwards,
        )

    def joined_columns(self, dimension: Dimension, joined: Join) -> dict[str, str]:
        """Return the dimension's columns of a joined entity, its end of the relationship too."""
        columns = {
            attribute.attribute: attribute.name
            for attribute in dimension.attributes
            if attribute.source == joined.name and attribute.attribute
        }
        relationship = self.star.relationships[joined.relationship]
        here, there = relationship.from_attributes, relationship.to_attributes
        if joined.backwards:
            here, there = there, here
        if joined.parent:
            parent = next(
                candidate for candidate in dimension.joins if candidate.name == joined.parent
            )
            of_parent = self.joined_columns(dimension, parent)
        else:
            of_parent = own_columns(dimension)
        for ours, theirs in zip(here, there, strict=True):
            if ours in of_parent:
                columns.setdefault(theirs, of_parent[ours])
        return columns


def _is_present(dimension: Dimension) -> list[str]:
    """Return the conditions that a row is a member as the source has it now."""
    current = ["is_current"] if dimension.history else []
    return [f"{dimension.surrogate_key} <> {UNKNOWN}", f"NOT {DELETED}", *current]


def _presence_flag(dimension: Dimension, joined: Join) -> str:
    """Return the column that says whether a member has a row of a joined part."""
    return next(
        attribute.name
        for attribute in dimension.attributes
        if attribute.source == joined.name and not attribute.attribute
    )


def members(dimension: Dimension, key: str, columns: Sequence[str]) -> str:
    """Return a dimension with one row for each value of a key: its versions, or its members.

    ``columns`` are the same in all versions of a member.
    """
    if key == dimension.surrogate_key:
        return f"model.{dimension.name}"
    flags = [] if dimension.is_generated else [DELETED]
    selected = ", ".join(dict.fromkeys((key, *columns, *flags)))
    return f"(SELECT DISTINCT {selected} FROM model.{dimension.name})"


def finder_of(star: Star) -> Finder:
    """Return the finder of a star."""
    owners = {owner.entity_name: owner for owner in star.owners}
    dimensions = {
        dimension.entity_name: dimension
        for dimension in star.model.dimensions
        if dimension.entity_name and dimension.entity_name not in owners
    }
    finder = Finder(star, owners, dimensions)
    return replace(finder, collapsed=_collapsed(finder))


def _collapsed(finder: Finder) -> dict[str, list[tuple[Dimension, Join]]]:
    """Return the joins that copied an entity whole, for each that has no relation of its own.

    A part is read from its whole alone, though others that refer to it may have copied it too.
    """
    collapsed: dict[str, list[tuple[Dimension, Join]]] = {}
    for dimension in finder.star.model.dimensions:
        for joined in dimension.joins:
            places = collapsed.setdefault(joined.entity, [])
            entity = finder.star.entities[joined.entity]
            attributes = {attribute.name for attribute in entity.attributes}
            is_whole = attributes <= finder.joined_columns(dimension, joined).keys()
            if is_whole:
                places.append((dimension, joined))
    return {
        entity: [place for place in places if place[1].backwards][:1]
        or _without_orphans(finder.star, places)
        for entity, places in collapsed.items()
    }


def _without_orphans(
    star: Star, places: list[tuple[Dimension, Join]]
) -> list[tuple[Dimension, Join]]:
    """Return the places where every reference leads to a row, or else all of them.

    A dimension keeps the key of an orphan, which would come back as a row of its own.
    """
    complete = [
        (dimension, joined)
        for dimension, joined in places
        if not star.relationships[joined.relationship].evidence.orphans
    ]
    return complete or places


def mart_rebuilds(star: Star) -> tuple[Rebuild, ...]:
    """Return for each source table the query that rebuilds it from the star."""
    finder = finder_of(star)
    return tuple(_rebuild(star, entity, finder) for entity in star.conceptual.entities)


def _rebuild(star: Star, entity: Entity, finder: Finder) -> Rebuild:
    rows = finder.rows_of(entity)
    columns = restored(entity, by_value, rows.expressions, star.present)
    return Rebuild(
        table=entity.name,
        source=star.names.source(entity.name),
        sql=f"SELECT\n{columns}\n{rows.from_clause}",
        original=original(entity, star.names, star.present),
        delivered=delivered(entity, star.names, star.present),
        by_value=value_columns(entity, by_value, star.present),
    )
