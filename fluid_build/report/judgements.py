"""The open judgement calls about a model: what we chose, how sure it is, and what else could be.

Each comes with the decisions that would settle it, the least certain first.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias

from fluid_build.decisions.language import (
    AddRelationship,
    AnyDecision,
    BusinessKey,
    Classify,
    DropRelationship,
    Measure,
    PersonalData,
    Role,
    SetKey,
    TextType,
)
from fluid_build.decisions.subjects import subject
from fluid_build.modeling.conceptual import (
    Attribute,
    CandidateRelationship,
    ConceptualModel,
    Entity,
    Relationship,
)
from fluid_build.modeling.data_vault.elements import Hub
from fluid_build.modeling.element import Alternative, DecidedElement
from fluid_build.modeling.logical import LogicalModel
from fluid_build.report.view import WORTH_ASKING, confidence_label
from fluid_build.text import counted, free_name

ProfileDocument: TypeAlias = Mapping[str, Any]
"""What ``profile.json`` holds; docs/json.md describes it."""

_CERTAIN = 0.95
"""The confidence from which an inferred foreign key isn't a question: one in twenty is wrong."""
_UNREFERENCED_KEY = 0.7
_REFERENCED_KEY = 0.9
"""How sure a primary key is that was chosen among several: others refer to it, or none does. Set by
hand, only to order the questions."""
_MODEL_CHOICE = 0.75
_ADDITIVITY = 0.8
_EVENT_DATE = 0.7
_NAMED_PERSONAL = 0.6
"""How sure the other choices are, set by hand to the same end: a rule with a reason decided them,
and an expert may see it differently."""
_COIN_TOSS = 0.5
_MOST_KEYS = 4
"""Candidate keys that are offered; of a small table many combinations are unique by chance."""
_ROLES: Mapping[str, Role] = {
    "a hub": "hub",
    "a link": "link",
    "a satellite": "satellite",
    "a reference table": "reference",
    "a fact": "fact",
    "a dimension": "dimension",
    "a bridge": "bridge",
}
_DATE = re.compile(r"\d{1,2}([./-])\d{1,2}\1(\d{4}|\d{2})")
_READ_AS_TEXT = "Read as text: "


@dataclass(frozen=True, slots=True)
class Choice:
    """A possible answer: a phrase, the reason for or against it, and the decision that says so.

    ``option`` is a command line option that says so where no decision can.
    """

    label: str
    reason: str = ""
    decision: AnyDecision | None = None
    option: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A question that the data doesn't settle, what we chose and why.

    The first of ``choices`` is ours; a question without choices is answered in words (``field`` is
    ``owner`` or ``domain``). ``certainty`` is the probability that ours is right, None where we
    know nothing. ``sql`` runs on the source and shows what the data says. ``table`` and ``column``
    are what the question is about.
    """

    id: str
    topic: str
    question: str
    certainty: float | None
    evidence: str
    choices: tuple[Choice, ...] = ()
    sql: str = ""
    table: str = ""
    column: str = ""
    field: str = ""

    @property
    def certainty_label(self) -> str:
        """Return the certainty in hundredths, "" where there is none."""
        return "" if self.certainty is None else confidence_label(self.certainty)


def judgements(
    profile: ProfileDocument, model: LogicalModel, decided: Collection[AnyDecision] = ()
) -> tuple[Judgement, ...]:
    """Return the questions that ``decided`` leaves open, the least certain first.

    ``profile`` is the content of ``profile.json``. Those of the same certainty are in the order of
    their subjects: relationships, keys, text, the model, measures, dates, personal data.
    """
    conceptual = model.conceptual
    questions = chain(
        (_candidate(candidate) for candidate in _open_candidates(conceptual)),
        (_reference(reference) for reference in _open_references(conceptual)),
        _primary_keys(conceptual),
        _conventions(profile),
        _model_choices(model),
        _additivity(conceptual),
        _event_dates(model),
        _personal_data(profile),
        _ownership(),
    )
    settled = {_folded(subject(decision)) for decision in decided}
    unsettled = [question for question in questions if not _subjects(question) & settled]
    ordered = sorted(unsettled, key=lambda question: _sort_key(question.certainty))
    return tuple(_with_ids(ordered))


def _sort_key(certainty: float | None) -> float:
    return 2.0 if certainty is None else certainty


def _subjects(question: Judgement) -> set[object]:
    if question.field:
        return {(question.field,)}
    return {_folded(subject(choice.decision)) for choice in question.choices if choice.decision}


def _folded(parts: object) -> object:
    """Return a subject in one case: a person may have written a table's name in another."""
    if isinstance(parts, tuple):
        return tuple(_folded(part) for part in parts)
    return parts.casefold() if isinstance(parts, str) else parts


