# ruff: noqa: ARG001 - the tool has an argument that it does not use
"""Measures pydantic-ai, openai-agents and langgraph next to this runtime: the same work, one run.

Make an environment of its own, and run it there:

    python -m venv peers
    peers/bin/pip install -r bench/peers.txt -e '.[llm]'
    peers/bin/python bench/peers.py

The work: a call of a tool with nested, validated arguments, as JSON text; a loop of turns in each
of which a scripted model calls that tool; a turn with parallel calls; a loop with a checkpoint
after each turn, in SQLite for this runtime and in memory for langgraph; and the import. Tools are
coroutines, no model is asked, and the peers trace nothing. Rounds alternate between the libraries.
A figure is the median of the rounds, a ratio the median of the ratios within each round.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from agents import Agent as OpenAIAgent
from agents import Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from agents.tool_context import ToolContext
from langchain_core.messages import AIMessage
from langchain_core.tools import tool as langchain_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from pydantic import BaseModel, Field
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import RunContext, UsageLimits
from pydantic_ai import Tool as PydanticTool
from pydantic_ai.messages import ModelResponse as PydanticResponse
from pydantic_ai.messages import TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import RunUsage

from fluid_build.copilot import Agent, Checkpoint, ScriptedProvider, Toolbox, forge_tool
from fluid_build.copilot.llm.base import LlmResponse
from fluid_build.copilot.messages import ToolCall
from fluid_build.copilot.store.backends.sqlite import SqliteBackend

ROUNDS = 7
CALLS = 300
TURNS = 50
PARALLEL = 20
OURS = "fluid_build.copilot"
PACKAGES = {
    "pydantic-ai": "pydantic-ai-slim",
    "openai-agents": "openai-agents",
    "langgraph": "langgraph",
}
IMPORTS = {
    OURS: "from fluid_build.copilot import Agent, LlmClient",
    "pydantic-ai": "from pydantic_ai import Agent",
    "openai-agents": "from agents import Agent, Runner",
    "langgraph": "from langgraph.graph import StateGraph; from langgraph.prebuilt import ToolNode",
}


class Line(BaseModel):
    sku: str
    quantity: int = Field(ge=1)
    price: float


ARGUMENTS: dict[str, Any] = {
    "customer": "c-17",
    "lines": [{"sku": f"s-{n}", "quantity": n + 1, "price": 2.5} for n in range(4)],
}
TEXT = json.dumps(ARGUMENTS)
TOTAL = 25.0


async def order_total(customer: str, lines: list[Line]) -> float:
    """Add up the lines of an order."""
    return sum(line.quantity * line.price for line in lines)


Work = Callable[[], Awaitable[object]]


def script(turns: int, width: int) -> Callable[[], list[str]]:
    """Return a model: it asks for ``width`` calls in each of ``turns`` turns, then is done."""
    turn = itertools.count()
    ids = itertools.count()

    def next_call_ids() -> list[str]:
        return [] if next(turn) >= turns else [f"call-{next(ids)}" for _ in range(width)]

    return next_call_ids


# --- this runtime


def our_call() -> Work:
    box = Toolbox([order_total])
    return lambda: box.dispatch_async("order_total", TEXT)


def our_loop(turns: int, width: int, checkpoint: Checkpoint | None = None) -> Work:
    async def run() -> object:
        next_call_ids = script(turns, width)

        def answer(_prompt: object) -> LlmResponse:
            calls = [ToolCall(call_id, "order_total", ARGUMENTS) for call_id in next_call_ids()]
            return LlmResponse("" if calls else "done", tuple(calls))

        tool = forge_tool(register=False, read_only=True)(order_total)
        agent = Agent(ScriptedProvider(answer), tools=[tool], max_turns=turns + 1)
        result = await agent.run("Go.", checkpoint=checkpoint)
        assert result.output == "done"
        return result

    return run


@contextmanager
def our_saved_loop() -> Iterator[Work]:
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteBackend(Path(folder) / "runs.db")
        ids = itertools.count()
        yield lambda: our_loop(TURNS, 1, Checkpoint(store, f"run-{next(ids)}"))()


# --- pydantic-ai


def pydantic_call() -> Work:
    tool: PydanticTool[None] = PydanticTool(order_total)
    model = FunctionModel(lambda *_: PydanticResponse(parts=[TextPart("")]))
    context = RunContext(deps=None, model=model, usage=RunUsage())

    async def call() -> object:
        schema = tool.function_schema
        return await schema.call(schema.validator.validate_json(TEXT), context)

    return call


def pydantic_loop(turns: int, width: int) -> Work:
    async def run() -> object:
        next_call_ids = script(turns, width)

        def answer(_messages: object, _info: object) -> PydanticResponse:
            calls = [ToolCallPart("order_total", TEXT, call_id) for call_id in next_call_ids()]
            return PydanticResponse(parts=calls or [TextPart("done")])

        agent = PydanticAgent(FunctionModel(answer), tools=[order_total])
        result = await agent.run("Go.", usage_limits=UsageLimits(request_limit=None))
        assert result.output == "done"
        return result

    return run


# --- openai-agents


def openai_call() -> Work:
    tool = function_tool(order_total, failure_error_function=None)
    context: ToolContext[None] = ToolContext(
        None, tool_name="order_total", tool_call_id="call-0", tool_arguments=TEXT
    )
    return lambda: tool.on_invoke_tool(context, TEXT)


class ScriptedModel(Model):
    def __init__(self, next_call_ids: Callable[[], list[str]]) -> None:
        self._next_call_ids = next_call_ids

    async def get_response(self, *_: object, **__: object) -> ModelResponse:
        output: list[Any] = [
            ResponseFunctionToolCall(
                arguments=TEXT, call_id=call_id, name="order_total", type="function_call"
            )
            for call_id in self._next_call_ids()
        ]
        if not output:
            text = ResponseOutputText(annotations=[], text="done", type="output_text")
            output = [
                ResponseOutputMessage(
                    id="m", content=[text], role="assistant", status="completed", type="message"
                )
            ]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *_: object, **__: object) -> Any:
        raise NotImplementedError


def openai_loop(turns: int, width: int) -> Work:
    tool = function_tool(order_total)
    settings = RunConfig(tracing_disabled=True)

    async def run() -> object:
        agent = OpenAIAgent(name="a", tools=[tool], model=ScriptedModel(script(turns, width)))
        result = await Runner.run(agent, "Go.", max_turns=turns + 1, run_config=settings)
        assert result.final_output == "done"
        return result

    return run


# --- langgraph


def langgraph_call() -> Work:
    tool = langchain_tool(order_total)
    return lambda: tool.ainvoke(json.loads(TEXT))


def langgraph_loop(turns: int, width: int, saver: InMemorySaver | None = None) -> Work:
    threads = itertools.count()

    async def run() -> object:
        next_call_ids = script(turns, width)

        async def model(_state: MessagesState) -> dict[str, Any]:
            calls = [
                {"name": "order_total", "args": ARGUMENTS, "id": call_id, "type": "tool_call"}
                for call_id in next_call_ids()
            ]
            return {"messages": [AIMessage("" if calls else "done", tool_calls=calls)]}

        builder = StateGraph(MessagesState)
        builder.add_node("model", model)
        builder.add_node("tools", ToolNode([langchain_tool(order_total)]))
        builder.add_edge(START, "model")
        builder.add_conditional_edges("model", tools_condition)
        builder.add_edge("tools", "model")
        graph = builder.compile(checkpointer=saver)
        settings = {
            "recursion_limit": 2 * turns + 5,
            "configurable": {"thread_id": str(next(threads))},
        }
        result = await graph.ainvoke({"messages": [("user", "Go.")]}, settings)  # type: ignore[call-overload]
        assert result["messages"][-1].content == "done"
        return result

    return run


# --- measuring


async def seconds_of(work: Work, times: int) -> float:
    """CPU time of one execution: others may be at work on the machine."""
    started = time.process_time()
    for _ in range(times):
        await work()
    return (time.process_time() - started) / times


async def measure(
    works: dict[str, Work], times: int, unit: float
) -> dict[str, tuple[float, float]]:
    """Return the median of each library in seconds / ``unit``, and its ratio to ours."""
    for work in works.values():
        await work()
    rounds = [
        {name: await seconds_of(work, times) for name, work in works.items()} for _ in range(ROUNDS)
    ]
    return {
        name: (
            statistics.median(figures[name] for figures in rounds) / unit,
            statistics.median(figures[name] / figures[OURS] for figures in rounds),
        )
        for name in works
    }


def import_seconds(code: str) -> float:
    """CPU time of a process that only imports, less that of one that does nothing."""

    def spend(program: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", program], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return max(spend(code) - spend("pass"), 1e-3)


def measure_imports() -> dict[str, tuple[float, float]]:
    rounds = [{name: import_seconds(code) for name, code in IMPORTS.items()} for _ in range(5)]
    return {
        name: (
            statistics.median(figures[name] for figures in rounds) / 1e-3,
            statistics.median(figures[name] / figures[OURS] for figures in rounds),
        )
        for name in IMPORTS
    }


def show(what: str, unit: str, figures: dict[str, tuple[float, float]]) -> None:
    print(f"\n{what}")
    for name, (value, ratio) in figures.items():
        print(f"  {name:<20} {value:>10.3f} {unit:<3} {ratio:>7.1f} x")


async def check_calls(works: dict[str, Work]) -> None:
    """Every library must have called the tool with arguments that it validated."""
    for name, work in works.items():
        answer: Any = await work()
        value = float(getattr(answer, "value", answer))
        assert value == TOTAL, (name, answer)


async def main() -> None:
    calls = {
        OURS: our_call(),
        "pydantic-ai": pydantic_call(),
        "openai-agents": openai_call(),
        "langgraph": langgraph_call(),
    }
    await check_calls(calls)
    show("a validated tool call, from JSON text", "us", await measure(calls, CALLS, 1e-6))
    for what, turns, width in (
        (f"an agent of {TURNS} tool turns, per turn", TURNS, 1),
        (f"a turn of {PARALLEL} parallel tool calls", 1, PARALLEL),
    ):
        loops = {
            OURS: our_loop(turns, width),
            "pydantic-ai": pydantic_loop(turns, width),
            "openai-agents": openai_loop(turns, width),
            "langgraph": langgraph_loop(turns, width),
        }
        show(what, "ms", await measure(loops, max(2, 60 // turns), 1e-3 * turns))
    with our_saved_loop() as saved:
        loops = {OURS: saved, "langgraph": langgraph_loop(TURNS, 1, InMemorySaver())}
        show(
            f"{TURNS} turns with checkpoints (ours in SQLite, theirs in memory), per turn",
            "ms",
            await measure(loops, 2, 1e-3 * TURNS),
        )
    show("the import", "ms", measure_imports())


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    print(f"Python {sys.version.split()[0]}, {time.strftime('%Y-%m-%d')}")
    for name, package in PACKAGES.items():
        print(f"{name} {version(package)}")
    asyncio.run(main())
