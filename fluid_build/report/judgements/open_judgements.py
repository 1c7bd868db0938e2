"""All judgement calls about a model that no decision settles, in the order to ask them."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from fluid_build.decisions.language import AnyDecision
from fluid_build.decisions.subjects import subject
from fluid_build.modeling.logical import LogicalModel
from fluid_build.report.judgements.column_judgements import (
    ProfileDocument,
    conventions,
    personal_data,
)
from fluid_build.report.judgements.judgement import Judgement
from fluid_build.report.judgements.key_judgements import key_judgements
from fluid_build.report.judgements.model_judgements import model_judgements
from fluid_build.report.judgements.ownership_judgements import ownership
from fluid_build.text import free_name


def open_judgements(
    profile: ProfileDocument, model: LogicalModel, decided: Collection[AnyDecision] = ()
) -> tuple[Judgement, ...]:
    """Return the questions that ``decided`` leaves open, the least certain first.

    ``profile`` is the content of ``profile.json``. Those of the same certainty are in the order of
    their subjects: relationships, keys, text, the model, measures, dates, personal data.
    """
    questions = chain(
        key_judgements(model.conceptual),
        conventions(profile),
        model_judgements(model),
        personal_data(profile),
        ownership(profile),
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
