"""The recovery framework: classification, counts, strategies, retries and fallbacks."""

import asyncio
import logging
import sqlite3
from decimal import Decimal

import httpx
import pytest
from pydantic import BaseModel, ValidationError

from fluid_build.copilot.agents.errors import (
    ContextOverflowError,
    ProviderAuthError,
    ProviderServerError,
    ProviderTimeoutError,
    RateLimitError,
    SchemaValidationError,
    ToolValidationError,
)
from fluid_build.copilot.cost import CostLimitExceeded
from fluid_build.copilot.errors import (
    AnswerCutOffError,
    AnswerRefusedError,
    RunNotFoundError,
    StoreError,
)
from fluid_build.copilot.recovery.error_handler import (
    ErrorCategory,
    ErrorContext,
    ErrorRecoveryFramework,
    ErrorSeverity,
    RecoveryStrategy,
)


class Model(BaseModel):
    a: int


def validation_error():
    try:
        Model(a="x")
    except ValidationError as error:
        return error
    raise AssertionError


def status_error(status):
    request = httpx.Request("POST", "https://api.example")
    return httpx.HTTPStatusError(
        "x", request=request, response=httpx.Response(status, request=request)
    )


BY_TYPE = [
    (RateLimitError(), "llm_error", "medium"),
    (ProviderServerError(), "llm_error", "medium"),
    (ContextOverflowError(), "llm_error", "high"),
    (ProviderAuthError(), "llm_error", "critical"),
    (ProviderTimeoutError(), "timeout_error", "medium"),
    (TimeoutError(), "timeout_error", "medium"),
    (SchemaValidationError(), "validation_error", "high"),
    (validation_error(), "validation_error", "high"),
    (ToolValidationError(), "tool_error", "medium"),
    (sqlite3.OperationalError("locked"), "state_error", "high"),
    (StoreError("full"), "state_error", "high"),
    (RunNotFoundError("r"), "state_error", "high"),
    (AnswerRefusedError(), "validation_error", "high"),
    (AnswerCutOffError(), "llm_error", "high"),
    (MemoryError(), "unknown", "critical"),
    (CostLimitExceeded(Decimal(6), Decimal(5)), "unknown", "critical"),
    (status_error(429), "llm_error", "medium"),
    (status_error(401), "llm_error", "critical"),
    (httpx.ReadTimeout("x"), "timeout_error", "medium"),
]


@pytest.mark.parametrize(("error", "category", "severity"), BY_TYPE)
def test_typed_errors_are_classified_by_type(error, category, severity):
    """The type alone decides category and severity."""
    verdict = ErrorRecoveryFramework().classify_error(error)
    assert verdict == (ErrorCategory(category), ErrorSeverity(severity))


def test_the_text_of_a_typed_error_is_not_read():
    """A tool error that speaks of rate limits is still a tool error."""
    error = ToolValidationError("rate limit timeout safety state")
    assert ErrorRecoveryFramework().classify_error(error)[0] is ErrorCategory.TOOL_ERROR


@pytest.mark.parametrize(
    ("text", "category", "severity"),
    [
        ("Rate limit exceeded", "llm_error", "medium"),
        ("Connection timeout", "timeout_error", "medium"),
        ("request timed out", "timeout_error", "medium"),
        ("Safety check refused", "validation_error", "high"),
        ("validation failed", "validation_error", "high"),
        ("invalid state", "state_error", "high"),
        ("Redis is gone", "state_error", "high"),
        ("tool exploded", "tool_error", "medium"),
        ("something else", "unknown", "medium"),
        ("bad statement, toolkit", "unknown", "medium"),
    ],
)
def test_text_is_the_last_resort(text, category, severity):
    """An exception without a telling type is classified by whole words of its text."""
    verdict = ErrorRecoveryFramework().classify_error(RuntimeError(text))
    assert verdict == (ErrorCategory(category), ErrorSeverity(severity))


@pytest.mark.parametrize("text", ["column 429", "429 rate limit exceeded", "timeout must be > 0"])
def test_a_programming_error_is_never_taken_for_a_passing_failure(text):
    """A ValueError whose text looks like a rate limit or a timeout is unknown."""
    assert ErrorRecoveryFramework().classify_error(ValueError(text))[0] is ErrorCategory.UNKNOWN


def strategy(handler, fallback=None, category=ErrorCategory.LLM_ERROR, max_retries=3):
    return RecoveryStrategy("s", category, handler, max_retries, fallback)


