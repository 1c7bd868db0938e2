"""The collector: complete, bounded, exact where it says so, and without secrets."""

from __future__ import annotations

import multiprocessing
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.tools.metrics import (
    Durations,
    ToolExecutionStatus,
    ToolExecutionTrace,
    ToolObservabilityCollector,
)

# Later Pythons warn of a fork beside threads; the children here need nothing that a thread holds.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

DONE = ToolExecutionStatus.SUCCESS


def test_as_documented() -> None:
    """Start, end, trace and metrics as the plan describes them."""
    collector = ToolObservabilityCollector()
    before = datetime.now(UTC)
    first = collector.start_execution("search", {"q": "x"}, agent_id="a", workflow_id="w")
    running = collector.traces[first]
    assert (running.status, running.ended_at, running.duration_ms) == (
        ToolExecutionStatus.RUNNING,
        None,
        None,
    )
    collector.end_execution(
        first, DONE, output_result={"n": 1}, token_usage={"input": 3}, metadata={"k": "v"}
    )
    trace = collector.traces[first]
    assert isinstance(trace, ToolExecutionTrace)
    assert trace.duration_ms is not None
    assert trace.ended_at is not None
    assert before <= trace.started_at <= trace.ended_at
    assert (trace.tool_name, trace.execution_id, trace.status) == ("search", first, DONE)
    assert (trace.input_params, trace.output_result, trace.error) == ({"q": "x"}, {"n": 1}, None)
    assert (trace.agent_id, trace.workflow_id, trace.session_id) == ("a", "w", None)
    assert (trace.token_usage, trace.metadata) == ({"input": 3}, {"k": "v"})
    assert collector.metrics == {"search": [trace.duration_ms]}
    assert collector.get_tool_metrics("search") == {
        "tool_name": "search",
        "execution_count": 1,
        "avg_duration_ms": trace.duration_ms,
        "min_duration_ms": trace.duration_ms,
        "max_duration_ms": trace.duration_ms,
        "p95_duration_ms": trace.duration_ms,
    }
    assert collector.get_tool_metrics("other") == {}


def test_statuses() -> None:
    """The five states have the documented values."""
    assert [status.value for status in ToolExecutionStatus] == [
        "pending",
        "running",
        "success",
        "failed",
        "timeout",
    ]


def test_unknown_and_ended_executions() -> None:
    """Ending what is not running changes nothing."""
    collector = ToolObservabilityCollector()
    collector.end_execution("none", DONE)
    execution_id = collector.start_execution("t", {})
    collector.end_execution(execution_id, ToolExecutionStatus.FAILED, error="first")
    collector.end_execution(execution_id, DONE)
    assert collector.traces[execution_id].error == "first"
    assert collector.get_tool_metrics("t")["execution_count"] == 1


def test_a_snapshot_is_taken() -> None:
    """What the caller does to its arguments afterwards is not in the trace."""
    collector = ToolObservabilityCollector()
    arguments = {"a": [1]}
    execution_id = collector.start_execution("t", arguments)
    arguments["a"].append(2)
    assert collector.traces[execution_id].input_params == {"a": [1]}


def test_memory_is_bounded() -> None:
    """However many executions, tools and bytes: what is kept has an end."""
    collector = ToolObservabilityCollector(
        max_traces=10, max_value_bytes=100, max_samples=8, max_tools=3
    )
    for number in range(500):
        execution_id = collector.start_execution(f"tool{number % 50}" * 100, {"a": "x" * 10_000})
        collector.end_execution(execution_id, DONE, output_result="y" * 10_000, error="z" * 10_000)
    for _ in range(50):
        collector.start_execution("never ended", {})
    assert len(collector.traces) <= 20
    assert len(collector.metrics) == 4
    assert all(len(recorded) <= 8 for recorded in collector.metrics.values())
    assert max(len(repr(trace)) for trace in collector.traces.values()) < 5_000
    total = sum(collector.get_tool_metrics(name)["execution_count"] for name in collector.metrics)
    assert total == 500


def test_an_execution_that_outlasts_many_others_is_kept_when_it_ends() -> None:
    collector = ToolObservabilityCollector(max_traces=5)
    long = collector.start_execution("long", {})
    for _ in range(20):
        collector.end_execution(collector.start_execution("short", {}), DONE)
    assert collector.traces[long].status is ToolExecutionStatus.RUNNING
    collector.end_execution(long, DONE)
    assert collector.traces[long].status is DONE


