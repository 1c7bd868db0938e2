"""The runs inside a run: agents that the steps and the tools of a saved run ask.

Each is saved beside the run that it is part of, so that it can wait for a person, and goes on where
it was after a crash. Its place is known by the item of the outer run, what asked, and what was
asked. The ids of its calls begin with a label, which leads a decision to it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TypeVar

from fluid_build.copilot.agents.composite.approvals import Approvals, Decision
from fluid_build.copilot.agents.composite.checkpoint import (
    Checkpoint,
    nested_checkpoint,
    nested_names,
)
from fluid_build.copilot.errors import (
    AnswerCutOffError,
    AnswerRefusedError,
    ApprovalError,
    ApprovalRequiredError,
    RunLimitError,
    SchemaValidationError,
    TurnLimitError,
)

DecisionT = TypeVar("DecisionT", bound=Decision)

_LABELLED = re.compile(r"(.*?-[0-9a-f]{6})/(.+)", re.DOTALL)
_WITHOUT_ANSWER = (
    AnswerCutOffError,
    AnswerRefusedError,
    RunLimitError,
    SchemaValidationError,
    TurnLimitError,
)
"""Errors that a run would soon end with again: it has used up its turns or its corrections."""

_NO_NAME = re.compile(r"[^\w.\-]+")
_LONGEST_NAME = 60
"""Characters of a name in a run id, which is part of a key of the store."""


class NestedDecisions:
    """Decisions about the calls of nested runs, each for the run that its id begins with."""

    def __init__(self, approvals: Approvals) -> None:
        self._by_label: dict[str, dict[str, Decision]] = {}
        for call_id, decision in approvals.items():
            labelled = _LABELLED.fullmatch(call_id)
            label, inner = labelled.groups() if labelled else ("", call_id)
            self._by_label.setdefault(label, {})[inner] = decision

    def take(self, label: str) -> dict[str, Decision]:
        """Return the decisions for a run, which nobody gets again."""
        return self._by_label.pop(label, {})

    def refuse_unknown(self, checkpoint: Checkpoint) -> None:
        """Raise ``ApprovalError`` for a decision about a run that the item doesn't have."""
        names = nested_names(checkpoint) if self._by_label else []
        for label, decisions in self._by_label.items():
            if not any(name.startswith(f"{_safe(label)}.") for name in names):
                raise ApprovalError(
                    f"No call of this run waits for the decision about {next(iter(decisions))!r}.",
                    hint="Resume it with decisions about the calls in its result's pending.",
                )


@dataclass(frozen=True, slots=True)
class NestedPlace:
    """Where the runs that one item of a run starts are saved."""

    checkpoint: Checkpoint
    step_name: str
    decisions: NestedDecisions
    accept_changed_code: bool
    made: dict[str, Checkpoint] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NestedRun:
    """One of those runs: to begin, or to resume with decisions."""

    checkpoint: Checkpoint
    is_resumed: bool
    approvals: Approvals
    accept_changed_code: bool


_PLACE: ContextVar[NestedPlace | None] = ContextVar("fluid_nested_place", default=None)


def is_inside() -> bool:
    """Return whether runs that are started here are saved inside another."""
    return _PLACE.get() is not None


@contextmanager
def nested_in(place: NestedPlace | None) -> Generator[None]:
    """Save the runs that are started in this block in ``place``; None saves them nowhere."""
    token = _PLACE.set(place)
    try:
        yield
    finally:
        _PLACE.reset(token)


@contextmanager
def nested_run(name: str | None, content: object) -> Generator[NestedRun | None]:
    """Provide the run of what is asked here; None where the outer run isn't saved.

    ``name`` is who asks (default: the step's name), ``content`` what. A run that waits or was
    stopped goes on when it is asked for again; one whose agent had no answer begins anew.
    """
    place = _PLACE.get()
    if place is None:
        yield None
        return
    label = f"{name or place.step_name}-{_digest(content)}"
    checkpoint = _checkpoint(place, label)
    is_resumed = checkpoint.exists()
    approvals = place.decisions.take(label) if is_resumed else {}
    try:
        yield NestedRun(checkpoint, is_resumed, approvals, place.accept_changed_code)
    except ApprovalRequiredError as error:
        pending = [replace(call, id=f"{label}/{call.id}") for call in error.pending]
        raise ApprovalRequiredError(pending, waits=True) from None
    except _WITHOUT_ANSWER:
        checkpoint.delete()
        raise


def without_nested(approvals: Mapping[str, DecisionT]) -> dict[str, DecisionT]:
    """Return the decisions about calls of a run itself."""
    return {key: value for key, value in approvals.items() if not _LABELLED.fullmatch(key)}


def nested_only(approvals: Mapping[str, DecisionT]) -> dict[str, DecisionT]:
    """Return the decisions about calls of its nested runs."""
    return {key: value for key, value in approvals.items() if _LABELLED.fullmatch(key)}


def _checkpoint(place: NestedPlace, label: str) -> Checkpoint:
    """Return where the run is saved; two that ask the same in one group are apart."""
    name, number = _safe(label), 1
    while f"{name}.{number}" in place.made:
        number += 1
    made = place.made[f"{name}.{number}"] = nested_checkpoint(place.checkpoint, f"{name}.{number}")
    return made


def _safe(label: str) -> str:
    return _NO_NAME.sub("_", label)[-_LONGEST_NAME:]


def _digest(content: object) -> str:
    canonical = json.dumps(content, sort_keys=True, default=lambda value: type(value).__qualname__)
    return hashlib.sha256(canonical.encode()).hexdigest()[:6]
