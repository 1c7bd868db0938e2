"""A person's decisions about calls that wait: what they are, and where they are asked for and kept.

A saved run that waits is listed with its calls. Whoever answers needs neither the agent nor its
process: an answer is kept in the store until the run is resumed. It is for the calls as they were
shown, so it expires once the run has gone on.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from fluid_build.copilot.agents.composite.checkpoint import Checkpoint
from fluid_build.copilot.errors import ApprovalError, RunNotFoundError
from fluid_build.copilot.messages import ToolCall
from fluid_build.copilot.store.base import Store
from fluid_build.json_types import JsonObject, JsonValue

DEFAULT_NAMESPACE = "runs"


@dataclass(frozen=True, slots=True)
class Denied:
    """A person's refusal of a call. The model is told the reason."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Approved:
    """A person's approval of a call, with other arguments than the model's: it is told of them."""

    arguments: JsonObject


Decision: TypeAlias = bool | Denied | Approved
Approvals: TypeAlias = Mapping[str, Decision]
"""The decision about each pending call, by its id; False declines without a reason."""


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """A call that waits for a person. ``asked_at`` is in seconds since the epoch.

    ``answer`` is the decision that somebody has made already, which the next resume follows.
    """

    run_id: str
    agent: str
    call: ToolCall
    asked_at: float
    answer: Decision | None = None


def check_approvals(approvals: object) -> None:
    """Raise ``ApprovalError`` unless these are decisions by the ids of calls."""
    decisions = list(approvals.values()) if isinstance(approvals, Mapping) else [approvals]
    if not isinstance(approvals, Mapping) or not all(
        isinstance(decision, Decision) for decision in decisions
    ):
        raise ApprovalError(
            "The approvals aren't decisions about calls.",
            hint="Write True, False, Approved or Denied for each call's id: "
            "approvals={call.id: True}.",
        )


def pending_approvals(store: Store, *, namespace: str = DEFAULT_NAMESPACE) -> list[PendingApproval]:
    """Return the calls of saved runs that wait for a person, the oldest first."""
    waiting: list[PendingApproval] = []
    for run_id in store.keys(_asked(namespace)):
        saved = _waiting(Checkpoint(store, run_id, namespace=namespace), store, namespace)
        if saved is not None:
            waiting += _pending(store, namespace, run_id, saved)
    return sorted(waiting, key=lambda each: each.asked_at)


def answer_approval(
    store: Store,
    run_id: str,
    call_id: str,
    decision: Decision,
    *,
    namespace: str = DEFAULT_NAMESPACE,
) -> PendingApproval:
    """Decide about a waiting call; the process that resumes the run finds the decision.

    Raises ``RunNotFoundError`` for a run that doesn't wait, ``ApprovalError`` for a call that it
    doesn't have or that is decided already: the first answer counts.
    """
    check_approvals({call_id: decision})
    saved = _waiting(Checkpoint(store, run_id, namespace=namespace), store, namespace)
    if saved is None:
        raise RunNotFoundError(
            f"No run {run_id!r} waits for an approval.",
            hint="`fluid runs approvals` lists the calls that wait.",
        )
    calls = {each.call.id: each for each in _pending(store, namespace, run_id, saved)}
    if call_id not in calls:
        raise ApprovalError(
            f"No call of the run {run_id!r} that waits for a decision has the id {call_id!r}.",
            hint=f"The ids are {', '.join(calls)}.",
        )
    key = _answer_key(run_id, saved["epoch"], call_id)
    if not store.add(_answers(namespace), key, _dump(decision)):
        raise ApprovalError(
            f"The call {call_id!r} of the run {run_id!r} is decided already.",
            hint="Resume the run: it follows that decision.",
        )
    pending = calls[call_id]
    return PendingApproval(run_id, pending.agent, pending.call, pending.asked_at, decision)


class ApprovalDesk:
    """The calls of one saved run that wait, and the answers to them."""

    def __init__(self, checkpoint: Checkpoint, clock: Callable[[], float] = time.time) -> None:
        self._checkpoint = checkpoint
        self._store = checkpoint.store
        self._namespace = checkpoint.namespace
        self._clock = clock

    def ask(self, agent: str, calls: Sequence[ToolCall]) -> None:
        """List the calls at which the run waits."""
        record: dict[str, JsonValue] = {
            "epoch": self._checkpoint.epoch,
            "agent": agent,
            "asked_at": self._clock(),
            "calls": [[call.id, call.name, call.arguments] for call in calls],
        }
        cleaned = self._checkpoint.without_secrets(record)
        self._store.put(_asked(self._namespace), self._checkpoint.run_id, cleaned)

    def answers(self) -> dict[str, Decision]:
        """Return the answers to the calls at which the run waits, by their ids."""
        run_id = self._checkpoint.run_id
        saved = _waiting(self._checkpoint, self._store, self._namespace)
        if saved is None:
            return {}
        pending = _pending(self._store, self._namespace, run_id, saved)
        return {each.call.id: each.answer for each in pending if each.answer is not None}

    def clear(self) -> None:
        """Forget the calls and their answers."""
        run_id = self._checkpoint.run_id
        self._store.delete(_asked(self._namespace), run_id)
        for key in self._store.keys(_answers(self._namespace), f"{run_id}/"):
            self._store.delete(_answers(self._namespace), key)


def _waiting(checkpoint: Checkpoint, store: Store, namespace: str) -> Any:
    """Return what was asked last, unless a process has gone on with the run since then."""
    saved = store.get(_asked(namespace), checkpoint.run_id)
    return saved if saved is not None and saved["epoch"] == checkpoint.newest_epoch() else None


def _pending(store: Store, namespace: str, run_id: str, saved: Any) -> list[PendingApproval]:
    calls = [ToolCall(*call) for call in saved["calls"]]
    keys = {call.id: _answer_key(run_id, saved["epoch"], call.id) for call in calls}
    answers = store.get_many(_answers(namespace), list(keys.values()))
    return [
        PendingApproval(
            run_id,
            saved["agent"],
            call,
            saved["asked_at"],
            _load(answers[keys[call.id]].value) if keys[call.id] in answers else None,
        )
        for call in calls
    ]


def _dump(decision: Decision) -> dict[str, JsonValue]:
    if isinstance(decision, Approved):
        return {"approved": True, "arguments": dict(decision.arguments)}
    if isinstance(decision, Denied):
        return {"approved": False, "reason": decision.reason}
    return {"approved": decision}


def _load(saved: Any) -> Decision:
    if not saved["approved"]:
        return Denied(saved.get("reason", ""))
    return Approved(saved["arguments"]) if "arguments" in saved else True


def _asked(namespace: str) -> str:
    return f"{namespace}/approvals"


def _answers(namespace: str) -> str:
    return f"{namespace}/answers"


def _answer_key(run_id: str, epoch: int, call_id: str) -> str:
    # The ids are the provider's, of any length and with any sign.
    return f"{run_id}/{epoch:06d}/{hashlib.sha256(call_id.encode()).hexdigest()[:32]}"
