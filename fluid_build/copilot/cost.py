"""What a run has spent, by model and by agent, and the ceiling that it may not pass.

The ceiling holds because a call reserves the most it can cost before it is sent, and settles for
what it did cost afterwards: calls that run side by side cannot pass it together. Money is a
``Decimal`` in US dollars. Source: Agentic Primitives, "RunCostTracker".
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import partial
from types import TracebackType
from typing import Protocol

from fluid_build.copilot.context.model_data import PriceOverrides, price_usd
from fluid_build.copilot.cost_figures import AgentRow as AgentRow
from fluid_build.copilot.cost_figures import CostBreakdown as CostBreakdown
from fluid_build.copilot.cost_figures import CostRow as CostRow
from fluid_build.copilot.cost_figures import Sum, Tokens
from fluid_build.copilot.errors import COST_LIMIT_VARIABLE as COST_LIMIT_VARIABLE
from fluid_build.copilot.errors import CostLimitExceeded as CostLimitExceeded
from fluid_build.copilot.errors import UnknownPriceError as UnknownPriceError
from fluid_build.copilot.events import EventBus, get_event_bus
from fluid_build.errors import UsageError


class Price(Protocol):
    """What a call costs in US dollars, as ``price_usd`` says it; None if nobody knows."""

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
        """``cached_tokens`` and ``cache_write_tokens`` are parts of ``input_tokens``."""


@dataclass(eq=False, slots=True)
class Reservation:
    """Money set aside for one call. Leaving its ``with`` block unsettled gives it back."""

    tracker: RunCostTracker = field(repr=False)
    provider: str
    model: str
    stage: str
    agent_class: str
    reserved_usd: Decimal

    @property
    def who(self) -> tuple[str, str, str, str]:
        """Provider, model, stage and agent class: whose call it is."""
        return self.provider, self.model, self.stage, self.agent_class

    def settle(
        self,
        input_tokens: int,
        output_tokens: int,
        *,
        cached_tokens: int = 0,
        cache_write_tokens: int = 0,
    ) -> None:
        """Replaces the reserve by what the call used; a second time it does nothing.

        Raises ``CostLimitExceeded`` as ``RunCostTracker.record_call`` does.
        """
        self.tracker._settle(
            self, Tokens(input_tokens, output_tokens, cached_tokens, cache_write_tokens)
        )

    def settle_without_usage(self) -> None:
        """The provider did not say what the call used: the whole reserve counts as spent.

        The call is one of no tokens in the breakdown; both ``llm.call_completed`` and
        ``llm.usage_missing`` tell of it.
        """
        self.tracker._settle_without_usage(self)

    def release(self) -> None:
        """The call cost nothing: it was not sent, or refused."""
        self.tracker._release(self)

    def __enter__(self) -> Reservation:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()


class RunCostTracker:
    """Adds up what a run's calls use. Safe from any thread and from coroutines.

    ``limit_usd`` is the ceiling; ``None`` goes by the environment variable
    ``FLUID_COST_LIMIT_USD``, and without that there is none. ``prices`` are the user's own, which
    come before the listed ones.
    """

    def __init__(
        self,
        limit_usd: Decimal | float | str | None = None,
        *,
        prices: PriceOverrides | None = None,
        price: Price | None = None,
        bus: EventBus | None = None,
    ) -> None:
        self._limit = None if limit_usd is None else parse_cost_limit(limit_usd, "limit_usd")
        self._price: Price = price or partial(price_usd, overrides=prices)
        self._bus = bus or get_event_bus()
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Forgets everything that was recorded; the ceiling stays."""
        with self._lock:
            self._models: dict[tuple[str, str], Sum] = {}
            self._agents: dict[tuple[str, str], Sum] = {}
            self._missing_usage_calls = 0
            self._variant_lint_findings: dict[str, int] = {}
            self._catalog_fetch_ms: dict[str, float] = {}
            self._spent = Decimal(0)
            self._reserved = Decimal(0)
            self._reservations: set[Reservation] = set()

    @property
    def limit_usd(self) -> Decimal | None:
        """The ceiling in US dollars. Raises ``UsageError`` if the variable holds no amount."""
        if self._limit is not None:
            return self._limit
        text = os.environ.get(COST_LIMIT_VARIABLE, "").strip()
        return parse_cost_limit(text, COST_LIMIT_VARIABLE) if text else None

    @limit_usd.setter
    def limit_usd(self, value: Decimal | float | str | None) -> None:
        self._limit = None if value is None else parse_cost_limit(value, "limit_usd")

    @property
    def total_usd(self) -> Decimal:
        """What was spent, in US dollars, as far as prices are known."""
        with self._lock:
            return self._spent

    def reserve(
        self,
        *,
        provider: str,
        model: str,
        input_tokens: int,
        max_output_tokens: int,
        stage: str = "",
        agent_class: str = "",
    ) -> Reservation:
        """Sets aside the most that a call can cost, before it is sent.

        Raises ``CostLimitExceeded`` if that could pass the ceiling, ``UnknownPriceError`` if there
        is a ceiling and no price. Settle it with the usage, or release it.
        """
        limit = self.limit_usd
        price = partial(self._price, provider, model, input_tokens, max_output_tokens)
        plain, all_written = price(), price(cache_write_tokens=input_tokens)
        if plain is None and limit is not None:
            raise UnknownPriceError(provider, model)
        amount = max(plain or Decimal(0), all_written or Decimal(0))
        reservation = Reservation(self, provider, model, stage, agent_class, amount)
        with self._lock:
            total = self._spent + self._reserved + amount
            if limit is not None and total > limit:
                raise CostLimitExceeded(total, limit)
            self._reserved += amount
            self._reservations.add(reservation)
        return reservation

    def record_call(
        self,
        *,
        provider: str,
        model: str,
        input_tokens: int,
        output_tokens: int,
        stage: str = "",
        agent_class: str = "",
        missing_usage: bool = False,
        cached_tokens: int = 0,
        cache_write_tokens: int = 0,
    ) -> None:
        """Adds a call that was made, and tells the bus (``llm.call_completed``).

        ``input_tokens`` counts those read from and written to a cache as well. Raises
        ``CostLimitExceeded`` once what was spent is over the ceiling; the call is recorded all the
        same.
        """
        tokens = Tokens(input_tokens, output_tokens, cached_tokens, cache_write_tokens)
        cost = self._cost(provider, model, tokens)
        with self._lock:
            self._add(provider, model, stage, agent_class, tokens, cost)
            self._missing_usage_calls += missing_usage
        self._tell(provider, model, stage, agent_class, tokens, missing_usage)
        self._refuse_if_over()

    def record_missing_usage(self) -> None:
        """Counts a call whose provider did not say what it used (``llm.usage_missing``)."""
        with self._lock:
            self._missing_usage_calls += 1
        self._bus.emit("llm.usage_missing", {})

    def record_variant_lint(self, variant: str, warning_count: int) -> None:
        """Adds the validator's warnings about one variant (``validator.variant_lint``)."""
        with self._lock:
            known = self._variant_lint_findings.get(variant, 0)
            self._variant_lint_findings[variant] = known + warning_count
        self._bus.emit(
            "validator.variant_lint", {"variant": variant, "warning_count": warning_count}
        )

    def record_catalog_fetch(self, catalog_name: str, duration_ms: float) -> None:
        """Adds the milliseconds that a catalog took (``catalog.fetch_completed``)."""
        with self._lock:
            known = self._catalog_fetch_ms.get(catalog_name, 0.0)
            self._catalog_fetch_ms[catalog_name] = known + duration_ms
        self._bus.emit(
            "catalog.fetch_completed", {"catalog_name": catalog_name, "duration_ms": duration_ms}
        )

    @property
    def breakdown(self) -> CostBreakdown:
        """A snapshot of all sums, rows in order of first use."""
        with self._lock:
            return CostBreakdown(
                rows=tuple(
                    CostRow(provider, model, *total.figures)
                    for (provider, model), total in self._models.items()
                ),
                agent_rows=tuple(
                    AgentRow(stage, agent_class, *total.figures)
                    for (stage, agent_class), total in self._agents.items()
                ),
                missing_usage_calls=self._missing_usage_calls,
                variant_lint_findings=dict(self._variant_lint_findings),
                catalog_fetch_ms=dict(self._catalog_fetch_ms),
                total_usd=self._spent,
                reserved_usd=self._reserved,
            )

    def _settle(self, reservation: Reservation, tokens: Tokens) -> None:
        cost = self._cost(reservation.provider, reservation.model, tokens)
        if self._spend(reservation, tokens, cost):
            self._tell(*reservation.who, tokens, missing_usage=False)
            self._refuse_if_over()

    def _settle_without_usage(self, reservation: Reservation) -> None:
        nothing = Tokens(0, 0, 0, 0)
        is_priced = self._cost(reservation.provider, reservation.model, nothing) is not None
        if self._spend(reservation, nothing, reservation.reserved_usd if is_priced else None):
            self._tell(*reservation.who, nothing, missing_usage=True)
            self.record_missing_usage()

    def _spend(self, reservation: Reservation, tokens: Tokens, cost: Decimal | None) -> bool:
        """Replaces a reserve by what was spent; False if it had ended already."""
        # One lock for both: between giving back and spending, another call could reserve.
        with self._lock:
            if not self._give_back(reservation):
                return False
            self._add(*reservation.who, tokens, cost)
            return True

    def _cost(self, provider: str, model: str, tokens: Tokens) -> Decimal | None:
        return self._price(
            provider,
            model,
            tokens.input,
            tokens.output,
            tokens.cached,
            cache_write_tokens=tokens.cache_written,
        )

    def _release(self, reservation: Reservation) -> None:
        with self._lock:
            self._give_back(reservation)

    def _give_back(self, reservation: Reservation) -> bool:
        """Under the lock."""
        if reservation not in self._reservations:
            return False
        self._reservations.remove(reservation)
        self._reserved -= reservation.reserved_usd
        return True

    def _add(
        self,
        provider: str,
        model: str,
        stage: str,
        agent_class: str,
        tokens: Tokens,
        cost: Decimal | None,
    ) -> None:
        """Under the lock."""
        self._models.setdefault((provider, model), Sum()).add(tokens, cost)
        self._agents.setdefault((stage, agent_class), Sum()).add(tokens, cost)
        self._spent += cost or Decimal(0)

    def _tell(
        self,
        provider: str,
        model: str,
        stage: str,
        agent_class: str,
        tokens: Tokens,
        missing_usage: bool,
    ) -> None:
        """Outside the lock: an observer may ask the tracker."""
        self._bus.emit(
            "llm.call_completed",
            {
                "provider": provider,
                "model": model,
                "input_tokens": tokens.input,
                "output_tokens": tokens.output,
                "stage": stage,
                "agent_class": agent_class,
                "missing_usage": missing_usage,
            },
        )

    def _refuse_if_over(self) -> None:
        limit, total = self.limit_usd, self.total_usd
        if limit is not None and total > limit:
            raise CostLimitExceeded(total, limit)


def parse_cost_limit(value: Decimal | float | str, name: str) -> Decimal:
    """An amount of US dollars, zero or more; ``name`` is where it stood, for the error."""
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        raise UsageError(
            f"{name} is {value!r}, which is no amount of dollars.", hint="Give one such as 5.00."
        )
    return amount


_DEFAULT = RunCostTracker()
_CURRENT: ContextVar[RunCostTracker | None] = ContextVar("fluid_cost_tracker", default=None)


def get_cost_tracker() -> RunCostTracker:
    """The tracker of the run that this context belongs to, or the process's default."""
    return _CURRENT.get() or _DEFAULT


@contextmanager
def use_cost_tracker(tracker: RunCostTracker) -> Generator[RunCostTracker]:
    """Makes ``tracker`` the one of this run, in this context and the tasks it starts.

    A thread that the caller starts itself needs ``contextvars.copy_context`` to inherit it.
    """
    token = _CURRENT.set(tracker)
    try:
        yield tracker
    finally:
        _CURRENT.reset(token)
