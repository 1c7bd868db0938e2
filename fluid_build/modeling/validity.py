"""Tables of which the source stamps its changes, so that versions hold from when they were made."""

from collections.abc import Iterable, Iterator, Set

from fluid_build.decisions.language import SetValidity
from fluid_build.decisions.verdicts import Refusal
from fluid_build.modeling.conceptual import Attribute, ConceptualModel, Entity
from fluid_build.modeling.data_vault.column_purposes import is_change_stamp, is_date
from fluid_build.modeling.data_vault.described_rows import of_hub_rows
from fluid_build.modeling.evolution import Evolution
from fluid_build.modeling.logical import LogicalModel, Technique, Validity
from fluid_build.text import listed


def validities(
    decisions: Iterable[SetValidity],
    conceptual: ConceptualModel,
    technique: Technique,
    evolution: Evolution | None,
) -> tuple[Validity, ...]:
    """Return the tables whose versions hold from a stamp, or did at some load.

    They have the model's names. A history that was given its date keeps it.
    """
    evolution = evolution or Evolution()
    decided = {evolution.model_table(each.table): each for each in decisions}
    found = (
        Validity(
            table=entity.name,
            column=_stamp(entity, decided.get(entity.name), technique, evolution),
        )
        for entity in conceptual.entities
        if technique != "flat"
    )
    return tuple(each for each in found if each.column or each.table in evolution.dated_tables)


def unfollowed_validities(
    model: LogicalModel, decisions: Iterable[SetValidity]
) -> Iterator[tuple[SetValidity, Refusal]]:
    """Yield the decisions that a model doesn't follow, and why."""
    evolution = model.evolution or Evolution()
    dated = _dated_tables(model)
    for decision in decisions:
        if decision.follows == "load":
            continue
        table = evolution.model_table(decision.table)
        entity = model.conceptual.entity(table)
        if not _stamp(entity, decision, model.technique, evolution):
            yield decision, Refusal("refused", _why_not(entity, decision))
        elif table not in dated:
            message = f"No history of this model has a version for each change of `{table}`."
            yield decision, Refusal("unused", message)


def _stamp(
    entity: Entity, decision: SetValidity | None, technique: Technique, evolution: Evolution
) -> str:
    """Return the column that stamps changes: the decided one, or the first that is called so."""
    if decision is None or decision.follows == "load":
        return ""
    named = decision.column and evolution.model_column(entity.name, decision.column)
    stamps = (
        each.name
        for each in entity.attributes
        if _says_when(each, technique) and (each.name == named if named else is_change_stamp(each))
    )
    return next(stamps, "")


def _says_when(attribute: Attribute, technique: Technique) -> bool:
    """Whether a column holds moments where histories are loaded: a vault keeps text as it is."""
    conversion = attribute.conversion
    is_kept = technique == "data_vault_2" and conversion is not None and not conversion.reversible
    return is_date(attribute) and not is_kept


def _why_not(entity: Entity, decision: SetValidity) -> str:
    if decision.column:
        return f"`{entity.name}.{decision.column}` doesn't say when: its values aren't moments."
    dates = [f"`{each.name}`" for each in entity.attributes if is_date(each)]
    if not dates:
        return f"`{entity.name}` has no column that says when a row was changed."
    return (
        f"No column of `{entity.name}` is called as a stamp of changes is: name it with"
        f" `column`, as one of {listed(dates)}."
    )


def _dated_tables(model: LogicalModel) -> Set[str]:
    """Return the tables of which histories have a version for each change."""
    if model.dv2 is not None:
        dated = of_hub_rows(model.dv2)
        return {each.table for each in model.dv2.satellites if each.name in dated} | {
            each.table for each in model.dv2.reference_tables
        }
    dimensions = model.dimensional.dimensions if model.dimensional else ()
    return {each.entity_name for each in dimensions if each.history}
