"""``fluid review``: the open judgement calls of a model, and answers to them."""

import json as json_text
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.text import Text

from fluid_build.cli import failures, messages
from fluid_build.cli.deciding.review_answers import Interview, answer_on_terminal, parse_answer
from fluid_build.cli.deciding.review_screen import question_parts
from fluid_build.cli.forging.again import forge_again
from fluid_build.cli.invocation import fluid
from fluid_build.cli.next_steps import next_steps
from fluid_build.cli.options import Debug, Json
from fluid_build.cli.recording import write_answers
from fluid_build.decisions.editing import entry_fields
from fluid_build.decisions.files import DECISIONS_FILE, recorded_decisions
from fluid_build.decisions.language import AnyDecision
from fluid_build.decisions.subjects import decision_line
from fluid_build.errors import SourceUnreadableError
from fluid_build.forging import MODEL_FILE, PROFILE_FILE
from fluid_build.modeling.logical import LogicalModel
from fluid_build.report.judgements.judgement import Judgement
from fluid_build.report.judgements.open_judgements import open_judgements
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import (
    Part,
    first_line,
    folder_label,
    heading,
    indented,
    more,
    text,
    whole,
)
from fluid_build.text import counted
from fluid_build.transform.proof.manifest import read_manifest, read_text
from fluid_build.verification.untrusted_model import MOST_BYTES, read_model

_MOST_QUESTIONS = 20
"""A list is read on a screen; --limit and --json give more."""


def review(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that fluid forge wrote.")],
    answer: Annotated[
        list[str] | None,
        typer.Option(
            "--answer",
            metavar="ID=CHOICE",
            help="Answer a question by the number of a choice, or in words for owner and domain"
            " (repeatable).",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="Only the N least certain questions."),
    ] = None,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """List the open judgement calls of a model, and take answers.

    The least certain come first, each with its evidence and the other choices. On a terminal they
    are asked one by one; elsewhere they are listed. Answers go into DIR's decisions.yaml, which the
    next forge follows, and what is decided isn't asked again.

    \b
    Example:  fluid review shop-model
              fluid review shop-model --answer owner=Sales --answer key-orders=2
    """
    manifest, model = read_manifest(folder), read_model(folder / MODEL_FILE)
    questions = _questions(folder, model)
    answered: Sequence[AnyDecision] = ()
    if answer:
        answered = [parse_answer(questions, each) for each in answer]
        write_answers(folder, answered)
    elif not json and questions and sys.stdin.isatty() and sys.stdout.isatty():
        interview = Interview(lambda decision: write_answers(folder, [decision]))
        try:
            answered = answer_on_terminal(questions[:limit], interview)
        except KeyboardInterrupt:
            if not interview.answers:
                raise
            _tell_interrupted(folder)
            return failures.NOT_DONE
    step = forge_again(folder, manifest, model)
    still_open = _questions(folder, model) if answered else questions
    if json:
        document = _document(folder, still_open, limit, answered)
        messages.show_json({**document, "next": step.command})
        return failures.DONE
    if answered:
        show(_answered_screen(folder, answered, len(still_open)))
        show(next_steps([step]))
    elif not (sys.stdin.isatty() and sys.stdout.isatty()) or not questions:
        show(_list_screen(folder, questions, limit))
    return failures.DONE


def _tell_interrupted(folder: Path) -> None:
    messages.tell("")
    messages.tell(f"Interrupted. Your answers so far are in {folder / DECISIONS_FILE}.")
    messages.tell(f"Go on with: {fluid('review', str(folder))}")


def _questions(folder: Path, model: LogicalModel) -> tuple[Judgement, ...]:
    decided = recorded_decisions(folder).decisions
    path = folder / PROFILE_FILE
    try:
        profile: Mapping[str, Any] = json_text.loads(read_text(path, MOST_BYTES))
        return open_judgements(profile, model, decided)
    except (LookupError, TypeError, ValueError, RecursionError, ValidationError):
        raise SourceUnreadableError(
            f"{path} isn't as `fluid forge` writes it.",
            hint="It was edited, or written by another version of Fluid Forge."
            " Run `fluid forge` again.",
        ) from None


def _document(
    folder: Path,
    questions: Sequence[Judgement],
    limit: int | None,
    answered: Sequence[AnyDecision],
) -> dict[str, object]:
    return {
        "folder": str(folder),
        "open": len(questions),
        "questions": [_question_document(question) for question in questions[:limit]],
        "answered": [entry_fields(decision) for decision in answered],
    }


def _question_document(question: Judgement) -> dict[str, object]:
    return {
        "id": question.id,
        "topic": question.topic,
        "question": question.question,
        "certainty": question.certainty,
        "evidence": question.evidence,
        "sql": question.sql,
        "table": question.table,
        "column": question.column,
        "answered_in_words": bool(question.field),
        "choices": [
            {
                "choice": number,
                "label": choice.label,
                "chosen": number == 1,
                "reason": choice.reason,
                "decision": None if choice.decision is None else entry_fields(choice.decision),
                "option": choice.option,
            }
            for number, choice in enumerate(question.choices, start=1)
        ],
    }


def _list_screen(folder: Path, questions: Sequence[Judgement], limit: int | None) -> Iterator[Part]:
    shown = questions[: limit or _MOST_QUESTIONS]
    yield first_line(folder_label(folder), counted(len(questions), "open question"))
    if not questions:
        yield indented("Nothing is left to decide.", "green")
        return
    for question in shown:
        yield from question_parts(question, question.id)
    yield Text()
    yield from more(len(questions) - len(shown), ": see --limit or --json")
    yield indented(
        f"Answer with `{fluid('review', str(folder))} --answer ID=CHOICE`, or on a terminal"
        " one by one."
    )


def _answered_screen(
    folder: Path, answered: Sequence[AnyDecision], still_open: int
) -> Iterator[Part]:
    yield heading(f"Written to {whole(folder / DECISIONS_FILE)}", counted(len(answered), "answer"))
    for decision in answered:
        yield indented(text(decision_line(decision)))
    yield indented(
        f"The next forge measures what the data can contradict. {counted(still_open, 'question')}"
        f" {'is' if still_open == 1 else 'are'} left.",
        "dim",
    )
