"""Model calls as operations: what is asked of which server, and what came back. Never any text."""

from __future__ import annotations

from urllib.parse import urlsplit

from fluid_build.copilot.llm.base import LlmPrompt, LlmProvider, LlmResponse
from fluid_build.copilot.llm.prepared_calls import PreparedCall
from fluid_build.copilot.operations import Operation
from fluid_build.json_types import JsonValue

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
