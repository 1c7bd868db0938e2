"""Measures the success metrics of the plan of agentic primitives: context, recovery and tools.

Run: ``python bench/runtime_context.py [conversations] [faults]``; exit code 1 if a goal is missed.
The goals are the plan's: no token limit error and under 10 % waste, over 95 % of faults recovered
and under 5 % by a fallback, and each execution of a tool visible for under 50 ms.
Everything is seeded, so the figures are the same on every machine, but for the times.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import statistics
import sys
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from fluid_build.copilot.agents.errors import AgentExecutionError  # noqa: E402
from fluid_build.copilot.context.token_budget import HeuristicTokenCounter  # noqa: E402
from fluid_build.copilot.context.window_manager import (  # noqa: E402
    ContextPruningStrategy,
    ContextWindow,
    ContextWindowManager,
)
from fluid_build.copilot.cost import RunCostTracker  # noqa: E402
from fluid_build.copilot.events import Event, EventBus, get_event_bus  # noqa: E402
from fluid_build.copilot.llm.base import LlmPrompt  # noqa: E402
from fluid_build.copilot.llm.client import LlmClient  # noqa: E402
from fluid_build.copilot.llm.providers import make_provider  # noqa: E402
from fluid_build.copilot.llm.testing import ScriptedProvider  # noqa: E402
from fluid_build.copilot.messages import call_ids, result_ids  # noqa: E402
from fluid_build.copilot.recovery.error_handler import (  # noqa: E402
    ErrorCategory,
    ErrorContext,
    ErrorRecoveryFramework,
    RecoveryStrategy,
)
from fluid_build.copilot.recovery.retry import RetrySchedule  # noqa: E402
from fluid_build.copilot.tools.metrics import ToolObservabilityCollector  # noqa: E402
from fluid_build.copilot.tools.toolbox import Toolbox  # noqa: E402
from tests.fault_server import (  # noqa: E402
    Fault,
    LoopbackServer,
    Reply,
    cut_body,
    dropped_connection,
    garbage,
    overloaded,
    rate_limit,
    server_error,
)

FAULT_RATE = 0.3
THRESHOLD = 0.8
"""Of the window: pruning begins where it's fuller, and what is empty below that is wasted."""
LONGEST_OVERHEAD_MS = 50
"""Of an execution of a tool that is traced: the documented goal."""
PROMPT = LlmPrompt("test-model", [{"role": "user", "content": "hello"}])


