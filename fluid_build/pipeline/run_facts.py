"""A run's receipt as the facts that the page shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fluid_build.decisions.language import DECISION
from fluid_build.decisions.subjects import decision_line
from fluid_build.markdown import visible
from fluid_build.pipeline.receipt import Cost, DecisionRow, FindingRow, Receipt, StageRow, UsageRow
from fluid_build.report.page.run_facts import (
    CostFacts,
    FindingFacts,
    ProposalFacts,
    RunFacts,
    StageFacts,
    UsageFacts,
)

_PURPOSES: Mapping[str, str] = {
    "profile": "measures the source",
    "logical": "proposes decisions, and measures them on the data",
    "logical_critic": "reviews the model",
    "retrieval": "looks for similar models in memory",
    "builder": "writes the contract",
    "conformance": "checks model and contract against standards",
    "ddl": "writes the schema",
    "dbt": "writes the dbt project",
    "docs": "writes the documents",
    "validator": "builds the model and compares it with the source",
    "escalation": "gathers the errors",
    "repair": "decides whether a stage runs again",
    "write": "writes the folder",
    "episode": "notes the run in memory",
    "memory": "notes the model in memory",
}


def run_facts(receipt: Receipt) -> RunFacts:
    """Return what the page says of a run."""
    recorded = [
        row
        for row in receipt.decisions
        if receipt.model is None or row.decision.get("by") == "person"
    ]
    return RunFacts(
        id=receipt.run,
        version=receipt.version,
        model="" if receipt.model is None else f"{receipt.provider} {receipt.model}",
        stages=tuple(map(_stage, receipt.stages)),
        findings=tuple(map(_finding, receipt.findings)),
        proposals=_proposals(receipt.proposed),
        decisions=_proposals(recorded),
        invalid=receipt.invalid_proposals,
        unread=receipt.unread_proposals,
        conformance=tuple(receipt.conformance.items()),
        conformance_errors=receipt.conformance_errors,
        failures=receipt.fallback_reasons,
        repairs=receipt.repair_reasons,
        notes=receipt.notes,
        cost=_cost(receipt.cost),
    )


def _stage(row: StageRow) -> StageFacts:
    return StageFacts(
        name=row.name,
        seconds=row.seconds,
        spans=row.spans,
        purpose=_PURPOSES.get(row.name, ""),
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        cost_usd=row.cost_usd,
    )


def _finding(row: FindingRow) -> FindingFacts:
    return FindingFacts(row.severity, row.message, row.suggestion or "", row.target or "")


def _proposals(rows: Sequence[DecisionRow]) -> tuple[ProposalFacts, ...]:
    return tuple(map(proposal_facts, rows))


def proposal_facts(row: DecisionRow) -> ProposalFacts:
    """Return what the page says of a proposal, without what a terminal would obey in it."""
    decision = DECISION.validate_python(row.decision)
    return ProposalFacts(
        decision=visible(decision_line(decision)),
        by=decision.by,
        status=row.status,
        message=visible(row.message),
        reason=visible(decision.reason),
        sql="" if row.evidence is None else row.evidence.sql,
    )


def _cost(cost: Cost) -> CostFacts:
    return CostFacts(
        total_usd=cost.total_usd,
        unconfirmed_usd=cost.unconfirmed_usd,
        limit_usd=cost.limit_usd,
        calls=cost.calls,
        input_tokens=cost.input_tokens,
        output_tokens=cost.output_tokens,
        cache_hits=cost.cache_hits,
        models=_usage(cost.models),
        agents=_usage(cost.agents),
    )


def _usage(rows: Sequence[UsageRow]) -> tuple[UsageFacts, ...]:
    return tuple(UsageFacts(**row.model_dump()) for row in rows)