def _with_ids(questions: Sequence[Judgement]) -> Iterator[Judgement]:
    """Yield the questions with ids that can be typed, each once."""
    used: set[str] = set()
    for question in questions:
        slug = re.sub(r"[^A-Za-z0-9_.]+", "-", question.id).strip("-")
        free = free_name(slug, used)
        used.add(free)
        yield replace(question, id=free)


def _open_candidates(conceptual: ConceptualModel) -> Iterator[CandidateRelationship]:
    for candidate in conceptual.candidates:
        if candidate.confidence >= WORTH_ASKING:
            yield candidate


def _open_references(conceptual: ConceptualModel) -> Iterator[Relationship]:
    for reference in conceptual.relationships:
        is_sure = reference.origin == "declared" or reference.confidence >= _CERTAIN
        if not is_sure and not reference.implied:
            yield reference


def _candidate(candidate: CandidateRelationship) -> Judgement:
    none = Choice("no relationship", candidate.reason, _drop(candidate))
    reference = Choice("a relationship", candidate.evidence.reason, _add(candidate))
    return _relationship_question(candidate, 1 - candidate.confidence, (none, reference))


def _reference(reference: Relationship) -> Judgement:
    chosen = Choice("a relationship", reference.evidence.reason, _add(reference))
    none = Choice("no relationship", "", _drop(reference))
    return _relationship_question(reference, reference.confidence, (chosen, none))


def _relationship_question(
    reference: Relationship | CandidateRelationship, certainty: float, choices: tuple[Choice, ...]
) -> Judgement:
    child = _columns_label(reference.from_entity, reference.from_attributes)
    parent = _columns_label(reference.to_entity, reference.to_attributes)
    figures = reference.evidence
    return Judgement(
        f"relationship-{child}-{parent}",
        "relationship",
        f"Does {child} refer to {parent}?",
        certainty,
        f"{figures.matched:,} of {counted(figures.rows, 'row')} have a match,"
        f" {figures.orphans:,} don't.",
        choices,
        figures.sql,
        reference.from_entity,
        reference.from_attributes[0],
    )


def _add(reference: Relationship | CandidateRelationship) -> AddRelationship:
    return AddRelationship(
        from_table=reference.from_entity,
        from_columns=reference.from_attributes,
        to_table=reference.to_entity,
        to_columns=reference.to_attributes,
    )


def _drop(reference: Relationship | CandidateRelationship) -> DropRelationship:
    return DropRelationship(
        from_table=reference.from_entity,
        from_columns=reference.from_attributes,
        to_table=reference.to_entity,
        to_columns=reference.to_attributes,
    )


def _primary_keys(conceptual: ConceptualModel) -> Iterator[Judgement]:
    referenced = {
        (reference.to_entity, reference.to_attributes) for reference in conceptual.relationships
    }
    for entity in conceptual.entities:
        key = entity.primary_key
        if key is None or key.origin == "declared":
            continue
        others = [each for each in entity.keys if each.kind == "candidate"]
        # A key with more columns than the chosen one is no rival of it.
        rivals = [each for each in others if len(each.attributes) <= len(key.attributes)]
        if not rivals:
            continue
        is_referenced = (entity.name, key.attributes) in referenced
        yield Judgement(
            f"key-{entity.name}",
            "key",
            f"What identifies a row of {entity.name}?",
            _REFERENCED_KEY if is_referenced else _UNREFERENCED_KEY,
            f"Each of these is unique in {counted(entity.rows, 'row')}.",
            tuple(
                Choice(
                    ", ".join(each.attributes),
                    each.reason,
                    SetKey(table=entity.name, columns=each.attributes),
                )
                for each in (key, *rivals[:_MOST_KEYS])
            ),
            key.evidence.sql,
            entity.name,
        )


def _conventions(profile: ProfileDocument) -> Iterator[Judgement]:
    """Yield the columns whose text fits two conventions, which were left as text."""
    for table in profile["tables"]:
        for column in table["columns"]:
            for note in column["notes"]:
                if note.startswith(_READ_AS_TEXT):
                    yield from _convention(table["name"], column, note)


