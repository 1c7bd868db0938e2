"""What a call sends, reserves and says of itself.

It's without secrets and checked against the model's window; the operation of a call never has a
text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypedDict
from urllib.parse import urlsplit

from fluid_build.copilot.context.attachment_tokens import MOST_PAGES, TOKENS_PER_PAGE
from fluid_build.copilot.context.message_parts import attachments, guessed_tokens
from fluid_build.copilot.context.model_data import context_window
from fluid_build.copilot.context.token_budget import check_prompt_fits, estimate_prompt_tokens
from fluid_build.copilot.cost import Caller, LargestCall, Reservation, RunCostTracker
from fluid_build.copilot.errors import AgentExecutionError, CostLimitExceeded
from fluid_build.copilot.llm.base import LlmPrompt, LlmProvider, LlmRequest, LlmResponse
from fluid_build.copilot.llm.credentials import ApiKey
from fluid_build.copilot.llm.outgoing import outgoing_secrets, without_secrets
from fluid_build.copilot.message_checks import check_messages
from fluid_build.copilot.operations import Operation
from fluid_build.json_types import JsonValue

SAFETY_FACTOR = 1.5
"""For an estimate of tokens, which may be too low for text that it wasn't measured on."""


class Post(TypedDict):
    """The arguments of httpx's ``stream``, but for the content."""

    method: Literal["POST"]
    url: str
    headers: Mapping[str, str]


@dataclass(slots=True)
class PreparedCall:
    """A call that passed the checks: what each attempt sends and reserves."""

    provider: LlmProvider
    prompt: LlmPrompt
    tracker: RunCostTracker
    largest: LargestCall
    arguments: Post = field(repr=False)
    content: bytes = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    patience: float
    """The seconds that the readers of other streams may take while this call needs their money."""
    failure: AgentExecutionError | None = None
    """The failure of the latest attempt."""
    outcome: dict[str, JsonValue] = field(default_factory=dict)
    """What the operation of the call says at its end."""

    async def reserve(self, reserve: Callable[..., Awaitable[Reservation]]) -> Reservation:
        """Reserve money for an attempt, by a method of the tracker.

        Raises ``CostLimitExceeded``, for a retry with the failure before it as its cause.
        """
        made = self.outcome.get("attempts", 0)
        self.outcome["attempts"] = made + 1 if isinstance(made, int) else 1
        try:
            return await reserve(self.largest, patience=self.patience)
        except CostLimitExceeded as refusal:
            raise refusal from self.failure


def prepare_call(
    build_request: Callable[[LlmPrompt], LlmRequest],
    prompt: LlmPrompt,
    *,
    provider: LlmProvider,
    key: ApiKey | None,
    tracker: RunCostTracker,
    capability_matrix: Mapping[str, object],
    stage: str,
    agent_class: str,
    prompt_tokens: int | None,
    patience: float,
) -> PreparedCall:
    """Return the call for ``prompt``: without secrets, and checked against the model's window.

    ``prompt_tokens`` replaces the estimate. Raises ``ContextOverflowError``, and ``UsageError`` for
    messages that can't be sent whole.
    """
    prompt = replace(prompt, messages=check_messages(prompt.messages))
    window = context_window(prompt.model, provider.name, capability_matrix=capability_matrix)
    if window is not None:
        prompt = _limit_to_window(prompt, window)
    secret = key.reveal() if key else None
    request = build_request(prompt)
    body = without_secrets(request.body, outgoing_secrets(secret))
    tool_tokens = provider.tool_prompt_tokens if body.get("tools") else 0
    tokens = estimate_prompt(prompt) if prompt_tokens is None else prompt_tokens
    guessed = guessed_tokens(prompt.messages) if prompt_tokens is None else 0
    check_prompt_fits(
        tokens + tool_tokens - guessed,  # the provider says whether a document is too long
        model=prompt.model,
        provider=provider.name,
        capability_matrix=capability_matrix,
        output_reservation=prompt.max_output_tokens,
    )
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    if guessed:
        tokens = max(tokens, MOST_PAGES * TOKENS_PER_PAGE)
    largest_input = _largest_input(prompt, tokens, tool_tokens, len(content), window)
    caller = Caller(provider.name, prompt.model, stage, agent_class)
    auth_headers = provider.auth_headers(secret) if secret else {}
    return PreparedCall(
        provider,
        prompt,
        tracker,
        LargestCall(caller, largest_input, prompt.max_output_tokens),
        _post(request, len(content), auth_headers),
        content,
        (secret,) if secret else (),
        patience,
    )


