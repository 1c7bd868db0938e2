"""Dimensions: what is joined into each, what stays apart, and how everything in them is called.

A chain of lookups is collapsed into the dimension that it leads away from. A lookup of which some
rows are referred to by nothing keeps a dimension of its own as well, so that none is lost.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fluid_build.modeling.conceptual import Attribute, Entity, Relationship
from fluid_build.modeling.dimensional.column_purposes import (
    is_calendar,
    is_naming,
    is_person,
    is_record_stamp,
)
from fluid_build.modeling.dimensional.elements import (
    Dimension,
    DimensionAttribute,
    DimensionLink,
    DimensionType,
    Join,
    Variant,
)
from fluid_build.modeling.dimensional.entity_roles import EntityRoles
from fluid_build.modeling.dimensional.reference_graph import Names, ReferenceGraph
from fluid_build.modeling.dimensional.star_names import StarNames, free_alias, free_column, prefixed
from fluid_build.modeling.element import SourceColumn

_WIDE = 6
"""Columns of its own beyond which a dimension that facts use is referred to and not copied."""
_MOST_JOINS = 24
UNKNOWN_NAME = "Unknown"


@dataclass(frozen=True, slots=True)
class StarLayout:
    """Which entities are dimensions of their own, and how they and their keys are called."""

    graph: ReferenceGraph
    roles: EntityRoles
    names: StarNames
    variant: Variant
    kept: Mapping[str, str]
    """Entity to the name of its dimension."""
    used: frozenset[str]
    """Entities whose dimension a fact or bridge refers to."""
    keys: Mapping[str, str]

    def whole(self, entity: str) -> str:
        """The entity whose dimension an entity belongs to: itself, or what it is a part of."""
        while self.roles[entity].kind == "part":
            entity = self.roles[entity].whole
        return entity

    def is_collapsed(self, entity: str) -> bool:
        """Whether a lookup is copied whole into what refers to it, with what it refers to."""
        if self.variant == "snowflake" or self.roles[entity].kind == "part":
            return False
        if is_calendar(self.graph.entities[entity]):
            return False
        if entity not in self.kept:
            return True
        if is_person(self.graph.entities[entity]):
            return False
        return entity not in self.used or self._width(entity) <= _WIDE

    def copied(self, entity: str) -> frozenset[str]:
        """The attributes of an entity that what refers to it takes over.

        All where it is nowhere else; what describes it where it is collapsed all the same; but its
        names where it is a dimension that is too wide, or a person.
        """
        found = self.graph.entities[entity].attributes
        if entity not in self.kept and self.is_collapsed(entity):
            return frozenset(one.name for one in found)
        if self.is_collapsed(entity):
            return frozenset(one.name for one in found if not is_record_stamp(one))
        if self.variant == "snowflake" or is_calendar(self.graph.entities[entity]):
            return frozenset()
        return frozenset(one.name for one in found if is_naming(one))

    def _width(self, entity: str) -> int:
        """How many columns come with an entity where it is collapsed, its lookups included."""
        lookups = {
            one.to_entity
            for one in self.graph.parents[entity]
            if not one.implied and self.roles[one.to_entity].kind == "dimension"
        }
        return sum(
            len(self.graph.entities[name].attributes) - len(self.graph.keys[name])
            for name in (entity, *sorted(lookups - {entity}))
        )

    def in_whole(self, one: Relationship) -> Names:
        """The attributes of the whole that a relationship to it, or to a part of it, points at."""
        target, wanted = one.to_entity, one.to_attributes
        while self.roles[target].kind == "part":
            by = self.graph.relationship(self.roles[target].by)
            up = dict(zip(by.from_attributes, by.to_attributes, strict=True))
            wanted = tuple(up[name] for name in wanted)
            target = by.to_entity
        return wanted


def layout_of(
    graph: ReferenceGraph, roles: EntityRoles, names: StarNames, variant: Variant
) -> StarLayout:
    """Which dimensions there are.

    Those that facts and bridges refer to, those that nothing refers to, wholes of parts, calendars,
    and the lookups that would lose a row if they were only collapsed; in a snowflake all of them.
    """
    things = [name for name, role in roles.items() if role.kind == "dimension"]
    keys = {name: _key_name(graph, names, name) for name in things}
    empty = StarLayout(graph, roles, names, variant, {}, frozenset(), keys)
    used = frozenset(
        empty.whole(one.to_entity)
        for name, role in roles.items()
        if role.kind in {"fact", "bridge"}
        for one in graph.parents[name]
        if roles[one.to_entity].kind in {"dimension", "part"}
    )
    kept = {name for name in things if variant == "snowflake" or name in used}
    kept |= {name for name in things if not _is_looked_up(graph, roles, name)}
    kept |= {name for name in things if is_calendar(graph.entities[name])}
    kept |= {empty.whole(name) for name, role in roles.items() if role.kind == "part"}
    _keep_what_is_not_covered(graph, roles, things, kept)
    while True:
        layout = StarLayout(graph, roles, names, variant, _named(names, things, kept), used, keys)
        complete = _complete(layout)
        missing = [name for name in things if name not in complete]
        if not missing:
            return layout
        kept.update(missing)


def draw_dimensions(layout: StarLayout) -> dict[str, Dimension]:
    """The dimension of every entity that has one, all attributes of type 1 as yet."""
    return {
        entity: _with_completeness(layout, _Draft(layout, entity).draw()) for entity in layout.kept
    }


@dataclass
class _Draft:
    layout: StarLayout
    entity: str
    joins: list[Join] = field(default_factory=list)
    attributes: list[DimensionAttribute] = field(default_factory=list)
    links: list[DimensionLink] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    said: set[str] = field(default_factory=set)

    def draw(self) -> Dimension:
        graph, names = self.layout.graph, self.layout.names
        entity = graph.entities[self.entity]
        key = self.layout.keys[self.entity]
        own = [names.column(entity.name, one.name) for one in entity.attributes]
        # A flag may come to be called as the one of deleted members.
        self.taken = {key, "is_deleted", *own}
        self.said = {names.member(self.entity)}
        for attribute, name in zip(entity.attributes, own, strict=True):
            self._attribute(entity, attribute.name, name, "", "")
        for loop in graph.loops[self.entity]:
            self._loop(loop)
        self._parts(self.entity, "")
        self._references(self.entity, "", "", (self.entity,))
        type_, reason = self._type()
        return Dimension(
            name=self.layout.kept[self.entity],
            entity_name=self.entity,
            description=entity.description,
            dimension_type=type_,
            surrogate_key=key,
            natural_key_columns=tuple(
                names.column(entity.name, one) for one in graph.keys[self.entity]
            ),
            joins=tuple(self.joins),
            attributes=tuple(self.attributes),
            links=tuple(self.links),
            mapped_source_tables=tuple(
                dict.fromkeys((self.entity, *(one.entity for one in self.joins)))
            ),
            source_columns=tuple(
                SourceColumn(table=self.entity, column=one) for one in graph.keys[self.entity]
            ),
            reason=reason,
        )

    def _type(self) -> tuple[DimensionType, str]:
        entity, role = self.layout.graph.entities[self.entity], self.layout.roles[self.entity]
        if is_calendar(entity):
            return "date", "The source brings its own calendar."
        if self.entity in self.layout.used or not self.layout.graph.children[self.entity]:
            return "standard", role.reason
        if self.layout.variant == "snowflake":
            return "outrigger", f"A lookup of its own, as a snowflake has it. {role.reason}"
        return (
            "outrigger",
            "Collapsed into what refers to it; kept apart as well, for not all of its rows are "
            "certain to be referred to.",
        )

    def _attribute(
        self, entity: Entity, attribute: str, name: str, source: str, reason: str
    ) -> None:
        found = entity.attribute(attribute)
        self.attributes.append(
            DimensionAttribute(
                name=name,
                type=found.type,
                description=found.description,
                source=source,
                attribute=attribute,
                unknown="" if source else self._unknown(entity, found),
                mapped_source_tables=(entity.name,),
                source_columns=(SourceColumn(table=entity.name, column=attribute),),
                reason=reason,
            )
        )

    def _unknown(self, entity: Entity, attribute: Attribute) -> str:
        """What the unknown member is called; nothing where it could be taken for a real one."""
        graph = self.layout.graph
        referred = {
            name
            for one in (*graph.children[entity.name], *graph.loops[entity.name])
            for name in one.to_attributes
        }
        if attribute.name in referred or attribute.name in graph.keys[entity.name]:
            return ""
        plain = attribute.type == "string" and attribute.source_type == "VARCHAR"
        return UNKNOWN_NAME if plain and is_naming(attribute) else ""

    def _loop(self, one: Relationship) -> None:
        names = self.layout.names
        role = names.spoken_role(one, self.layout.graph.entities[self.entity])
        key = free_column(prefixed(role, self.layout.keys[self.entity]), self.taken)
        join = self._join(prefixed(role, names.member(self.entity)), self.entity, one.name, "")
        self.links.append(
            DimensionLink(
                dimension=self.layout.kept[self.entity],
                key=key,
                source=join,
                attributes=self.layout.graph.keys[self.entity],
                role=role,
                reason="It refers to its own kind: the parent in a hierarchy.",
            )
        )

    def _parts(self, whole: str, parent: str) -> None:
        """Join in what says more about each row, and whether it does."""
        graph, names = self.layout.graph, self.layout.names
        for name, role in self.layout.roles.items():
            if role.kind != "part" or role.whole != whole:
                continue
            by = graph.relationship(role.by)
            member = names.member(name)
            join = self._join(names.stem(name), name, by.name, parent, backwards=True)
            flag = free_column(f"is_{member}", self.taken)
            self.attributes.append(
                DimensionAttribute(
                    name=flag,
                    type="boolean",
                    description=f"Whether there is a row of {name} for it.",
                    source=join,
                    mapped_source_tables=(name,),
                    source_columns=tuple(
                        SourceColumn(table=name, column=one) for one in by.from_attributes
                    ),
                    reason=f"{role.reason} The flag tells an absent row from one without values.",
                )
            )
            self._copy(name, join, set(by.from_attributes), member, role.reason)
            self._parts(name, join)
            self._references(name, join, member, (self.entity, name))

    def _references(self, entity: str, parent: str, prefix: str, path: tuple[str, ...]) -> None:
        layout = self.layout
        for one in layout.graph.parents[entity]:
            target = one.to_entity
            if one.implied or layout.roles[target].kind not in {"dimension", "part"}:
                continue
            if layout.roles[entity].by == one.name or target in path:
                continue
            if len(self.joins) >= _MOST_JOINS:
                continue
            whole = layout.whole(target)
            linked = whole in layout.kept and whole != self.entity
            copied = layout.copied(target)
            if not linked and not copied:
                continue
            said = self._said(one, prefix)
            join = self._join(said, target, one.name, parent)
            if linked:
                self._link(one, whole, join, prefix)
            without = set(one.to_attributes)
            without |= {name for name in _names_of(layout, target) if name not in copied}
            reason = f"A lookup of {entity}: collapsed into the dimension."
            self._copy(target, join, without, said, reason)
            if layout.is_collapsed(target):
                self._references(target, join, said, (*path, target))

    def _said(self, one: Relationship, prefix: str) -> str:
        """What a joined entity is called in the names of its columns; each time another name."""
        names = self.layout.names
        member, role = names.member(one.to_entity), names.role(one)
        said = prefixed(role, member) if role else member
        if said in self.said and prefix:
            said = prefixed(prefix, said)
        if said in self.said:
            said = prefixed(
                names.spoken_role(one, self.layout.graph.entities[one.from_entity]), member
            )
        return free_column(said, self.said)

    def _link(self, one: Relationship, whole: str, join: str, prefix: str) -> None:
        layout = self.layout
        role = layout.names.role(one)
        if not role and whole != one.to_entity:
            role = layout.names.member(one.to_entity)
        wanted = prefixed(role, layout.keys[whole]) if role else layout.keys[whole]
        if wanted in self.taken and prefix:
            wanted = prefixed(prefix, wanted)
        key = free_column(wanted, self.taken)
        self.links.append(
            DimensionLink(
                dimension=layout.kept[whole],
                key=key,
                source=join,
                attributes=_key_of_whole(layout, one.to_entity),
                role=role,
                reason=f"It leads on to {layout.kept[whole]}.",
            )
        )

    def _copy(self, entity: str, join: str, without: set[str], said: str, reason: str) -> None:
        """Take over the columns of a joined entity, apart from those that are there already."""
        found, names = self.layout.graph.entities[entity], self.layout.names
        for attribute in found.attributes:
            if attribute.name in without:
                continue
            wanted = prefixed(said, names.bare_column(found, attribute.name))
            self._attribute(found, attribute.name, free_column(wanted, self.taken), join, reason)

    def _join(
        self, wanted: str, entity: str, relationship: str, parent: str, *, backwards: bool = False
    ) -> str:
        base = self.layout.names.sql.table(self.entity)
        name = free_alias(wanted, {base, *(one.name for one in self.joins)})
        self.joins.append(
            Join(
                name=name,
                entity=entity,
                relationship=relationship,
                parent=parent,
                backwards=backwards,
            )
        )
        return name


def _key_of_whole(layout: StarLayout, entity: str) -> tuple[str, ...]:
    """The attributes of an entity that hold the natural key of the dimension it belongs to."""
    if layout.roles[entity].kind != "part":
        return layout.graph.keys[entity]
    by = layout.graph.relationship(layout.roles[entity].by)
    own = dict(zip(by.to_attributes, by.from_attributes, strict=True))
    return tuple(own[one] for one in _key_of_whole(layout, by.to_entity))


def _key_name(graph: ReferenceGraph, names: StarNames, entity: str) -> str:
    own = {names.column(entity, one.name) for one in graph.entities[entity].attributes}
    member = names.member(entity)
    wanted = f"{member}_key"
    return free_column(f"{member}_sk" if wanted in own else wanted, own)


def _is_looked_up(graph: ReferenceGraph, roles: EntityRoles, name: str) -> bool:
    return any(
        roles[one.from_entity].kind in {"dimension", "part"}
        and roles[one.from_entity].by != one.name
        for one in graph.children[name]
    )


def _named(names: StarNames, things: list[str], kept: set[str]) -> dict[str, str]:
    taken: set[str] = set()
    return {name: free_column(f"dim_{names.stem(name)}", taken) for name in things if name in kept}


def _complete(layout: StarLayout) -> set[str]:
    """Entities of which every row is sure to be in some dimension."""
    found = set(layout.kept)
    for dimension in draw_dimensions(layout).values():
        found.update(join.entity for join in dimension.joins if join.complete)
    return found


def _with_completeness(layout: StarLayout, dimension: Dimension) -> Dimension:
    """The dimension with those joins marked through which every row of an entity comes in."""
    whole = {""}
    copied: dict[str, set[str]] = {one.source: set() for one in dimension.attributes}
    for one in dimension.attributes:
        copied[one.source].add(one.attribute)
    joins = []
    for join in dimension.joins:
        sure = join.backwards or _is_covered(
            layout.graph, layout.graph.relationship(join.relationship)
        )
        relationship = layout.graph.relationship(join.relationship)
        there = relationship.from_attributes if join.backwards else relationship.to_attributes
        every = _names_of(layout, join.entity) - set(there)
        complete = join.parent in whole and sure and every <= copied.get(join.name, set())
        if complete:
            whole.add(join.name)
        joins.append(join.model_copy(update={"complete": complete}))
    return dimension.model_copy(update={"joins": tuple(joins)})


def _names_of(layout: StarLayout, entity: str) -> set[str]:
    return {one.name for one in layout.graph.entities[entity].attributes}


def _is_covered(graph: ReferenceGraph, one: Relationship) -> bool:
    """Whether each row of the parent is referred to, and each reference leads somewhere.

    A row that is null where others refer to it can't be referred to.
    """
    evidence = one.evidence
    parent = graph.entities[one.to_entity]
    return (
        one.coverage == 1.0
        and evidence.exact
        and not evidence.orphans
        and evidence.rows > 0
        and all(parent.attribute(name).required for name in one.to_attributes)
    )


def _keep_what_is_not_covered(
    graph: ReferenceGraph, roles: EntityRoles, things: Sequence[str], kept: set[str]
) -> None:
    """Keep each lookup that has rows to which nothing leads from what is kept already."""
    while missing := set(things) - _covered(graph, roles, things, kept):
        # What others of the missing lead to may be covered once these are kept.
        outermost = {
            name
            for name in missing
            if not any(one.from_entity in missing for one in graph.children[name])
        }
        kept.update(outermost or {next(name for name in things if name in missing)})


def _covered(
    graph: ReferenceGraph, roles: EntityRoles, things: Sequence[str], kept: set[str]
) -> set[str]:
    """What is kept, and the lookups of which every row is met on the way from there."""
    found = set(kept) | {name for name, role in roles.items() if role.kind == "part"}
    waiting = sorted(found)
    wanted = set(things)
    for name in waiting:
        for one in graph.parents[name]:
            if one.to_entity in wanted - found and not one.implied and _is_covered(graph, one):
                found.add(one.to_entity)
                waiting.append(one.to_entity)
    return found