def framework_of(*strategies):
    framework = ErrorRecoveryFramework()
    for each in strategies:
        framework.register_strategy(each)
    return framework


def handle(framework, error, **context):
    return asyncio.run(framework.handle_error(error, **context))


def test_an_async_handler_gets_the_context_and_its_result_is_returned():
    """The handler sees the error, its class, and where it happened."""
    seen = []

    async def handler(context):
        seen.append(context)
        return "recovered"

    framework = framework_of(strategy(handler))
    error = RateLimitError()
    result = handle(framework, error, agent_id="a", workflow_id="w", metadata={"k": 1})
    assert result == "recovered"
    assert seen == [
        ErrorContext(error, ErrorCategory.LLM_ERROR, ErrorSeverity.MEDIUM, "a", "w", {"k": 1})
    ]


def test_a_sync_handler_and_a_sync_fallback_work_as_well():
    """Plain functions need no wrapping."""

    def broken(context):
        raise ProviderAuthError

    framework = framework_of(strategy(broken, fallback=lambda context: "fallback"))
    assert handle(framework, RateLimitError()) == "fallback"


def failing(error):
    calls = []

    async def handler(context):
        calls.append(context)
        raise error

    return handler, calls


@pytest.mark.parametrize("max_retries", [0, 1, 3])
@pytest.mark.parametrize("error", [ProviderServerError(), RuntimeError(), SchemaValidationError()])
def test_the_handler_is_called_once_whatever_max_retries_says(max_retries, error):
    """Retrying is the handler's own part: only it knows how to retry the operation."""
    handler, calls = failing(error)
    framework = framework_of(strategy(handler, max_retries=max_retries))
    with pytest.raises(type(error)) as caught:
        handle(framework, RateLimitError())
    assert caught.value is error
    assert len(calls) == 1


def test_the_fallback_is_called_once_after_the_handler_failed():
    """The fallback's result is returned, and counted as one."""
    handler, calls = failing(ProviderServerError())
    fallbacks = []

    async def fallback(context):
        fallbacks.append(context)
        return {"fallback": True}

    framework = framework_of(strategy(handler, fallback))
    assert handle(framework, RateLimitError()) == {"fallback": True}
    assert (len(calls), len(fallbacks)) == (1, 1)
    assert framework.fallback_counts == {ErrorCategory.LLM_ERROR: 1}
    assert framework.recovered_counts == {}


def test_without_a_fallback_the_handlers_error_is_raised():
    """Nothing is swallowed."""
    handler, _ = failing(RuntimeError())
    framework = framework_of(strategy(handler))
    with pytest.raises(RuntimeError):
        handle(framework, RateLimitError())


def test_a_critical_error_without_a_strategy_is_raised():
    """A refused key is never waved through."""
    with pytest.raises(ProviderAuthError):
        handle(ErrorRecoveryFramework(), ProviderAuthError())


def test_any_other_error_without_a_strategy_is_logged_and_gives_none(caplog):
    """As documented: the error is in the log, without secrets, and the result is None."""
    with caplog.at_level(logging.ERROR):
        assert (
            handle(ErrorRecoveryFramework(), RuntimeError("sk-canary-12345678"), agent_id="a")
            is None
        )
    assert "Error in a: " in caplog.text
    assert "canary" not in caplog.text


def test_errors_are_counted_by_category():
    """Each handled error adds one to its category, recovered or not."""
    framework = framework_of(strategy(lambda context: "ok"))
    for error in (RateLimitError(), RateLimitError(), RuntimeError("x")):
        handle(framework, error)
    assert framework.error_counts == {ErrorCategory.LLM_ERROR: 2, ErrorCategory.UNKNOWN: 1}
    assert framework.recovered_counts == {ErrorCategory.LLM_ERROR: 2}


def test_the_later_strategy_of_a_category_replaces_the_earlier():
    """One category, one strategy."""
    framework = framework_of(strategy(lambda c: "first"), strategy(lambda c: "second"))
    assert handle(framework, RateLimitError()) == "second"


def test_cancellation_passes_through_the_framework():
    """A cancelled handler is not a failed one: no fallback runs."""

    async def handler(context):
        raise asyncio.CancelledError

    framework = framework_of(strategy(handler, fallback=lambda c: "fallback"))
    with pytest.raises(asyncio.CancelledError):
        handle(framework, RateLimitError())
