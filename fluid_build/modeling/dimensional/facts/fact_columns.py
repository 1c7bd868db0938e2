"""The columns of a fact beside its keys: measures, and what numbers or describes the event."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.dimensional.column_purposes import is_date, is_distinctive, is_numbering
from fluid_build.modeling.dimensional.elements import FactAttribute, Measure
from fluid_build.modeling.dimensional.facts.grain import StatedGrain
from fluid_build.modeling.dimensional.judging.reference_graph import AttributeNames
from fluid_build.modeling.dimensional.star_layout import StarLayout
from fluid_build.modeling.dimensional.star_names import free_column
from fluid_build.modeling.element import source_columns
from fluid_build.modeling.metric_terms import currency_of, price_weights, stated_additivity


@dataclass(frozen=True, slots=True)
class FactColumns:
    """What the columns of one fact are named and explained by.

    ``headers`` are what the event belongs to, and ``header_columns`` refer to them.
    ``used_columns`` are the names of the fact's columns so far.
    """

    layout: StarLayout
    entity: Entity
    headers: tuple[Entity, ...]
    header_columns: Set[str]
    used_columns: set[str]

    def attributes(self, elsewhere: Set[str]) -> Iterator[FactAttribute]:
        """Return the attributes that are no measures and aren't found elsewhere in the star."""
        for attribute in self.entity.attributes:
            if attribute.measure is None and attribute.name not in elsewhere:
                yield FactAttribute(
                    name=self._free_name(attribute),
                    type=attribute.type,
                    attribute=attribute.name,
                    description=attribute.description,
                    mapped_source_tables=(self.entity.name,),
                    source_columns=source_columns(self.entity.name, (attribute.name,)),
                    reason=self._attribute_reason(attribute),
                )

    def measures(self, elsewhere: Set[str]) -> Iterator[Measure]:
        """Return the measures that aren't found elsewhere in the star, in the source's order."""
        names = {
            attribute.name: self._free_name(attribute)
            for attribute in self.entity.attributes
            if attribute.measure is not None and attribute.name not in elsewhere
        }
        weights = price_weights(self.entity, self._products())
        for attribute in self.entity.attributes:
            if attribute.measure is not None and attribute.name in names:
                role = attribute.measure
                within = currency_of(self.entity, attribute, self.headers)
                yield Measure(
                    name=names[attribute.name],
                    column=attribute.name,
                    aggregation=role.aggregation,
                    additivity=role.additivity,
                    weighted_by=names.get(weights.get(attribute.name, ""), ""),
                    within=within,
                    description=attribute.description,
                    mapped_source_tables=(self.entity.name,),
                    source_columns=source_columns(self.entity.name, (attribute.name,)),
                    reason=stated_additivity(role, within),
                    alternatives=role.alternatives,
                )

    def _products(self) -> Iterator[tuple[str, str]]:
        """Yield the factors of amounts of the row."""
        for formula in self.layout.graph.observations.row_formulas:
            if formula.table == self.entity.name and formula.operation == "product":
                yield formula.operands

    def is_degenerate(self, column: FactAttribute) -> bool:
        """Return whether a column is a degenerate dimension: it numbers the event or its header."""
        attribute = self.entity.attribute(column.attribute)
        return (
            attribute.name in self.layout.graph.keys[self.entity.name]
            or attribute.name in self.header_columns
            or (is_numbering(attribute) and is_distinctive(attribute, self.entity))
        )

    def grain(self, grain: StatedGrain) -> str:
        """Return what one row is, in a sentence, with what is to be said of its columns."""
        member = self.layout.names.member(self.entity.name).replace("_", " ")
        if grain.columns:
            sentence = f"One row for each {member}: {', '.join(grain.columns)}."
        elif grain.remark:
            sentence = f"One row for each row of {self.entity.name}."
        else:
            sentence = f"One row for each row of {self.entity.name}, which has no key."
        return f"{sentence} {grain.remark}".rstrip()

    def grain_columns(self, key: AttributeNames, columns: Mapping[str, str]) -> AttributeNames:
        """Return the columns of the key; none where the fact lacks one of them."""
        if not all(name in columns for name in key):
            return ()
        return tuple(dict.fromkeys(columns[name] for name in key))

    def _free_name(self, attribute: Attribute) -> str:
        column = self.layout.names.column(self.entity.name, attribute.name)
        return free_column(column, self.used_columns)

    def _attribute_reason(self, attribute: Attribute) -> str:
        graph = self.layout.graph
        if attribute.name in graph.keys[self.entity.name]:
            return "It identifies the event: a degenerate dimension."
        if attribute.name in self.header_columns:
            return "The key of the header row that it belongs to: a degenerate dimension."
        if (self.entity.name, attribute.name) in graph.record_keeping.authors:
            return "It says who wrote or changed the record, and not who took part in the event."
        if graph.is_referring(self.entity.name, attribute.name):
            return "The original foreign key, kept so that orphaned values aren't lost."
        if is_date(attribute) and attribute.type != "date":
            return "The full timestamp; a date key would hold only the day."
        return "It describes this event alone."
