"""The public names of the runtime's own parts: a change here is a decision."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from decimal import Decimal
from pathlib import Path

import pytest

from fluid_build.copilot.llm import providers
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from tests.copilot import typed_examples
from tests.copilot.llm import typed_examples as llm_examples

PUBLIC = {
    "copilot.agents.errors": """
        AgentExecutionError AnswerCutOffError AnswerRefusedError ContextOverflowError
        FluidError FluidGenerationError ProviderAuthError ProviderDetails ProviderError
        ProviderServerError ProviderTimeoutError RateLimitError SchemaValidationError
        ToolValidationError""",
    "copilot.agents.error_classification": """
        MAX_RETRY_AFTER_SECONDS classify_provider_error classify_response parse_retry_after""",
    "copilot.messages": """
        Message ToolCall ToolResult call_ids result_ids text_of tool_calls tool_results""",
    "copilot.recovery.retry": "RetrySchedule retry_call retry_call_sync",
    "copilot.recovery.error_handler": """
        ErrorCategory ErrorContext ErrorRecoveryFramework ErrorSeverity RecoveryStrategy""",
    "copilot.context.token_budget": """
        CHARS_PER_TOKEN DEFAULT_OUTPUT_RESERVATION HeuristicTokenCounter TokenBudget
        check_prompt_fits estimate_message_tokens estimate_prompt_tokens
        estimate_tokens""",
    "copilot.context.model_data": "LOCAL_PROVIDERS PriceOverrides context_window price_usd",
    "copilot.context.window_manager": """
        ContextPruningStrategy ContextWindow ContextWindowManager TokenCounter""",
    "copilot.context.compaction": """
        COMPACTION_STRATEGY_VARIABLE COMPACT_AFTER_VARIABLE DEFAULT_COMPACT_AFTER
        DEFAULT_KEEP_TAIL CompactionStrategy compact_after compact_messages compaction_strategy""",
    "copilot.llm.base": """
        DEFAULT_MAX_OUTPUT_TOKENS CompletionClient LlmConfig LlmPrompt LlmProvider LlmRequest
        LlmResponse StopReason ToolSpec Usage""",
    "copilot.llm.answer_streams": "AnswerStream AnswerStreamSync",
    "copilot.llm.streaming": """
        AnswerEvent StreamEvent StreamFrames StreamReader TextEvent ThinkingEvent ToolCallEvent
        UsageEvent""",
    "copilot.llm.client": "DEFAULT_TIMEOUT_SECONDS TIMEOUT_VARIABLE LlmClient timeout_seconds",
    "copilot.llm.credentials": "KEYRING_SERVICE ApiKey default_key_file find_api_key save_api_key",
    "copilot.llm.providers": """
        PROVIDERS AzureProvider LmStudioProvider OpenRouterProvider VllmProvider make_provider""",
    "copilot.llm.strict_schema": "STRICT_SCHEMA_VARIABLE harden restore strict_schema_enabled",
    "copilot.llm.summarizer": "SUMMARY_INSTRUCTIONS make_summarizer",
    "copilot.llm.testing": "Answer AnswerScript ScriptedProvider",
    "copilot.events": "Event EventBus Observer get_event_bus",
    "copilot.operations": "Operation current_operation",
    "copilot.timelines": "TimedOperation forget_timeline record_timelines timeline_of",
    "copilot.scratchpad": """
        CriticFinding RawSlots RetrievalResult Scratchpad Severity StageFeedback""",
    "copilot.cost": """
        AgentRow COST_LIMIT_VARIABLE Caller CostBreakdown CostLimitExceeded CostRow LargestCall
        Price Reservation RunCostTracker UnknownPriceError get_cost_tracker parse_cost_limit
        use_cost_tracker""",
    "copilot.retrieval": """
        RetrievalConfig RetrievalMode SEMANTIC_MEMORY retrieve_similar_models
        write_semantic_record""",
    "copilot.vector_index": "VectorIndex",
    "copilot.unified_config": """
        BehaviorConfig CONFIG_NAME ConfigError ENVIRONMENT HOME_VARIABLE LlmSettings Migration
        Origin PricesConfig Setting SourcesConfig UnifiedConfig current_config fluid_home
        last_valid_config list_settings load_unified_config migrate_legacy_to_unified
        use_flags""",
    "copilot.llm.default_config": "default_llm_config",
    "copilot.blocking": "call_in_thread run_blocking",
    "copilot.agents.base": """
        BaseStageAgent LLM_CACHE PipelineEvent ProviderMismatchError StageSession""",
    "copilot.agents.agent": """
        Agent AgentEvent AgentResult ApprovalRequiredError Approved CallRule ChatSession
        DEFAULT_MAX_CORRECTIONS DEFAULT_MAX_TURNS Denied Fallback HandoffEvent Hooks
        PartialEvent PendingApproval ResultEvent ToolFinishedEvent ToolStartedEvent TurnLimitError
        allow answer_approval ask deny pending_approvals""",
    "copilot.agents.agui": "agui_app agui_events thread_session",
    "copilot.agents.composite": """
        Checkpoint CheckpointError CompletionStep Composite CompositeAgent CompositeResult
        DEFAULT_WIDTH DelegateStep FunctionStep Halt Retry RunExistsError RunNotFoundError
        RunOwnedError Skip StaleCheckpointError StepResult UnsavableStepError advance append_steps
        completion delegate function_step get_state push_steps put_state resume resume_sync run
        run_sync""",
    "copilot.tools.definition": """
        ForgeTool LegacyTool SchemaTool Tool ToolDefinition ToolEntry""",
    "copilot.tools.calls": "Arguments ForgeToolResult",
    "copilot.tools.registry": """
        FORGE_TOOL_REGISTRY STAGED_TOOL_REGISTRY STAGED_TOOL_VARIABLE TOOL_REGISTRY as_tool
        find_tool forge_tool get_tool_definitions register_legacy_tool registered_tools""",
    "copilot.tools.dispatch": """
        dispatch_forge_tool dispatch_forge_tool_async dispatch_tool_call dispatch_tool_call_async
        tool_result_text""",
    "copilot.tools.toolbox": "Toolbox",
    "copilot.tools.confinement": """
        FileTooLargeError ForbiddenPathError PathTraversalError open_confined read_confined
        resolve_confined write_confined""",
    "copilot.tools.metrics": """
        ToolExecutionStatus ToolExecutionTrace ToolObservabilityCollector get_tool_collector""",
    "copilot.tools.otel": "subscribe_opentelemetry",
    "copilot.mcp.connection": """
        DEFAULT_MAX_RESULT_BYTES DEFAULT_TIMEOUT_SECONDS McpConnection""",
    "copilot.mcp.errors": "McpConnectionError McpError McpResultTooLargeError McpToolError",
    "copilot.mcp.serving": """
        DEFAULT_PORT HttpOptions ServerOptions make_http_app make_mcp_server serve_http
        serve_http_sync serve_stdio serve_stdio_sync""",
    "copilot.store.base": """
        Embeddings Hit Store StoreError StoredRecord check_key check_namespace from_json_text
        pack_embedding to_json_text unpack_embedding""",
    "copilot.store.backends.file": "FileBackend",
    "copilot.store.backends.sqlite": "SqliteBackend",
    "copilot.store.backends.postgres": "PostgresBackend",
    "copilot.store.backends.null": "NullBackend",
    "cli.forge_tool": """
        FORGE_TOOL_REGISTRY ForgeTool ForgeToolResult dispatch_forge_tool
        dispatch_forge_tool_async forge_tool""",
    "cli.forge_copilot_agent_loop": """
        TOOL_REGISTRY _register dispatch_tool_call dispatch_tool_call_async get_tool_definitions""",
}


@pytest.mark.parametrize("module", PUBLIC)
def test_a_public_name_can_be_imported_and_says_what_it_is(module: str) -> None:
    """A change here is a decision."""
    loaded = importlib.import_module(f"fluid_build.{module}")
    for name in PUBLIC[module].split():
        member = getattr(loaded, name)
        if inspect.isfunction(member) or inspect.isclass(member):
            assert inspect.getdoc(member), name


@pytest.mark.parametrize(
    "package",
    ["copilot.agents.errors", "copilot.agents.error_classification", "copilot.agents.composite"],
)
def test_a_documented_path_exports_just_the_documented_names(package: str) -> None:
    loaded = importlib.import_module(f"fluid_build.{package}")
    assert sorted(loaded.__all__) == sorted(PUBLIC[package].split())


def test_the_typed_examples_run(tmp_path: Path) -> None:
    """What the type checker accepts also works."""
    assert len(typed_examples.tools()) >= 2
    assert [*typed_examples.toolbox()] == ["typed_count", "typed_drop", "list_tables"]
    assert typed_examples.observing()["execution_count"] == 1
    assert typed_examples.spending() == Decimal("0.00002")
    assert asyncio.run(typed_examples.composing()).ok
    results = typed_examples.remembering(SqliteBackend(tmp_path / "store.db"))
    assert [result.key for result in results] == ["k"]
    assert typed_examples.configuring(tmp_path) == "m"
    assert asyncio.run(typed_examples.running_agents()) == ["a", "a", "a", "True"]


def test_the_four_formats_and_the_four_servers_have_names():
    """What make_provider knows."""
    assert set(providers.PROVIDERS) >= {
        "anthropic",
        "openai",
        "gemini",
        "ollama",
        "azure",
        "openrouter",
        "vllm",
        "lmstudio",
    }


def test_the_typed_examples_of_models_run():
    """What the type checker accepts also works."""
    asyncio.run(llm_examples.retries())
    assert llm_examples.windows().messages
    responses = asyncio.run(llm_examples.completions())
    assert [response.text for response in responses] == ["one", "two"]
    streamed = asyncio.run(llm_examples.streams())
    assert [response.text for response in streamed] == ["one", "two"]
