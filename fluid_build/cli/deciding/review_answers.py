"""Answers to judgement calls: by id on the command line, or one by one on a terminal."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from fluid_build.cli import messages
from fluid_build.cli.deciding.review_screen import question_parts
from fluid_build.cli.typed_decisions import typed_decision
from fluid_build.decisions.language import AnyDecision
from fluid_build.errors import UsageError
from fluid_build.report.judgements.judgement import Choice, Judgement
from fluid_build.report.terminal.printing import show
from fluid_build.text import did_you_mean

Move: TypeAlias = Literal["next", "back", "again", "quit"]
Write: TypeAlias = Callable[[AnyDecision], None]

_FIELDS = {"owner": "team", "domain": "domain"}
"""The fields of decisions that are answered in words."""


def parse_answer(questions: Sequence[Judgement], answer: str) -> AnyDecision:
    """Return the decision that ``ID=CHOICE`` means; raise UsageError where it means none."""
    id_, sign, choice = answer.partition("=")
    by_id = {question.id: question for question in questions}
    if not sign or not choice.strip():
        raise UsageError(
            f"--answer {answer!r} isn't a question and a choice.",
            hint="Write it as ID=CHOICE, such as --answer owner=Sales or --answer key-orders=2.",
        )
    if id_ not in by_id:
        raise UsageError(
            f"There's no open question {id_!r}.",
            hint=f"{did_you_mean(id_, by_id)}`fluid review DIR --json` lists them with their ids.",
        )
    return _answer(by_id[id_], choice.strip())


@dataclass(frozen=True, slots=True)
class Interview:
    """The answers of a session at the terminal so far, by question; each is written at once."""

    write: Write
    answers: dict[str, AnyDecision] = field(default_factory=dict)

    def note(self, key: str, decision: AnyDecision) -> None:
        """Write an answer."""
        self.write(decision)
        self.answers[key] = decision


def answer_on_terminal(questions: Sequence[Judgement], interview: Interview) -> list[AnyDecision]:
    """Ask questions one by one, and return the answers.

    It ends after the last question, with ``q``, or where the input ends.
    """
    place = 0
    while place < len(questions):
        question = questions[place]
        show(question_parts(question, f"{place + 1} of {len(questions)}"))
        match _ask(question, interview.note):
            case "quit":
                break
            case "back":
                place = max(place - 1, 0)
            case "next":
                place += 1
            case "again":
                pass
    return [*interview.answers.values()]


def _ask(question: Judgement, note: Callable[[str, AnyDecision], None]) -> Move:
    """Ask until an answer is understood, and return where to go on."""
    while True:
        line = messages.ask(_prompt(question))
        reply = line.strip()
        moves: dict[str, Move] = {"s": "next", "b": "back", "q": "quit"}
        if not line:
            return "quit"
        if reply.lower() in moves:
            return moves[reply.lower()]
        try:
            if reply.lower() == "d" and question.table:
                return _describe(question, note)
            if not reply:
                return _keep(question, note)
            note(question.id, _answer(question, reply))
        except UsageError as error:
            messages.tell(f"{error.message} {error.hint or ''}".strip())
        else:
            return "next"


def _prompt(question: Judgement) -> str:
    keep = "Number, Enter keeps 1"
    answer = keep if not question.field else f"{keep}, or words" if question.choices else "Words"
    describe = ", d describes" if question.table else ""
    return f"  {answer}{describe}, s skips, b goes back, q quits: "


def _keep(question: Judgement, note: Callable[[str, AnyDecision], None]) -> Move:
    """Confirm what we chose; a question in words, or of an option, is left open."""
    ours = question.choices[0].decision if question.choices else None
    if ours is not None:
        note(question.id, ours)
    return "next"


def _describe(question: Judgement, note: Callable[[str, AnyDecision], None]) -> Move:
    subject = f"{question.table}.{question.column}" if question.column else question.table
    description = messages.ask(f"  What is {subject}? ").strip()
    if description:
        target = {"table": question.table, "column": question.column or None}
        fields = {"decision": "describe", **target, "text": description}
        note(f"{question.id} described", _decision(fields))
        messages.tell(f"  The description of {subject} is written.")
    return "again"


def _answer(question: Judgement, reply: str) -> AnyDecision:
    if question.field and not _names_choice(question, reply):
        return _decision({"decision": question.field, _FIELDS[question.field]: reply})
    choice = _choice(question, reply)
    if choice.decision is None:
        raise UsageError(
            f"No decision says that: {choice.option} does.",
            hint=f"Pass {choice.option} to the next forge.",
        )
    return choice.decision


def _names_choice(question: Judgement, reply: str) -> bool:
    """Return whether an answer is the number or the label of a choice."""
    numbers = {str(number) for number in range(1, len(question.choices) + 1)}
    return reply in numbers or reply in {choice.label for choice in question.choices}


def _choice(question: Judgement, reply: str) -> Choice:
    if reply.isascii() and reply.isdecimal() and len(reply) <= len(str(len(question.choices))):
        number = int(reply)
        if 1 <= number <= len(question.choices):
            return question.choices[number - 1]
    labels = {choice.label.casefold(): choice for choice in question.choices}
    if reply.casefold() in labels:
        return labels[reply.casefold()]
    raise UsageError(
        f"{reply!r} doesn't answer '{question.question}'.",
        hint=f"Choose a number from 1 to {len(question.choices)}.",
    )


def _decision(fields: Mapping[str, object]) -> AnyDecision:
    return typed_decision(fields, complaint="This can't be used", hint="Write it in plain text.")
