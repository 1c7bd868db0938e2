"""The scratchpad: notes that a stage of a run leaves for other stages.

Every write takes a lock, so that parallel stages lose nothing. Every read returns a copy, so that
no reader can change the scratchpad.

Source: Agentic Primitives, "Scratchpad".
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, TypeAlias, TypeVar, get_args

from fluid_build.json_types import JsonObject

Severity: TypeAlias = Literal["error", "warning", "info"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CriticFinding:
    """A reviewer's remark on a stage's output; ``target`` is the dotted path that it is about.

    Raises ``ValueError`` for a severity other than ``error``, ``warning`` and ``info``.
    """

    stage: str
    severity: Severity
    message: str
    suggestion: str | None = None
    target: str | None = None

    def __post_init__(self) -> None:
        if self.severity not in get_args(Severity):
            allowed = ", ".join(get_args(Severity))
            raise ValueError(f"severity is {self.severity!r}, not one of: {allowed}")


@dataclass(frozen=True, slots=True)
class StageFeedback:
    """A stage's request for another's next run: a sentence, and the same for machines."""

    source_stage: str
    target_stage: str
    summary: str
    structured: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """A remembered record and its similarity to the query: 1 is the same, 0 nothing in common."""

    namespace: str
    key: str
    similarity: float
    value: Any = None
    text: str = ""


class RawSlots(dict[str, Any]):
    """A copy of the free-form slots, which refuses to be written to: the write would be lost.

    ``dict(slots)`` and ``slots | {...}`` return a plain dict.
    """

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("Scratchpad.raw is a copy: use scratchpad.put_raw(key, value) to write.")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


class Scratchpad:
    """The findings, retrievals, feedback and free-form slots of a run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._critic_findings: list[CriticFinding] = []
        self._retrievals: list[RetrievalResult] = []
        self._feedback: list[StageFeedback] = []
        self._raw: dict[str, object] = {}

    @property
    def critic_findings(self) -> list[CriticFinding]:
        """Return every finding, oldest first."""
        return self._copy(self._critic_findings)

    @property
    def retrievals(self) -> list[RetrievalResult]:
        """Return every retrieval, oldest first."""
        return self._copy(self._retrievals)

    @property
    def feedback(self) -> list[StageFeedback]:
        """Return all feedback, oldest first."""
        return self._copy(self._feedback)

    @property
    def raw(self) -> dict[str, Any]:
        """Return a copy of the free-form slots, to read; ``put_raw`` changes one."""
        with self._lock:
            return RawSlots(copy.deepcopy(self._raw))

    def add_critic_finding(self, finding: CriticFinding) -> None:
        """Add a finding."""
        self._add(self._critic_findings, finding)

    def add_retrieval(self, retrieval: RetrievalResult) -> None:
        """Add a retrieved record."""
        self._add(self._retrievals, retrieval)

    def add_feedback(self, feedback: StageFeedback) -> None:
        """Add feedback for a stage."""
        self._add(self._feedback, feedback)

    def put_raw(self, key: str, value: object) -> None:
        """Set a free-form slot."""
        own_copy = copy.deepcopy(value)
        with self._lock:
            self._raw[key] = own_copy

    def critic_findings_for_stage(self, stage: str) -> list[CriticFinding]:
        """Return the findings about ``stage``, oldest first."""
        return [finding for finding in self.critic_findings if finding.stage == stage]

    def feedback_for_stage(self, stage: str) -> list[StageFeedback]:
        """Return the feedback for ``stage``, oldest first."""
        return [feedback for feedback in self.feedback if feedback.target_stage == stage]

    def top_retrievals(self, limit: int = 3, namespace: str | None = None) -> list[RetrievalResult]:
        """Return the ``limit`` retrievals most similar to their query, of ``namespace`` or of all.

        A record that was retrieved more than once counts once, with its best similarity.
        """
        best: dict[tuple[str, str], RetrievalResult] = {}
        for result in self.retrievals:
            if namespace is not None and result.namespace != namespace:
                continue
            known = best.get((result.namespace, result.key))
            if known is None or result.similarity > known.similarity:
                best[result.namespace, result.key] = result
        ranked = sorted(best.values(), key=lambda result: -result.similarity)
        return ranked[: max(limit, 0)]

    def _add(self, slot: list[T], item: T) -> None:
        own_copy = copy.deepcopy(item)
        with self._lock:
            slot.append(own_copy)

    def _copy(self, slot: Iterable[T]) -> list[T]:
        with self._lock:
            return copy.deepcopy(list(slot))
