"""The way back: every source table rebuilt from the star alone.

A fact's references give the natural keys that they replaced, the calendar gives the days, and a
lookup that was collapsed is found where it went. Nothing of a source row is thrown away, and a
comparison with the source shows it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from fluid_build.modeling.conceptual import Entity
from fluid_build.modeling.dimensional.elements import (
    Bridge,
    Dimension,
    DimensionReference,
    Fact,
    Join,
)
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import SqlNames
from fluid_build.transform.plan.dimensional.columns import is_generated
from fluid_build.transform.plan.dimensional.dimensions import DELETED, UNKNOWN
from fluid_build.transform.plan.dimensional.facts import (
    aliases_of,
    columns_of_owner,
    references_of,
    wanted_key,
)
from fluid_build.transform.plan.dimensional.star import (
    Star,
    indented,
    joined,
    selected,
    star_of,
)
from fluid_build.transform.plan.elements import Rebuild
from fluid_build.transform.plan.staging import by_value, is_by_value, original, restored


@dataclass(frozen=True, slots=True)
class Found:
    """Where the columns of an entity are in the star: ``FROM ...``, and an expression for each."""

    from_clause: str
    expressions: Mapping[str, str]


@dataclass(frozen=True)
class Finder:
    """Finds the columns of source tables in a star."""

    star: Star
    owners: Mapping[str, Fact | Bridge] = field(default_factory=dict)
    dimensions: Mapping[str, Dimension] = field(default_factory=dict)
    collapsed: Mapping[str, Sequence[tuple[Dimension, Join]]] = field(default_factory=dict)

    def found(self, entity: Entity) -> Found:
        """Where an entity's columns are; KeyError where the star does not hold it."""
        if entity.name in self.owners:
            return self._in_owner(self.owners[entity.name])
        if entity.name in self.dimensions:
            return self._in_dimension(self.dimensions[entity.name])
        return self._in_others(entity, self.collapsed[entity.name])

    def _in_owner(self, owner: Fact | Bridge) -> Found:
        """The fact, with those dimensions joined that hold what its keys replaced."""
        aliases = aliases_of(self.star, owner)
        alias = "built"
        held = columns_of_owner(owner)
        expressions = {attribute: f"{alias}.{name}" for attribute, name in held.items()}
        clauses = [f"FROM model.{owner.name} AS {alias}"]
        # A reference that some rows lack can't give back what another one gives of every row.
        for one in sorted(references_of(owner), key=lambda one: one.optional):
            missing = [name for name in one.columns if name not in expressions]
            if one.source or not missing:
                continue
            dimension = self.star.dimensions[one.dimension]
            place = f"{aliases[one.key]}_back"
            clauses.append(self._back(owner, one, dimension, alias, place))
            for name, column in zip(one.columns, one.to_columns, strict=True):
                expressions.setdefault(name, f"{place}.{column}")
        return Found("\n".join(clauses), expressions)

    def _back(
        self,
        owner: Fact | Bridge,
        one: DimensionReference,
        dimension: Dimension,
        alias: str,
        place: str,
    ) -> str:
        key = wanted_key(owner, dimension)
        relation = members(dimension, key, one.to_columns)
        return joined("LEFT JOIN", relation, place, [f"{alias}.{one.key} = {place}.{key}"])

    def _in_dimension(self, dimension: Dimension) -> Found:
        where = f"WHERE {dimension.surrogate_key} <> {UNKNOWN} AND NOT {DELETED}"
        if dimension.history:
            where += " AND is_current"
        return Found(
            f"FROM model.{dimension.name}\n{where}",
            {one.attribute: one.name for one in dimension.attributes if not one.source},
        )

    def _in_others(self, entity: Entity, places: Sequence[tuple[Dimension, Join]]) -> Found:
        """An entity that came into dimensions by joins: a part of one, or a lookup of several.

        A lookup's row is in any dimension that refers to it, and that may be another one tomorrow.
        """
        columns = {one.name: self.star.column(entity.name, one.name) for one in entity.attributes}
        together = "\nUNION ALL\n" if places[0][1].backwards else "\nUNION\n"
        rows = together.join(self._in_other(dimension, join, columns) for dimension, join in places)
        expressions = {attribute: f"joined_in.{name}" for attribute, name in columns.items()}
        return Found(f"FROM (\n{indented(rows)}\n) AS joined_in", expressions)

    def _in_other(self, dimension: Dimension, join: Join, columns: Mapping[str, str]) -> str:
        """The rows of an entity that one dimension holds, by the names of ``columns``."""
        conditions = [f"{dimension.surrogate_key} <> {UNKNOWN}", f"NOT {DELETED}"]
        if dimension.history:
            conditions.append("is_current")
        expressions = self.joined_columns(dimension, join)
        relationship = self.star.relationships[join.relationship]
        if join.backwards:
            conditions.append(self._flag(dimension, join))
        else:
            conditions += [
                f"{expressions[name]} IS NOT NULL" for name in relationship.to_attributes
            ]
        where = "\n    AND ".join(conditions)
        # The rows are told apart before their values are spelled as the source spells them.
        distinct = "" if join.backwards else " DISTINCT"
        listed = selected((expressions[attribute], name) for attribute, name in columns.items())
        return f"SELECT{distinct}\n{listed}\nFROM model.{dimension.name}\nWHERE\n    {where}"

    def _flag(self, dimension: Dimension, join: Join) -> str:
        return next(
            one.name
            for one in dimension.attributes
            if one.source == join.name and not one.attribute
        )

    def joined_columns(self, dimension: Dimension, join: Join) -> dict[str, str]:
        """The dimension's columns of a joined entity, its end of the relationship among them."""
        found = {
            one.attribute: one.name
            for one in dimension.attributes
            if one.source == join.name and one.attribute
        }
        relationship = self.star.relationships[join.relationship]
        here, there = relationship.from_attributes, relationship.to_attributes
        if join.backwards:
            here, there = there, here
        if join.parent:
            parent = next(one for one in dimension.joins if one.name == join.parent)
            of_parent = self.joined_columns(dimension, parent)
        else:
            of_parent = {one.attribute: one.name for one in dimension.attributes if not one.source}
        for ours, theirs in zip(here, there, strict=True):
            if ours in of_parent:
                found.setdefault(theirs, of_parent[ours])
        return found


