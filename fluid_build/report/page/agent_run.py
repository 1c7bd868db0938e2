"""What a run of agents did, on a timeline: steps, branches, calls of models and of tools.

Each process that worked on the run has an axis of its own: between two there may be days.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Literal

from fluid_build.report.page.page import plain_page
from fluid_build.report.page.run import dollars
from fluid_build.report.page.run_timeline import Bar, Tick, axis, bar, duration

_MOST_ROWS = 3_000
"""Rows of a process: a page that a browser still scrolls at once. More are counted."""
_STYLES = ("base.css", "run.css", "agent_run.css")

OperationKind = Literal["agent", "step", "model", "tool"]


@dataclass(frozen=True, slots=True)
class OperationFacts:
    """Something that a run did. ``seconds`` is None where it never ended.

    ``started`` is in seconds since the epoch; tokens, cost and attempts are a model call's own.
    """

    id: str
    parent_id: str | None
    kind: OperationKind
    name: str
    started: float
    seconds: float | None
    error: str | None = None
    tokens: int = 0
    cost_usd: Decimal | None = None
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class Row:
    """An operation in its place: what it is inside of, and what it used with all inside it."""

    operation: OperationFacts
    depth: int
    bar: Bar
    tokens: int
    cost_usd: Decimal | None
    repeated: int
    """The number of this attempt of a step; 0 where there was one alone."""


@dataclass(frozen=True, slots=True)
class Process:
    """What one process did: its rows on one axis, and its sums as labels with values."""

    id: str
    started: str
    rows: tuple[Row, ...]
    hidden: int
    ticks: tuple[Tick, ...]
    sums: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class AgentRun:
    """A run with what each process did on it."""

    run_id: str
    processes: tuple[Process, ...]


def agent_run_page(run_id: str, operations: Sequence[OperationFacts]) -> str:
    """Return the page of a run as HTML that needs no network and runs no script."""
    data = AgentRun(run_id, processes(operations))
    return plain_page("agent_run.html", f"Run {run_id}", data, _STYLES)


def processes(operations: Sequence[OperationFacts]) -> tuple[Process, ...]:
    """Return what each process did, in order of time."""
    children: dict[str | None, list[OperationFacts]] = defaultdict(list)
    known = {operation.id for operation in operations}
    for operation in sorted(operations, key=lambda each: each.started):
        children[operation.parent_id if operation.parent_id in known else None].append(operation)
    return tuple(
        _process(number, root, children) for number, root in enumerate(children[None], start=1)
    )


def _process(
    number: int, root: OperationFacts, children: dict[str | None, list[OperationFacts]]
) -> Process:
    inside = [root, *_descendants(root, children)]
    end = max(each.started + (each.seconds or 0.0) for each in inside) - root.started
    rows = list(_rows(root, children, root.started, end, 0, 0))
    calls = [each for each in inside if each.kind == "model"]
    tools = sum(each.kind == "tool" for each in inside)
    retries = sum(each.attempts - 1 for each in calls) + sum(row.repeated > 1 for row in rows)
    sums = [
        ("Time", duration(end)),
        ("Calls of models", f"{len(calls):,}"),
        ("Calls of tools", f"{tools:,}"),
        ("Tokens", f"{rows[0].tokens:,}"),
        ("Cost", dollars(rows[0].cost_usd)),
        ("Retries", f"{retries:,}"),
    ]
    started = datetime.fromtimestamp(root.started, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    shown = tuple(rows[:_MOST_ROWS])
    ticks = axis(end) if end else ()
    return Process(f"process-{number}", started, shown, len(rows) - len(shown), ticks, tuple(sums))


def _rows(
    operation: OperationFacts,
    children: dict[str | None, list[OperationFacts]],
    start: float,
    end: float,
    depth: int,
    repeated: int,
) -> Iterator[Row]:
    inside = [operation, *_descendants(operation, children)]
    costs = [each.cost_usd for each in inside if each.kind == "model" and each.tokens]
    known = [cost for cost in costs if cost is not None]
    begun = operation.started - start
    yield Row(
        operation,
        depth,
        bar(begun, begun + (operation.seconds or 0.0), end or 1.0),
        sum(each.tokens for each in inside),
        sum(known, Decimal(0)) if len(known) == len(costs) else None,
        repeated,
    )
    attempts: dict[str, int] = defaultdict(int)
    failed: set[str] = set()
    for child in children[operation.id]:
        if child.kind == "step":
            is_repeated = child.name in failed
            attempts[child.name] = attempts[child.name] + 1 if is_repeated else 1
            failed.discard(child.name)
            if child.error is not None:
                failed.add(child.name)
        number = attempts[child.name] if child.kind == "step" else 0
        is_one_of_several = number > 1 or child.name in failed
        yield from _rows(child, children, start, end, depth + 1, number if is_one_of_several else 0)


def _descendants(
    operation: OperationFacts, children: dict[str | None, list[OperationFacts]]
) -> Iterator[OperationFacts]:
    for child in children[operation.id]:
        yield child
        yield from _descendants(child, children)