def _convention(table: str, column: Mapping[str, Any], note: str) -> Iterator[Judgement]:
    name = str(column["name"])

    def read_as(kind: str, **details: object) -> TextType:
        return TextType.model_validate({"table": table, "column": name, "read_as": kind, **details})

    if "--date-order" in note:
        dates = [_DATE.fullmatch(str(value["value"])) for value in column["top_values"]]
        match = next(filter(None, dates), None)
        if match is None:
            return
        mark, year = match[1], "%Y" if len(match[2]) == 4 else "%y"
        choices = (
            Choice("the day first", "", read_as("date", date_format=f"%d{mark}%m{mark}{year}")),
            Choice("the month first", "", read_as("date", date_format=f"%m{mark}%d{mark}{year}")),
        )
    elif "--decimal" in note:
        choices = (
            Choice("a decimal point", "", read_as("number", decimal="point")),
            Choice("a decimal comma", "", read_as("number", decimal="comma")),
        )
    else:
        return
    yield Judgement(
        f"text-{table}.{name}",
        "text",
        f"How is the text in {table}.{name} read?",
        _COIN_TOSS,
        note.partition(" Pass --")[0],
        (Choice("as text", "nothing in the data settles it", read_as("text")), *choices),
        table=table,
        column=name,
    )


def _model_choices(model: LogicalModel) -> Iterator[Judgement]:
    """Yield the places of tables in the model that a decision could change, each once."""
    by_id: dict[str, Judgement] = {}
    for element in _decided_elements(model):
        for alternative in element.alternatives:
            question = _model_choice(model.conceptual, element, alternative)
            if question is not None:
                by_id.setdefault(question.id, question)
    yield from by_id.values()


def _decided_elements(model: LogicalModel) -> Iterator[DecidedElement]:
    if model.dv2 is not None:
        vault = model.dv2
        yield from (*vault.hubs, *vault.links, *vault.satellites)
        yield from (*vault.reference_tables, *vault.keyless_tables)
    if model.dimensional is not None:
        star = model.dimensional
        yield from (*star.facts, *star.dimensions, *star.bridges)


def _model_choice(
    conceptual: ConceptualModel, element: DecidedElement, alternative: Alternative
) -> Judgement | None:
    if len(element.mapped_source_tables) != 1:
        return None
    (table,) = element.mapped_source_tables
    name = str(getattr(element, "name", table))
    if alternative.choice in _ROLES:
        role = Classify(table=table, role=_ROLES[alternative.choice])
        current = _current_role(element)
        kept = None if current is None else Classify(table=table, role=current)
        return Judgement(
            f"role-{table}",
            "role",
            f"What does {table} become?",
            _MODEL_CHOICE,
            "",
            (
                Choice(name if current is None else f"a {current}", element.reason, kept),
                Choice(alternative.choice, alternative.reason, role),
            ),
            table=table,
        )
    if isinstance(element, Hub) and alternative.choice.startswith("keyed by "):
        return _business_key(conceptual.entity(table), element, alternative)
    return None


def _current_role(element: DecidedElement) -> Role | None:
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
    others = [a for a in ("additive", "semi-additive", "non-additive", "none") if a != ours]
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
            for additivity in (ours, *others)
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


def _personal_data(profile: ProfileDocument) -> Iterator[Judgement]:
    """Yield the columns that are taken for personal data by their names alone."""
    for table in profile["tables"]:
        for column in table["columns"]:
            if not column["pii"] or not _is_by_name(column):
                continue
            target = {"table": table["name"], "column": column["name"]}
            yield Judgement(
                f"personal-{table['name']}.{column['name']}",
                "personal data",
                f"Is {table['name']}.{column['name']} personal data?",
                _NAMED_PERSONAL,
                column["semantic_reason"],
                (
                    Choice("personal", "", PersonalData.model_validate(target)),
                    Choice(
                        "not personal",
                        "",
                        PersonalData.model_validate({**target, "is_personal": False}),
                    ),
                ),
                table=table["name"],
                column=column["name"],
            )


def _is_by_name(column: Mapping[str, Any]) -> bool:
    """Return whether no value speaks for it: there is none, or the reason gives no figure."""
    reason = str(column["semantic_reason"])
    return column["nulls"] == column["rows"] or not re.search(r"\d", reason)


def _ownership() -> Iterator[Judgement]:
    yield Judgement(
        "domain",
        "ownership",
        "Which business domain does the product belong to?",
        None,
        "Nothing in the data says so.",
        field="domain",
    )
    yield Judgement(
        "owner",
        "ownership",
        "Which team owns the product?",
        None,
        "Nothing in the data says so.",
        field="owner",
    )


def _columns_label(table: str, columns: Sequence[str]) -> str:
    return f"{table}.{columns[0]}" if len(columns) == 1 else f"{table}.({', '.join(columns)})"
