"""Questions about what a language model says that something means, where the rules differ."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fluid_build.decisions.language import (
    AnyDecision,
    Classify,
    Domain,
    Measure,
    Owner,
    ProductName,
    TextType,
)
from fluid_build.decisions.reasons import decided_reason
from fluid_build.decisions.subjects import subject
from fluid_build.decisions.weighing.readings import described_reading, reads_so
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.suggested import attribute_of, by_model_names, elements_of
from fluid_build.report.judgements.judgement import Choice, Judgement
from fluid_build.report.judgements.model_judgements import current_role

_CLAIMED = 0.75
"""How sure what the rules concluded is, set by hand, only to order the questions."""


def with_claims(
    questions: Iterable[Judgement], model: LogicalModel, claims: Sequence[AnyDecision]
) -> Iterator[Judgement]:
    """Yield questions with what language models claim of them, then those of other claims."""
    left = {subject(claim): claim for claim in claims}
    for question in questions:
        claim = next((left.pop(about) for about in _subjects(question) if about in left), None)
        yield question if claim is None else _with_claim(question, claim)
    for claim in left.values():
        own = _question(model, claim)
        if own is not None:
            yield own


def _subjects(question: Judgement) -> list[tuple[object, ...]]:
    decisions = [choice.decision for choice in question.choices if choice.decision is not None]
    return (
        [(question.field,), *map(subject, decisions)]
        if question.field
        else [subject(decision) for decision in decisions]
    )


def _with_claim(question: Judgement, claim: AnyDecision) -> Judgement:
    """Return a question whose choices have what a model claims, with its reason."""
    reason = decided_reason(claim)
    person = _by_a_person(claim)
    if person in [choice.decision for choice in question.choices]:
        choices = tuple(
            replace(choice, reason=reason) if choice.decision == person else choice
            for choice in question.choices
        )
    else:
        choices = (*question.choices, Choice(_label(claim), reason, person))
    return replace(question, choices=choices)


def _question(model: LogicalModel, claim: AnyDecision) -> Judgement | None:
    match claim:
        case Measure():
            return _measure(model, claim)
        case Classify():
            return _role(model, claim)
    return None


def _measure(model: LogicalModel, claim: Measure) -> Judgement | None:
    named = by_model_names(model, claim)
    assert isinstance(named, Measure)
    attribute = attribute_of(model, named)
    if attribute is None:
        return None
    role = attribute.measure
    ours = claim.model_copy(update={"additivity": "none" if role is None else role.additivity})
    name = f"{claim.table}.{claim.column}"
    return Judgement(
        f"measure-{name}",
        "measure",
        f"How does {name} add up?",
        _CLAIMED,
        "A language model and the rules differ.",
        (
            Choice(_label(ours), "" if role is None else role.reason, _by_a_person(ours)),
            Choice(_label(claim), decided_reason(claim), _by_a_person(claim)),
        ),
        table=claim.table,
        column=claim.column,
    )


def _role(model: LogicalModel, claim: Classify) -> Judgement | None:
    named = by_model_names(model, claim)
    assert isinstance(named, Classify)
    element = next(elements_of(model, named.table), None)
    role = None if element is None else current_role(element)
    ours = None if role is None else Classify(table=claim.table, role=role)
    label = "a part of other tables" if element is None else str(getattr(element, "name", role))
    return Judgement(
        f"role-{claim.table}",
        "role",
        f"What does {claim.table} become?",
        _CLAIMED,
        "A language model and the rules differ.",
        (
            Choice(
                label if role is None else f"a {role}",
                "" if element is None else element.reason,
                ours,
            ),
            Choice(_label(claim), decided_reason(claim), _by_a_person(claim)),
        ),
        table=claim.table,
    )


def open_readings(
    profile: Mapping[str, Any], decided: Collection[AnyDecision]
) -> list[tuple[TextType, str | None]]:
    """Return the claims of language models on text that no person has settled and isn't so read.

    Each with what the column is read as, as ``profile.json`` has it.
    """
    settled = {subject(decision) for decision in decided if decision.by == "person"}
    read = {
        (table["name"], column["name"]): column["measured_type"]
        for table in profile["tables"]
        for column in table["columns"]
    }
    claims = (each for each in decided if isinstance(each, TextType) and each.by == "model")
    return [
        (claim, read[claim.table, claim.column])
        for claim in claims
        if (claim.table, claim.column) in read
        and subject(claim) not in settled
        and not reads_so(claim, read[claim.table, claim.column])
    ]


def reading_judgement(claim: TextType, measured_type: str | None) -> Judgement:
    """Return the question how a column is read, of which a model and the rules think otherwise."""
    ours = described_reading(claim.table, claim.column, measured_type)
    name = f"{claim.table}.{claim.column}"
    return Judgement(
        f"text-{name}",
        "text",
        f"How is {name} read?",
        _CLAIMED,
        "A language model and the rules differ.",
        (
            Choice(f"as {measured_type or 'text'}", "all of its values are that", ours),
            Choice(_label(claim), decided_reason(claim), _by_a_person(claim)),
        ),
        table=claim.table,
        column=claim.column,
    )


def _by_a_person(claim: AnyDecision) -> AnyDecision:
    """Return a decision as a person makes it who answers the question with it."""
    return claim.model_copy(update={"by": "person", "reason": "", "evidence": None})


def _label(claim: AnyDecision) -> str:
    match claim:
        case Measure(additivity=additivity):
            return "no measure" if additivity == "none" else additivity
        case Classify(role=role):
            return f"a {role}"
        case TextType(read_as=read_as):
            how = claim.date_format or (f"decimal {claim.decimal}" if claim.decimal else "")
            return f"as {read_as}" + (f" ({how})" if how else "")
        case Domain(domain=name) | ProductName(name=name) | Owner(team=name):
            return name
    raise AssertionError(claim)
