"""Classification: by type, status and code; the documented body match; nothing else by words."""

import json
import ssl
from datetime import UTC, datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from fluid_build.copilot.agents.error_classification import (
    classify_provider_error,
    classify_response,
    parse_retry_after,
)
from fluid_build.copilot.agents.errors import (
    ContextOverflowError,
    ProviderAuthError,
    ProviderError,
    ProviderServerError,
    ProviderTimeoutError,
    RateLimitError,
    SchemaValidationError,
)

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


def status_error(status, body="", headers=None, request_headers=None):
    request = httpx.Request("POST", "https://api.example/v1", headers=request_headers)
    text = body if isinstance(body, str) else json.dumps(body)
    response = httpx.Response(status, headers=headers, text=text, request=request)
    return httpx.HTTPStatusError("refused", request=request, response=response)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (429, RateLimitError),
        (401, ProviderAuthError),
        (403, ProviderAuthError),
        (500, ProviderServerError),
        (502, ProviderServerError),
        (503, ProviderServerError),
        (529, ProviderServerError),
        (400, ProviderError),
        (404, ProviderError),
        (418, ProviderError),
        (422, ProviderError),
    ],
)
def test_a_status_becomes_its_documented_class(status, kind):
    """The table of the page, row by row, with the status and the provider on the error."""
    error = classify_provider_error(status_error(status), "openai")
    assert type(error) is kind
    assert (error.status_code, error.provider) == (status, "openai")


@pytest.mark.parametrize(
    "error",
    [
        httpx.ConnectTimeout("t"),
        httpx.ReadTimeout("t"),
        httpx.PoolTimeout("t"),
        TimeoutError(),
    ],
)
def test_every_timeout_becomes_a_provider_timeout(error):
    """Connect, read, write, pool and asyncio timeouts are one class."""
    assert type(classify_provider_error(error)) is ProviderTimeoutError


@pytest.mark.parametrize("status", [500, 503, 529])
def test_a_server_error_with_retry_after_is_a_rate_limit(status):
    """A 5xx that says when to come back is obeyed as a rate limit."""
    error = classify_provider_error(status_error(status, headers={"Retry-After": "7"}))
    assert type(error) is RateLimitError
    assert error.retry_after == 7.0
    assert error.retryable


OVERFLOWS = [
    (400, {"error": {"message": "too big", "code": "context_length_exceeded"}}),
    (
        400,
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "prompt is too long: 208310 tokens > 200000 maximum",
            },
        },
    ),
    (
        400,
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "input length and `max_tokens` exceed context limit: 199000 + 8192",
            },
        },
    ),
    (
        400,
        {
            "error": {
                "code": 400,
                "status": "INVALID_ARGUMENT",
                "message": "The input token count (1200000) exceeds the maximum number of "
                "tokens allowed (1048576).",
            }
        },
    ),
    (
        400,
        {
            "object": "error",
            "code": 400,
            "message": "This model's maximum context length is 4096 tokens. However, you "
            "requested 5000 tokens.",
        },
    ),
    (400, "context_length_exceeded"),
    (413, {"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}),
]


@pytest.mark.parametrize(("status", "body"), OVERFLOWS)
def test_a_prompt_that_does_not_fit_is_recognized_by_code_or_by_the_documented_body(status, body):
    """Each provider's way of saying it becomes ContextOverflowError, which is never retried."""
    error = classify_provider_error(status_error(status, body))
    assert type(error) is ContextOverflowError
    assert not error.retryable


@pytest.mark.parametrize("status", [401, 404, 429, 500])
def test_the_body_match_is_not_used_for_other_statuses(status):
    """Words about context in a body do not turn another status into an overflow."""
    error = classify_provider_error(status_error(status, "prompt is too long"))
    assert type(error) is not ContextOverflowError


@pytest.mark.parametrize(
    "message",
    [
        "column 429 not found",
        "rate limit of 5",
        "timeout must be > 0",
        "401 Unauthorized",
        "context_length_exceeded",
        "validation of state failed in tool",
    ],
)
def test_words_in_an_ordinary_exception_decide_nothing(message):
    """A bug whose text looks like a provider's failure is a plain error, not to be retried."""
    error = classify_provider_error(ValueError(message))
    assert type(error) is ProviderError
    assert not error.retryable
    assert message not in str(error)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"type": "insufficient_quota", "code": "insufficient_quota", "message": "m"}},
        {
            "error": {
                "code": 429,
                "status": "RESOURCE_EXHAUSTED",
                "message": "m",
                "details": [
                    {"violations": [{"quotaId": "GenerateRequestsPerDayPerProject-FreeTier"}]}
                ],
            }
        },
    ],
)
def test_a_429_for_a_used_up_quota_is_not_worth_a_retry(body):
    """The quota's own code, OpenAI's or Google's, makes the rate limit final."""
    error = classify_provider_error(status_error(429, body))
    assert type(error) is RateLimitError
    assert error.quota_exhausted
    assert not error.retryable


