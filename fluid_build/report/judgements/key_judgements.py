"""Judgement calls about relationships and primary keys, which rest on counts of rows."""

from collections.abc import Iterator, Sequence

from fluid_build.decisions.language import AddRelationship, DropRelationship, SetKey
from fluid_build.modeling.conceptual import CandidateRelationship, ConceptualModel, Relationship
from fluid_build.report.judgements.judgement import Choice, Judgement
from fluid_build.report.view import WORTH_ASKING
from fluid_build.text import counted

_CERTAIN = 0.95
"""The confidence from which an inferred foreign key isn't a question: one in twenty is wrong."""
_UNREFERENCED_KEY = 0.7
_REFERENCED_KEY = 0.9
"""How sure a primary key is that was chosen among several: others refer to it, or none does. Set by
hand, only to order the questions."""
_MOST_KEYS = 4
"""Candidate keys that are offered; of a small table many combinations are unique by chance."""


def key_judgements(conceptual: ConceptualModel) -> Iterator[Judgement]:
    """Yield the questions about candidate and inferred relationships, and rival keys."""
    yield from map(candidate_judgement, _open_candidates(conceptual))
    yield from map(_reference, _open_references(conceptual))
    yield from _primary_keys(conceptual)


def _open_candidates(conceptual: ConceptualModel) -> Iterator[CandidateRelationship]:
    for candidate in conceptual.candidates:
        if candidate.confidence >= WORTH_ASKING:
            yield candidate


def _open_references(conceptual: ConceptualModel) -> Iterator[Relationship]:
    for reference in conceptual.relationships:
        is_sure = reference.origin == "declared" or reference.confidence >= _CERTAIN
        if not is_sure and not reference.implied:
            yield reference


def candidate_judgement(candidate: CandidateRelationship) -> Judgement:
    """Return the question about a candidate; without a relationship is our choice."""
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
        # A key with more columns than the chosen one is no rival of it.
        rivals = [
            candidate
            for candidate in entity.keys
            if candidate.kind == "candidate" and len(candidate.attributes) <= len(key.attributes)
        ]
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
                    ", ".join(choice.attributes),
                    choice.reason,
                    SetKey(table=entity.name, columns=choice.attributes),
                )
                for choice in (key, *rivals[:_MOST_KEYS])
            ),
            key.evidence.sql,
            entity.name,
        )


def _columns_label(table: str, columns: Sequence[str]) -> str:
    return f"{table}.{columns[0]}" if len(columns) == 1 else f"{table}.({', '.join(columns)})"
