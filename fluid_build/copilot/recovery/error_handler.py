"""The error recovery framework, which classifies errors, counts them and runs strategies.

Errors are classified by type, and by words only where the type says nothing: those of the message,
then those of the exception's class name. An ordinary programming error never counts as a transient
failure, whatever its message says.
Source: the implementation plan of agentic primitives, section 1.2. It looks for substrings of the
message; here they must be words, so that "statement" isn't about a state.
"""

from __future__ import annotations

import inspect
import logging
import re
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from pydantic import ValidationError

from fluid_build.copilot.error_classification import classify_provider_error
from fluid_build.copilot.errors import (
    AnswerCutOffError,
    AnswerRefusedError,
    CheckpointError,
    ContextOverflowError,
    CostLimitExceeded,
    ProviderAuthError,
    ProviderError,
    ProviderServerError,
    ProviderTimeoutError,
    RateLimitError,
    SchemaValidationError,
    StoreError,
    ToolValidationError,
    UnknownPriceError,
)
from fluid_build.errors import FluidError
from fluid_build.secrets import redact

LOG = logging.getLogger(__name__)


class ErrorSeverity(Enum):
    """The danger of an error to the run."""

    LOW = "low"
    """Recoverable, with minimal impact."""
    MEDIUM = "medium"
    """Recoverable, with some impact."""
    HIGH = "high"
    """It requires intervention."""
    CRITICAL = "critical"
    """A failure of the system, which only a strategy can recover from."""


class ErrorCategory(Enum):
    """The part that failed."""

    LLM_ERROR = "llm_error"
    VALIDATION_ERROR = "validation_error"
    STATE_ERROR = "state_error"
    TOOL_ERROR = "tool_error"
    TIMEOUT_ERROR = "timeout_error"
    UNKNOWN = "unknown"


@dataclass
class ErrorContext:
    """An error, its classification, and where it happened."""

    error: Exception
    category: ErrorCategory
    severity: ErrorSeverity
    agent_id: str | None = None
    workflow_id: str | None = None
    metadata: dict[str, object] | None = None


Handler: TypeAlias = Callable[[ErrorContext], object]
"""A plain or coroutine function of the context."""


@dataclass
class RecoveryStrategy:
    """The handling of a category of errors.

    ``handler`` is called once, and ``fallback`` once if the handler fails. ``max_retries`` says how
    often the handler itself may retry the operation: only the handler knows how, so the framework
    doesn't retry.
    """

    name: str
    category: ErrorCategory
    handler: Handler
    max_retries: int = 3
    fallback: Handler | None = None


_Verdict: TypeAlias = tuple[ErrorCategory, ErrorSeverity]

_BY_TYPE: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], _Verdict], ...] = (
    ((ProviderTimeoutError, TimeoutError), (ErrorCategory.TIMEOUT_ERROR, ErrorSeverity.MEDIUM)),
    ((RateLimitError, ProviderServerError), (ErrorCategory.LLM_ERROR, ErrorSeverity.MEDIUM)),
    (ContextOverflowError, (ErrorCategory.LLM_ERROR, ErrorSeverity.HIGH)),
    (ProviderAuthError, (ErrorCategory.LLM_ERROR, ErrorSeverity.CRITICAL)),
    ((ProviderError, AnswerCutOffError), (ErrorCategory.LLM_ERROR, ErrorSeverity.HIGH)),
    (
        (SchemaValidationError, ValidationError, AnswerRefusedError),
        (ErrorCategory.VALIDATION_ERROR, ErrorSeverity.HIGH),
    ),
    (ToolValidationError, (ErrorCategory.TOOL_ERROR, ErrorSeverity.MEDIUM)),
    (
        (sqlite3.Error, StoreError, CheckpointError),
        (ErrorCategory.STATE_ERROR, ErrorSeverity.HIGH),
    ),
    (
        (CostLimitExceeded, UnknownPriceError, MemoryError, RecursionError),
        (ErrorCategory.UNKNOWN, ErrorSeverity.CRITICAL),
    ),
)

_Rules: TypeAlias = tuple[tuple[re.Pattern[str], _Verdict], ...]

