"""The judgement calls: each open question with the commands and entries that answer it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fluid_build.decisions.commands import decide_command
from fluid_build.decisions.editing import entry_text
from fluid_build.decisions.files import DECISIONS_FILE
from fluid_build.decisions.language import AnyDecision, Domain, Owner
from fluid_build.decisions.subjects import decision_line
from fluid_build.report.judgements.judgement import Choice, Judgement
from fluid_build.report.judgements.key_judgements import candidate_judgement
from fluid_build.report.page.content import BuiltContent, PageContent
from fluid_build.report.page.run_facts import RunFacts

_MOST_UNFOLDED = 3
"""Questions that are shown in full at first: enough to see what a question looks like."""
_MOST_IN_PLACE = 50
"""Questions whose answers the page holds as they are; those of a thousand would slow its start."""
_MOST_DECIDED = 500
"""Recorded decisions that are listed; their file has them all."""
_PLACEHOLDERS: Mapping[str, tuple[str, AnyDecision]] = {
    "owner": ("TEAM", Owner(team="TEAM")),
    "domain": ("DOMAIN", Domain(domain="DOMAIN")),
}
"""What a person replaces in a decision that is made in words, by the field of its question."""


@dataclass(frozen=True, slots=True)
class AnswerCard:
    """A choice, or words of one's own, with the command and the entry that say so.

    ``command`` and ``entry`` are "" where nothing was built yet, or where ``option`` of the next
    forge says so instead.
    """

    label: str
    reason: str = ""
    command: str = ""
    entry: str = ""
    option: str = ""
    is_ours: bool = False


@dataclass(frozen=True, slots=True)
class QuestionCard:
    """A question with its answers, ours first. ``width`` is its certainty in percent."""

    id: str
    call: Judgement
    answers: tuple[AnswerCard, ...]
    is_unfolded: bool
    width: int | None

    @property
    def words(self) -> str:
        """Return what a search looks in."""
        labels = [choice.label for choice in self.call.choices]
        return " ".join((self.call.question, self.call.topic, *labels)).lower()


@dataclass(frozen=True, slots=True)
class DecisionCard:
    """A recorded decision; ``figures`` and ``sql`` are of its evidence.

    ``status`` is what became of it in the run, "" where that isn't known.
    """

    line: str
    by: str
    status: str
    reason: str
    figures: tuple[tuple[str, int], ...]
    sql: str


@dataclass(frozen=True, slots=True)
class Calls:
    """The open questions, the least certain first, and what is decided.

    ``topics`` are the questions' subjects, each with how many there are. ``file`` has the
    decisions; it's "" where nothing was built. ``packs`` say where the answers to a question are
    that aren't in its place, by its id.
    """

    questions: tuple[QuestionCard, ...]
    topics: tuple[tuple[str, int], ...]
    decided: tuple[DecisionCard, ...]
    decided_count: int
    file: str
    packs: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_choices(self) -> bool:
        """Return whether a question is answered by choosing."""
        return any(question.call.choices for question in self.questions)

    @property
    def packed_questions(self) -> tuple[QuestionCard, ...]:
        """Return the questions whose answers are packed: those far down a long list."""
        return self.questions[_MOST_IN_PLACE:]


def calls(content: PageContent) -> Calls:
    """Return the judgement calls of a page; without a model they are those of the profile."""
    built = content.built
    judgements = (
        tuple(map(candidate_judgement, content.view.questions))
        if built is None
        else built.judgements
    )
    decided = () if built is None else built.decided
    return Calls(
        tuple(
            QuestionCard(
                f"call-{judgement.id if built else place}",
                judgement,
                tuple(_answers(judgement, built)),
                place < _MOST_UNFOLDED,
                None if judgement.certainty is None else int(judgement.certainty * 100),
            )
            for place, judgement in enumerate(judgements)
        ),
        tuple(Counter(judgement.topic for judgement in judgements).most_common()),
        tuple(_decided(decision, content.run) for decision in decided[:_MOST_DECIDED]),
        len(decided),
        "" if built is None else f"{built.folder.rstrip('/')}/{DECISIONS_FILE}",
    )


def _answers(judgement: Judgement, built: BuiltContent | None) -> Iterator[AnswerCard]:
    for place, choice in enumerate(judgement.choices):
        yield _answer(choice, built, is_ours=place == 0)
    if judgement.field and built is not None:
        placeholder, decision = _PLACEHOLDERS[judgement.field]
        hint = f"Write its name in place of {placeholder}."
        yield AnswerCard("In your words", hint, *_ways(decision, built))


def _answer(choice: Choice, built: BuiltContent | None, *, is_ours: bool) -> AnswerCard:
    ways = ("", "") if choice.decision is None or built is None else _ways(choice.decision, built)
    return AnswerCard(choice.label, choice.reason, *ways, choice.option, is_ours)


def _ways(decision: AnyDecision, built: BuiltContent) -> tuple[str, str]:
    """Return the command and the entry that make a decision."""
    return decide_command(decision, built.folder), entry_text(decision)


def _decided(decision: AnyDecision, run: RunFacts | None) -> DecisionCard:
    evidence, line = decision.evidence, decision_line(decision)
    figures: tuple[tuple[str, int], ...] = ()
    if evidence is not None:
        figures = (("rows", evidence.rows), ("violations", evidence.violations))
    return DecisionCard(
        line,
        decision.by,
        _status(line, decision, run) if run is not None and run.id else "",
        decision.reason,
        figures,
        "" if evidence is None else evidence.sql,
    )


def _status(line: str, decision: AnyDecision, run: RunFacts) -> str:
    """Return what became of a decision; a person's that the run doesn't know was made since."""
    known = (each.status for each in (*run.decisions, *run.proposals) if each.decision == line)
    return next(known, "not forged yet" if decision.by == "person" else "")