def test_clipped_values_say_so() -> None:
    """A value that is too long is there as its beginning and its length."""
    collector = ToolObservabilityCollector(max_value_bytes=50)
    execution_id = collector.start_execution("t", {"text": "é" * 100})
    recorded = collector.traces[execution_id].input_params
    assert recorded["_truncated"] is True
    assert recorded["_total_chars"] == 111
    assert recorded["_preview"].startswith('{"text":"éé')


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=600))
def test_sums_are_exact_and_the_latest_durations_are_kept(durations: list[float]) -> None:
    recorded = Durations(100)
    for duration in durations:
        recorded.pending.append(duration)
        if len(recorded.pending) > 7:
            recorded.fold()
    assert recorded.fold() == len(durations)
    assert (recorded.shortest, recorded.longest) == (min(durations), max(durations))
    assert recorded.total == pytest.approx(sum(durations))
    assert list(recorded.latest) == durations[-100:]


def test_threads_lose_nothing() -> None:
    """Executions from many threads are all counted."""
    collector = ToolObservabilityCollector(max_traces=100)

    def work(_: int) -> None:
        for _ in range(500):
            collector.end_execution(collector.start_execution("t", {"a": 1}), DONE)
            collector.get_tool_metrics("t")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert collector.get_tool_metrics("t")["execution_count"] == 4000
    assert len(collector.traces) == 100


def _send_id(queue: Any) -> None:
    queue.put(ToolObservabilityCollector().start_execution("t", {}))


def test_ids_are_unique_across_processes() -> None:
    """Ids have the form of UUIDs, and a forked process has others than its parent."""
    collector = ToolObservabilityCollector()
    ids = {collector.start_execution("t", {}) for _ in range(1000)}
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    children = [context.Process(target=_send_id, args=(queue,)) for _ in range(2)]
    for child in children:
        child.start()
    ids |= {queue.get() for _ in children}
    for child in children:
        child.join()
    assert len(ids) == 1002
    assert all(str(uuid.UUID(execution_id)) == execution_id for execution_id in ids)


# Scrubbing


def test_secrets_are_scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fields named so, text shaped so and values of the environment are not in a trace."""
    monkeypatch.setenv("MY_SERVICE_TOKEN", "canary-env-secret")
    collector = ToolObservabilityCollector()
    execution_id = collector.start_execution(
        "t",
        {
            "password": "canary-hunter2",
            "nested": [{"api_key": "canary-key", "max_tokens": 5}],
            "uri": "postgresql://bob:canary-pw@host/db",
            "note": "use canary-env-secret",
            "key": "sk-ant-canary-0123456789",
        },
    )
    collector.end_execution(
        execution_id,
        ToolExecutionStatus.FAILED,
        output_result={"secret": "canary-out"},
        error="Authorization: Bearer canary-bearer-0123456789",
        metadata={"token": "canary-meta"},
    )
    text = repr(collector.traces[execution_id])
    assert "canary" not in text
    assert "'max_tokens': 5" in text
    assert "host/db" in text


@pytest.mark.parametrize("cut", range(20, 90, 7))
def test_clipping_cuts_no_secret_open(cut: int) -> None:
    """A secret field is scrubbed also where its end was cut off."""
    collector = ToolObservabilityCollector(max_value_bytes=cut)
    execution_id = collector.start_execution(
        "t", {"a": {"password": "CANARY " * 20}, "tokens": ["CANARY"] * 20}
    )
    assert "CANARY" not in str(collector.traces[execution_id].input_params)


@pytest.mark.parametrize("calls", [1, 2, 19, 20, 21, 40, 100])
def test_the_p95_is_the_first_duration_that_95_percent_are_below(calls: int) -> None:
    collector = ToolObservabilityCollector()
    for _ in range(calls):
        collector.end_execution(collector.start_execution("search", {}), DONE)
    ordered = sorted(collector.metrics["search"])
    found = collector.get_tool_metrics("search")["p95_duration_ms"]
    assert found == next(d for i, d in enumerate(ordered) if i + 1 > calls * 0.95)