def _limit_to_window(prompt: LlmPrompt, window: int) -> LlmPrompt:
    """Return the prompt with its window, and at most half of that for the answer."""
    return replace(
        prompt,
        context_window=prompt.context_window or window,
        max_output_tokens=min(prompt.max_output_tokens, window // 2),
    )


def _post(request: LlmRequest, content_length: int, auth_headers: Mapping[str, str]) -> Post:
    headers = {
        "content-type": "application/json",
        "content-length": str(content_length),
        **request.headers,
        **auth_headers,
    }
    return {"method": "POST", "url": request.url, "headers": headers}


def _largest_input(
    prompt: LlmPrompt, tokens: int, tool_tokens: int, content_bytes: int, window: int | None
) -> int:
    """Return the most input tokens that may be billed, from an estimate of ``tokens``."""
    most = math.ceil(tokens * SAFETY_FACTOR)
    if not any(any(attachments(message)) for message in prompt.messages):
        most = min(most, content_bytes)  # a token of text is at least one byte
    most += tool_tokens
    return most if window is None else min(most, window)  # no prompt over the window is accepted


# The estimated tokens of a prompt, with everything in it that a provider counts.


def estimate_prompt(prompt: LlmPrompt) -> int:
    """Return the tokens of the messages, tools, schema and further fields of a prompt."""
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in prompt.tool_specs
    ]
    schemas = [dict(part) for part in (prompt.response_schema, prompt.extra) if part]
    return estimate_prompt_tokens(prompt.messages, system=prompt.system, tools=[*tools, *schemas])


_DEFAULT_PORTS = {"http": 80, "https": 443}


def model_call(
    provider: LlmProvider,
    prompt: LlmPrompt,
    *,
    stage: str,
    agent_class: str,
    is_streamed: bool = False,
) -> Operation:
    """Return the operation of a call, its retries included. Finish it with ``record_answer``."""

    def describe() -> dict[str, JsonValue]:
        address = urlsplit(provider.base_url)
        return {
            "provider": provider.name,
            "model": prompt.model,
            "server_address": address.hostname,
            "server_port": address.port or _DEFAULT_PORTS.get(address.scheme),
            "max_output_tokens": prompt.max_output_tokens,
            "temperature": prompt.temperature,
            "is_structured": prompt.response_schema is not None,
            "is_streamed": is_streamed,
            "stage": stage,
            "agent_class": agent_class,
        }

    return Operation("llm.call", describe)


def record_answer(operation: Operation, response: LlmResponse, call: PreparedCall) -> LlmResponse:
    """Add the answer's model, stop reason, usage and price to the operation; return the answer."""
    operation.outcome["response_model"] = response.model or None
    operation.outcome["stop_reason"] = response.stop_reason
    if response.usage is not None:
        operation.outcome["input_tokens"] = response.usage.input_tokens
        operation.outcome["output_tokens"] = response.usage.output_tokens
        operation.outcome["cached_tokens"] = response.usage.cached_tokens
        operation.outcome["cache_write_tokens"] = response.usage.cache_write_tokens
        if operation.is_published:
            cost = call.tracker.price(
                call.provider.name,
                call.prompt.model,
                response.usage.input_tokens,
                response.usage.output_tokens,
                response.usage.cached_tokens,
                cache_write_tokens=response.usage.cache_write_tokens,
            )
            operation.outcome["cost_usd"] = None if cost is None else str(cost)
    return response
