"""What the source has today of the tables and columns of a model, and under which names.

A model keeps what the source dropped, and calls everything as it was called when its relations were
first loaded. What reads the source asks here.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from fluid_build.modeling.conceptual import Attribute, ConceptualModel, Entity, Relationship
from fluid_build.modeling.element import SourceColumn
from fluid_build.modeling.evolution import GONE, Evolution, NarrowerColumn, RenamedColumn
from fluid_build.modeling.logical import LogicalModel, PartialDelivery, Validity
from fluid_build.sources.declared import unique_names


@dataclass(frozen=True)
class PresentSource:
    """The source by the names of the model: what it has no longer, renamed, or has in part."""

    evolution: Evolution
    deliveries: tuple[PartialDelivery, ...] = ()
    validities: tuple[Validity, ...] = ()

    def delivery(self, table: str) -> PartialDelivery | None:
        """Return how a table is delivered in parts; None where each delivery is whole."""
        return self._deliveries.get(table)

    def stamp(self, table: str) -> str | None:
        """Return the column by which rows of a table hold; "" where that's the load for all of now.

        None where it's the load and always was.
        """
        found = self._validities.get(table)
        if found is None:
            return None
        return found.column if found.column and self.has(table, found.column) else ""

    def has_table(self, table: str) -> bool:
        """Whether the source still has a table."""
        return table not in self.evolution.retired_tables

    def has(self, table: str, *columns: str) -> bool:
        """Whether the source still has a table and all of these columns of it."""
        return self.has_table(table) and not self._retired[table].intersection(columns)

    def is_ambiguous(self, table: str) -> bool:
        """Whether values of a table's earlier key may mean several rows of the source today."""
        return any(each.was == table and each.repeats for each in self.evolution.rekeyed_tables)

    def new_name(self, table: str) -> str:
        """Return what the source calls a table today, "" where that's as in the model."""
        return self._tables.get(table, "")

    def source_type(self, table: str, attribute: Attribute) -> str:
        """Return the type that the source has a column with, which may be a narrower one."""
        return self._narrower[table].get(attribute.name, attribute.source_type)

    def as_modelled(self, column: str, attribute: Attribute) -> str:
        """Return a source's column with the type that the model reads it as.

        That may be wider: a type that the source narrows stays as it was.
        """
        return f"CAST({column} AS {attribute.source_type})" if self.has_changed else column

    def columns(self, entity: Entity) -> list[tuple[str, Attribute]]:
        """Return the columns that the source has of an entity, by what they're read by.

        These names are distinct without regard to case.
        """
        present = [each for each in entity.attributes if self.has(entity.name, each.name)]
        renamed = self._columns[entity.name]
        names = unique_names(renamed.get(each.name, each.name) for each in present)
        return list(zip(names, present, strict=True))

    def joined_later(self, table: str, columns: Iterable[str]) -> tuple[str, ...]:
        """Return which columns joined a table after its relations were first loaded."""
        return tuple(column for column in columns if column in self._added[table])

    def joined_relation(self, relation: str) -> frozenset[str]:
        """Return the columns that a relation got after its first rows, whyever."""
        later = self.evolution.later_columns
        return frozenset(each.column for each in later if each.relation == relation)

    def have_other_hashes(self, table: str, columns: Iterable[str]) -> bool:
        """Whether rows of earlier loads may have hashes of narrower types, or of other columns."""
        is_redesigned = table in self.evolution.redesigned_tables
        return is_redesigned or not self._retyped[table].isdisjoint(columns)

    def first_type(self, column: SourceColumn) -> str:
        """Return the type that a column was first loaded with; "" where it has it still."""
        return self._first_types.get((column.table, column.column), "")

    @property
    def has_changed(self) -> bool:
        """Whether the source isn't as it was when the relations were first loaded."""
        questions = {"otherwise": (), "seem_partial": ()}
        return self.evolution.model_copy(update=questions) != Evolution()

    def has_evolved(self, table: str) -> bool:
        """Whether rows of earlier loads of a table may have other columns or types."""
        is_redesigned = table in self.evolution.redesigned_tables
        changed = self._retired[table] or self._added[table] or self._retyped[table]
        return is_redesigned or bool(changed)

    @cached_property
    def _deliveries(self) -> dict[str, PartialDelivery]:
        return {each.table: each for each in self.deliveries}

    @cached_property
    def _validities(self) -> dict[str, Validity]:
        return {each.table: each for each in self.validities}

    @cached_property
    def _tables(self) -> dict[str, str]:
        return {each.table: each.now for each in self.evolution.renamed_tables}

    @cached_property
    def _columns(self) -> defaultdict[str, dict[str, str]]:
        return _now_by_table(self.evolution.renamed_columns)

    @cached_property
    def _narrower(self) -> defaultdict[str, dict[str, str]]:
        return _now_by_table(self.evolution.narrower_columns)

    @cached_property
    def _first_types(self) -> dict[tuple[str, str], str]:
        return {(each.table, each.column): each.type for each in self.evolution.first_types}

    @cached_property
    def _retired(self) -> defaultdict[str, set[str]]:
        return _by_table((each.table, each.column) for each in self.evolution.retired_columns)

    @cached_property
    def _added(self) -> defaultdict[str, set[str]]:
        return _by_table((each.table, each.column) for each in self.evolution.added_columns)

    @cached_property
    def _retyped(self) -> defaultdict[str, set[str]]:
        return _by_table((each.table, each.column) for each in self.evolution.retyped_columns)


