"""The public names of the runtime's own parts: a change here is a decision."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from decimal import Decimal
from pathlib import Path

import pytest

from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from tests.copilot import typed_examples

PUBLIC = {
    "copilot.events": "Event EventBus Observer get_event_bus",
    "copilot.scratchpad": "CriticFinding RetrievalResult Scratchpad Severity StageFeedback",
    "copilot.cost": """AgentRow COST_LIMIT_VARIABLE CostBreakdown CostLimitExceeded CostRow
        Reservation RunCostTracker UnknownPriceError get_cost_tracker parse_cost_limit
        use_cost_tracker""",
    "copilot.retrieval": """RetrievalConfig RetrievalMode SEMANTIC_MEMORY retrieve_similar_models
        write_semantic_record""",
    "copilot.vector_index": "VectorIndex",
    "copilot.unified_config": """BehaviorConfig ConfigError LlmSettings Migration PricesConfig
        SourcesConfig UnifiedConfig load_unified_config migrate_legacy_to_unified""",
    "copilot.blocking": "call_in_thread run_blocking",
    "copilot.agents.base": """BaseStageAgent LLM_CACHE PipelineEvent ProviderMismatchError
        StageSession""",
    "copilot.agents.composite": """Checkpoint CheckpointError CompletionStep Composite
        CompositeAgent CompositeResult DEFAULT_WIDTH DelegateStep Halt Retry RunExistsError
        RunNotFoundError RunOwnedError Skip StaleCheckpointError UnsavableStepError append_steps
        completion delegate get_state push_steps put_state resume resume_sync run run_sync""",
    "copilot.tools.definition": "ForgeTool LegacyTool ToolDefinition ToolEntry",
    "copilot.tools.registry": """FORGE_TOOL_REGISTRY STAGED_TOOL_REGISTRY STAGED_TOOL_VARIABLE
        TOOL_REGISTRY find_tool forge_tool get_tool_definitions register_legacy_tool""",
    "copilot.tools.dispatch": """ForgeToolResult ToolResultError UnknownTool dispatch_forge_tool
        dispatch_forge_tool_async dispatch_tool_call dispatch_tool_call_async tool_result_text""",
    "copilot.tools.confinement": """FileTooLargeError ForbiddenPathError PathTraversalError
        open_confined read_confined resolve_confined write_confined""",
    "copilot.tools.metrics": """ToolExecutionStatus ToolExecutionTrace ToolObservabilityCollector
        get_tool_collector""",
    "copilot.tools.otel": "subscribe_opentelemetry",
    "copilot.store.base": """Embeddings Hit Record Store StoreError check_key check_namespace
        from_json_text pack_embedding to_json_text unpack_embedding""",
    "copilot.store.backends.file": "FileBackend",
    "copilot.store.backends.sqlite": "SqliteBackend",
    "copilot.store.backends.postgres": "PostgresBackend",
    "copilot.store.backends.null": "NullBackend",
    "cli.forge_tool": """FORGE_TOOL_REGISTRY ForgeTool ForgeToolResult dispatch_forge_tool
        dispatch_forge_tool_async forge_tool""",
    "cli.forge_copilot_agent_loop": """TOOL_REGISTRY _register dispatch_tool_call
        dispatch_tool_call_async get_tool_definitions""",
}


@pytest.mark.parametrize("module", PUBLIC)
def test_the_public_names_are_pinned(module: str) -> None:
    """No name comes or goes unnoticed, and each is there."""
    loaded = importlib.import_module(f"fluid_build.{module}")
    assert sorted(loaded.__all__) == sorted(PUBLIC[module].split())
    assert all(hasattr(loaded, name) for name in loaded.__all__)


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_thing_says_what_it_does(module: str) -> None:
    """Classes and functions have a docstring of their own."""
    loaded = importlib.import_module(f"fluid_build.{module}")
    things = [getattr(loaded, name) for name in loaded.__all__]
    own = [thing for thing in things if inspect.isfunction(thing) or inspect.isclass(thing)]
    assert all(inspect.getdoc(thing) for thing in own)


def test_the_typed_examples_run(tmp_path: Path) -> None:
    """What the type checker accepts also works."""
    assert len(typed_examples.tools()) >= 2
    assert typed_examples.observing()["execution_count"] == 1
    assert typed_examples.spending() == Decimal("0.00002")
    assert asyncio.run(typed_examples.composing()).ok
    found = typed_examples.remembering(SqliteBackend(tmp_path / "store.db"))
    assert [result.key for result in found] == ["k"]
    assert typed_examples.configuring(tmp_path) == "m"