_TRANSIENT_WORDS: _Rules = (
    (re.compile(r"\brate ?limit"), (ErrorCategory.LLM_ERROR, ErrorSeverity.MEDIUM)),
    (re.compile(r"timeout|\btimed? outs?\b"), (ErrorCategory.TIMEOUT_ERROR, ErrorSeverity.MEDIUM)),
)
_LASTING_WORDS: _Rules = (
    (
        re.compile(r"\b(?:safety|(?:re)?validations?)\b"),
        (ErrorCategory.VALIDATION_ERROR, ErrorSeverity.HIGH),
    ),
    (re.compile(r"\b(?:states?|redis)\b"), (ErrorCategory.STATE_ERROR, ErrorSeverity.HIGH)),
    (re.compile(r"\btools?(?:box)?\b"), (ErrorCategory.TOOL_ERROR, ErrorSeverity.MEDIUM)),
)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
"""A word of prose or of an identifier: ``tool_call`` and ``HTTPTimeout`` have two each."""

_MAX_WORDS_CHARS = 10_000
"""Characters of a message that are searched for words: a message may quote a whole answer."""

_PERMANENT_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    FluidError,
    ImportError,
    LookupError,
    NameError,
    NotImplementedError,
    SyntaxError,
    TypeError,
    ValueError,
)


class ErrorRecoveryFramework:
    """The strategies of a run, and how often each category of errors was met.

    ``error_counts``, ``recovered_counts`` and ``fallback_counts`` are by category.
    """

    def __init__(self) -> None:
        self.strategies: dict[ErrorCategory, RecoveryStrategy] = {}
        self.error_counts: dict[ErrorCategory, int] = {}
        self.recovered_counts: dict[ErrorCategory, int] = {}
        self.fallback_counts: dict[ErrorCategory, int] = {}
        self._lock = threading.Lock()

    def register_strategy(self, strategy: RecoveryStrategy) -> None:
        """Set the strategy of its category, in place of an earlier one."""
        self.strategies[strategy.category] = strategy

    def classify_error(self, error: Exception) -> tuple[ErrorCategory, ErrorSeverity]:
        """Return category and severity, by words only where the type says nothing."""
        typed = classify_provider_error(error)
        for candidate in (error, typed) if type(typed) is not ProviderError else (error,):
            for classes, verdict in _BY_TYPE:
                if isinstance(candidate, classes):
                    return verdict
        is_permanent = isinstance(error, _PERMANENT_ERRORS)
        for text, rules in (
            (str(error), _LASTING_WORDS if is_permanent else _TRANSIENT_WORDS + _LASTING_WORDS),
            (type(error).__name__, _TRANSIENT_WORDS + _LASTING_WORDS),
        ):
            words = _words(text)
            for pattern, verdict in rules:
                if pattern.search(words):
                    return verdict
        return ErrorCategory.UNKNOWN, ErrorSeverity.MEDIUM

    async def handle_error(
        self,
        error: Exception,
        agent_id: str | None = None,
        workflow_id: str | None = None,
        metadata: dict[str, object] | None = None,
    ) -> Any:
        """Return the result of the strategy's handler or, if that fails, of its fallback.

        Each is called once. Without a fallback the handler's error is raised. Without a strategy a
        critical error is raised, and any other is logged and gives None.
        """
        category, severity = self.classify_error(error)
        context = ErrorContext(error, category, severity, agent_id, workflow_id, metadata)
        self._count(self.error_counts, category)
        strategy = self.strategies.get(category)
        if strategy is None:
            return await self._default_recovery(context)
        try:
            result = await _finish(strategy.handler(context))
        except Exception as recovery_error:
            if strategy.fallback is None:
                raise
            LOG.warning(
                "strategy %s didn't help (%s)", strategy.name, type(recovery_error).__name__
            )
            self._count(self.fallback_counts, category)
            return await _finish(strategy.fallback(context))
        self._count(self.recovered_counts, category)
        return result

    async def _default_recovery(self, context: ErrorContext) -> object:
        if context.severity is ErrorSeverity.CRITICAL:
            raise context.error
        LOG.error("Error in %s: %s", context.agent_id, redact(str(context.error)))
        return None

    def _count(self, counts: dict[ErrorCategory, int], category: ErrorCategory) -> None:
        with self._lock:
            counts[category] = counts.get(category, 0) + 1


async def _finish(outcome: object) -> object:
    return await outcome if inspect.isawaitable(outcome) else outcome


def _words(text: str) -> str:
    """Return the words of a text in lower case, identifiers split, with a space between two."""
    return " ".join(_WORD.findall(text[:_MAX_WORDS_CHARS])).lower()
