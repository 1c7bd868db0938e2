"""The public API as a user would write it, for the type checker: ``mypy --strict`` must pass."""

from __future__ import annotations

from decimal import Decimal

from fluid_build.copilot.agents.error_classification import classify_provider_error
from fluid_build.copilot.agents.errors import AgentExecutionError, RateLimitError
from fluid_build.copilot.context.compaction import CompactionStrategy, compact_messages
from fluid_build.copilot.context.model_data import context_window, price_usd
from fluid_build.copilot.context.token_budget import TokenBudget, check_prompt_fits
from fluid_build.copilot.context.window_manager import (
    ContextPruningStrategy,
    ContextWindow,
    ContextWindowManager,
    TokenCounter,
)
from fluid_build.copilot.llm.base import CompletionClient, LlmPrompt, LlmResponse, Usage
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.providers import make_provider
from fluid_build.copilot.llm.streaming import TextEvent, UsageEvent
from fluid_build.copilot.llm.testing import ScriptedProvider
from fluid_build.copilot.recovery.error_handler import (
    ErrorCategory,
    ErrorContext,
    ErrorRecoveryFramework,
    ErrorSeverity,
    RecoveryStrategy,
)
from fluid_build.copilot.recovery.retry import RetrySchedule, retry_call, retry_call_sync
from tests.fault_server import LoopbackServer, Reply, rate_limit


class Words:
    """A counter of a user's own."""

    def count_tokens(self, text: str) -> int:
        return len(text.split())


async def recover(context: ErrorContext) -> str:
    return f"recovered from {context.category.value}"


def fall_back(context: ErrorContext) -> str:
    return f"gave up on {context.error}"


async def retries() -> None:
    async def call() -> int:
        return 1

    number: int = await retry_call(call, policy=RetrySchedule(attempts=2))
    text: str = retry_call_sync(lambda: "text")
    assert number
    assert text
    framework = ErrorRecoveryFramework()
    framework.register_strategy(
        RecoveryStrategy("s", ErrorCategory.LLM_ERROR, recover, fallback=fall_back)
    )
    verdict: tuple[ErrorCategory, ErrorSeverity] = framework.classify_error(RateLimitError())
    assert verdict
    typed: AgentExecutionError = classify_provider_error(TimeoutError(), "openai")
    assert typed.retryable


def windows(counter: TokenCounter | None = None) -> ContextWindow:
    manager = ContextWindowManager(8000, counter or Words(), ContextPruningStrategy.RECENCY)
    window = manager.add_message(manager.create_window(), {"role": "user", "content": "hello"})
    messages = compact_messages(
        window.messages, max_tokens=1000, strategy=CompactionStrategy.TRUNCATE
    )
    budget = TokenBudget()
    budget.record_usage(messages, 10)
    size: int | None = check_prompt_fits(budget.estimate(messages), model="gpt-4.1")
    known: int | None = context_window("gpt-4.1", "openai")
    price: Decimal | None = price_usd("openai", "gpt-4.1", 1000, 10)
    assert size and known and price
    return window


async def completions() -> list[LlmResponse]:
    prompt = LlmPrompt("m", [{"role": "user", "content": "hello"}])
    scripted: CompletionClient = ScriptedProvider(["one"])
    with LoopbackServer([rate_limit(retry_after=0), Reply("two")]) as server:
        provider = make_provider("openai", server.base_url("openai"))
        async with LlmClient(provider, api_key=server.key) as client:
            real: CompletionClient = client
            return [await scripted.complete(prompt), await real.complete(prompt)]


async def streams() -> list[LlmResponse]:
    prompt = LlmPrompt("m", [{"role": "user", "content": "hello"}])
    client: CompletionClient = ScriptedProvider(["one", "two"])
    with client.stream_sync(prompt) as blocking:
        texts: list[str] = [event.text for event in blocking if isinstance(event, TextEvent)]
    async with client.stream(prompt, stage="s") as stream:
        async for event in stream:
            if isinstance(event, UsageEvent):
                usage: Usage = event.usage
                assert usage == stream.usage
    assert texts == ["one"]
    return [blocking.response, stream.response]
