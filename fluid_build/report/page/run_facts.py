"""What a page says of a run: its stages, what they cost, what was proposed and what was found."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class StageFacts:
    """A stage as it ran, with its ``purpose`` in a phrase.

    ``spans`` are the start and the end of each attempt, in seconds since the run's start; there are
    none in a record of an earlier version. ``seconds`` is their sum.
    """

    name: str
    seconds: float
    spans: tuple[tuple[float, float], ...] = ()
    purpose: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class UsageFacts:
    """The use of a model, or by an agent in a stage. ``cost_usd`` is None for an unknown price."""

    name: str
    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: Decimal | None


@dataclass(frozen=True, slots=True)
class CostFacts:
    """Tokens and US dollars of a run. ``cache_hits`` are answers that an earlier call paid for.

    ``unconfirmed_usd`` is the part of ``total_usd`` that no provider reported.
    """

    total_usd: Decimal = Decimal(0)
    unconfirmed_usd: Decimal = Decimal(0)
    limit_usd: Decimal | None = None
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_hits: int = 0
    models: tuple[UsageFacts, ...] = ()
    agents: tuple[UsageFacts, ...] = ()


@dataclass(frozen=True, slots=True)
class FindingFacts:
    """A remark of a review: ``severity`` is error, warning or info."""

    severity: str
    message: str
    suggestion: str = ""
    element: str = ""


@dataclass(frozen=True, slots=True)
class ProposalFacts:
    """A decision that took part: who made it and why, and what became of it.

    ``status`` is accepted, insisted, refused or unused; ``message`` has the figure that decided.
    ``sql`` runs on the source.
    """

    decision: str
    by: str
    status: str
    message: str
    reason: str = ""
    sql: str = ""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run; its ``id`` is "" where none is recorded and the folder was only reviewed.

    ``model`` names the language model with its provider, "" where none took part. ``proposals`` are
    those of agents, ``decisions`` those that were recorded before the run. ``invalid`` says what is
    wrong with entries of agents that are no decisions, and ``unread`` counts those over the limit
    of an answer. ``failures`` say why the draft was used without the model, ``repairs`` why a stage
    ran again. ``conformance`` has the verdict by standard.
    """

    id: str
    version: str = ""
    model: str = ""
    stages: tuple[StageFacts, ...] = ()
    findings: tuple[FindingFacts, ...] = ()
    proposals: tuple[ProposalFacts, ...] = ()
    decisions: tuple[ProposalFacts, ...] = ()
    invalid: tuple[str, ...] = ()
    unread: int = 0
    conformance: tuple[tuple[str, str], ...] = ()
    conformance_errors: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    cost: CostFacts = CostFacts()
