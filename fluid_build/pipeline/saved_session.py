"""The scratchpad and the audit trail of a run as JSON, for a process that resumes the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from fluid_build.copilot.agents.base import PipelineEvent, StageSession
from fluid_build.copilot.scratchpad import CriticFinding, RetrievalResult, StageFeedback
from fluid_build.json_types import JsonObject


def saved_session(session: StageSession) -> JsonObject:
    """Return a session's scratchpad and audit trail as JSON."""
    pad = session.get_scratchpad()
    return {
        "findings": [asdict(finding) for finding in pad.critic_findings],
        "retrievals": [asdict(result) for result in pad.retrievals],
        "feedback": [asdict(feedback) for feedback in pad.feedback],
        "trail": [asdict(event) for event in session.audit_trail],
    }


def restore_session(session: StageSession, saved: Mapping[str, Any]) -> None:
    """Add what ``saved_session`` returned to the session of a new process."""
    pad = session.get_scratchpad()
    for finding in saved["findings"]:
        pad.add_critic_finding(CriticFinding(**finding))
    for result in saved["retrievals"]:
        pad.add_retrieval(RetrievalResult(**result))
    for feedback in saved["feedback"]:
        pad.add_feedback(StageFeedback(**feedback))
    session.audit_trail.extend(PipelineEvent(**event) for event in saved["trail"])
    session.fallback_used = any(event.kind == "fallback" for event in session.audit_trail)
    session.repair_used = any(event.kind == "repair" for event in session.audit_trail)
