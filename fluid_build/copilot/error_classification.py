"""Classification of errors of HTTP clients and providers as the typed errors of the runtime.

Decided by the exception's type, then the HTTP status and the provider's own error code, never by
words, except in one documented case: the message of a refused request is matched against the
phrases with which providers say that a prompt doesn't fit. Source: the Typed Errors page.
"""

from __future__ import annotations

import json
import ssl
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import ValidationError

from fluid_build.copilot.context_overflow_phrases import says_prompt_is_too_long
from fluid_build.copilot.errors import (
    AgentExecutionError,
    ContextOverflowError,
    ProviderAuthError,
    ProviderError,
    ProviderServerError,
    ProviderTimeoutError,
    RateLimitError,
    SchemaValidationError,
)
from fluid_build.copilot.retry_after import MAX_RETRY_AFTER_SECONDS as MAX_RETRY_AFTER_SECONDS
from fluid_build.copilot.retry_after import clamp_wait, parse_seconds
from fluid_build.copilot.retry_after import parse_retry_after as parse_retry_after
from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.secrets import redact
from fluid_build.text import clip, counted

if TYPE_CHECKING:
    import httpx


_MAX_DETAIL_CHARS = 300
_SECRET_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")

_OVERFLOW_CODES = frozenset(
    {
        "context_length_exceeded",
        "exceed_context_size_error",
        "request_too_large",
        "string_above_max_length",
    }
)
_AUTH_CODES = frozenset(
    {"invalid_api_key", "authentication_error", "permission_error", "API_KEY_INVALID"}
)
_QUOTA_CODES = frozenset(
    {
        "insufficient_quota",
        "billing_error",
        "billing_hard_limit_reached",
        "billing_not_active",
        "contract_spend_limit_reached",
        "credit_balance_too_low",
        "enforced_spend_limit_reached",
        "linked_organization_spend_limit_reached",
    }
)
_OVERFLOW_STATUSES = frozenset({400, 413, 422})
_STATUSES: dict[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "invalid_api_key": 401,
    "context_length_exceeded": 400,
    "invalid_prompt": 400,
    "data_residency_mismatch": 400,
    "bio_policy": 400,
    "misalignment_policy_violation": 400,
    "vector_store_timeout": 504,
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "RESOURCE_EXHAUSTED": 429,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
"""The HTTP status that a provider uses for a code, because a failure inside an answer has none.

Anthropic's and Google's are in their lists of errors, OpenAI's in the types of its client
(``ResponseError``). A code about an image means a bad request, any other code a server error.
"""


def classify_provider_error(
    error: BaseException,
    provider: str | None = None,
    *,
    now: Callable[[], datetime] | None = None,
) -> AgentExecutionError:
    """Return the typed error for a low-level error, and a typed error unchanged.

    ``provider`` names the provider in the result; ``now`` is the clock that a ``Retry-After`` date
    is measured against. An error of neither the HTTP client nor the provider becomes a plain
    ``ProviderError``, which is never retried. Raise the result ``from`` the original.
    """
    if isinstance(error, AgentExecutionError):
        return error
    if isinstance(error, ValidationError):
        return _from_validation(error)
    httpx = sys.modules.get("httpx")  # without the import there is no error of httpx
    if httpx is not None and isinstance(error, httpx.HTTPStatusError):
        return classify_response(error.response, provider, now=now)
    if isinstance(error, TimeoutError) or (
        httpx is not None and isinstance(error, httpx.TimeoutException)
    ):
        return ProviderTimeoutError(
            f"{_name(provider)} didn't answer in time ({type(error).__name__}).",
            provider=provider,
            hint="Check the network, or raise FLUID_LLM_TIMEOUT_SECONDS.",
        )
    if httpx is not None and isinstance(error, (httpx.NetworkError, httpx.RemoteProtocolError)):
        return _from_lost_connection(error, provider)
    if httpx is not None and isinstance(error, httpx.DecodingError):
        return ProviderServerError(
            f"{_name(provider)} sent an answer that can't be decompressed.", provider=provider
        )
    return ProviderError(
        f"The call to {_name(provider)} failed: {type(error).__name__}.", provider=provider
    )


def classify_response(
    response: httpx.Response,
    provider: str | None = None,
    *,
    now: Callable[[], datetime] | None = None,
) -> ProviderError:
    """Return the typed error for an HTTP answer that isn't a success, or that holds an error.

    The provider's own message is quoted, shortened and without secrets.
    """
    refusal = _read_refusal(_body(response))
    status = response.status_code
    header_wait = parse_retry_after(response.headers, now=now)
    detail = _shorten(refusal.message, _secrets_of(response))
    message = f"{_name(provider)} answered {status}{detail}"
    return _classify_refusal(refusal, message, status, provider, header_wait)


def classify_error_document(
    document: JsonObject, provider: str | None = None, secrets: Iterable[str] = ()
) -> ProviderError | None:
    """Return the typed error for a document that reports a failure inside an answer, else None.

    It is read as Anthropic's ``error`` event, OpenAI's ``error`` and ``response.failed``, and the
    ``error`` object or text of all others. ``secrets`` are removed from the provider's message.
    """
    kind = document.get("type")
    source: JsonValue = document
    if kind == "response.failed":
        source = document.get("response")
    elif kind != "error" and not document.get("error"):
        return None
    refusal = read_document(source)
    code = f" ({refusal.codes[0]})" if refusal.codes else ""
    detail = _shorten(refusal.message, secrets)
    message = f"{_name(provider)} failed during its answer{code}{detail}"
    return _classify_refusal(refusal, message, _status_of(refusal), provider, None)


def _status_of(refusal: Refusal) -> int:
    if refusal.status is not None:
        return refusal.status
    for code in refusal.codes:
        if code in _STATUSES:
            return _STATUSES[code]
    is_request = any("image" in code for code in refusal.codes)
    return 400 if is_request or says_prompt_is_too_long(refusal.message) else 500


def _classify_refusal(
    refusal: Refusal,
    message: str,
    status: int,
    provider: str | None,
    header_wait: float | None,
) -> ProviderError:
    retry_after = header_wait if header_wait is not None else refusal.retry_after
    code = refusal.codes[0] if refusal.codes else None
    codes = frozenset(refusal.codes)

    if codes & _OVERFLOW_CODES or (
        status in _OVERFLOW_STATUSES and says_prompt_is_too_long(refusal.message)
    ):
        return ContextOverflowError(
            message,
            provider=provider,
            status_code=status,
            error_code=code,
            hint="Shorten the input, or choose a model with a larger context window.",
        )
    if status == 429 or (status >= 500 and header_wait is not None):
        exhausted = status == 429 and (bool(codes & _QUOTA_CODES) or refusal.per_day)
        return RateLimitError(
            message,
            provider=provider,
            status_code=status,
            retry_after=retry_after,
            error_code=code,
            hint=_rate_limit_hint(exhausted, retry_after),
            quota_exhausted=exhausted,
        )
    if status in (401, 403) or codes & _AUTH_CODES:
        return ProviderAuthError(
            message,
            provider=provider,
            status_code=status,
            error_code=code,
            hint=f"Check the API key of {_name(provider)}: is it set, current and permitted?",
        )
    error_class = ProviderServerError if status >= 500 else ProviderError
    return error_class(message, provider=provider, status_code=status, error_code=code)


def _name(provider: str | None) -> str:
    return provider or "the provider"


def _from_validation(error: ValidationError) -> SchemaValidationError:
    return SchemaValidationError(
        f"The output violates the schema {error.title} in {counted(error.error_count(), 'place')}.",
        schema_name=error.title,
        validation_errors=error.errors(
            include_input=False, include_url=False, include_context=False
        ),
        hint="If it keeps happening, choose a stronger model.",
    )


def _from_lost_connection(error: BaseException, provider: str | None) -> ProviderError:
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in _causes(error)):
        return ProviderError(
            f"The certificate of {_name(provider)} couldn't be verified.",
            provider=provider,
            hint="Check base_url and the certificates that this machine trusts.",
        )
    if (address := _unreachable_address(error)) is not None:
        return ProviderServerError(
            f"{_name(provider)} can't be reached at {address}.",
            provider=provider,
            hint="Check that it runs, the network, and base_url.",
        )
    return ProviderServerError(
        f"The connection to {_name(provider)} was lost ({type(error).__name__}).",
        provider=provider,
        hint="Check the network and base_url, then try again.",
    )


