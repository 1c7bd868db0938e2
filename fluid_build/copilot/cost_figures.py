"""What was spent, as figures: of one call, summed up, and laid out by model and by agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class CostRow:
    """What one model was used for: calls, tokens, US dollars (None: price unknown)."""

    provider: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: Decimal | None


@dataclass(frozen=True, slots=True)
class AgentRow:
    """What one agent used in one stage: calls, tokens, US dollars (None: price unknown)."""

    stage: str
    agent_class: str
    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: Decimal | None


@dataclass(frozen=True, slots=True)
class CostBreakdown:
    """All that a tracker knows at one moment. ``total_usd`` leaves out what has no known price."""

    rows: tuple[CostRow, ...]
    agent_rows: tuple[AgentRow, ...]
    missing_usage_calls: int
    variant_lint_findings: Mapping[str, int]
    catalog_fetch_ms: Mapping[str, float]
    total_usd: Decimal
    reserved_usd: Decimal


class Tokens(NamedTuple):
    """What one call used. ``input`` counts the two others of its kind as well."""

    input: int
    output: int
    cached: int
    cache_written: int


@dataclass(slots=True)
class Sum:
    """A running sum; it has a price only as long as each of its calls has one."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: Decimal | None = Decimal(0)

    @property
    def figures(self) -> tuple[int, int, int, int, Decimal | None]:
        """The end of a row: calls, tokens, US dollars."""
        return (
            self.calls,
            self.input_tokens,
            self.output_tokens,
            self.cached_tokens,
            self.cost_usd,
        )

    def add(self, tokens: Tokens, cost: Decimal | None) -> None:
        """Adds one call."""
        self.calls += 1
        self.input_tokens += tokens.input
        self.output_tokens += tokens.output
        self.cached_tokens += tokens.cached
        self.cost_usd = None if cost is None or self.cost_usd is None else self.cost_usd + cost
