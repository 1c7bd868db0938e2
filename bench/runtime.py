# ruff: noqa: ARG001, ARG002, ARG005, B023 - callbacks take what they are given, and run at once
"""Measures the runtime's own rows of the table in docs/benchmarks.md, all in one run.

Run: ``python bench/runtime.py [--against DIR] [row ...]``. Each row is the least, or the median, of
several rounds; a ratio is taken within each round, and the median of the ratios counts. Exit code 1
where a goal is missed. ``--against`` runs the rows here and in another checkout by turns, and
prints the median ratio of each figure to the other's, in processor time, so that a busy machine
disturbs little (of ``importing`` and ``fan_out``, which wait for others, it says nothing). The rows
of context and recovery are in ``bench/runtime_context.py``.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

from pydantic import BaseModel, Field

from fluid_build.copilot.agents.agent import Agent
from fluid_build.copilot.agents.composite import (
    Checkpoint,
    Composite,
    CompositeAgent,
    completion,
    delegate,
    run,
    run_sync,
)
from fluid_build.copilot.events import Event, get_event_bus
from fluid_build.copilot.llm.base import LlmPrompt, LlmResponse, Usage
from fluid_build.copilot.messages import ToolCall
from fluid_build.copilot.retrieval import RetrievalConfig, retrieve_similar_models
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.copilot.tools.dispatch import dispatch_forge_tool, dispatch_forge_tool_async
from fluid_build.copilot.tools.metrics import ToolExecutionStatus, ToolObservabilityCollector
from fluid_build.copilot.tools.registry import forge_tool

ROUNDS = 9


@dataclass(frozen=True)
class Figure:
    """One line of the table; ``goal`` and ``value`` in ``unit``, less is better."""

    what: str
    value: float
    goal: float | None
    unit: str

    def __str__(self) -> str:
        verdict = "" if self.goal is None else ("ok" if self.value <= self.goal else "MISSED")
        goal = "" if self.goal is None else f"<= {self.goal:g}"
        return f"{self.what:<70} {self.value:>10.3f} {self.unit:<4} {goal:<9} {verdict}"


CLOCK = time.process_time if os.environ.get("BENCH_CLOCK") == "processor" else time.perf_counter
"""Between two checkouts the processor's time counts, which other programs disturb less."""


def seconds(work: Callable[[], object], times: int) -> float:
    """Seconds for one call of ``work``, which is called ``times`` times."""
    started = CLOCK()
    for _ in itertools.repeat(None, times):
        work()
    return (CLOCK() - started) / times


# A validated tool call, with events and trace


class SmallArgs(BaseModel):
    since: str = Field(description="ISO-8601 lower bound, e.g. 2024-01-01")
    limit: int = Field(default=100, ge=1, le=1000)


class Filter(BaseModel):
    column: str
    operator: Literal["=", "<", ">", "in"]
    value: str | int | float


class QueryArgs(BaseModel):
    table: str = Field(min_length=1, max_length=128)
    columns: list[str]
    filters: list[Filter] = []
    order_by: list[str] = []
    descending: bool = False
    limit: int = Field(default=100, ge=1, le=1000)


SMALL = {"since": "2024-01-01", "limit": 50}
QUERY = {
    "table": "orders",
    "columns": ["order_id", "customer_id", "total", "placed_at"],
    "filters": [
        {"column": "placed_at", "operator": ">", "value": "2024-01-01"},
        {"column": "status", "operator": "=", "value": "open"},
    ],
    "order_by": ["placed_at"],
    "limit": 50,
}