def _unreachable_address(error: BaseException) -> str | None:
    """Return the address that no connection could be made to, None where there was one."""
    httpx = sys.modules.get("httpx")
    if httpx is None or not isinstance(error, httpx.ConnectError):
        return None
    try:
        url = error.request.url
    except RuntimeError:  # an error that httpx didn't raise has no request
        return None
    return f"{url.scheme}://{url.netloc.decode()}"  # without credentials, path and query


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _rate_limit_hint(exhausted: bool, retry_after: float | None) -> str:
    if exhausted:
        return "The quota is used up: raise it with the provider, or use another key."
    if retry_after is None:
        return "Wait a while, or run fewer jobs with this key at once."
    return f"Wait {retry_after:g} seconds, or run fewer jobs with this key at once."


def _body(response: httpx.Response) -> str:
    try:
        return response.text
    except RuntimeError:  # httpx's ResponseNotRead: the body of a streamed answer wasn't read
        return ""


def _shorten(message: str, secrets: Iterable[str]) -> str:
    if not message:
        return "."
    text = clip(redact(message, secrets), _MAX_DETAIL_CHARS)
    return ": " + " ".join(text.split())


def _secrets_of(response: httpx.Response) -> list[str]:
    try:
        sent = response.request.headers
    except RuntimeError:  # a response made by hand has no request
        return []
    values = [sent[name] for name in _SECRET_HEADERS if name in sent]
    return values + [value.rpartition(" ")[2] for value in values]


