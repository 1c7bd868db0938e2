"""The session of a run: its store, its model if it has one, and what its answers depend on."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fluid_build.copilot.agents.base import PipelineEvent, StageSession
from fluid_build.copilot.scratchpad import CriticFinding, RetrievalResult, StageFeedback
from fluid_build.copilot.store.base import Store
from fluid_build.copilot.unified_config import current_config, use_flags
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject
from fluid_build.pipeline.requests import ModelUse

if TYPE_CHECKING:
    from fluid_build.copilot.llm.base import LlmConfig


@contextmanager
def configured(use: ModelUse) -> Generator[None]:
    """Let the flags of a command win over the configuration."""
    with use_flags(
        {
            "llm.provider": use.provider,
            "llm.model": use.model,
            "llm.base_url": use.endpoint,
            "llm.tiered": use.tiered if use.is_settled else use.tiered or None,
            "behavior.deterministic": (
                use.deterministic if use.is_settled else use.deterministic or None
            ),
        }
    ):
        yield


def settled(use: ModelUse) -> ModelUse:
    """Return the use of a model as it's configured now, for a process that resumes the run.

    That process may have another environment and other files of settings. Raises as
    ``requested_model`` does.
    """
    with configured(use):
        model, config = requested_model(use), current_config()
        return use.model_copy(
            update={
                "provider": None if model is None else model.provider,
                "model": None if model is None else model.model,
                "endpoint": None if model is None else model.base_url,
                "tiered": config.llm.tiered,
                "deterministic": model is None,
                "is_settled": True,
            }
        )


def requested_model(use: ModelUse) -> LlmConfig | None:
    """Return the model of a run by the flags and the configuration, None for a run without one.

    Raises UsageError where a model is required and none is configured, or half of one is.
    """
    config = current_config()
    if config.behavior.deterministic:
        if use.is_required:
            raise UsageError(
                "--require-llm asks for a model, and --deterministic for none.",
                hint="Leave one out; FLUID_DETERMINISTIC and behavior.deterministic count too.",
            )
        return None
    if config.llm.provider is None and config.llm.model is None:
        if use.is_required:
            raise UsageError(
                "--require-llm asks for a model, and none is configured.",
                hint="Pass --llm-provider and --llm-model, or run `fluid ai setup`.",
            )
        return None
    # Most runs ask no model, and don't wait for this import.
    from fluid_build.copilot.llm.default_config import default_llm_config

    return default_llm_config()


def open_session(store: Store, use: ModelUse, run_id: str) -> StageSession:
    """Return the session of a run."""
    return StageSession(
        store,
        llm_config=requested_model(use),
        capability_matrix={"share_samples": use.share_samples},
        tiered=current_config().llm.tiered,
        no_cache=use.no_cache,
        run_id=run_id,
    )


# The scratchpad and the audit trail of a run as JSON, for a process that resumes the run.


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
