"""Failures that providers report inside an answer that began well, as typed errors."""

import pytest

from fluid_build.copilot.error_classification import classify_error_document
from fluid_build.copilot.errors import (
    ContextOverflowError,
    ProviderAuthError,
    ProviderError,
    ProviderServerError,
    RateLimitError,
)


def anthropic(code):
    return {"type": "error", "error": {"type": code, "message": "m"}, "request_id": "req_1"}


def gemini(code, status, details=()):
    return {"error": {"code": code, "message": "m", "status": status, "details": list(details)}}


PER_DAY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProject"}]}
FAILED = {"id": "r", "status": "failed", "error": {"code": "server_error", "message": "m"}}
DOCUMENTS = [
    (anthropic("overloaded_error"), ProviderServerError, 529),
    (anthropic("api_error"), ProviderServerError, 500),
    (anthropic("rate_limit_error"), RateLimitError, 429),
    (anthropic("timeout_error"), ProviderServerError, 504),
    (anthropic("invalid_request_error"), ProviderError, 400),
    (anthropic("authentication_error"), ProviderAuthError, 401),
    ({"type": "error", "code": "rate_limit_exceeded", "message": "m"}, RateLimitError, 429),
    ({"type": "error", "code": None, "message": "m"}, ProviderServerError, 500),
    ({"type": "response.failed", "response": FAILED}, ProviderServerError, 500),
    (
        {"type": "response.failed", "response": {"error": {"code": "image_parse_error"}}},
        ProviderError,
        400,
    ),
    (
        {"error": {"message": "m", "type": "server_error", "code": None, "param": None}},
        ProviderServerError,
        500,
    ),
    ({"error": {"message": "m", "code": 502}, "choices": []}, ProviderServerError, 502),
    (
        {"error": {"message": "This model's maximum context length is 10", "code": None}},
        ContextOverflowError,
        400,
    ),
    (gemini(503, "UNAVAILABLE"), ProviderServerError, 503),
    (gemini(429, "RESOURCE_EXHAUSTED"), RateLimitError, 429),
    (gemini(None, "DEADLINE_EXCEEDED"), ProviderServerError, 504),
    ({"error": "model runner has unexpectedly stopped"}, ProviderServerError, 500),
]


@pytest.mark.parametrize(("document", "kind", "status"), DOCUMENTS)
def test_a_failure_becomes_the_error_of_its_status(document, kind, status):
    """Each provider's way of saying it, with the status that it uses for it elsewhere."""
    error = classify_error_document(document, "p")
    assert type(error) is kind
    assert (error.status_code, error.provider) == (status, "p")
    assert str(error).startswith("p failed during its answer")


def test_a_quota_that_is_used_up_is_not_retryable():
    """OpenAI's code, and Google's quota by the day with the wait that it asks for."""
    spent = classify_error_document({"error": {"code": "insufficient_quota", "message": "m"}})
    assert spent.quota_exhausted
    delay = {"retryDelay": "34s"}
    limited = classify_error_document(gemini(429, "RESOURCE_EXHAUSTED", [delay]))
    assert (limited.retry_after, limited.retryable) == (34.0, True)
    assert classify_error_document(gemini(429, "RESOURCE_EXHAUSTED", [PER_DAY])).quota_exhausted


@pytest.mark.parametrize(
    "document",
    [
        {"type": "message_start", "message": {"id": "m", "content": []}},
        {"type": "response.created", "response": {"error": None}},
        {"type": "response.incomplete", "response": {"error": None}},
        {"choices": [{"delta": {"content": "error"}}], "error": None},
        {"candidates": [{"content": {"parts": [{"text": "error"}]}}]},
        {"message": {"content": "error"}, "done": False},
    ],
)
def test_an_ordinary_document_is_not_a_failure(document):
    """Whatever its text says."""
    assert classify_error_document(document) is None


def test_the_message_is_quoted_without_secrets():
    """Providers echo keys."""
    error = classify_error_document({"error": "bad key my-key-4711"}, "p", ["my-key-4711"])
    assert "my-key" not in str(error)
    assert "bad key" in str(error)