def tool_call() -> list[Figure]:
    stop = get_event_bus().subscribe(_hear_calls)
    figures = []
    for name, schema, arguments, goals in [
        ("2 arguments", SmallArgs, SMALL, (None, None)),
        ("6 arguments, 2 of them nested", QueryArgs, QUERY, (2.0, 1.5)),
    ]:

        def rows(args: Any) -> dict[str, Any]:
            return {"rows": []}

        def from_object() -> object:
            return rows(schema.model_validate(arguments))

        def from_text() -> object:
            return rows(schema.model_validate_json(text))

        text = json.dumps(arguments)
        forge_tool(name=name, description="d", args_schema=schema)(rows)
        for what, bare, call, goal in [
            ("model_validate", from_object, arguments, goals[0]),
            ("model_validate_json", from_text, text, goals[1]),
        ]:
            pairs = [
                (seconds(bare, 4000), seconds(lambda: dispatch_forge_tool(name, call), 4000))
                for _ in range(ROUNDS)
            ]
            figures += _over(f"tool call over {what} + call, {name}", pairs, goal)
    stop()
    return figures


def async_tool_call() -> list[Figure]:
    async def rows(args: QueryArgs) -> dict[str, Any]:
        return {"rows": []}

    async def measure() -> list[tuple[float, float]]:
        pairs = []
        for _ in range(ROUNDS):
            started = CLOCK()
            for _ in itertools.repeat(None, 4000):
                await rows(QueryArgs.model_validate(QUERY))
            bare = CLOCK() - started
            started = CLOCK()
            for _ in itertools.repeat(None, 4000):
                await dispatch_forge_tool_async("async_rows", QUERY)
            pairs.append((bare / 4000, (CLOCK() - started) / 4000))
        return pairs

    forge_tool(name="async_rows", description="d", args_schema=QueryArgs)(rows)
    stop = get_event_bus().subscribe(_hear_calls)
    figures = _over("async tool call over model_validate + call", asyncio.run(measure()), 2.0)
    stop()
    return figures


def _hear_calls(event: Event) -> None:
    if event.event_type == "tool.call_completed":
        next(_heard)


_heard = itertools.count()


def _over(what: str, pairs: Sequence[tuple[float, float]], goal: float | None) -> list[Figure]:
    """The ratio of the second times to the first, and the difference."""
    ratio = _median([ours / bare for bare, ours in pairs])
    least = min(ours for _, ours in pairs) - min(bare for bare, _ in pairs)
    return [Figure(what, ratio, goal, "x"), Figure("  what it adds", least * 1e6, None, "us")]


def observability() -> list[Figure]:
    collector = ToolObservabilityCollector()
    result = {"rows": [1, 2, 3]}

    def observe() -> None:
        started = collector.start_execution("t", QUERY, session_id="s")
        collector.end_execution(started, ToolExecutionStatus.SUCCESS, output_result=result)

    least = min(seconds(observe, 4000) for _ in range(ROUNDS))
    return [Figure("observability, per execution", least * 1e6, 10, "us")]


# Composite agents


class Answering:
    """Answers at once, so that what is measured is the engine."""

    async def get_completion(self, *, messages: list[Any], **_: Any) -> Any:
        answer = {"role": "assistant", "content": "ok"}
        return SimpleNamespace(response="ok", messages=[*messages, answer])


class Sequential(CompositeAgent):
    """A fixed pipeline."""

    def __init__(self, steps: int) -> None:
        self.steps = [completion(f"step_{n}", "Do it.") for n in range(steps)]

    def init(self, args: Mapping[str, Any]) -> Composite:
        system = {"role": "system", "content": "s"}
        return Composite(agent=Answering(), messages=[system], steps=self.steps)


def composite_step() -> list[Figure]:
    steps = 100
    agent = Sequential(steps)
    least = min(seconds(lambda: run_sync(agent, {}), 1) for _ in range(5 * ROUNDS))
    return [Figure("composite step, sequential, in memory", least / steps * 1e6, 15, "us")]


def composite_checkpoint() -> list[Figure]:
    steps, numbers = 100, itertools.count()
    agent = Sequential(steps)
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteBackend(Path(folder) / "store.db")
        store.put("warm", "up", 1)

        def once() -> None:
            result = run_sync(agent, {}, checkpoint=Checkpoint(store, f"r{next(numbers)}"))
            assert result.ok

        times = [seconds(once, 1) / steps for _ in range(3 * ROUNDS)]
        store.close()
    return [
        Figure("composite step with checkpoint (SQLite WAL)", min(times) * 1e6, 150, "us"),
        Figure("  median of the rounds", _median(times) * 1e6, None, "us"),
    ]


