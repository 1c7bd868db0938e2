"""What a language model says that something means, next to what the rules concluded of the data.

How a number adds up, what a table becomes, and what the product is and is called: no query shows
that such a claim is wrong. So it counts only where the rules have no view.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from fluid_build.decisions.language import (
    AnyDecision,
    Classify,
    Domain,
    Measure,
    Owner,
    ProductName,
)
from fluid_build.decisions.model_decisions import model_decisions
from fluid_build.decisions.subjects import subject
from fluid_build.decisions.verdicts import accepted
from fluid_build.modeling.conceptual import Attribute
from fluid_build.modeling.element import DecidedElement
from fluid_build.modeling.evolution import Evolution
from fluid_build.modeling.followed import followed
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.measures.measure_role import NO_AMOUNT
from fluid_build.sources.declarations.catalog_facts import CatalogFacts

Claim: TypeAlias = Measure | Classify | Domain | Owner | ProductName
"""A decision about what something means."""


def is_claim(decision: AnyDecision) -> bool:
    """Return whether a decision is a language model's claim about what something means."""
    return isinstance(decision, Claim) and decision.by == "model"


def open_claims(model: LogicalModel, decided: Sequence[AnyDecision]) -> list[AnyDecision]:
    """Return the claims of language models that no person has settled and a model isn't as."""
    settled = {subject(decision) for decision in decided if decision.by == "person"}
    return [
        decision
        for decision in decided
        if is_claim(decision) and subject(decision) not in settled and not shows(model, decision)
    ]


def shows(model: LogicalModel, claim: AnyDecision) -> bool:
    """Return whether a model is as a claim says, whatever made it so."""
    named = by_model_names(model, claim)
    (verdict,) = followed([accepted(named, "")], model, model_decisions([named]))
    return verdict.applies


def by_model_names(model: LogicalModel, claim: AnyDecision) -> AnyDecision:
    """Return a claim by the names of a model, where the source calls things otherwise now."""
    names = model.evolution or Evolution()
    if isinstance(claim, Measure):
        table = names.model_table(claim.table)
        column = names.model_column(table, claim.column)
        return claim.model_copy(update={"table": table, "column": column})
    if isinstance(claim, Classify):
        return claim.model_copy(update={"table": names.model_table(claim.table)})
    return claim


def conclusion(model: LogicalModel, claim: AnyDecision, catalog: CatalogFacts | None) -> str:
    """Return what the rules concluded about the subject of a claim; "" where they have no view.

    ``model`` is as the rules made it.
    """
    match by_model_names(model, claim):
        case Measure() as measure:
            return _of_measure(measure, attribute_of(model, measure))
        case Classify(table=table):
            return _of_table(model, table)
        case Domain() if catalog is not None and catalog.declared_domain:
            return f"{catalog.catalog} says that the domain is `{catalog.declared_domain}`"
        case Owner() if catalog is not None and catalog.declared_owner is not None:
            return f"{catalog.catalog} says that the owner is `{catalog.declared_owner.name}`"
        case ProductName() if catalog is not None and catalog.product:
            return f"{catalog.catalog} calls the product `{catalog.product}`"
    return ""


def elements_of(model: LogicalModel, table: str) -> Iterator[DecidedElement]:
    """Yield the elements that a table became, those of its rows alone first."""
    made = [each for each in decided_elements(model) if table in each.mapped_source_tables]
    yield from sorted(made, key=lambda element: len(element.mapped_source_tables))


def attribute_of(model: LogicalModel, claim: Measure) -> Attribute | None:
    """Return the attribute that a claim is about; None where the model has none."""
    return next(
        (
            attribute
            for entity in model.conceptual.entities
            if entity.name == claim.table
            for attribute in entity.attributes
            if attribute.name == claim.column
        ),
        None,
    )


def _of_measure(claim: Measure, attribute: Attribute | None) -> str:
    if attribute is None:
        return ""
    name, role = f"`{claim.table}.{claim.column}`", attribute.measure
    if role is not None:
        # What nothing speaks for is a guess, and no conclusion.
        return (
            "" if NO_AMOUNT in role.alternatives else f"{name} is {role.additivity}: {role.reason}"
        )
    evidence = attribute.evidence
    is_empty = evidence.nulls > 0 and not evidence.rows
    return "" if is_empty else f"{name} is no measure: it classifies, places or identifies"


def _of_table(model: LogicalModel, table: str) -> str:
    element = next(elements_of(model, table), None)
    if element is None:
        return f"`{table}` is a part of other tables"
    return f"`{table}` is `{getattr(element, 'name', table)}`: {element.reason.rstrip('.')}"


def decided_elements(model: LogicalModel) -> Iterator[DecidedElement]:
    """Yield what a judgement made what it is."""
    if model.dv2 is not None:
        vault = model.dv2
        yield from (*vault.hubs, *vault.links, *vault.satellites)
        yield from (*vault.reference_tables, *vault.keyless_tables)
    if model.dimensional is not None:
        star = model.dimensional
        yield from (*star.facts, *star.dimensions, *star.bridges)
