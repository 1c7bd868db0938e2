"""The sentence by which an element of a model says that a decision made it what it is."""

from collections.abc import Mapping

from fluid_build.decisions.language import Author, BaseDecision

_DECIDED: Mapping[Author, str] = {
    "person": "Decided by a person",
    "model": "Suggested by a language model",
}


def decided_reason(decision: BaseDecision) -> str:
    """Return who made a decision and why: ``Decided by a person: each row is a sale.``"""
    reason = " ".join(decision.reason.split()).rstrip(".")
    return f"{_DECIDED[decision.by]}: {reason}." if reason else f"{_DECIDED[decision.by]}."


def is_decided(reason: str) -> bool:
    """Return whether a reason says that a person decided."""
    return reason.startswith(_DECIDED["person"])