def fan_out() -> list[Figure]:
    class Waiting:
        async def get_response(self, args: Mapping[str, Any]) -> str:
            await asyncio.sleep(0.01)
            return "ok"

    class Wide(CompositeAgent):
        def init(self, args: Mapping[str, Any]) -> Composite:
            branches = [delegate(f"b{n}", Waiting(), lambda state: {}) for n in range(100)]
            return Composite(steps=[branches])

    async def compare() -> tuple[list[float], list[float]]:
        bare, ours = [], []
        for _ in range(3 * ROUNDS):
            started = time.perf_counter()
            await asyncio.gather(*(asyncio.sleep(0.01) for _ in range(100)))
            bare.append(time.perf_counter() - started)
            started = time.perf_counter()
            assert (await run(Wide, {})).ok
            ours.append(time.perf_counter() - started)
        return bare, ours

    bare, ours = asyncio.run(compare())
    return [
        Figure("100 branches of 10 ms", min(ours) * 1e3, 16, "ms"),
        Figure("  median of the rounds", _median(ours) * 1e3, None, "ms"),
        Figure("  bare gather, least", min(bare) * 1e3, None, "ms"),
    ]


# An agent loop: each step asks the model and does one tool call


class Looping(CompositeAgent):
    """Asks, calls a tool, and asks again until it has done so often enough."""

    def __init__(self, steps: int) -> None:
        self.left = steps
        self.step = completion("turn", "Go on.")

    def init(self, args: Mapping[str, Any]) -> Composite:
        system = {"role": "system", "content": "s"}
        return Composite(agent=self, messages=[system], steps=[self.step])

    async def get_completion(self, *, messages: list[Any], **_: Any) -> Any:
        self.left -= 1
        result = await dispatch_forge_tool_async("loop_tool", QUERY)
        made = [
            {"role": "assistant", "tool_calls": [{"id": "1", "name": "t", "arguments": QUERY}]},
            {"role": "tool", "tool_call_id": "1", "content": str(result.value)},
        ]
        return SimpleNamespace(response="ok", messages=[*messages, *made])

    def get_next_steps(self, step: Any, state: Composite) -> Sequence[Any]:
        return [self.step] if self.left else []


def agent_loop() -> list[Figure]:
    async def rows(args: QueryArgs) -> dict[str, Any]:
        return {"rows": []}

    forge_tool(name="loop_tool", description="d", args_schema=QueryArgs)(rows)
    numbers = itertools.count()
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteBackend(Path(folder) / "store.db")
        store.put("warm", "up", 1)

        def per_step(steps: int) -> float:
            checkpoint = Checkpoint(store, f"r{next(numbers)}")
            return seconds(lambda: run_sync(Looping(steps), {}, checkpoint=checkpoint), 1) / steps

        few, many = [], []
        for _ in range(ROUNDS):
            few.append(per_step(200))
            many.append(per_step(800))
        store.close()
    return [
        Figure(
            "agent loop of 200 tool steps, with checkpoints, per step", min(few) * 1e3, 0.3, "ms"
        ),
        Figure("  per step at 800 steps over that at 200", min(many) / min(few), 1.5, "x"),
    ]


# An agent with tools, whose model answers at once


class Calling:
    """A model that wants one tool called in each turn, and then has its answer."""

    model = "calling"

    def __init__(self, calls: int) -> None:
        self.left = calls

    async def complete(self, prompt: LlmPrompt, **_: str) -> LlmResponse:
        self.left -= 1
        if self.left < 0:
            return LlmResponse("done")
        calls = (ToolCall(f"c{self.left}", "rows", QUERY),)
        return LlmResponse("", calls, Usage(10, 5), "tool_calls")

    def complete_sync(self, prompt: LlmPrompt, **_: str) -> LlmResponse:
        raise NotImplementedError


