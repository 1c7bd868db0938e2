"""The receipt of a finished run, from what its coordinator knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fluid_build import __version__
from fluid_build.copilot.agents.base import StageSession
from fluid_build.copilot.agents.composite import Composite
from fluid_build.copilot.cost import get_cost_tracker
from fluid_build.forging import Forged
from fluid_build.pipeline.coordinator import Coordinator
from fluid_build.pipeline.receipt import (
    DecisionRow,
    FindingRow,
    Receipt,
    StageRow,
    cost_of,
    counts,
    stage_rows,
)
from fluid_build.pipeline.values import PROPOSED


def receipt_of(
    coordinator: Coordinator, state: Composite, forged: Forged, notes: Sequence[str]
) -> Receipt:
    """Return the receipt of a run whose stages are all done."""
    place, notes_of = coordinator.place, state.internal
    session, tracker = place.session, get_cost_tracker()
    config = session.llm_config
    builder, stages, logical = notes_of["builder"], notes_of["stages"], notes_of["logical"]
    assert isinstance(logical, Mapping)
    assert isinstance(builder, Mapping)
    assert isinstance(stages, Sequence)
    return Receipt(
        run=session.run_id or "",
        version=__version__,
        provider=None if config is None else session.active_provider,
        model=None if config is None else config.model,
        folder=str(place.request.out),
        technique=forged.model.technique,
        files=tuple(str(path) for path in forged.files),
        relations=tuple(build.name for build in forged.plan.published),
        invalid_proposals=tuple(logical["invalid"]),
        unread_proposals=logical["unread"],
        proposed=tuple(DecisionRow.of(v) for v in place.values.get(PROPOSED) or ()),
        decisions=tuple(DecisionRow.of(v) for v in forged.verdicts),
        findings=tuple(FindingRow.of(finding) for finding in coordinator.findings(state)),
        conformance=coordinator.conformance(state),
        conformance_errors=coordinator.conformance_errors(state),
        proof_verdict=forged.proof.verdict,
        proof=counts([table.verdict for table in forged.proof.tables]),
        similar_models=tuple(builder["similar_models"]),
        stages=stage_rows(StageRow.model_validate(row) for row in stages),
        cost=cost_of(
            tracker.breakdown,
            None if config is None else tracker.limit_usd,
            place.cache_hits,
        ),
        catalog_fetch_ms={
            name: round(duration, 3)
            for name, duration in tracker.breakdown.catalog_fetch_ms.items()
        },
        variant_lint=coordinator.variant_lint(state),
        fallback_used=session.fallback_used,
        fallback_reasons=_reasons(session, "fallback"),
        repair_used=session.repair_used,
        repair_reasons=_reasons(session, "repair"),
        notes=tuple(notes),
    )


def _reasons(session: StageSession, kind: str) -> tuple[str, ...]:
    return tuple(event.reason for event in session.audit_trail if event.kind == kind)