def members(dimension: Dimension, key: str, columns: Sequence[str]) -> str:
    """A dimension with one row for each value of a key: its versions, or its members.

    ``columns`` are the same in all versions of a member.
    """
    if key == dimension.surrogate_key:
        return f"model.{dimension.name}"
    flags = [] if is_generated(dimension) else [DELETED]
    listed = ", ".join(dict.fromkeys((key, *columns, *flags)))
    return f"(SELECT DISTINCT {listed} FROM model.{dimension.name})"


def finder_of(star: Star) -> Finder:
    """The finder of a star."""
    owners: dict[str, Fact | Bridge] = {one.entity_name: one for one in star.model.facts}
    owners |= {one.entity_name: one for one in star.model.bridges}
    finder = Finder(
        star,
        owners,
        {
            one.entity_name: one
            for one in star.model.dimensions
            if one.entity_name and one.entity_name not in owners
        },
    )
    return replace(finder, collapsed=_collapsed(finder))


def _collapsed(finder: Finder) -> dict[str, list[tuple[Dimension, Join]]]:
    """Where the entities are that have no relation of their own: every join that copied them whole.

    A part is in its whole alone.
    """
    found: dict[str, list[tuple[Dimension, Join]]] = {}
    for dimension in finder.star.model.dimensions:
        for join in dimension.joins:
            places = found.setdefault(join.entity, [])
            entity = finder.star.entities[join.entity]
            every = {one.name for one in entity.attributes}
            if every <= set(finder.joined_columns(dimension, join)) and not (
                places and join.backwards
            ):
                places.append((dimension, join))
    return found


def mart_rebuilds(model: LogicalModel, names: SqlNames) -> tuple[Rebuild, ...]:
    """For each source table the query that gives it back from the star."""
    star = star_of(model, names)
    finder = finder_of(star)
    return tuple(_rebuild(star, entity, finder) for entity in star.conceptual.entities)


def _rebuild(star: Star, entity: Entity, finder: Finder) -> Rebuild:
    found = finder.found(entity)
    columns = restored(entity, by_value, found.expressions)
    sql = f"SELECT\n{columns}\n{found.from_clause}"
    return Rebuild(
        table=entity.name,
        source=star.names.table(entity.name),
        sql=sql,
        original=original(entity, star.names, by_value),
        by_value=tuple(one.name for one in entity.attributes if is_by_value(one, by_value)),
    )