def agent_turns() -> list[Figure]:
    async def rows(args: QueryArgs) -> dict[str, Any]:
        return {"rows": []}

    tool = forge_tool(description="d", args_schema=QueryArgs, register=False)(rows)
    numbers = itertools.count()
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteBackend(Path(folder) / "store.db")
        store.put("warm", "up", 1)

        def per_turn(turns: int, saved: bool = True) -> float:
            agent = Agent(Calling(turns), tools=[tool], max_turns=turns + 1)
            checkpoint = Checkpoint(store, f"r{next(numbers)}") if saved else None
            return seconds(lambda: agent.run_sync("Go.", checkpoint=checkpoint), 1) / turns

        few, many, unsaved = [], [], []
        for _ in range(ROUNDS):
            few.append(per_turn(200))
            many.append(per_turn(800))
            unsaved.append(per_turn(200, saved=False))
        store.close()
    growth = _median([long / short for long, short in zip(many, few, strict=True)])
    return [
        Figure("agent loop of 200 tool turns, checkpointed, per turn", min(few) * 1e3, 0.3, "ms"),
        Figure("  per turn at 800 turns over that at 200", growth, 1.1, "x"),
        Figure("  without a checkpoint, per turn", min(unsaved) * 1e3, None, "ms"),
    ]


# Memory


def memory() -> list[Figure]:
    # Embeddings vary much along few directions: here by the square root of one over the rank.
    figures = _memory("like embeddings", lambda rank: rank**-0.5, 10)
    return figures + _memory("alike in all directions", lambda rank: rank**0.0, None)


def _memory(kind: str, spread: Callable[[Any], Any], goal: float | None) -> list[Figure]:
    import numpy

    records, dimensions = 100_000, 256
    chance = random.Random(1)
    words = [f"word{n}" for n in range(20_000)]
    weights = list(itertools.accumulate(1 / (n + 1) for n in range(len(words))))

    def text(length: int) -> str:
        return " ".join(chance.choices(words, cum_weights=weights, k=length))

    vectors = numpy.random.default_rng(1).standard_normal((records + 200, dimensions))
    vectors *= spread(numpy.arange(1.0, dimensions + 1))
    vectors = vectors.astype(numpy.float32)
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteBackend(Path(folder) / "store.db")
        for start in range(0, records, 5000):
            _load(store, range(start, start + 5000), vectors, lambda: text(30))
        store.close()  # memory was filled by earlier runs
        wanted = iter(vectors[records:].tolist())
        config = RetrievalConfig(limit=3, mode="hybrid", embed=lambda _: next(wanted))
        times = []
        for _ in range(101):
            query = text(4)
            times.append(
                seconds(lambda: retrieve_similar_models(query, store=store, config=config), 1)
            )
        store.close()
    return [
        Figure(
            f"100,000 memory records, hybrid query p50, {kind}", _median(times) * 1e3, goal, "ms"
        ),
        Figure("  first query, which reads the vectors", times[0] * 1e3, None, "ms"),
    ]


def _load(store: SqliteBackend, numbers: range, vectors: Any, text: Callable[[], str]) -> None:
    """Writes records in one transaction: one by one they would take minutes."""
    from fluid_build.copilot.store.backends import sqlite

    with store._writing() as connection:
        for number in numbers:
            row = ("memory/semantic", f"k{number}", f'{{"n":{number}}}', None)
            sqlite._write(connection, row, text(), vectors[number].tobytes())


# Import

BASELINE = """
import pydantic
class Answer(pydantic.BaseModel):
    names: list[str]
"""

OURS = """
import pydantic
import fluid_build.copilot
from fluid_build.copilot.agents.base import BaseStageAgent, StageSession
class Answer(pydantic.BaseModel):
    names: list[str]
class Agent(BaseStageAgent):
    stage = "s"
"""

