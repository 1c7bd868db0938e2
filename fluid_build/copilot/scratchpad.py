"""The scratchpad: what one stage of a run leaves for another to read.

Every write takes a lock, so that stages that run side by side lose nothing. Every read gives a
copy, so that nothing a reader does changes the scratchpad.

Source: Agentic Primitives, "Scratchpad".
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar, get_args

Severity: TypeAlias = Literal["error", "warning", "info"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CriticFinding:
    """What a reviewer saw in a stage's output; ``target`` is the dotted path of the thing meant.

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
            raise ValueError(f"severity {self.severity!r} is none of: {allowed}")


@dataclass(frozen=True, slots=True)
class StageFeedback:
    """What one stage asks of another's next run: a sentence, and the same for machines."""

    source_stage: str
    target_stage: str
    summary: str
    structured: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """A remembered record, and how near to the query it is: 1 the same, 0 nothing in common."""

    namespace: str
    key: str
    similarity: float
    value: Any = None
    text: str = ""


class Scratchpad:
    """Findings, retrievals, feedback and free-form slots of one run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._critic_findings: list[CriticFinding] = []
        self._retrievals: list[RetrievalResult] = []
        self._feedback: list[StageFeedback] = []
        self._raw: dict[str, Any] = {}

    @property
    def critic_findings(self) -> list[CriticFinding]:
        """Every finding, oldest first."""
        return self._copy(self._critic_findings)

    @property
    def retrievals(self) -> list[RetrievalResult]:
        """Every retrieval, oldest first."""
        return self._copy(self._retrievals)

    @property
    def feedback(self) -> list[StageFeedback]:
        """All feedback, oldest first."""
        return self._copy(self._feedback)

    @property
    def raw(self) -> dict[str, Any]:
        """The free-form slots; to change one, call ``set_raw``."""
        with self._lock:
            return copy.deepcopy(self._raw)

    def add_critic_finding(self, finding: CriticFinding) -> None:
        """Adds one finding."""
        self._add(self._critic_findings, finding)

    def add_retrieval(self, retrieval: RetrievalResult) -> None:
        """Adds one retrieved record."""
        self._add(self._retrievals, retrieval)

    def add_feedback(self, feedback: StageFeedback) -> None:
        """Adds feedback for one stage."""
        self._add(self._feedback, feedback)

    def set_raw(self, key: str, value: Any) -> None:
        """Sets a free-form slot."""
        mine = copy.deepcopy(value)
        with self._lock:
            self._raw[key] = mine

    def critic_findings_for_stage(self, stage: str) -> list[CriticFinding]:
        """The findings about ``stage``, oldest first."""
        return [finding for finding in self.critic_findings if finding.stage == stage]

    def feedback_for_stage(self, stage: str) -> list[StageFeedback]:
        """The feedback meant for ``stage``, oldest first."""
        return [feedback for feedback in self.feedback if feedback.target_stage == stage]

    def top_retrievals(self, limit: int = 3, namespace: str | None = None) -> list[RetrievalResult]:
        """The ``limit`` retrievals nearest to their query, of ``namespace`` or of all.

        A record that was retrieved more than once counts once, with its best similarity.
        """
        best: dict[tuple[str, str], RetrievalResult] = {}
        for found in self.retrievals:
            if namespace is not None and found.namespace != namespace:
                continue
            known = best.get((found.namespace, found.key))
            if known is None or found.similarity > known.similarity:
                best[found.namespace, found.key] = found
        ranked = sorted(best.values(), key=lambda found: -found.similarity)
        return ranked[: max(limit, 0)]

    def _add(self, slot: list[T], item: T) -> None:
        mine = copy.deepcopy(item)
        with self._lock:
            slot.append(mine)

    def _copy(self, slot: Iterable[T]) -> list[T]:
        with self._lock:
            return copy.deepcopy(list(slot))
