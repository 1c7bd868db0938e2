"""A judgement call: a question, what we chose, how sure it is, and the other choices."""

from dataclasses import dataclass

from fluid_build.decisions.language import AnyDecision
from fluid_build.report.view import confidence_label


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

    The first of ``choices`` is ours; a question with a ``field`` (``owner`` or ``domain``) may be
    answered in words. ``certainty`` is the probability that ours is right, None where we
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