def _by_table(columns: Iterable[tuple[str, str]]) -> defaultdict[str, set[str]]:
    by_table: defaultdict[str, set[str]] = defaultdict(set)
    for table, column in columns:
        by_table[table].add(column)
    return by_table


def _now_by_table(
    changed: Iterable[RenamedColumn | NarrowerColumn],
) -> defaultdict[str, dict[str, str]]:
    by_table: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for each in changed:
        by_table[each.table][each.column] = each.now
    return by_table


def present_source(model: LogicalModel) -> PresentSource:
    """Return what the source has of a model."""
    return PresentSource(
        model.evolution or Evolution(), model.deliveries or (), model.validities or ()
    )


def without_broken_promises(conceptual: ConceptualModel, present: PresentSource) -> ConceptualModel:
    """Return a model in which nothing is promised of what the source no longer has.

    Such a column is null in each row that is read.
    """
    return conceptual.model_copy(
        update={
            "entities": tuple(_promising_less(each, present) for each in conceptual.entities),
            "relationships": tuple(
                each if _is_whole(each, present) else _unpromised(each)
                for each in conceptual.relationships
            ),
        }
    )


def _promising_less(entity: Entity, present: PresentSource) -> Entity:
    return entity.model_copy(
        update={
            "attributes": tuple(
                each if present.has(entity.name, each.name) else _as_it_was(each)
                for each in entity.attributes
            ),
            "keys": tuple(
                key
                for key in entity.keys
                if key.kind == "primary" or present.has(entity.name, *key.attributes)
            ),
        }
    )


def _as_it_was(attribute: Attribute) -> Attribute:
    """Return an attribute of which rows only keep what they had."""
    description = f"{attribute.description} {GONE}".strip()
    return attribute.model_copy(
        update={"required": False, "accepted_values": (), "description": description}
    )


def _is_whole(relationship: Relationship, present: PresentSource) -> bool:
    return present.has(relationship.from_entity, *relationship.from_attributes) and present.has(
        relationship.to_entity, *relationship.to_attributes
    )


def _unpromised(relationship: Relationship) -> Relationship:
    """Return a relationship that is nobody's promise, as one is that others imply."""
    return relationship.model_copy(update={"implied": True, "origin": "measured"})
