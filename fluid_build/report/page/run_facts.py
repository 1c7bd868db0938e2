"""What a page says of a run: its stages, what they cost, what was proposed and what was found."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class StageFacts:
    """A stage as it ran. ``started`` and ``seconds`` are seconds since the run's start."""

    name: str
    started: float
    seconds: float
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class FindingFacts:
    """A remark of a review: ``severity`` is error, warning or info."""

    severity: str
    message: str
    suggestion: str = ""
    element: str = ""


@dataclass(frozen=True, slots=True)
class ProposalFacts:
    """A decision that took part: who made it, what became of it, and the figure that decided.

    ``status`` is accepted, insisted, refused or unused. ``sql`` runs on the source.
    """

    decision: str
    by: str
    status: str
    message: str
    sql: str = ""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run. ``model`` names the language model, "" where none took part."""

    id: str
    model: str = ""
    stages: tuple[StageFacts, ...] = ()
    findings: tuple[FindingFacts, ...] = ()
    proposals: tuple[ProposalFacts, ...] = ()
    conformance: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    cost_usd: Decimal = Decimal(0)
    limit_usd: Decimal | None = None
    input_tokens: int = 0
    output_tokens: int = 0