COMPOSITE = """
import pydantic
import fluid_build.copilot
from fluid_build.copilot.agents.composite import Composite, CompositeAgent, completion
class Answer(pydantic.BaseModel):
    names: list[str]
class Agent(CompositeAgent):
    def init(self, args):
        return Composite(steps=[completion("a", "a")])
"""


def importing() -> list[Figure]:
    # Pydantic's modules were compiled when it was installed, so ours must be as well.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}

    def process(code: str) -> float:
        command = [sys.executable, "-c", code]
        return seconds(lambda: subprocess.run(command, check=True, env=environment), 1)

    ratios: dict[str, list[float]] = {"stage": [], "composite": []}
    process(OURS)
    process(COMPOSITE)
    for _ in range(2 * ROUNDS):
        empty = process("pass")
        bare = process(BASELINE) - empty
        ratios["stage"].append((process(OURS) - empty) / bare)
        ratios["composite"].append((process(COMPOSITE) - empty) / bare)
    return [
        Figure("import of the runtime and a stage agent", _median(ratios["stage"]), 1.5, "x"),
        Figure("import of the runtime and a composite", _median(ratios["composite"]), 1.5, "x"),
    ]


# Streams

STREAMING_SERVER = """
import json, socket, time

def event(content, reason=None):
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": reason}
    data = b"data: " + json.dumps({"choices": [choice]}).encode() + b"\\n\\n"
    return b"%x\\r\\n%s\\r\\n" % (len(data), data)

listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    received = b""
    while data := connection.recv(65536):
        received += data
        head, _, body = received.partition(b"\\r\\n\\r\\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\\r\\n")[0] or 0)
        if not head or len(body) < length:
            continue
        received = b""
        time.sleep(0.002)
        kind = b"content-type: text/event-stream\\r\\ntransfer-encoding: chunked"
        now = event(str(time.monotonic_ns()))
        connection.sendall(b"HTTP/1.1 200 OK\\r\\n" + kind + b"\\r\\n\\r\\n" + now)
        time.sleep(0.002)
        connection.sendall(event("", "stop") + b"0\\r\\n\\r\\n")
"""
"""Sends the moment of its first byte as its first event, from a process of its own."""


