"""What is in each dimension: its own columns, collapsed lookups, parts, and keys of others."""

from dataclasses import dataclass, field

from fluid_build.modeling.conceptual import Attribute, Entity, Relationship
from fluid_build.modeling.dimensional.column_purposes import is_naming
from fluid_build.modeling.dimensional.elements import (
    Dimension,
    DimensionAttribute,
    DimensionLink,
    DimensionType,
    Join,
)
from fluid_build.modeling.dimensional.star_layout import StarLayout
from fluid_build.modeling.dimensional.star_names import free_alias, free_column, prefixed
from fluid_build.modeling.element import source_columns
from fluid_build.modeling.types import is_float

_MOST_JOINS = 24
"""Joins of one dimension. Beyond, its query is slow to plan and nobody reads its columns; what is
left out keeps a dimension of its own."""
_UNKNOWN_NAME = "Unknown"


def describe_dimensions(layout: StarLayout) -> dict[str, Dimension]:
    """Return the dimension of every entity that has one, all attributes of SCD type 1."""
    return {entity: _DimensionBuilder(layout, entity).build() for entity in layout.dimensions}


@dataclass
class _DimensionBuilder:
    """One dimension in the making, with the names that are used in it."""

    layout: StarLayout
    entity: str
    joins: list[Join] = field(default_factory=list)
    attributes: list[DimensionAttribute] = field(default_factory=list)
    links: list[DimensionLink] = field(default_factory=list)
    used_columns: set[str] = field(default_factory=set)
    used_prefixes: set[str] = field(default_factory=set)

    def build(self) -> Dimension:
        """Return the dimension."""
        graph, names = self.layout.graph, self.layout.names
        entity = graph.entities[self.entity]
        surrogate_key = self.layout.keys[self.entity]
        columns = [names.column(entity.name, attribute.name) for attribute in entity.attributes]
        # Builds add is_deleted to dimensions whose members the source deleted.
        self.used_columns = {surrogate_key, "is_deleted", *columns}
        self.used_prefixes = {names.member(self.entity)}
        for attribute, name in zip(entity.attributes, columns, strict=True):
            self._add_attribute(entity, attribute.name, name, source="", reason="")
        for loop in graph.loops[self.entity]:
            self._add_hierarchy(loop)
        self._add_parts(self.entity, parent="")
        self._add_references(self.entity, parent="", prefix="", path=(self.entity,))
        dimension_type, reason = self._type()
        key = graph.keys[self.entity]
        return Dimension(
            name=self.layout.dimensions[self.entity],
            entity_name=self.entity,
            description=entity.description,
            dimension_type=dimension_type,
            surrogate_key=surrogate_key,
            natural_key_columns=tuple(names.column(entity.name, name) for name in key),
            joins=tuple(self.joins),
            attributes=tuple(self.attributes),
            links=tuple(self.links),
            mapped_source_tables=tuple(
                dict.fromkeys((self.entity, *(join.entity for join in self.joins)))
            ),
            source_columns=source_columns(self.entity, key),
            reason=reason,
            alternatives=self.layout.roles[self.entity].alternatives,
        )

    def _type(self) -> tuple[DimensionType, str]:
        entity, role = self.layout.graph.entities[self.entity], self.layout.roles[self.entity]
        decided = f"{role.reason} " if role.is_decided else ""
        if entity.name in self.layout.graph.calendars:
            return "date", f"{decided}The source has its own calendar."
        if self.entity in self.layout.used or not self.layout.graph.children[self.entity]:
            return "standard", role.reason
        if self.layout.variant == "snowflake":
            return "outrigger", f"A snowflake keeps each lookup in its own dimension. {role.reason}"
        return (
            "outrigger",
            f"{decided}Its columns are copied into the dimensions that refer to it. It's also kept"
            " as a dimension, so that rows to which nothing refers aren't lost.",
        )

    def _add_attribute(
        self, entity: Entity, attribute_name: str, name: str, *, source: str, reason: str
    ) -> None:
        attribute = entity.attribute(attribute_name)
        self.attributes.append(
            DimensionAttribute(
                name=name,
                type=attribute.type,
                description=attribute.description,
                source=source,
                attribute=attribute_name,
                unknown="" if source else self._unknown_value(entity, attribute),
                mapped_source_tables=(entity.name,),
                source_columns=source_columns(entity.name, (attribute_name,)),
                reason=reason,
            )
        )

    def _unknown_value(self, entity: Entity, attribute: Attribute) -> str:
        """Return what the unknown member is called; "" where it could be taken for a real value."""
        graph = self.layout.graph
        referred_to = {
            name
            for reference in (*graph.children[entity.name], *graph.loops[entity.name])
            for name in reference.to_attributes
        }
        if attribute.name in referred_to or attribute.name in graph.keys[entity.name]:
            return ""
        is_plain_text = attribute.type == "string" and attribute.source_type == "VARCHAR"
        return _UNKNOWN_NAME if is_plain_text and is_naming(attribute) else ""

    def _add_hierarchy(self, loop: Relationship) -> None:
        """Add the key of the parent of the same dimension, such as an employee's manager."""
        names = self.layout.names
        role = names.role_by_columns(loop, self.layout.graph.entities[self.entity])
        key = free_column(prefixed(role, self.layout.keys[self.entity]), self.used_columns)
        alias = prefixed(role, names.member(self.entity))
        self.links.append(
            DimensionLink(
                dimension=self.layout.dimensions[self.entity],
                key=key,
                source=self._add_join(alias, self.entity, loop.name, parent=""),
                attributes=self.layout.graph.keys[self.entity],
                role=role,
                reason="The parent in a hierarchy: it refers to the same dimension.",
            )
        )

    def _add_parts(self, whole: str, *, parent: str) -> None:
        """Join the entities that are parts of the whole, each with a flag for a row being there."""
        graph, names = self.layout.graph, self.layout.names
        for name, role in self.layout.roles.items():
            if role.kind != "part" or role.whole != whole:
                continue
            by = graph.relationship(role.by)
            member = names.member(name)
            join = self._add_join(names.stem(name), name, by.name, parent=parent, backwards=True)
            self.attributes.append(
                DimensionAttribute(
                    name=free_column(f"is_{member}", self.used_columns),
                    type="boolean",
                    description=f"Whether {name} has a row for it.",
                    source=join,
                    mapped_source_tables=(name,),
                    source_columns=source_columns(name, by.from_attributes),
                    reason=f"{role.reason} The flag distinguishes a missing row from an empty one.",
                )
            )
            held = self._held_by_child(name, by.from_attributes)
            self._copy_columns(name, join, held, member, role.reason)
            self._add_parts(name, parent=join)
            self._add_references(name, parent=join, prefix=member, path=(self.entity, name))

    def _add_references(
        self, entity: str, *, parent: str, prefix: str, path: tuple[str, ...]
    ) -> None:
        """Add the keys of the dimensions that an entity refers to, and the columns of lookups."""
        layout = self.layout
        for reference in layout.graph.direct_parents(entity):
            target = reference.to_entity
            if layout.roles[target].kind not in {"dimension", "part"}:
                continue
            if layout.roles[entity].by == reference.name or target in path:
                continue
            if len(self.joins) >= _MOST_JOINS:
                continue
            whole = layout.whole(target)
            has_own_dimension = whole in layout.dimensions and whole != self.entity
            copied = layout.copied_attributes(target)
            if not has_own_dimension and not copied:
                continue
            target_prefix = self._target_prefix(reference, prefix)
            join = self._add_join(target_prefix, target, reference.name, parent=parent)
            if has_own_dimension:
                self._add_link(reference, whole, join, prefix)
            skipped = self._held_by_child(target, reference.to_attributes)
            skipped |= layout.graph.attribute_names(target) - copied
            reason = f"A column of {target}, copied into the dimension."
            self._copy_columns(target, join, skipped, target_prefix, reason)
            if layout.is_collapsed(target):
                self._add_references(
                    target, parent=join, prefix=target_prefix, path=(*path, target)
                )

    def _target_prefix(self, reference: Relationship, prefix: str) -> str:
        """Return the prefix of a joined entity's columns, another one for each join."""
        names = self.layout.names
        member, role = names.member(reference.to_entity), names.role(reference)
        target_prefix = prefixed(role, member) if role else member
        if target_prefix in self.used_prefixes and prefix:
            target_prefix = prefixed(prefix, target_prefix)
        if target_prefix in self.used_prefixes:
            child = self.layout.graph.entities[reference.from_entity]
            target_prefix = prefixed(names.role_by_columns(reference, child), member)
        return free_column(target_prefix, self.used_prefixes)

    def _add_link(self, reference: Relationship, whole: str, join: str, prefix: str) -> None:
        """Add the key of another dimension."""
        layout = self.layout
        role = layout.names.role(reference)
        if not role and whole != reference.to_entity:
            role = layout.names.member(reference.to_entity)
        key = prefixed(role, layout.keys[whole]) if role else layout.keys[whole]
        if key in self.used_columns and prefix:
            key = prefixed(prefix, key)
        self.links.append(
            DimensionLink(
                dimension=layout.dimensions[whole],
                key=free_column(key, self.used_columns),
                source=join,
                attributes=layout.key_of_whole(reference.to_entity),
                role=role,
                reason=f"It refers to {layout.dimensions[whole]}.",
            )
        )

    def _held_by_child(self, entity_name: str, key: tuple[str, ...]) -> set[str]:
        """Return the columns of a key that are the referring ones again; 0.0 may refer to -0.0."""
        entity = self.layout.graph.entities[entity_name]
        return {name for name in key if not _is_float(entity.attribute(name))}

    def _copy_columns(
        self, entity_name: str, join: str, skipped: set[str], prefix: str, reason: str
    ) -> None:
        """Take over the columns of a joined entity, except for the skipped ones."""
        entity, names = self.layout.graph.entities[entity_name], self.layout.names
        for attribute in entity.attributes:
            if attribute.name not in skipped:
                column = prefixed(prefix, names.bare_column(entity, attribute.name))
                free = free_column(column, self.used_columns)
                self._add_attribute(entity, attribute.name, free, source=join, reason=reason)

    def _add_join(
        self, alias: str, entity: str, relationship: str, *, parent: str, backwards: bool = False
    ) -> str:
        """Join an entity and return the name of the join."""
        own_table = self.layout.names.sql.table(self.entity)
        name = free_alias(alias, {own_table, *(join.name for join in self.joins)})
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


def _is_float(attribute: Attribute) -> bool:
    conversion = attribute.conversion
    return is_float(attribute.source_type if conversion is None else conversion.to_type)
