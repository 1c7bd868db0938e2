"""The receipt of a run: what was made, what agents contributed, what was checked, what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal

from pydantic import BaseModel, ConfigDict

from fluid_build.copilot.cost import CostBreakdown
from fluid_build.copilot.scratchpad import CriticFinding
from fluid_build.decisions.language import DecisionEvidence
from fluid_build.decisions.verdicts import Verdict


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DecisionRow(_Frozen):
    """A decision that an agent or a person made, and what became of it.

    ``message`` has the figure that decided, ``evidence`` the query.
    """

    decision: dict[str, object]
    status: str
    message: str
    evidence: DecisionEvidence | None = None

    @classmethod
    def of(cls, verdict: Verdict) -> DecisionRow:
        """Return the entry of a verdict."""
        return cls(
            decision=verdict.decision.model_dump(
                mode="json", exclude_none=True, exclude={"evidence"}
            ),
            status=verdict.status,
            message=verdict.message,
            evidence=verdict.evidence,
        )


class FindingRow(_Frozen):
    """A critic's remark."""

    stage: str
    severity: str
    message: str
    suggestion: str | None = None
    target: str | None = None

    @classmethod
    def of(cls, finding: CriticFinding) -> FindingRow:
        """Return the entry of a critic's finding."""
        return cls(
            stage=finding.stage,
            severity=finding.severity,
            message=finding.message,
            suggestion=finding.suggestion,
            target=finding.target,
        )


class StageRow(_Frozen):
    """A stage as it ran: ``attempts`` is how often, the other figures are sums.

    ``spans`` are the start and the end of each attempt, in seconds since the run's start without
    interruptions; a receipt of an earlier version has none.
    """

    name: str
    seconds: float
    attempts: int = 1
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: Decimal = Decimal(0)
    findings: int = 0
    spans: tuple[tuple[float, float], ...] = ()


class UsageRow(_Frozen):
    """The use of a model, or by an agent in a stage. ``cost_usd`` is None for an unknown price."""

    name: str
    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: Decimal | None


class Cost(_Frozen):
    """Tokens and US dollars, by model and by stage and agent.

    ``cache_hits`` counts the answers that were paid for by an earlier call, and
    ``missing_usage_calls`` those whose tokens no provider reported.
    """

    total_usd: Decimal = Decimal(0)
    unconfirmed_usd: Decimal = Decimal(0)
    limit_usd: Decimal | None = None
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_hits: int = 0
    missing_usage_calls: int = 0
    models: tuple[UsageRow, ...] = ()
    agents: tuple[UsageRow, ...] = ()


class Receipt(_Frozen):
    """The receipt of a run.

    ``provider`` and ``model`` are None where no model was asked. ``proposed`` are the decisions of
    agents, ``invalid_proposals`` what is wrong with entries of theirs that are no decisions, and
    ``unread_proposals`` counts those over the limit of an answer. ``decisions`` are those that went
    into the run, a person's included. ``proof`` counts the source's tables by verdict.
    ``catalog_fetch_ms`` has the milliseconds that each data catalog took to answer, and
    ``variant_lint`` the validator's warnings about the contract by the variant of the model.
    """

    run: str
    version: str
    provider: str | None = None
    model: str | None = None
    folder: str
    technique: str
    files: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    proposed: tuple[DecisionRow, ...] = ()
    invalid_proposals: tuple[str, ...] = ()
    unread_proposals: int = 0
    decisions: tuple[DecisionRow, ...] = ()
    findings: tuple[FindingRow, ...] = ()
    conformance: dict[str, str] = {}
    conformance_errors: tuple[str, ...] = ()
    proof_verdict: str
    proof: dict[str, int] = {}
    similar_models: tuple[str, ...] = ()
    stages: tuple[StageRow, ...] = ()
    cost: Cost = Cost()
    catalog_fetch_ms: dict[str, float] = {}
    variant_lint: dict[str, int] = {}
    fallback_used: bool = False
    fallback_reasons: tuple[str, ...] = ()
    repair_used: bool = False
    repair_reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def count_proposed(self, status: str) -> int:
        """Return how many decisions of agents have a status."""
        return sum(entry.status == status for entry in self.proposed)

    @property
    def errors(self) -> tuple[str, ...]:
        """Return what is still wrong with the results after the repair, each as a sentence."""
        findings = (entry.message for entry in self.findings if entry.severity == "error")
        return (*self.conformance_errors, *findings)


def cost_of(breakdown: CostBreakdown, limit: Decimal | None, cache_hits: int) -> Cost:
    """Return the costs of a run by its tracker's sums."""
    models = tuple(
        UsageRow(
            name=f"{row.provider}/{row.model}",
            calls=row.calls,
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            cached_tokens=row.cached_tokens,
            cost_usd=row.cost_usd,
        )
        for row in breakdown.rows
    )
    agents = tuple(
        UsageRow(
            name=f"{row.stage or 'other'}: {row.agent_class or 'other'}",
            calls=row.calls,
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            cached_tokens=row.cached_tokens,
            cost_usd=row.cost_usd,
        )
        for row in breakdown.agent_rows
    )
    return Cost(
        total_usd=breakdown.total_usd,
        unconfirmed_usd=breakdown.unconfirmed_usd,
        limit_usd=limit,
        calls=sum(row.calls for row in models),
        input_tokens=sum(row.input_tokens for row in models),
        output_tokens=sum(row.output_tokens for row in models),
        cache_hits=cache_hits,
        missing_usage_calls=breakdown.missing_usage_calls,
        models=models,
        agents=agents,
    )


def stage_rows(reports: Iterable[StageRow]) -> tuple[StageRow, ...]:
    """Return one row for each stage, with the sums of all its attempts, in order of first use."""
    rows: dict[str, StageRow] = {}
    for report in reports:
        earlier = rows.get(report.name)
        rows[report.name] = report if earlier is None else _sum(earlier, report)
    return tuple(rows.values())


def _sum(first: StageRow, second: StageRow) -> StageRow:
    return StageRow(
        name=first.name,
        seconds=round(first.seconds + second.seconds, 3),
        attempts=first.attempts + second.attempts,
        input_tokens=first.input_tokens + second.input_tokens,
        output_tokens=first.output_tokens + second.output_tokens,
        cost_usd=first.cost_usd + second.cost_usd,
        findings=second.findings,
        spans=(*first.spans, *second.spans),
    )


def counts(values: Sequence[str]) -> dict[str, int]:
    """Return how often each value occurs, the most frequent first."""
    return dict(Counter(values).most_common())