@dataclass(frozen=True, slots=True)
class Refusal:
    """The facts of a provider's error body, whatever its wire format."""

    message: str = ""
    codes: tuple[str, ...] = ()
    retry_after: float | None = None
    per_day: bool = False
    status: int | None = None


def _read_refusal(body: str) -> Refusal:
    """Read ``{"error": {...}}``, ``{"error": "..."}``, ``[{"error": ...}]`` and flat bodies."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return Refusal(message=body)
    if isinstance(document, list) and document:
        document = document[0]
    return read_document(document) if isinstance(document, dict) else Refusal(message=body)


def read_document(document: JsonValue) -> Refusal:
    """Read an object that reports a failure: as it is, or in its ``error``."""
    if not isinstance(document, Mapping):
        return Refusal()
    error = document.get("error") or document
    if isinstance(error, str):  # Ollama's, with the status next to it inside an answer
        return Refusal(message=error, status=_http_status(document.get("status")))
    if not isinstance(error, Mapping):
        return Refusal(message=json.dumps(document, default=str))
    details = _objects(error.get("details"))
    codes = [error.get("code"), error.get("type"), error.get("status")]
    codes += [detail.get("reason", detail.get("error_code")) for detail in details]
    message, status = error.get("message"), error.get("code")
    return Refusal(
        message=message if isinstance(message, str) else "",
        codes=tuple(code for code in codes if isinstance(code, str) and code != "error"),
        retry_after=_retry_delay(details),
        per_day=_spent_per_day(details),
        status=_http_status(status),
    )


def _http_status(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and 400 <= value < 600 else None


def _objects(value: JsonValue) -> list[JsonObject]:
    """Return the objects of a list as Google sends it, or the one object that Anthropic sends."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, Mapping)]


def _retry_delay(details: list[JsonObject]) -> float | None:
    """Return Google's ``RetryInfo`` in seconds: a duration such as ``34s`` in the body."""
    for detail in details:
        delay = detail.get("retryDelay")
        if isinstance(delay, str) and delay.endswith("s"):
            seconds = parse_seconds(delay[:-1])
            return None if seconds is None else clamp_wait(seconds)
    return None


def _spent_per_day(details: list[JsonObject]) -> bool:
    """Return whether Google's ``QuotaFailure`` is about a quota by the day, which won't pass."""
    return any(
        "PerDay" in str(violation.get("quotaId", ""))
        for detail in details
        for violation in _objects(detail.get("violations"))
    )