def test_google_says_the_wait_in_the_body():
    """RetryInfo is obeyed where there is no header."""
    body = {"error": {"code": 429, "message": "m", "details": [{"retryDelay": "34s"}]}}
    assert classify_provider_error(status_error(429, body)).retry_after == 34.0


def test_a_bad_google_key_is_an_auth_error_although_it_is_a_400():
    """The provider's own code says so."""
    body = {"error": {"code": 400, "message": "m", "details": [{"reason": "API_KEY_INVALID"}]}}
    assert type(classify_provider_error(status_error(400, body))) is ProviderAuthError


@pytest.mark.parametrize(
    "error", [httpx.ConnectError("refused"), httpx.ReadError("cut"), httpx.RemoteProtocolError("x")]
)
def test_a_broken_connection_is_transient(error):
    """A refused or cut connection may be whole the next time."""
    assert type(classify_provider_error(error)) is ProviderServerError


def test_a_certificate_that_cannot_be_verified_is_not_transient():
    """Trying again does not make a certificate good."""
    error = httpx.ConnectError("tls")
    error.__cause__ = ssl.SSLCertVerificationError("self-signed")
    assert type(classify_provider_error(error)) is ProviderError


def test_a_request_that_the_client_refuses_to_send_is_not_transient():
    """A wrong URL stays wrong."""
    assert type(classify_provider_error(httpx.UnsupportedProtocol("x"))) is ProviderError


def test_a_typed_error_is_returned_as_it_is():
    """Classification can be applied twice."""
    error = RateLimitError("x")
    assert classify_provider_error(error) is error


def test_a_pydantic_error_becomes_a_schema_error_without_the_values():
    """The validation errors name the places and never quote what stood there."""

    class Model(BaseModel):
        age: int

    with pytest.raises(ValidationError) as caught:
        Model(age="canary-value")
    error = classify_provider_error(caught.value)
    assert type(error) is SchemaValidationError
    assert error.schema_name == "Model"
    assert error.validation_errors[0]["loc"] == ("age",)
    assert "canary-value" not in repr(error.validation_errors) + str(error)


def test_a_key_that_the_provider_echoes_is_not_in_the_error():
    """The key of the request, and anything shaped like one, is taken out of the quoted message."""
    key = "my-own-key-000"
    body = {"error": {"message": f"Incorrect API key provided: {key}, sk-abcdefghijklmnop"}}
    error = classify_provider_error(
        status_error(401, body, request_headers={"Authorization": f"Bearer {key}"}), "openai"
    )
    assert key not in str(error)
    assert "sk-abc" not in str(error)
    assert "Incorrect API key provided" in str(error)


def test_an_unread_stream_is_classified_by_its_status():
    """A body that was not read costs the detail, not the class."""
    response = httpx.Response(500, stream=httpx.ByteStream(b""))
    assert type(classify_response(response)) is ProviderServerError


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after": "86400"}, 300.0),
        ({"retry-after": "Thu, 01 Jan 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Thu, 01 Jan 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Fri, 02 Jan 2026 12:00:00 GMT"}, 300.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"x-ms-retry-after-ms": "250"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_the_wait_is_read_from_each_form_of_the_header(headers, seconds):
    """Seconds, milliseconds or a date; never negative, never over five minutes."""
    assert parse_retry_after(httpx.Headers(headers), now=lambda: NOW) == seconds


@given(st.text())
def test_a_wait_from_any_header_is_within_bounds(text):
    """Whatever a server sends, the wait is between 0 and 300 seconds."""
    seconds = parse_retry_after({"retry-after": text}, now=lambda: NOW)
    assert seconds is None or 0.0 <= seconds <= 300.0


@given(st.integers(100, 599), st.binary(max_size=200))
def test_any_answer_gives_a_provider_error(status, body):
    """Garbage in a refusal never breaks classification."""
    error = classify_response(httpx.Response(status, content=body), "x")
    assert isinstance(error, ProviderError)
    assert len(str(error)) < 400


def test_a_body_nested_too_deeply_to_be_read_is_a_message():
    """The status decides."""
    error = classify_response(httpx.Response(500, text="[" * 200_000), "openai")
    assert type(error) is ProviderServerError


def test_where_nothing_answers_the_address_is_named():
    """Without the credentials, path and query of the request."""
    request = httpx.Request("POST", "http://u:s3cret@127.0.0.1:9/v1/chat?key=s3cret")
    error = classify_provider_error(httpx.ConnectError("refused", request=request), "ollama")
    assert str(error) == "ollama can't be reached at http://127.0.0.1:9."
    assert error.retryable
