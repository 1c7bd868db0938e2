"""What became of a decision: accepted or refused, with the figure that decided it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from fluid_build.decisions.language import AnyDecision, DecisionEvidence

Status = Literal["accepted", "insisted", "asked", "refused", "unused"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision, and what became of it.

    The data confirms an ``accepted`` one, or has nothing to say about it. An ``insisted`` one is
    contradicted by ``evidence.violations`` rows, and goes in as declared and violated because a
    person insists. An ``asked`` one is a language model's, against what the rules concluded: it
    doesn't go in, and a person is asked. A ``refused`` one doesn't go in. An ``unused`` one is
    right, but says nothing about this technique, or repeats another decision. ``message`` is one
    sentence, with the figure that decided.
    """

    decision: AnyDecision
    status: Status
    message: str
    evidence: DecisionEvidence | None = None

    @property
    def applies(self) -> bool:
        """Whether the decision goes into the model."""
        return self.status in {"accepted", "insisted"}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a finished model doesn't follow a decision.

    It's ``refused`` where the model can't, and ``unused`` where the technique has no place for it.
    """

    status: Literal["refused", "unused"]
    message: str


def accepted(
    decision: AnyDecision, message: str, evidence: DecisionEvidence | None = None
) -> Verdict:
    """Return the verdict on a decision that the data bears out."""
    return Verdict(decision, "accepted", message, evidence)


def refused(
    decision: AnyDecision, message: str, evidence: DecisionEvidence | None = None
) -> Verdict:
    """Return the verdict on a decision that doesn't go in."""
    return Verdict(decision, "refused", message, evidence)


def kept(verdicts: Iterable[Verdict]) -> tuple[AnyDecision, ...]:
    """Return the decisions that a folder keeps: those that apply, and those that wait for a person.

    Each has its evidence.
    """
    return _with_evidence(v for v in verdicts if v.applies or v.status == "asked")


def applied(verdicts: Iterable[Verdict]) -> tuple[AnyDecision, ...]:
    """Return the decisions that go into the model, each with its evidence."""
    return _with_evidence(verdict for verdict in verdicts if verdict.applies)


def _with_evidence(verdicts: Iterable[Verdict]) -> tuple[AnyDecision, ...]:
    return tuple(
        verdict.decision.model_copy(update={"evidence": verdict.evidence}) for verdict in verdicts
    )