def random_text(chance: random.Random) -> str:
    """Prose, JSON rows, figures or identifiers, from a few words to more than a window."""
    size = int(10 ** chance.uniform(0.5, 4.2))
    kind = chance.choice(["prose", "json", "csv", "uuid"])
    if kind == "prose":
        words = ["the", "customer", "orders", "table", "joins", "on", "key", "and", "holds"]
        return " ".join(chance.choice(words) for _ in range(size // 6 + 1))
    if kind == "json":
        row = {"id": chance.randrange(10**6), "name": "Ada", "total": chance.random()}
        return json.dumps([row] * (size // 50 + 1))
    if kind == "csv":
        return ",".join(str(chance.randrange(10**5)) for _ in range(size // 6 + 1))
    return " ".join(str(uuid.UUID(int=chance.getrandbits(128))) for _ in range(size // 37 + 1))


def random_conversation(chance: random.Random) -> list[dict[str, Any]]:
    """A system message, then 5 to 40 turns, a third of them tool calls with their results."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You model data."}]
    for turn in range(chance.randint(5, 40)):
        if chance.random() < 0.35:
            ids = [f"call_{turn}_{n}" for n in range(chance.randint(1, 3))]
            arguments = {"sql": random_text(chance)[:2000]}
            calls = [{"id": i, "name": "query", "arguments": arguments} for i in ids]
            messages.append({"role": "assistant", "content": "", "tool_calls": calls})
            messages += [
                {"role": "tool", "tool_call_id": i, "content": random_text(chance)} for i in ids
            ]
        else:
            messages.append(
                {"role": chance.choice(["user", "assistant"]), "content": random_text(chance)}
            )
    return messages


def breaks_something(messages: list[dict[str, Any]], window: ContextWindow) -> bool:
    """Whether a system message is gone, or a call and its result are apart."""
    calls = {i for m in messages for i in call_ids(m)}
    results = {i for m in messages for i in result_ids(m)}
    kept_calls = {i for m in window.messages for i in call_ids(m)}
    kept_results = {i for m in window.messages for i in result_ids(m)}
    return window.messages[0] != messages[0] or kept_calls & results != kept_results & calls


def measure_context(conversations: int) -> dict[str, float]:
    """Random conversations through the window manager, the four strategies in turn."""
    counter = HeuristicTokenCounter()
    strategies = list(ContextPruningStrategy)
    over = broken = pruned = additions = 0
    wasted: list[float] = []
    started = time.perf_counter()
    for number in range(conversations):
        chance = random.Random(number)
        messages = random_conversation(chance)
        manager = ContextWindowManager(
            max_tokens=int(10 ** chance.uniform(3.2, 4.5)),
            pruning_strategy=strategies[number % len(strategies)],
            pruning_threshold=THRESHOLD,
        )
        window = manager.create_window()
        for message in messages:
            before = window.metadata.get("prunings", 0)
            window = manager.add_message(window, message)
            additions += 1
            if window.metadata.get("prunings", 0) > before:
                room = window.max_tokens * THRESHOLD
                wasted.append(max(0.0, 1 - window.current_tokens / room))
        over += sum(counter.count_tokens(str(m)) for m in window.messages) > window.max_tokens
        broken += breaks_something(messages, window)
        pruned += "prunings" in window.metadata
    elapsed = time.perf_counter() - started
    return {
        "conversations": conversations,
        "pruned": pruned,
        "over the limit": over,
        "broken": broken,
        "wasted, mean": statistics.fmean(wasted),
        "wasted, worst": max(wasted),
        "wasted over 10 %": sum(share > 0.1 for share in wasted) / len(wasted),
        "ms per message": elapsed / additions * 1000,
    }


def random_step(chance: random.Random) -> Reply | Fault:
    """A good answer, or at the fault rate one of the failures that pass."""
    if chance.random() >= FAULT_RATE:
        return Reply("ok")
    faults = [
        rate_limit(),
        rate_limit(retry_after=1),
        server_error(),
        overloaded(),
        garbage(),
        cut_body(),
        dropped_connection(),
    ]
    return chance.choice(faults)


async def no_wait(_seconds: float) -> None:
    """Waiting is not what is measured."""


async def run_with_recovery(client: LlmClient, served: Served, faults: int) -> Served:
    """Make calls until the server has sent so many faults; count what became of those it hit."""

    async def retry(_context: ErrorContext) -> str:
        """Send the request up to three times, as the handler of the document's example does."""
        for _ in range(strategy.max_retries - 1):
            try:
                return (await client.complete(PROMPT)).text
            except AgentExecutionError:
                await no_wait(1.0)
        return (await client.complete(PROMPT)).text

    framework = ErrorRecoveryFramework()
    strategy = RecoveryStrategy(
        "llm_retry", ErrorCategory.LLM_ERROR, retry, 3, fallback=lambda _: "fallback"
    )
    framework.register_strategy(strategy)
    while served.faults < faults:
        before = served.faults
        try:
            answer: object = (await client.complete(PROMPT)).text
        except AgentExecutionError as error:
            answer = await framework.handle_error(error)
        if served.faults > before:
            served.calls_with_faults += 1
            served.recovered += answer == "ok"
            served.by_fallback += answer == "fallback"
    return served


@dataclass
class Served:
    """What a server sent, and what became of the calls that met a fault."""

    faults: int = 0
    calls_with_faults: int = 0
    recovered: int = 0
    by_fallback: int = 0


def measure_recovery(faults: int, attempts: int) -> dict[str, float]:
    """Calls over real sockets to a server of which 30 % of all answers are faults."""
    chance = random.Random(4711)
    served = Served()

    def step(_request: object) -> Reply | Fault:
        chosen = random_step(chance)
        served.faults += not isinstance(chosen, Reply)
        return chosen

    async def measure() -> int:
        with LoopbackServer(step) as server:
            async with LlmClient(
                make_provider("openai", server.base_url("openai")),
                api_key=server.key,
                policy=RetrySchedule(attempts=attempts),
                sleep=no_wait,
                tracker=RunCostTracker(bus=EventBus()),
            ) as client:
                await run_with_recovery(client, served, faults)
            return len(server.requests)

    requests = asyncio.run(measure())
    return {
        "faults": served.faults,
        "requests": requests,
        "calls that met a fault": served.calls_with_faults,
        "recovered": served.recovered / served.calls_with_faults,
        "by fallback": served.by_fallback / served.calls_with_faults,
    }


def measure_tools(executions: int) -> dict[str, float]:
    """Executions of a tool, of which every tenth fails: all are visible, at what cost."""
    collector = ToolObservabilityCollector()
    events: list[Event] = []
    unsubscribe = get_event_bus().subscribe(events.append)

    def work(table: str, rows: int) -> dict[str, object]:
        """Do what a tool does: some work, and a result."""
        if rows % 10 == 0:
            raise ValueError(table)
        return {"table": table, "rows": list(range(rows % 200))}

    toolbox = Toolbox([work])
    overheads: list[float] = []
    for number in range(executions):
        arguments = {"table": f"table_{number}", "rows": number}
        started = time.perf_counter()
        with suppress(ValueError):
            work(**arguments)
        bare = time.perf_counter() - started
        started = time.perf_counter()
        toolbox.dispatch("work", arguments, collector=collector)
        overheads.append((time.perf_counter() - started - bare) * 1000)
    unsubscribe()
    visible = sum(event.event_type == "tool.call_completed" for event in events)
    counted = collector.get_tool_metrics("work")["execution_count"]
    return {
        "executions": executions,
        "visible as events": visible / executions,
        "visible in the metrics": counted / executions,
        "overhead, ms, mean": statistics.fmean(overheads),
        "overhead, ms, worst": max(overheads),
    }


def overhead_of_the_envelope() -> float:
    """Microseconds that the recovery of a call that does not fail costs."""
    from fluid_build.copilot.recovery.retry import retry_call

    provider = ScriptedProvider(lambda _prompt: "ok")

    async def best(wrapped: bool) -> float:
        times: list[float] = []
        for _ in range(7):
            started = time.perf_counter()
            for _ in range(300):
                if wrapped:
                    await retry_call(lambda: provider.complete(PROMPT))
                else:
                    await provider.complete(PROMPT)
            times.append((time.perf_counter() - started) / 300)
        return min(times)

    return (asyncio.run(best(True)) - asyncio.run(best(False))) * 1e6


def main(arguments: list[str]) -> int:
    logging.disable(logging.WARNING)
    conversations = int(arguments[0]) if arguments else 10_000
    faults = int(arguments[1]) if len(arguments) > 1 else 10_000
    context = measure_context(conversations)
    with_envelope = measure_recovery(faults, attempts=3)
    framework_alone = measure_recovery(faults, attempts=1)
    tools = measure_tools(10_000)
    result = {
        "context": context,
        "recovery, envelope and framework": with_envelope,
        "recovery, framework alone": framework_alone,
        "tools": tools,
        "envelope, us per call": overhead_of_the_envelope(),
    }
    print(json.dumps(result, indent=2))
    reached = (
        context["over the limit"] == 0
        and context["broken"] == 0
        and context["wasted, mean"] < 0.10
        and min(with_envelope["recovered"], framework_alone["recovered"]) > 0.95
        and max(with_envelope["by fallback"], framework_alone["by fallback"]) < 0.05
        and tools["visible as events"] == tools["visible in the metrics"] == 1
        and tools["overhead, ms, mean"] < LONGEST_OVERHEAD_MS
    )
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
