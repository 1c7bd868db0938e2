"""Judgement calls about a model: what tables become, how measures add up, when events happened."""

import shlex
from collections.abc import Iterator, Mapping

from fluid_build.decisions.language import (
    BusinessKey,
    Classify,
    Delivery,
    Measure,
    Role,
    SetDelivery,
)
from fluid_build.modeling.conceptual import Attribute, ConceptualModel, Entity
from fluid_build.modeling.data_vault.elements import Hub
from fluid_build.modeling.element import Alternative, DecidedElement
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.suggested import decided_elements
from fluid_build.report.judgements.judgement import Choice, Judgement

_MODEL_CHOICE = 0.75
_ADDITIVITY = 0.8
_EVENT_DATE = 0.7
_DELIVERY = 0.5
"""How sure these choices are, set by hand, only to order the questions: a rule with a reason
decided them, and an expert may see it differently."""
_ROLES: Mapping[str, Role] = {
    "a hub": "hub",
    "a link": "link",
    "a satellite": "satellite",
    "a reference table": "reference",
    "a fact": "fact",
    "a dimension": "dimension",
    "a bridge": "bridge",
}
"""Roles of tables, as the alternatives of elements call them."""


def model_judgements(model: LogicalModel) -> Iterator[Judgement]:
    """Yield the questions about tables, then about measures, then about dates of events."""
    yield from _judged_otherwise(model)
    yield from _seeming_partial(model)
    yield from _model_choices(model)
    yield from _additivity(model.conceptual)
    yield from _event_dates(model)


def _judged_otherwise(model: LogicalModel) -> Iterator[Judgement]:
    """Yield the tables that stay what they were, though today's data would make others of them."""
    for each in model.evolution.otherwise if model.evolution else ():
        yield Judgement(
            f"redesign-{each.table}",
            "role",
            f"Does {each.table} stay {each.kept}?",
            _MODEL_CHOICE,
            "Its relations were loaded by the earlier model.",
            (
                Choice(each.kept, each.kept_reason),
                Choice(
                    each.other,
                    each.other_reason,
                    option=f"--redesign {shlex.quote(each.table)}",
                ),
            ),
            table=each.table,
        )


def _seeming_partial(model: LogicalModel) -> Iterator[Judgement]:
    """Yield the tables that may have only what changed: what they lack isn't deleted then."""
    for each in model.evolution.seem_partial if model.evolution else ():
        yield Judgement(
            f"delivery-{each.table}",
            "delivery",
            f"Does {each.table} have all of its rows each time?",
            _DELIVERY,
            f"It has far fewer rows than before, and every {each.column} is later than any before.",
            tuple(
                Choice(label, reason, SetDelivery(table=each.table, delivers=delivers))
                for label, reason, delivers in _DELIVERIES
            ),
            table=each.table,
            column=each.column,
        )


_DELIVERIES: tuple[tuple[str, str, Delivery], ...] = (
    ("all of them", "what it lacks is deleted", "full"),
    ("those that changed", "what it lacks stays", "delta"),
    ("those that came", "what it lacks stays, and no row changes", "append"),
)


def _model_choices(model: LogicalModel) -> Iterator[Judgement]:
    """Yield the places of tables in the model that a decision could change, each once."""
    by_id: dict[str, Judgement] = {}
    for element in decided_elements(model):
        for alternative in element.alternatives:
            question = _model_choice(model.conceptual, element, alternative)
            if question is not None:
                by_id.setdefault(question.id, question)
    yield from by_id.values()


def _model_choice(
    conceptual: ConceptualModel, element: DecidedElement, alternative: Alternative
) -> Judgement | None:
    if len(element.mapped_source_tables) != 1:
        return None
    (table,) = element.mapped_source_tables
    name = str(getattr(element, "name", table))
    if alternative.choice in _ROLES:
        role = Classify(table=table, role=_ROLES[alternative.choice])
        current = current_role(element)
        chosen = None if current is None else Classify(table=table, role=current)
        return Judgement(
            f"role-{table}",
            "role",
            f"What does {table} become?",
            _MODEL_CHOICE,
            "",
            (
                Choice(name if current is None else f"a {current}", element.reason, chosen),
                Choice(alternative.choice, alternative.reason, role),
            ),
            table=table,
        )
    if isinstance(element, Hub) and alternative.choice.startswith("keyed by "):
        return _business_key(conceptual.entity(table), element, alternative)
    return None


def current_role(element: DecidedElement) -> Role | None:
    """Return the role of an element as a decision says it; None where no decision can."""
    by_type: Mapping[str, Role] = {
        "Hub": "hub",
        "Link": "link",
        "Satellite": "satellite",
        "ReferenceTable": "reference",
        "Fact": "fact",
        "Dimension": "dimension",
        "Bridge": "bridge",
    }
    return by_type.get(type(element).__name__)


def _business_key(entity: Entity, hub: Hub, alternative: Alternative) -> Judgement | None:
    key = entity.primary_key
    if key is None or key.attributes == hub.business_key_columns:
        return None
    return Judgement(
        f"business-key-{entity.name}",
        "business key",
        f"What does the business identify {entity.name} by?",
        _MODEL_CHOICE,
        "",
        (
            Choice(
                ", ".join(hub.business_key_columns),
                hub.reason,
                BusinessKey(table=entity.name, columns=hub.business_key_columns),
            ),
            Choice(
                ", ".join(key.attributes),
                alternative.reason,
                BusinessKey(table=entity.name, columns=key.attributes),
            ),
        ),
        hub.evidence.sql,
        entity.name,
    )


def _additivity(conceptual: ConceptualModel) -> Iterator[Judgement]:
    for entity in conceptual.entities:
        for attribute in entity.attributes:
            if attribute.measure is not None and attribute.measure.alternatives:
                yield _measure(entity, attribute)


def _measure(entity: Entity, attribute: Attribute) -> Judgement:
    assert attribute.measure is not None
    ours = attribute.measure.additivity
    against = "; ".join(f"{a.choice}: {a.reason}" for a in attribute.measure.alternatives)
    other_answers = [a for a in ("additive", "semi-additive", "non-additive", "none") if a != ours]
    return Judgement(
        f"measure-{entity.name}.{attribute.name}",
        "measure",
        f"How does {entity.name}.{attribute.name} add up?",
        _ADDITIVITY,
        f"It could also be {against}.",
        tuple(
            Choice(
                "no measure" if additivity == "none" else additivity,
                attribute.measure.reason if additivity == ours else "",
                Measure.model_validate(
                    {"table": entity.name, "column": attribute.name, "additivity": additivity}
                ),
            )
            for additivity in (ours, *other_answers)
        ),
        table=entity.name,
        column=attribute.name,
    )


def _event_dates(model: LogicalModel) -> Iterator[Judgement]:
    """Yield the dates that decide the versions of members, which an option chooses."""
    for fact in model.dimensional.facts if model.dimensional else ():
        date = fact.dated_by
        if date is None or not date.alternatives or not fact.mapped_source_tables:
            continue
        table = fact.mapped_source_tables[0]
        ours = f"{date.source}.{date.attribute}" if date.source else date.attribute
        yield Judgement(
            f"event-date-{table}",
            "event date",
            f"Which date says when a row of {table} happened?",
            _EVENT_DATE,
            "",
            tuple(
                Choice(
                    name,
                    date.reason if name == ours else "",
                    option=f"--event-date {table}={name}",
                )
                for name in (ours, *date.alternatives)
            ),
            table=table,
        )
