"""The decisions about measures that a finished model doesn't follow."""

from fluid_build.decisions.language import AnyDecision, Measure
from fluid_build.decisions.model_decisions import ModelDecisions
from fluid_build.decisions.verdicts import Refusal
from fluid_build.modeling.conceptual import Attribute, ConceptualModel
from fluid_build.modeling.types import family


def unfollowed_measures(
    conceptual: ConceptualModel, decisions: ModelDecisions
) -> dict[AnyDecision, Refusal]:
    """Return the measures that aren't as decided, each with the reason."""
    attributes = {(e.name, a.name): a for e in conceptual.entities for a in e.attributes}
    return {
        decision: Refusal("refused", _obstacle(conceptual, decision, attributes.get(column)))
        for column, decision in decisions.measures.items()
        if not _is_followed(decision, attributes.get(column))
    }


def _is_followed(decision: Measure, attribute: Attribute | None) -> bool:
    if attribute is None:
        return False
    additivity = attribute.measure.additivity if attribute.measure else "none"
    return additivity == decision.additivity


def _obstacle(conceptual: ConceptualModel, decision: Measure, attribute: Attribute | None) -> str:
    column = f"`{decision.table}.{decision.column}`"
    if attribute is None:
        return f"{column} isn't a column of the model."
    if family(attribute.type) not in {"integer", "decimal", "float"}:
        return f"{column} can't be a measure: its type is {attribute.type}."
    reference = next(
        (
            relationship.to_entity
            for relationship in conceptual.relationships
            if relationship.from_entity == decision.table
            and decision.column in relationship.from_attributes
        ),
        None,
    )
    if reference is not None:
        return f"{column} can't be a measure: it refers to `{reference}`."
    return f"{column} can't be a measure: it's part of a key of `{decision.table}`."
