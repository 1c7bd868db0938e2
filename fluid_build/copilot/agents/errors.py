"""Errors of the agent runtime, one class for each thing an operator would do about it.

    FluidError
      └── FluidGenerationError
            └── AgentExecutionError
                  ├── ProviderError
                  │     ├── RateLimitError
                  │     ├── ProviderTimeoutError
                  │     ├── ContextOverflowError
                  │     ├── ProviderAuthError
                  │     └── ProviderServerError
                  ├── SchemaValidationError
                  └── ToolValidationError

``retryable`` is what the retry envelope goes by: true for rate limits that will pass, timeouts and
server errors; false for everything that the same request would meet again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

from fluid_build.errors import FluidError

__all__ = [
    "AgentExecutionError",
    "ContextOverflowError",
    "FluidError",
    "FluidGenerationError",
    "ProviderAuthError",
    "ProviderDetails",
    "ProviderError",
    "ProviderServerError",
    "ProviderTimeoutError",
    "RateLimitError",
    "SchemaValidationError",
    "ToolValidationError",
]


class FluidGenerationError(FluidError):
    """Something could not be generated."""


class AgentExecutionError(FluidGenerationError):
    """An agent's call failed. ``retryable`` says whether the same call may yet succeed."""

    retryable: bool = False


class ProviderDetails(TypedDict, total=False):
    """What every provider error may be made with, besides its message."""

    provider: str | None
    status_code: int | None
    retry_after: float | None
    error_code: str | None
    hint: str | None


class ProviderError(AgentExecutionError):
    """The model's provider refused or failed, in no way that has a class of its own.

    ``provider`` is its name, ``status_code`` the HTTP status (``None``: there was no answer),
    ``retry_after`` the seconds it asked us to wait (``None``: it did not), ``error_code`` its own
    code for the failure.
    """

    def __init__(
        self,
        message: str = "The provider failed.",
        *,
        provider: str | None = None,
        status_code: int | None = None,
        retry_after: float | None = None,
        error_code: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.provider = provider
        self.status_code = status_code
        self.retry_after = retry_after
        self.error_code = error_code


class RateLimitError(ProviderError):
    """HTTP 429, or a 5xx with ``Retry-After``. Not retryable once the quota itself is used up."""

    retryable = True

    def __init__(
        self,
        message: str = "The provider limits the rate of requests.",
        *,
        quota_exhausted: bool = False,
        **details: Unpack[ProviderDetails],
    ) -> None:
        super().__init__(message, **details)
        self.quota_exhausted = quota_exhausted
        self.retryable = not quota_exhausted


class ProviderTimeoutError(ProviderError):
    """The provider took longer to connect or to answer than ``FLUID_LLM_TIMEOUT_SECONDS``."""

    retryable = True


class ContextOverflowError(ProviderError):
    """The prompt does not fit the model's window, found before sending or told by the provider.

    ``prompt_tokens``, ``context_window`` and ``output_reservation`` are in tokens; ``None`` where
    the provider did not say.
    """

    def __init__(
        self,
        message: str = "The prompt does not fit the model's context window.",
        *,
        prompt_tokens: int | None = None,
        context_window: int | None = None,
        output_reservation: int | None = None,
        **details: Unpack[ProviderDetails],
    ) -> None:
        super().__init__(message, **details)
        self.prompt_tokens = prompt_tokens
        self.context_window = context_window
        self.output_reservation = output_reservation


class ProviderAuthError(ProviderError):
    """HTTP 401 or 403: the key is missing, wrong, expired or of the wrong scope."""


class ProviderServerError(ProviderError):
    """HTTP 5xx without ``Retry-After``, or an answer that was cut off or is not the provider's."""

    retryable = True


class SchemaValidationError(AgentExecutionError):
    """A model's output breaks the schema it was asked to follow.

    ``validation_errors`` hold no input values; ``raw_output`` is the output as it came.
    """

    def __init__(
        self,
        message: str = "The model's output breaks the schema.",
        *,
        schema_name: str | None = None,
        validation_errors: Sequence[Any] = (),
        raw_output: Any = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.schema_name = schema_name
        self.validation_errors = list(validation_errors)
        self.raw_output = raw_output


class ToolValidationError(AgentExecutionError):
    """A model's tool call has wrong arguments, an unknown tool, or a path outside the workspace.

    ``reason`` is safe to show to the model: it never quotes an exception's text.
    """

    def __init__(
        self,
        message: str = "The tool call is not valid.",
        *,
        tool_name: str | None = None,
        tool_args: Mapping[str, Any] | None = None,
        reason: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.tool_name = tool_name
        self.tool_args = dict(tool_args) if tool_args is not None else {}
        self.reason = reason