def first_stream_event() -> list[Figure]:
    from fluid_build.copilot.llm.base import LlmPrompt
    from fluid_build.copilot.llm.client import LlmClient
    from fluid_build.copilot.llm.providers import make_provider
    from fluid_build.copilot.llm.streaming import StreamEvent, TextEvent

    prompt = LlmPrompt("m", [{"role": "user", "content": "hello"}])
    rounds = 50 * ROUNDS

    def delay(event: StreamEvent) -> float:
        now = time.monotonic_ns()
        assert isinstance(event, TextEvent)
        return (now - int(event.text)) / 1e6

    def block(client: LlmClient) -> list[float]:
        delays = []
        for _ in range(rounds):
            with client.stream_sync(prompt) as stream:
                delays.append(delay(next(stream)))
                list(stream)
        return delays

    async def loop(client: LlmClient) -> list[float]:
        delays = []
        async with client:
            for _ in range(rounds):
                async with client.stream(prompt) as stream:
                    delays.append(delay(await anext(stream)))
                    async for _event in stream:
                        pass
        return delays

    command = [sys.executable, "-c", STREAMING_SERVER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        with LlmClient(make_provider("vllm", url)) as client:
            blocking = block(client)
        tasks = asyncio.run(loop(LlmClient(make_provider("vllm", url))))
        server.terminate()
    return [
        Figure("first streamed event after the server's first byte", _median(tasks), 1.0, "ms"),
        Figure("  the blocking twin", _median(blocking), 1.0, "ms"),
        Figure("  95th percentile", statistics.quantiles(tasks, n=20)[-1], None, "ms"),
    ]


def client_calls() -> list[Figure]:
    """Measures what the client adds to a call and to a streamed event, without a network."""
    import httpx

    from fluid_build.copilot.llm.base import LlmPrompt
    from fluid_build.copilot.llm.client import LlmClient
    from fluid_build.copilot.llm.providers import make_provider

    events, calls, prompt = 100, 40, LlmPrompt("m", [{"role": "user", "content": "hello"}])
    message = {"role": "assistant", "content": "hello"}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    choice = {"index": 0, "delta": {"content": "hello "}, "finish_reason": None}
    last = {"choices": [choice | {"finish_reason": "stop"}]}
    documents = [*[{"choices": [choice]}] * (events - 1), last]
    frames = [b"data: %s\n\n" % json.dumps(document).encode() for document in documents]

    class Pieces(httpx.SyncByteStream, httpx.AsyncByteStream):
        def __iter__(self) -> Any:
            yield from frames

        async def __aiter__(self) -> Any:
            for frame in frames:
                yield frame

    def answer(request: httpx.Request) -> httpx.Response:
        if json.loads(request.content).get("stream"):
            return httpx.Response(200, stream=Pieces())
        return httpx.Response(200, json=whole)

    transport = httpx.MockTransport(answer)
    options = {"transport": transport, "async_transport": transport}
    client = LlmClient(make_provider("vllm", "http://localhost/v1"), **options)

    async def call() -> None:
        for _ in range(calls):
            await client.complete(prompt)

    async def read() -> None:
        for _ in range(calls):
            async with client.stream(prompt) as stream:
                async for _event in stream:
                    pass

    works: list[tuple[str, Callable[[], object], int, int]] = [
        ("call through the client", lambda: asyncio.run(call()), 1, calls),
        ("  the blocking twin", lambda: client.complete_sync(prompt), calls, 1),
        ("streamed event through the client", lambda: asyncio.run(read()), 1, calls * events),
        ("  the blocking twin", lambda: list(client.stream_sync(prompt)), 4, events),
    ]
    return [
        Figure(what, min(seconds(work, times) for _ in range(ROUNDS)) / parts * 1e6, None, "us")
        for what, work, times, parts in works
    ]


ROWS: dict[str, Callable[[], list[Figure]]] = {
    "tool_call": tool_call,
    "async_tool_call": async_tool_call,
    "composite_step": composite_step,
    "composite_checkpoint": composite_checkpoint,
    "fan_out": fan_out,
    "agent_loop": agent_loop,
    "agent_turns": agent_turns,
    "observability": observability,
    "memory": memory,
    "importing": importing,
    "first_stream_event": first_stream_event,
    "client_calls": client_calls,
}


def _median(values: Sequence[float]) -> float:
    return statistics.median(values)


def _measured_in(checkout: Path, row: str) -> list[tuple[str, float]]:
    command = [sys.executable, __file__, row]
    environment = {**os.environ, "PYTHONPATH": str(checkout), "BENCH_CLOCK": "processor"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = re.findall(r"^(.+?) +(-?\d+\.\d{3}) ", done.stdout, re.MULTILINE)
    return [(what, float(value)) for what, value in found]


def compare(other: Path, names: Sequence[str]) -> int:
    """Prints each figure here over that in another checkout: the median of the rounds' ratios."""
    here = Path(__file__).parent.parent
    for name in names or ROWS:
        rounds = [(_measured_in(here, name), _measured_in(other, name)) for _ in range(5)]
        for place, (what, _) in enumerate(rounds[0][0]):
            ratio = _median([ours[place][1] / theirs[place][1] for ours, theirs in rounds])
            print(f"{what:<70} {ratio:>10.3f} x", flush=True)
    return 0


def main(names: Sequence[str]) -> int:
    if names[:1] == ["--against"]:
        return compare(Path(names[1]).resolve(), names[2:])
    logging.disable(logging.CRITICAL)
    missed = False
    for name in names or ROWS:
        for figure in ROWS[name]():
            print(figure, flush=True)
            missed |= figure.goal is not None and figure.value > figure.goal
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
