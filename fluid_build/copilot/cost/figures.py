"""The figures of a run's cost: of a call, as sums, by model and by agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple, Protocol


@dataclass(frozen=True, slots=True)
class CostRow:
    """The use of a model: calls, tokens, US dollars (None: the price is unknown)."""

    provider: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: Decimal | None


@dataclass(frozen=True, slots=True)
class AgentRow:
    """The use by an agent in a stage: calls, tokens, US dollars (None: the price is unknown)."""

    stage: str
    agent_class: str
    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: Decimal | None


@dataclass(frozen=True, slots=True)
class CostBreakdown:
    """A snapshot of a tracker. ``total_usd`` leaves out calls without a known price.

    ``unconfirmed_usd`` is the part of it that no provider reported: the reserves of calls without
    usage, and estimates.
    """

    rows: tuple[CostRow, ...]
    agent_rows: tuple[AgentRow, ...]
    missing_usage_calls: int
    variant_lint_findings: Mapping[str, int]
    catalog_fetch_ms: Mapping[str, float]
    total_usd: Decimal
    reserved_usd: Decimal
    unconfirmed_usd: Decimal = Decimal(0)


class Caller(NamedTuple):
    """The model that is called, and the stage and agent that call it."""

    provider: str
    model: str
    stage: str
    agent_class: str


@dataclass(frozen=True, slots=True)
class LargestCall:
    """A call at its largest: the most it can use, and who makes it."""

    caller: Caller
    input_tokens: int
    max_output_tokens: int


class Tokens(NamedTuple):
    """The tokens of a call. ``input`` includes those read from and written to a cache."""

    input: int
    output: int
    cached: int
    cache_written: int


@dataclass(slots=True)
class Sum:
    """A running sum, which has a cost only if each of its calls has one."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: Decimal | None = Decimal(0)

    @property
    def figures(self) -> tuple[int, int, int, int, Decimal | None]:
        """Return the end of a row: calls, tokens, US dollars."""
        return (
            self.calls,
            self.input_tokens,
            self.output_tokens,
            self.cached_tokens,
            self.cost_usd,
        )

    def add(self, tokens: Tokens, cost: Decimal | None) -> None:
        """Add a call."""
        self.calls += 1
        self.input_tokens += tokens.input
        self.output_tokens += tokens.output
        self.cached_tokens += tokens.cached
        self.cost_usd = None if cost is None or self.cost_usd is None else self.cost_usd + cost

    def merge(self, row: CostRow | AgentRow) -> None:
        """Add the calls of a row."""
        tokens = Tokens(row.input_tokens, row.output_tokens, row.cached_tokens, 0)
        self.add(tokens, row.cost_usd)
        self.calls += row.calls - 1


class Price(Protocol):
    """A function of a call's tokens that returns US dollars, or None for an unknown price."""

    def __call__(
        self,
        provider: str,
        model: str,
        input_tokens: int,
        output_tokens: int,
        cached_tokens: int = 0,
        *,
        cache_write_tokens: int = 0,
    ) -> Decimal | None:
        """Return the price; ``input_tokens`` includes those read from and written to a cache."""
