"""Every error that the agent runtime raises on purpose, one class for each reaction to it.

    FluidError
      ├── FluidGenerationError           something could not be generated
      │     └── AgentExecutionError        an agent's call failed
      │           ├── ProviderError          the provider refused or failed
      │           │     ├── RateLimitError       too many requests, or no quota left
      │           │     ├── ProviderTimeoutError no answer in time
      │           │     ├── ContextOverflowError the prompt doesn't fit the model's window
      │           │     ├── ProviderAuthError    the key is missing, wrong or expired
      │           │     └── ProviderServerError  the server failed or cut its answer off
      │           ├── SchemaValidationError  the output breaks its schema
      │           ├── AnswerRefusedError     the model declined to answer
      │           ├── AnswerCutOffError      the answer ended at the limit of output tokens
      │           ├── ToolValidationError    the tool call isn't valid
      │           │     ├── UnknownTool          no tool has that name
      │           │     ├── ToolResultError      the tool returned what JSON can't hold
      │           │     ├── PathTraversalError   the path leads out of the workspace
      │           │     ├── ForbiddenPathError   the path isn't allowed
      │           │     └── FileTooLargeError    the file is over its size limit
      │           ├── TurnLimitError         an agent has used up its turns
      │           ├── RunLimitError          an agent has reached its limit of calls, tokens or time
      │           ├── ApprovalRequiredError  a person has to approve a tool call first
      │           └── ProviderMismatchError  a second provider in one run
      ├── CostLimitExceeded              the run has passed its cost limit, or could
      ├── UnknownPriceError              there is a limit, and the model has no known price
      ├── UsageError                     the call itself is wrong (fluid_build.errors)
      │     └── ApprovalError              a decision about a call can't be followed
      ├── StoreError                     the store can't be reached, read or written
      └── CheckpointError                a run can't be saved or resumed
            ├── RunExistsError             the run id is used already
            ├── RunNotFoundError           no run has that id
            ├── RunOwnedError              another process still runs it
            ├── StaleCheckpointError       the agent's code or steps have changed
            └── UnsavableStepError         another process couldn't find the step again

``retryable`` decides whether the retry envelope tries again: true for rate limits that will pass,
timeouts and server errors; false where the same request would meet the same error.
``fluid_build.copilot.error_classification`` turns the errors of HTTP clients into these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypedDict, Unpack

from fluid_build.copilot.messages import ToolCall
from fluid_build.errors import FluidError, UsageError
from fluid_build.text import clip

COST_LIMIT_VARIABLE = "FLUID_COST_LIMIT_USD"

_MAX_ANSWER_CHARS = 2000
"""Characters of an answer in an error: enough to recognize it, and bounded."""


class FluidGenerationError(FluidError):
    """An output that could not be generated."""


class AgentExecutionError(FluidGenerationError):
    """A failed call of an agent. ``retryable`` says whether the same call may yet succeed.

    ``result`` is what an ``Agent`` had reached: an ``AgentResult`` that can be resumed.
    """

    retryable: bool = False
    result: object = None


class ProviderDetails(TypedDict, total=False):
    """The keyword arguments that every provider error accepts in addition to its message."""

    provider: str | None
    status_code: int | None
    retry_after: float | None
    error_code: str | None
    hint: str | None


class ProviderError(AgentExecutionError):
    """A refusal or failure of the provider that has no class of its own.

    ``provider`` is its name, ``status_code`` the HTTP status (None: there was no answer),
    ``retry_after`` the seconds it asked us to wait (None: it didn't), ``error_code`` its own code
    for the failure.
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
    """A connection or an answer that took longer than ``FLUID_LLM_TIMEOUT_SECONDS``."""

    retryable = True


class ContextOverflowError(ProviderError):
    """A prompt that doesn't fit the model's window, by our estimate or the provider's answer.

    ``prompt_tokens``, ``context_window`` and ``output_reservation`` are in tokens; None where the
    provider didn't say.
    """

    def __init__(
        self,
        message: str = "The prompt doesn't fit the model's context window.",
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
    """HTTP 401 or 403: the key is missing, wrong, expired or has the wrong scope."""


class ProviderServerError(ProviderError):
    """HTTP 5xx without ``Retry-After``, or an answer that is cut off or in another format."""

    retryable = True


class SchemaValidationError(AgentExecutionError):
    """A model's output that breaks the schema it was asked to follow.

    ``validation_errors`` hold no input values; ``raw_output`` is the output as it came.
    """

    def __init__(
        self,
        message: str = "The model's output violates the schema.",
        *,
        schema_name: str | None = None,
        validation_errors: Sequence[object] = (),
        raw_output: object = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.schema_name = schema_name
        self.validation_errors = list(validation_errors)
        self.raw_output = raw_output


class AnswerRefusedError(AgentExecutionError):
    """An answer that the model, or its provider's filter, declined to give.

    ``text`` is what the model said about it, shortened.
    """

    def __init__(
        self,
        message: str = "The model declined to answer.",
        *,
        provider: str | None = None,
        model: str | None = None,
        text: str = "",
        hint: str | None = "Change the prompt, or choose another model.",
    ) -> None:
        super().__init__(message, hint=hint)
        self.provider = provider
        self.model = model
        self.text = clip(text, _MAX_ANSWER_CHARS)


class AnswerCutOffError(AgentExecutionError):
    """An answer that ended at the limit of output tokens. ``text`` is its beginning."""

    def __init__(
        self,
        message: str = "The answer was cut off at the limit of output tokens.",
        *,
        provider: str | None = None,
        model: str | None = None,
        text: str = "",
        hint: str | None = "Raise max_output_tokens, or ask for a shorter answer.",
    ) -> None:
        super().__init__(message, hint=hint)
        self.provider = provider
        self.model = model
        self.text = clip(text, _MAX_ANSWER_CHARS)


class ToolValidationError(AgentExecutionError):
    """A tool call with wrong arguments, an unknown tool, or a path outside the workspace.

    ``reason`` is safe to show to the model: it never quotes an exception's text.
    """

    def __init__(
        self,
        message: str = "The tool call isn't valid.",
        *,
        tool_name: str | None = None,
        tool_args: Mapping[str, object] | None = None,
        reason: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.tool_name = tool_name
        self.tool_args = dict(tool_args) if tool_args is not None else {}
        self.reason = reason


class UnknownTool(ToolValidationError):  # noqa: N818 - the documented name
    """A call of a tool that doesn't exist."""


class ToolResultError(ToolValidationError):
    """A tool's result that JSON can't hold."""


class PathTraversalError(ToolValidationError):
    """A path that leads out of the workspace."""


class ForbiddenPathError(ToolValidationError):
    """A path in the workspace that the tool may not use."""


class FileTooLargeError(ToolValidationError):
    """A file that is over the tool's size limit."""


class TurnLimitError(AgentExecutionError):
    """A run of an agent that has used up its turns; an agent with more turns can resume it."""

    def __init__(self, max_turns: int) -> None:
        super().__init__(
            f"The agent has no answer after {max_turns} turns.",
            hint="Raise max_turns and resume the run, or give the agent a smaller task.",
        )
        self.max_turns = max_turns


class RunLimitError(AgentExecutionError):
    """A run of an agent that has reached one of its limits; with a higher one it can be resumed."""

    def __init__(self, limit: str, most: float) -> None:
        super().__init__(
            f"The run has reached its limit {limit}={most:,}.",
            hint=f"Raise {limit} and resume the run, or give the agent a smaller task.",
        )
        self.limit = limit
        self.most = most


class ApprovalRequiredError(AgentExecutionError):
    """Calls of tools that wait for a person: ``pending``.

    ``waits`` says whether what raised it is saved inside another run, which then waits too.
    """

    def __init__(self, pending: Sequence[ToolCall], *, waits: bool = False) -> None:
        names = ", ".join(call.name for call in pending)
        super().__init__(
            f"A person has to approve calls of {names} first.",
            hint="Resume the run with approvals. Only a run that is saved can wait for them.",
        )
        self.pending = tuple(pending)
        self.waits = waits


class ApprovalError(UsageError):
    """A decision about a call that can't be followed: the run still waits."""


class ProviderMismatchError(AgentExecutionError):
    """A stage that resolved to another provider than the run's."""


class CostLimitExceeded(FluidError):  # noqa: N818 - the documented name
    """A run that has passed its cost limit, or whose next call could. Both are US dollars.

    ``result`` is what an ``Agent`` had reached: an ``AgentResult`` that can be resumed.
    ``response`` is the answer (``LlmResponse``) of the call that passed the limit: it's paid for.
    ``blocking_usd`` is money that other open calls hold, where that's the reason.
    """

    result: object = None
    response: object = None

    def __init__(
        self, total_usd: Decimal, limit_usd: Decimal, *, blocking_usd: Decimal = Decimal(0)
    ) -> None:
        hint = (
            f"Raise {COST_LIMIT_VARIABLE}, behavior.cost_limit_usd_per_run, or the limit_usd of "
            "the run's tracker."
        )
        if blocking_usd:
            hint = (
                f"Other open calls hold {_dollars(blocking_usd, Decimal(0))} of it, and can't end "
                f"before this one: read their streams to the end or close them first. Or: {hint}"
            )
        super().__init__(
            f"CostLimitExceeded({_dollars(total_usd, limit_usd)} > "
            f"{_dollars(limit_usd, total_usd)})",
            hint=hint,
        )
        self.total_usd = total_usd
        self.limit_usd = limit_usd


class UnknownPriceError(FluidError):
    """A model without a known price in a run that has a cost limit."""

    def __init__(self, provider: str, model: str) -> None:
        super().__init__(
            f"The price of {provider} model {model!r} is unknown, so the cost limit can't be "
            "enforced.",
            hint="Set its price under prices in config.yaml: dollars per million input and output "
            "tokens, or [0, 0] for a model that you host.",
        )
        self.provider = provider
        self.model = model


class StoreError(FluidError):
    """A store that can't be reached, read or written, or a value that it can't hold."""


class CheckpointError(FluidError):
    """A run that can't be saved or resumed."""


class RunExistsError(CheckpointError):
    """A new run whose id is in use."""


class RunNotFoundError(CheckpointError):
    """A run id that the store doesn't have."""


class RunOwnedError(CheckpointError):
    """A run that another process still owns."""


class StaleCheckpointError(CheckpointError):
    """A run whose agent has changed its code or steps since it was saved."""


class UnsavableStepError(CheckpointError):
    """A step that another process couldn't find again."""


def _dollars(amount: Decimal, compared: Decimal) -> str:
    """Return an amount in cents, or with as many decimals as it takes to differ from another."""
    for places in range(2, 12):
        if round(amount, places) != round(compared, places):
            return f"${amount:.{places}f}"
    return f"${amount}"
