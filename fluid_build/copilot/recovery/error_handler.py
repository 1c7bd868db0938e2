"""The error recovery framework, which classifies errors, counts them and runs strategies.

Errors are classified by type, and by text only where the type says nothing. An ordinary programming
error never counts as a transient failure, whatever its text says.
Source: the implementation plan of agentic primitives, section 1.2.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import random
import re
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from pydantic import ValidationError

from fluid_build.copilot.error_classification import classify_provider_error
from fluid_build.copilot.errors import (
    AgentExecutionError,
    ContextOverflowError,
    CostLimitExceeded,
    ProviderAuthError,
    ProviderError,
    ProviderServerError,
    ProviderTimeoutError,
    RateLimitError,
    SchemaValidationError,
    ToolValidationError,
    UnknownPriceError,
)
from fluid_build.copilot.recovery.retry import RetrySchedule
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

    ``handler`` is called at most ``max_retries`` times; ``fallback`` once, if that didn't help.
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
    (ProviderError, (ErrorCategory.LLM_ERROR, ErrorSeverity.HIGH)),
    (
        (SchemaValidationError, ValidationError),
        (ErrorCategory.VALIDATION_ERROR, ErrorSeverity.HIGH),
    ),
    (ToolValidationError, (ErrorCategory.TOOL_ERROR, ErrorSeverity.MEDIUM)),
    (sqlite3.Error, (ErrorCategory.STATE_ERROR, ErrorSeverity.HIGH)),
    (
        (CostLimitExceeded, UnknownPriceError, MemoryError, RecursionError),
        (ErrorCategory.UNKNOWN, ErrorSeverity.CRITICAL),
    ),
)

_TRANSIENT_TEXT: tuple[tuple[re.Pattern[str], _Verdict], ...] = (
    (re.compile(r"\brate[ _-]?limit"), (ErrorCategory.LLM_ERROR, ErrorSeverity.MEDIUM)),
    (re.compile(r"\btimed?[ _-]?out"), (ErrorCategory.TIMEOUT_ERROR, ErrorSeverity.MEDIUM)),
)
_PERMANENT_TEXT: tuple[tuple[re.Pattern[str], _Verdict], ...] = (
    (
        re.compile(r"\b(?:safety|validations?)\b"),
        (ErrorCategory.VALIDATION_ERROR, ErrorSeverity.HIGH),
    ),
    (re.compile(r"\b(?:states?|redis)\b"), (ErrorCategory.STATE_ERROR, ErrorSeverity.HIGH)),
    (re.compile(r"\btools?\b"), (ErrorCategory.TOOL_ERROR, ErrorSeverity.MEDIUM)),
)

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

    ``error_counts``, ``recovered_counts`` and ``fallback_counts`` are by category. After a handler
    failed with a transient error of a provider, its next call waits as long as the retry envelope
    would (``policy``, by ``sleep`` in seconds); after any other failure there is no wait.
    """

    def __init__(
        self,
        *,
        policy: RetrySchedule | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self.strategies: dict[ErrorCategory, RecoveryStrategy] = {}
        self.error_counts: dict[ErrorCategory, int] = {}
        self.recovered_counts: dict[ErrorCategory, int] = {}
        self.fallback_counts: dict[ErrorCategory, int] = {}
        self._policy = policy or RetrySchedule()
        self._sleep = sleep
        self._draw = draw
        self._lock = threading.Lock()

    def register_strategy(self, strategy: RecoveryStrategy) -> None:
        """Set the strategy of its category, in place of an earlier one."""
        self.strategies[strategy.category] = strategy

    def classify_error(self, error: Exception) -> tuple[ErrorCategory, ErrorSeverity]:
        """Return category and severity, by text only where the type says nothing."""
        typed = classify_provider_error(error)
        for candidate in (error, typed) if type(typed) is not ProviderError else (error,):
            for classes, verdict in _BY_TYPE:
                if isinstance(candidate, classes):
                    return verdict
        patterns = _PERMANENT_TEXT
        if not isinstance(error, _PERMANENT_ERRORS):
            patterns = _TRANSIENT_TEXT + _PERMANENT_TEXT
        text = str(error).lower()
        for pattern, verdict in patterns:
            if pattern.search(text):
                return verdict
        return ErrorCategory.UNKNOWN, ErrorSeverity.MEDIUM

    async def handle_error(
        self,
        error: Exception,
        agent_id: str | None = None,
        workflow_id: str | None = None,
        metadata: dict[str, object] | None = None,
    ) -> Any:
        """Return the result of the strategy's handler, or of its fallback.

        If neither succeeds, the handler's last error is raised. Without a strategy a critical error
        is raised, and any other is logged and gives None.
        """
        category, severity = self.classify_error(error)
        context = ErrorContext(error, category, severity, agent_id, workflow_id, metadata)
        self._count(self.error_counts, category)
        strategy = self.strategies.get(category)
        if strategy is None:
            return await self._default_recovery(context)
        try:
            result = await self._recover(strategy, context)
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

    async def _recover(self, strategy: RecoveryStrategy, context: ErrorContext) -> object:
        """Call the handler until it succeeds, or until another call can't help."""
        last: Exception = context.error
        allowed = strategy.max_retries
        if not _worth_another_call(context.error):
            allowed = min(allowed, 1)
        for attempt in range(1, allowed + 1):
            try:
                return await _finish(strategy.handler(context))
            except Exception as failure:  # noqa: BLE001 - a strategy may fail in any way; the last failure is raised
                last = failure
            if not _worth_another_call(last):
                break
            if attempt < allowed:
                await self._pause(last, attempt)
        raise last

    async def _pause(self, failure: Exception, failed: int) -> None:
        typed = classify_provider_error(failure)
        if typed.retryable:
            await self._sleep(self._policy.wait(typed, failed, self._draw()))

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


def _worth_another_call(error: Exception) -> bool:
    """Return whether another call of a handler may help against an error.

    Output of the wrong shape can be corrected; a provider's permanent refusal and a programming
    error can't.
    """
    typed = classify_provider_error(error)
    if isinstance(typed, (SchemaValidationError, ToolValidationError)):
        return True
    if isinstance(error, AgentExecutionError) or type(typed) is not ProviderError:
        return typed.retryable
    return not isinstance(error, _PERMANENT_ERRORS)
