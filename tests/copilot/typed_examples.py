"""The runtime as a user would write against it, for the type checker: strict must pass."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, assert_type

from pydantic import BaseModel, Field

from fluid_build.cli.forge_copilot_agent_loop import dispatch_tool_call, get_tool_definitions
from fluid_build.cli.forge_tool import ForgeTool, ForgeToolResult, dispatch_forge_tool, forge_tool
from fluid_build.copilot.agents.agent import Agent, AgentResult, Denied, ResultEvent
from fluid_build.copilot.agents.base import BaseStageAgent, StageSession
from fluid_build.copilot.agents.composite import (
    Checkpoint,
    CompletionStep,
    Composite,
    CompositeAgent,
    CompositeResult,
    DelegateStep,
    Halt,
    Retry,
    Skip,
    completion,
    delegate,
    put_state,
    resume_sync,
    run,
    run_sync,
)
from fluid_build.copilot.cost import RunCostTracker, use_cost_tracker
from fluid_build.copilot.events import Event, EventBus
from fluid_build.copilot.llm.testing import ScriptedProvider
from fluid_build.copilot.retrieval import RetrievalConfig, retrieve_similar_models
from fluid_build.copilot.scratchpad import CriticFinding, RetrievalResult, Scratchpad
from fluid_build.copilot.store.backends.file import FileBackend
from fluid_build.copilot.store.backends.null import NullBackend
from fluid_build.copilot.store.backends.postgres import PostgresBackend
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.copilot.store.base import Store
from fluid_build.copilot.tools.confinement import read_confined
from fluid_build.copilot.tools.definition import Tool
from fluid_build.copilot.tools.metrics import ToolExecutionStatus, ToolObservabilityCollector
from fluid_build.copilot.tools.registry import as_tool
from fluid_build.copilot.tools.toolbox import Toolbox
from fluid_build.copilot.unified_config import UnifiedConfig, load_unified_config


class SearchArgs(BaseModel):
    query: str
    limit: int = 10


@forge_tool(args_schema=SearchArgs, register=False)
def typed_search(args: SearchArgs) -> list[str]:
    """Search the catalogue."""
    return [args.query] * args.limit


@forge_tool(args_schema=SearchArgs, workspace_root_aware=True, register=False)
async def typed_read(args: SearchArgs, *, workspace_root: Path) -> bytes:
    """Read a file."""
    return read_confined(workspace_root, args.query, suffixes=[".csv"], max_bytes=10)


class Catalogue:
    tables = ("orders",)


@forge_tool
def typed_count(prefix: str, *, deps: Catalogue) -> int:
    """Count the tables whose names begin with a prefix."""
    return sum(table.startswith(prefix) for table in deps.tables)


@forge_tool(name="typed_drop", requires_approval=True, tags=["write"])
async def typed_drop_table(table: Annotated[str, Field(description="Its full name.")]) -> None:
    """Drop a table."""


def list_tables(limit: int = 10) -> list[str]:
    return list(Catalogue.tables[:limit])


def toolbox() -> Toolbox:
    counted: ForgeTool[..., int] = typed_count
    dropped: Coroutine[Any, Any, None] = typed_drop_table("orders")
    dropped.close()
    box = Toolbox([counted, "typed_drop", list_tables], tags=["write"])
    result: ForgeToolResult = box.dispatch("typed_count", '{"prefix": "o"}', deps=Catalogue())
    assert typed_count("o", deps=Catalogue()) == result.value == 1
    tool: Tool = as_tool(list_tables)
    assert not tool.read_only
    return box


def tools() -> list[str]:
    declared: ForgeTool[[SearchArgs], list[str]] = typed_search
    result: ForgeToolResult = dispatch_forge_tool("none", {})
    assert not result.ok
    names: list[str] = [definition["name"] for definition in get_tool_definitions()]
    answer: Any = dispatch_tool_call("none", {}, workspace_root=Path())
    assert isinstance(answer, dict)
    return declared(SearchArgs(query="q", limit=len(names) + 2))


def observing() -> Mapping[str, Any]:
    bus = EventBus()

    def observe(event: Event) -> None:
        assert event.event_type

    bus.subscribe(observe)()
    collector = ToolObservabilityCollector()
    execution_id: str = collector.start_execution("t", {"a": 1}, session_id="s")
    collector.end_execution(execution_id, ToolExecutionStatus.SUCCESS, output_result=[1])
    return collector.get_tool_metrics("t")


def spending() -> Decimal:
    with use_cost_tracker(RunCostTracker("5.00", prices={"m": (1, 2)})) as tracker:
        with tracker.reserve(
            provider="p", model="m", input_tokens=10, max_output_tokens=10
        ) as reservation:
            reservation.settle(10, 5)
        return tracker.breakdown.total_usd


class Answering:
    """What a composite needs of an agent."""

    async def get_completion(
        self,
        *,
        model: str | None,
        toolbox: object,
        messages: list[Mapping[str, Any]],
        response_format: Mapping[str, Any] | None,
    ) -> CompositeAnswer:
        return CompositeAnswer("yes", [*messages, {"role": "assistant", "content": "yes"}])


class CompositeAnswer:
    def __init__(self, response: str, messages: list[Mapping[str, Any]]) -> None:
        self.response = response
        self.messages = messages


class Specialist:
    def get_response(self, args: Mapping[str, Any]) -> str:
        return f"reviewed {args['scope']}"


def scope_of(state: Composite) -> Mapping[str, Any]:
    return {"scope": state.request}


class Reviewer(CompositeAgent):
    def init(self, args: Mapping[str, Any]) -> Composite | Halt:
        formulate: CompletionStep = completion("formulate", "Say what to review.")
        pedantic: DelegateStep = delegate("pedantic", Specialist(), scope_of)
        return Composite(
            agent=args["agent"],
            request=str(args["request"]),
            steps=[formulate, [pedantic], completion("incorporate", "Sum up.", keep_prompt=True)],
        )

    def on_step_complete(self, step: CompletionStep | DelegateStep, state: Composite) -> Composite:
        return put_state(state, step.name, state.response)

    def get_next_steps(
        self, step: CompletionStep | DelegateStep, state: Composite
    ) -> Sequence[CompletionStep | Sequence[CompletionStep | DelegateStep]]:
        return []

    def on_error(
        self, step: CompletionStep | DelegateStep, error: Any, state: Composite
    ) -> Retry | Skip | Halt:
        return Skip(state) if step.name == "pedantic" else Halt(state)


async def composing() -> CompositeResult:
    return await run(Reviewer, {"agent": Answering(), "request": "r"}, max_retries=2, width=4)


def remembering(store: Store) -> list[RetrievalResult]:
    args = {"agent": Answering(), "request": "r"}
    checkpoint = Checkpoint(store, "run-1")
    first: CompositeResult = run_sync(Reviewer(), args, checkpoint=checkpoint)
    again: CompositeResult = resume_sync(Reviewer(), args, checkpoint=checkpoint)
    assert first.response == again.response
    store.put("memory/semantic", "k", {"a": 1}, text="customer orders", embedding=[0.1, 0.2])
    pad = Scratchpad()
    pad.add_critic_finding(CriticFinding("logical", "warning", "m"))
    return retrieve_similar_models(
        "orders", store=store, scratchpad=pad, config=RetrievalConfig(mode="keyword")
    )


STORES: tuple[type[Store], ...] = (FileBackend, NullBackend, PostgresBackend, SqliteBackend)


class Naming(BaseStageAgent):
    stage = "naming"


class Names(BaseModel):
    names: list[str]


def asking(session: StageSession) -> Names:
    return Naming(session).call_sync(Names, system="s", user="u")


def configuring(home: Path) -> str | None:
    config: UnifiedConfig = load_unified_config(home=home, flags={"llm.model": "m"})
    return config.llm.model


async def running_agents() -> list[str]:
    """An agent's dependencies and output have types, whether they are given or written."""
    model = ScriptedProvider(
        lambda prompt: (
            {"names": ["a"], "result": [{"names": ["a"]}]} if prompt.response_schema else "a"
        )
    )
    plain = Agent(model, instructions="Be brief.")
    assert_type(plain, Agent[Any, str])
    named = Agent(model, tools=[typed_count], output=Names, deps=Catalogue())
    assert_type(named, Agent[Catalogue, Names])
    result = await named.run("Name it.", deps=Catalogue())
    assert_type(result, AgentResult[Names])
    assert_type(result.output.names, list[str])
    several = Agent[Catalogue, list[Names]](model, output=list[Names])
    answer = several.run_sync("Name them.").output
    assert_type(answer, list[Names])
    later = Agent(model, tools=[typed_count])
    assert_type(later.run_sync("Count.", deps=Catalogue()).output, str)
    union = Agent[None, Names | list[Names]](model, output=Names | list[Names])
    assert_type(union.run_sync("Name it.").output, Names | list[Names])
    either: Names | str = Agent(model, output=Names | list[Names]).run_sync("Name it.").output
    if result.pending:
        result = await named.resume(result, approvals={result.pending[0].id: Denied("No.")})
    texts = [
        event.result.output async for event in plain.stream("Go.") if isinstance(event, ResultEvent)
    ]
    return [*result.output.names, *answer[0].names, *texts, str(bool(either))]
