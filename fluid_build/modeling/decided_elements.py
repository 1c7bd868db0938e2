"""Decisions about the elements of a model: what they are called, and what they are.

An element goes by the name that it has without a decision, or by its decided one. A column of an
element is renamed at its table in the source, so that every relation follows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from fluid_build.decisions.language import AnyDecision, Describe, Rename
from fluid_build.decisions.model_decisions import ModelDecisions
from fluid_build.decisions.verdicts import Refusal
from fluid_build.modeling.conceptual import Attribute, ConceptualModel, Entity
from fluid_build.modeling.element import ModelPart, SourceColumn
from fluid_build.modeling.element_columns import (
    element_columns,
    model_columns,
    relation_names,
    star_elements,
)
from fluid_build.modeling.logical import LogicalModel, Technique
from fluid_build.modeling.sql_names import legal_names, sql_names
from fluid_build.text import clip, did_you_mean

SourcePlace: TypeAlias = tuple[str, str | None]
"""A table, or a table and a column of it."""
P = TypeVar("P", bound=ModelPart)

_VAULT_PREFIXES = (
    "hub_", "lnk_", "hal_", "sal_", "tl_", "sat_", "msat_", "eff_sat_", "ref_", "psa_", "pit_",
    "bridge_", "snapshot_",
)  # fmt: skip
_STAR_PREFIXES = ("dim_", "fct_", "brg_")
_ELSEWHERE: Mapping[Technique, tuple[tuple[tuple[str, ...], str], ...]] = {
    "flat": ((_VAULT_PREFIXES, "a Data Vault"), (_STAR_PREFIXES, "a dimensional model")),
    "data_vault_2": ((_STAR_PREFIXES, "a dimensional model"),),
    "dimensional": ((_VAULT_PREFIXES, "a Data Vault"),),
}
"""By technique, the prefixes that only elements of another one have."""
_BUSINESS_PREFIXES = ("pit_", "bridge_", "snapshot_")
_LONGEST_NAME = 80
"""Characters of an unknown name that are repeated; it may be anything."""


@dataclass
class ElementDecisions:
    """What becomes of the decisions about elements, in the terms of what makes the model.

    ``relations`` are new names of relations, by the ones that they have without a decision.
    ``renamings`` are those of tables and columns, ``origins`` the ones about elements among them.
    ``descriptions`` are of tables and columns, ``texts`` of relations, by their final names, or of
    a relation's column.
    """

    relations: dict[str, str] = field(default_factory=dict)
    renamings: list[Rename] = field(default_factory=list)
    origins: dict[Rename, Rename] = field(default_factory=dict)
    descriptions: dict[SourcePlace, str] = field(default_factory=dict)
    texts: dict[SourcePlace, str] = field(default_factory=dict)
    refusals: dict[AnyDecision, Refusal] = field(default_factory=dict)


def element_decisions(model: LogicalModel, decisions: ModelDecisions) -> ElementDecisions:
    """Return what becomes of decisions about elements; ``model`` follows all of the others."""
    return _Reading(model).read(decisions)


def with_descriptions(
    conceptual: ConceptualModel, texts: Mapping[SourcePlace, str]
) -> ConceptualModel:
    """Return the conceptual layer with other descriptions of tables and columns."""
    if not texts:
        return conceptual
    entities = tuple(_with_descriptions(entity, texts) for entity in conceptual.entities)
    return conceptual.model_copy(update={"entities": entities})


def _with_descriptions(entity: Entity, texts: Mapping[SourcePlace, str]) -> Entity:
    def described(attribute: Attribute) -> Attribute:
        text = texts.get((entity.name, attribute.name), attribute.description)
        return attribute.model_copy(update={"description": text})

    return entity.model_copy(
        update={
            "description": texts.get((entity.name, None), entity.description),
            "attributes": tuple(map(described, entity.attributes)),
        }
    )


def with_texts(layer: P, texts: Mapping[SourcePlace, str]) -> P:
    """Return a layer with other descriptions of its elements and of their columns."""
    return _with_texts(layer, texts, "") if texts else layer


def _with_texts(part: P, texts: Mapping[SourcePlace, str], relation: str) -> P:
    changes: dict[str, object] = {}
    name = getattr(part, "name", "")
    text = texts.get((relation, name) if relation else (name, None))
    if text is not None and "description" in type(part).model_fields:
        changes["description"] = text
    for field_name in type(part).model_fields:
        value = getattr(part, field_name)
        inside = relation or name
        if isinstance(value, ModelPart):
            changes[field_name] = _with_texts(value, texts, inside)
        elif isinstance(value, tuple) and any(isinstance(item, ModelPart) for item in value):
            changes[field_name] = tuple(_with_texts(item, texts, inside) for item in value)
    return part.model_copy(update=changes)


class _Reading:
    """Reads decisions about elements, each as what it means for the parts of a model."""

    def __init__(self, model: LogicalModel) -> None:
        self._model = model
        self._relations = relation_names(model)
        self._columns = element_columns(model)
        self._all_columns = model_columns(model)
        names = sql_names(model.conceptual)
        self._stagings = frozenset(names.stagings.values())
        self._tables = {name: table for table, name in names.tables.items()}
        self._result = ElementDecisions()
        self._renamed_by: dict[SourcePlace, Rename] = {}
        self._new_columns: dict[tuple[str, str], str] = {}

    def read(self, decisions: ModelDecisions) -> ElementDecisions:
        """Return what becomes of the decisions."""
        for renaming in decisions.renamings:
            if renaming.element is None:
                self._result.renamings.append(renaming)
            else:
                self._refuse(renaming, self._rename(renaming, renaming.element))
        for description in decisions.descriptions:
            if description.element is not None:
                self._refuse(description, self._describe(description, description.element))
        return self._result

    def _refuse(self, decision: AnyDecision, refusal: Refusal | None) -> None:
        if refusal is not None:
            self._result.refusals[decision] = refusal

    @property
    def _is_flat(self) -> bool:
        return self._model.technique == "flat"

    def _rename(self, renaming: Rename, element: str) -> Refusal | None:
        relation = self._own_name(element)
        if relation is None:
            return self._unknown_element(element)
        if renaming.column is not None:
            return self._rename_column(renaming, relation, renaming.column)
        if self._is_flat:
            self._rename_source(renaming, self._tables[relation], None)
            self._result.relations[relation] = legal_names([renaming.new_name])[renaming.new_name]
            return None
        return self._rename_relation(renaming, relation)

    def _rename_relation(self, renaming: Rename, relation: str) -> Refusal | None:
        new_name = legal_names([renaming.new_name])[renaming.new_name]
        decided = self._result.relations
        other_names = {name for own, name in decided.items() if own != relation}
        if new_name in (other_names | {*self._relations} | self._stagings) - {relation}:
            return Refusal("refused", f"Another relation has the name `{new_name}` already.")
        self._supersede((relation, None), renaming)
        decided[relation] = new_name
        return None

    def _rename_column(self, renaming: Rename, relation: str, name: str) -> Refusal | None:
        column = self._source_column(relation, name)
        if column is None:
            return self._unknown_column(relation, name)
        own_table = self._own_table(relation)
        if own_table not in {None, column.table}:
            place = f"`{column.table}.{column.column}`"
            return Refusal("refused", f"It comes from {place}: rename that column.")
        new_name = legal_names([renaming.new_name])[renaming.new_name]
        current = {c for c, s in self._columns.get(relation, {}).items() if s == column}
        if new_name in self._all_columns.get(relation, frozenset()) - current:
            return Refusal("refused", f"`{relation}` has a column `{new_name}` already.")
        self._rename_source(renaming, column.table, column.column)
        self._new_columns[relation, self._column_name(relation, column)] = new_name
        return None

    def _rename_source(self, renaming: Rename, table: str, column: str | None) -> None:
        place = {"element": None, "table": table, "column": column}
        of_source = renaming.model_copy(update=place)
        self._supersede((table, column), renaming)
        self._result.renamings.append(of_source)
        self._result.origins[of_source] = renaming

    def _supersede(self, place: SourcePlace, renaming: Rename) -> None:
        earlier = self._renamed_by.get(place)
        if earlier is not None and earlier != renaming:
            self._refuse(earlier, Refusal("unused", "A later decision renames it again."))
        self._renamed_by[place] = renaming

    def _describe(self, description: Describe, element: str) -> Refusal | None:
        relation = self._own_name(element)
        if relation is None:
            return self._unknown_element(element)
        final_name = self._result.relations.get(relation, relation)
        if description.column is None:
            if self._is_flat:
                self._result.descriptions[self._tables[relation], None] = description.text
            self._result.texts[final_name, None] = description.text
            return None
        column = self._source_column(relation, description.column)
        if column is None:
            return self._unknown_column(relation, description.column)
        if self._model.dimensional is None:
            self._result.descriptions[column.table, column.column] = description.text
        name = self._column_name(relation, column)
        final_column = self._new_columns.get((relation, name), name)
        self._result.texts[final_name, final_column] = description.text
        return None

    def _own_name(self, element: str) -> str | None:
        """Return the name that an element has without a decision; None where there's none."""
        if element in self._relations:
            return element
        decided = self._result.relations.items()
        return next((own for own, new_name in decided if new_name == element), None)

    def _own_table(self, relation: str) -> str | None:
        """Return the table that a relation of a star is about; None where all columns are own."""
        elements = star_elements(self._model)
        return next((e.entity_name for e in elements if e.name == relation), None)

    def _source_column(self, relation: str, name: str) -> SourceColumn | None:
        """Return a relation's column by its name there, its new one, or the one at the source."""
        columns = self._columns.get(relation, {})
        new_names = self._new_columns.items()
        name = next((own for (r, own), new in new_names if (r, new) == (relation, name)), name)
        by_source = (column for column in columns.values() if column.column == name)
        return columns.get(name) or next(by_source, None)

    def _column_name(self, relation: str, column: SourceColumn) -> str:
        return next(name for name, of in self._columns[relation].items() if of == column)

    def _unknown_element(self, element: str) -> Refusal:
        label = f"`{clip(element, _LONGEST_NAME)}`"
        for prefixes, technique in _ELSEWHERE[self._model.technique]:
            if element.startswith(prefixes):
                return Refusal("unused", f"Only {technique} has {label}.")
        lacks_business_vault = self._model.dv2 is not None and not self._model.dv2.business_vault
        if lacks_business_vault and element.startswith(_BUSINESS_PREFIXES):
            return Refusal("unused", f"Only a business vault has {label}.")
        guess = did_you_mean(element, self._relations).strip()
        return Refusal("refused", f"The model has no element {label}. {guess}".strip())

    def _unknown_column(self, relation: str, column: str) -> Refusal:
        label = f"`{clip(column, _LONGEST_NAME)}`"
        if column in self._all_columns.get(relation, frozenset()):
            return Refusal("refused", f"{label} is a column that the model adds to `{relation}`.")
        guess = did_you_mean(column, self._columns.get(relation, {})).strip()
        return Refusal("refused", f"`{relation}` has no column {label}. {guess}".strip())
