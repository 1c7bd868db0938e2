"""Classification next to the document's, by substrings: each difference has a reason."""

import json
import sqlite3
import subprocess

import httpx
import pytest

from fluid_build.copilot.agents.errors import RateLimitError, ToolValidationError
from fluid_build.copilot.recovery.error_handler import ErrorCategory, ErrorRecoveryFramework

DOCUMENTED = (
    (("rate limit",), "llm_error"),
    (("timeout",), "timeout_error"),
    (("safety", "validation"), "validation_error"),
    (("state", "redis"), "state_error"),
    (("tool",), "tool_error"),
)


def documented_category(error):
    text = str(error).lower()
    for substrings, category in DOCUMENTED:
        if any(substring in text for substring in substrings):
            return category
    return "unknown"


def exception_class(name, base=Exception):
    return type(name, (base,), {})


RedisError = exception_class("RedisError")
ReadTimeout = exception_class("ReadTimeout")
GuardrailSafetyError = exception_class("GuardrailSafetyError")
ToolExecutionError = exception_class("ToolExecutionError")
APIRateLimitExceeded = exception_class("APIRateLimitExceeded")
WorkflowStateConflict = exception_class("WorkflowStateConflict", LookupError)

AS_DOCUMENTED = [
    (RuntimeError("Rate limit exceeded, retry in 20 s"), "llm_error"),
    (RuntimeError("rate limited by the gateway"), "llm_error"),
    (RuntimeError("Connection timeout after 30 s"), "timeout_error"),
    (RuntimeError("connectTimeoutMs exceeded"), "timeout_error"),
    (RuntimeError("two timeouts in a row"), "timeout_error"),
    (RuntimeError("blocked by SAFETY settings"), "validation_error"),
    (RuntimeError("input_validation_failed"), "validation_error"),
    (RuntimeError("safetyCheck refused the answer"), "validation_error"),
    (ValueError("validation of the plan failed"), "validation_error"),
    (RuntimeError("lost session_state for user 7"), "state_error"),
    (RuntimeError("Redis connection refused"), "state_error"),
    (RuntimeError("redis://cache:6379 is unreachable"), "state_error"),
    (RuntimeError("RedisError: MOVED 3999"), "state_error"),
    (RuntimeError("invalid states: a, b"), "state_error"),
    (RuntimeError("tool_call failed"), "tool_error"),
    (RuntimeError("ToolCallError in step 3"), "tool_error"),
    (RuntimeError("the toolbox has no such entry"), "tool_error"),
    (KeyError("tools"), "tool_error"),
    (ToolExecutionError("timeout while reading"), "timeout_error"),
    (RedisError("rate limit"), "llm_error"),
    (ValueError("column 429"), "unknown"),
    (OSError(28, "No space left on device"), "unknown"),
]

ON_PURPOSE = [
    (RateLimitError("429"), "llm_error", "the type says it"),
    (httpx.ReadTimeout(""), "timeout_error", "the type says it"),
    (TimeoutError(), "timeout_error", "the type says it"),
    (sqlite3.OperationalError("database is locked"), "state_error", "the type says it"),
    (ToolValidationError("rate limit"), "tool_error", "the type says it, the text something else"),
    (ReadTimeout("after 5 s"), "timeout_error", "the class name says it"),
    (RedisError("MOVED 3999"), "state_error", "the class name says it"),
    (GuardrailSafetyError("blocked"), "validation_error", "the class name says it"),
    (ToolExecutionError("exit code 1"), "tool_error", "the class name says it"),
    (APIRateLimitExceeded("slow down"), "llm_error", "the class name says it"),
    (WorkflowStateConflict("step 3"), "state_error", "the class name says it"),
    (subprocess.TimeoutExpired("dbt", 5), "timeout_error", "'timed out' is the same as 'timeout'"),
    (RuntimeError("RATE_LIMIT_EXCEEDED"), "llm_error", "an identifier is its words"),
    (ValueError("timeout must be positive"), "unknown", "a programming error is never transient"),
    (ValueError("429 rate limit exceeded"), "unknown", "a programming error is never transient"),
    (RuntimeError("the statement has no FROM"), "unknown", "'statement' isn't about a state"),
    (RuntimeError("a stateless worker died"), "unknown", "'stateless' isn't about a state"),
    (RuntimeError("toolkit not installed"), "unknown", "'toolkit' isn't about a tool"),
    (json.JSONDecodeError("Invalid estate", "{}", 0), "unknown", "'estate' isn't about a state"),
]


def category(error):
    return ErrorRecoveryFramework().classify_error(error)[0]


@pytest.mark.parametrize(("error", "expected"), AS_DOCUMENTED, ids=lambda value: repr(value)[:50])
def test_an_error_gets_the_category_of_the_document(error, expected):
    assert category(error) is ErrorCategory(expected)
    assert documented_category(error) == expected


@pytest.mark.parametrize(
    ("error", "expected", "reason"), ON_PURPOSE, ids=lambda value: repr(value)[:50]
)
def test_an_error_differs_from_the_document_only_for_a_reason(error, expected, reason):
    assert category(error) is ErrorCategory(expected), reason
    assert documented_category(error) != expected


def test_a_huge_message_is_classified_quickly():
    """Only its start is searched: a message may quote a whole answer."""
    assert category(RuntimeError("x" * 5_000_000 + " tool")) is ErrorCategory.UNKNOWN
