"""The public names of errors, recovery, context and providers: a change here is a decision."""

import asyncio
import importlib
import inspect

import pytest

from fluid_build.copilot.llm import providers
from tests.copilot.llm import typed_examples

PUBLIC = {
    "agents.errors": """AgentExecutionError ContextOverflowError FluidError FluidGenerationError
        ProviderAuthError ProviderDetails ProviderError ProviderServerError ProviderTimeoutError
        RateLimitError SchemaValidationError ToolValidationError""",
    "agents.error_classification": """MAX_RETRY_AFTER_SECONDS classify_provider_error
        classify_response parse_retry_after""",
    "messages": """Message ToolCall ToolResult call_ids result_ids text_of tool_calls
        tool_results""",
    "recovery.retry": "RetryPolicy retry_call retry_call_sync",
    "recovery.error_handler": """ErrorCategory ErrorContext ErrorRecoveryFramework ErrorSeverity
        RecoveryStrategy""",
    "context.token_budget": """CHARS_PER_TOKEN DEFAULT_OUTPUT_RESERVATION DIGITS_PER_TOKEN
        HeuristicTokenCounter TokenBudget check_prompt_fits estimate_message_tokens
        estimate_prompt_tokens estimate_tokens""",
    "context.model_data": "LOCAL_PROVIDERS PriceOverrides context_window price_usd",
    "context.window_manager": """ContextPruningStrategy ContextWindow ContextWindowManager
        TokenCounter""",
    "context.compaction": """COMPACTION_STRATEGY_VARIABLE COMPACT_AFTER_VARIABLE
        DEFAULT_COMPACT_AFTER DEFAULT_KEEP_TAIL CompactionStrategy compact_after compact_messages
        compaction_strategy""",
    "llm.base": """DEFAULT_MAX_OUTPUT_TOKENS CompletionClient LlmConfig LlmPrompt LlmProvider
        LlmRequest LlmResponse StopReason ToolSpec Usage""",
    "llm.client": "DEFAULT_TIMEOUT_SECONDS TIMEOUT_VARIABLE LlmClient timeout_seconds",
    "llm.credentials": "KEYRING_SERVICE ApiKey default_key_file find_api_key save_api_key",
    "llm.providers": """PROVIDERS AzureProvider LmStudioProvider OpenRouterProvider VllmProvider
        make_provider""",
    "llm.strict_schema": "STRICT_SCHEMA_VARIABLE harden restore strict_schema_enabled",
    "llm.summarizer": "SUMMARY_INSTRUCTIONS make_summarizer",
    "llm.testing": """WIRE_FORMATS Fault LoopbackServer ReceivedRequest Reply ScriptedProvider
        context_overflow cut_body dropped_connection garbage overloaded quota_exhausted rate_limit
        refused_base_url server_error slow unauthorized wrong_schema""",
}


@pytest.mark.parametrize("module", PUBLIC)
def test_the_public_names_are_pinned(module):
    """No name comes or goes unnoticed, and each is there."""
    loaded = importlib.import_module(f"fluid_build.copilot.{module}")
    assert sorted(loaded.__all__) == sorted(PUBLIC[module].split())
    assert all(hasattr(loaded, name) for name in loaded.__all__)


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_class_and_function_says_what_it_does(module):
    """A docstring of its own."""
    loaded = importlib.import_module(f"fluid_build.copilot.{module}")
    things = [getattr(loaded, name) for name in loaded.__all__]
    own = [t for t in things if inspect.isfunction(t) or inspect.isclass(t)]
    assert all(inspect.getdoc(thing) for thing in own)


def test_the_four_formats_and_the_four_servers_have_names():
    """What make_provider knows."""
    assert set(providers.PROVIDERS) == {
        "anthropic",
        "openai",
        "gemini",
        "ollama",
        "azure",
        "openrouter",
        "vllm",
        "lmstudio",
    }


def test_the_typed_examples_run():
    """What the type checker accepts also works."""
    asyncio.run(typed_examples.retries())
    assert typed_examples.windows().messages
    responses = asyncio.run(typed_examples.completions())
    assert [response.text for response in responses] == ["one", "two"]
