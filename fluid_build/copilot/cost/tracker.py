"""The tracker of a run's costs, and the reservations of its calls."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import partial
from importlib.util import find_spec
from types import TracebackType

from fluid_build.copilot.context.model_data import PriceOverrides, price_usd
from fluid_build.copilot.cost.figures import (
    AgentRow,
    Caller,
    CostBreakdown,
    CostRow,
    LargestCall,
    Price,
    Sum,
    Tokens,
)
from fluid_build.copilot.cost.ledger import Hold, Ledger, LedgerLock
from fluid_build.copilot.cost.queue import DEFAULT_PATIENCE_SECONDS, ReservationQueue
from fluid_build.copilot.errors import CostLimitExceeded, UnknownPriceError
from fluid_build.copilot.events import EventBus, get_event_bus
from fluid_build.errors import UsageError
from fluid_build.extras import missing_extra

# Limits and prices as the user has configured them.


def parse_cost_limit(value: Decimal | float | str, name: str) -> Decimal:
    """Return an amount of US dollars, zero or more; an error names where it came from."""
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        raise UsageError(
            f"{name} is {value!r}, which isn't an amount of dollars.",
            hint="Use an amount such as 5.00.",
        )
    return amount


def configured_limit() -> Decimal | None:
    """Return the configured limit in US dollars. Raises ``ConfigError`` for a bad one."""
    # Imported on use: most trackers are made long before a call asks for a limit or a price.
    from fluid_build.copilot.unified_config import current_config

    return current_config().behavior.cost_limit_usd_per_run


def configured_limit_of_past_calls() -> Decimal | None:
    """Return the limit for a call that is made already: its cost must be recorded."""
    from fluid_build.copilot.unified_config import last_valid_config

    return last_valid_config().behavior.cost_limit_usd_per_run


def configured_price(
    provider: str,
    model: str,
    input_tokens: int,
    output_tokens: int,
    cached_tokens: int = 0,
    *,
    cache_write_tokens: int = 0,
) -> Decimal | None:
    """Return a price by the configured prices, or the listed one."""
    from fluid_build.copilot.unified_config import last_valid_config

    return price_usd(
        provider,
        model,
        input_tokens,
        output_tokens,
        cached_tokens,
        cache_write_tokens=cache_write_tokens,
        overrides=last_valid_config().prices.prices,
    )


@dataclass(eq=False, slots=True)
class Reservation:
    """Money reserved for one call. Leaving its ``with`` block unsettled releases it."""

    tracker: RunCostTracker = field(repr=False)
    caller: Caller
    hold: Hold = field(repr=False)

    @property
    def reserved_usd(self) -> Decimal:
        """Return the reserved US dollars."""
        return self.hold.amount

    def settle(
        self,
        input_tokens: int,
        output_tokens: int,
        *,
        cached_tokens: int = 0,
        cache_write_tokens: int = 0,
        estimated_output_tokens: int = 0,
    ) -> None:
        """Replace the reserve by the actual cost. Settling again does nothing.

        ``estimated_output_tokens`` are those of ``output_tokens`` that the provider didn't report.
        Raises ``CostLimitExceeded`` as ``RunCostTracker.record_call`` does.
        """
        self.tracker._settle(
            self,
            Tokens(input_tokens, output_tokens, cached_tokens, cache_write_tokens),
            estimated_output_tokens,
        )

    def settle_without_usage(self) -> None:
        """Count the whole reserve as spent, because the provider reported no usage.

        The same holds where nobody knows whether the provider did the work: after a timeout, or a
        lost connection. The breakdown counts a call without tokens, and both ``llm.call_completed``
        and ``llm.usage_missing`` are published.
        """
        self.tracker._settle_without_usage(self)

    def release(self) -> None:
        """Release the reserve: the call wasn't sent, or was refused, and cost nothing."""
        self.tracker._release(self)

    def __del__(self) -> None:
        if self.hold.is_open:
            self.tracker.finalize(partial(self.tracker._abandon, self.hold))

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
    """The tokens and costs of a run's calls. Safe from any thread and from coroutines.

    ``limit_usd`` is the limit; None means the configured one (``FLUID_COST_LIMIT_USD`` or
    ``behavior.cost_limit_usd_per_run``), or no limit without it. The user's own ``prices``, by
    default the configured ones, take precedence over the listed ones.
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
        configured = configured_price if prices is None else partial(price_usd, overrides=prices)
        self._price: Price = price or configured
        self._bus = bus or get_event_bus()
        self._lock = LedgerLock()
        self._ledger = Ledger()
        self.on_reserved: Callable[[], None] = _ignore_reservations
        self._queue = ReservationQueue(self._ledger, self._lock)
        self.reset()

    def reset(self) -> None:
        """Forget everything that was recorded; the limit stays."""
        with self._lock:
            self._models: dict[tuple[str, str], Sum] = {}
            self._agents: dict[tuple[str, str], Sum] = {}
            self._missing_usage_calls = 0
            self._variant_lint_findings: dict[str, int] = {}
            self._catalog_fetch_ms: dict[str, float] = {}
            self._unconfirmed = Decimal(0)
            self._ledger.clear()
        self._queue.serve()

    def restore(self, earlier: CostBreakdown) -> None:
        """Add what an earlier process of the same run has used, as its ``breakdown`` said.

        What that process had reserved when it ended may have been paid for, so it counts as spent.
        """
        with self._lock:
            for row in earlier.rows:
                self._models.setdefault((row.provider, row.model), Sum()).merge(row)
            for agent in earlier.agent_rows:
                self._agents.setdefault((agent.stage, agent.agent_class), Sum()).merge(agent)
            self._missing_usage_calls += earlier.missing_usage_calls
            self._unconfirmed += earlier.unconfirmed_usd + earlier.reserved_usd
            self._ledger.spent += earlier.total_usd + earlier.reserved_usd

    @property
    def limit_usd(self) -> Decimal | None:
        """Return the limit in US dollars. Raises ``ConfigError`` if the configured one is bad."""
        if self._limit is not None:
            return self._limit
        return configured_limit()

    @limit_usd.setter
    def limit_usd(self, value: Decimal | float | str | None) -> None:
        self._limit = None if value is None else parse_cost_limit(value, "limit_usd")
        limit = self.limit_usd
        with self._lock:
            self._ledger.change_limit(limit)
        self._queue.serve()

    @property
    def total_usd(self) -> Decimal:
        """Return the sum of the known costs in US dollars."""
        with self._lock:
            return self._ledger.spent

    def finalize(self, work: Callable[[], object]) -> None:
        """Do what a ``__del__`` has to do in this tracker, but not in the middle of a change.

        The garbage collector may interrupt this tracker's own methods.
        """
        self._lock.finalize(work)

    @property
    def price(self) -> Price:
        """Return the function that prices a call in this run, which it doesn't record."""
        return self._price

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
        """Reserve the most that a call can cost, before it is sent.

        Raises ``CostLimitExceeded`` if that could exceed the limit, ``UnknownPriceError`` if there
        is a limit and no price. Settle it with the usage, or release it.
        """
        limit = self.limit_usd
        caller = Caller(provider, model, stage, agent_class)
        reservation = self._prepare(LargestCall(caller, input_tokens, max_output_tokens), limit)
        self._queue.reserve(reservation.hold, limit)
        return self._noted(reservation)

    async def wait_to_reserve(
        self, call: LargestCall, *, patience: float = DEFAULT_PATIENCE_SECONDS
    ) -> Reservation:
        """Reserve the most that ``call`` can cost, once others have released enough.

        Calls are served in order of arrival. Raises as ``reserve`` does, but ``CostLimitExceeded``
        only if others can't release enough: because it is spent, or because they can't end before
        this call does. A stream whose reader makes this call is an example. Where only streams
        that nobody reads hold money, ``patience`` is how many seconds their readers may take.
        """
        limit = self.limit_usd
        reservation = self._prepare(call, limit)
        await self._queue.wait(reservation.hold, limit, patience)
        return self._noted(reservation)

    def wait_to_reserve_sync(
        self, call: LargestCall, *, patience: float = DEFAULT_PATIENCE_SECONDS
    ) -> Reservation:
        """Reserve as ``wait_to_reserve`` does, and block this thread until then."""
        limit = self.limit_usd
        reservation = self._prepare(call, limit)
        self._queue.wait_sync(reservation.hold, limit, patience)
        return self._noted(reservation)

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
        """Record a call and publish ``llm.call_completed``.

        ``input_tokens`` includes those read from and written to a cache. Raises
        ``CostLimitExceeded`` once the total is over the limit; the call is still recorded.
        """
        tokens = Tokens(input_tokens, output_tokens, cached_tokens, cache_write_tokens)
        caller = Caller(provider, model, stage, agent_class)
        cost = self._cost(caller, tokens)
        with self._lock:
            self._add(caller, tokens, cost)
            self._missing_usage_calls += missing_usage
        self._queue.serve()
        self._publish(caller, tokens, missing_usage)
        self._check_limit()

    def record_missing_usage(self) -> None:
        """Count a call without reported usage, and publish ``llm.usage_missing``."""
        with self._lock:
            self._missing_usage_calls += 1
        self._bus.emit("llm.usage_missing", {})

    def record_variant_lint(self, variant: str, warning_count: int) -> None:
        """Add the validator's warnings about a variant, and publish ``validator.variant_lint``."""
        with self._lock:
            known = self._variant_lint_findings.get(variant, 0)
            self._variant_lint_findings[variant] = known + warning_count
        self._bus.emit(
            "validator.variant_lint", {"variant": variant, "warning_count": warning_count}
        )

    def record_catalog_fetch(self, catalog_name: str, duration_ms: float) -> None:
        """Add the milliseconds that a catalog took, and publish ``catalog.fetch_completed``."""
        with self._lock:
            known = self._catalog_fetch_ms.get(catalog_name, 0.0)
            self._catalog_fetch_ms[catalog_name] = known + duration_ms
        self._bus.emit(
            "catalog.fetch_completed", {"catalog_name": catalog_name, "duration_ms": duration_ms}
        )

    @property
    def breakdown(self) -> CostBreakdown:
        """Return a snapshot of all sums, rows in order of first use."""
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
                total_usd=self._ledger.spent,
                reserved_usd=self._ledger.reserved,
                unconfirmed_usd=self._unconfirmed,
            )

    def _prepare(self, call: LargestCall, limit: Decimal | None) -> Reservation:
        """Return a reservation that isn't open yet. Raises ``UnknownPriceError``."""
        provider, model = call.caller.provider, call.caller.model
        price = partial(self._price, provider, model, call.input_tokens, call.max_output_tokens)
        plain, all_written = price(), price(cache_write_tokens=call.input_tokens)
        if plain is None and limit is not None:
            if find_spec("genai_prices") is None:
                raise missing_extra("llm", "Enforcing a cost limit")
            raise UnknownPriceError(provider, model)
        amount = max(plain or Decimal(0), all_written or Decimal(0))
        return Reservation(self, call.caller, Hold(amount))

    def _noted(self, reservation: Reservation) -> Reservation:
        """Report a reservation before its call is sent; what can't be reported isn't spent."""
        try:
            self.on_reserved()
        except BaseException:
            self._release(reservation)
            raise
        return reservation

    def _settle(
        self, reservation: Reservation, tokens: Tokens, estimated_output_tokens: int
    ) -> None:
        if not reservation.hold.is_open:
            return
        cost = self._cost(reservation.caller, tokens)
        reported = tokens._replace(output=tokens.output - estimated_output_tokens)
        confirmed = self._cost(reservation.caller, reported) if estimated_output_tokens else cost
        unconfirmed = (cost or Decimal(0)) - (confirmed or Decimal(0))
        if self._spend(reservation, tokens, cost, unconfirmed):
            self._publish(reservation.caller, tokens, missing_usage=False)
            self._check_limit()

    def _settle_without_usage(self, reservation: Reservation) -> None:
        if not reservation.hold.is_open:
            return
        nothing = Tokens(0, 0, 0, 0)
        is_priced = self._cost(reservation.caller, nothing) is not None
        cost = reservation.reserved_usd if is_priced else None
        if self._spend(reservation, nothing, cost, cost or Decimal(0)):
            self._publish(reservation.caller, nothing, missing_usage=True)
            self.record_missing_usage()

    def _spend(
        self, reservation: Reservation, tokens: Tokens, cost: Decimal | None, unconfirmed: Decimal
    ) -> bool:
        """Replace a reserve by the actual cost; return False if it was settled already."""
        # One lock for both: between releasing and spending, another call could reserve.
        with self._lock:
            if not self._ledger.release(reservation.hold):
                return False
            self._add(reservation.caller, tokens, cost)
            self._unconfirmed += unconfirmed
        self._queue.serve()
        return True

    def _cost(self, caller: Caller, tokens: Tokens) -> Decimal | None:
        return self._price(
            caller.provider,
            caller.model,
            tokens.input,
            tokens.output,
            tokens.cached,
            cache_write_tokens=tokens.cache_written,
        )

    def _abandon(self, hold: Hold) -> None:
        """Record that nobody will settle a reservation: it stays, but no call waits for it."""
        hold.is_abandoned = True
        self._queue.serve()

    def _release(self, reservation: Reservation) -> None:
        with self._lock:
            self._ledger.release(reservation.hold)
        self._queue.serve()

    def _add(self, caller: Caller, tokens: Tokens, cost: Decimal | None) -> None:
        """Add a call to all sums. The caller has the lock."""
        self._models.setdefault((caller.provider, caller.model), Sum()).add(tokens, cost)
        self._agents.setdefault((caller.stage, caller.agent_class), Sum()).add(tokens, cost)
        self._ledger.spent += cost or Decimal(0)

    def _publish(self, caller: Caller, tokens: Tokens, missing_usage: bool) -> None:
        """Publish a call. The caller doesn't have the lock: an observer may ask the tracker."""
        self._bus.emit(
            "llm.call_completed",
            {
                "provider": caller.provider,
                "model": caller.model,
                "input_tokens": tokens.input,
                "output_tokens": tokens.output,
                "stage": caller.stage,
                "agent_class": caller.agent_class,
                "missing_usage": missing_usage,
            },
        )

    def _check_limit(self) -> None:
        limit, total = self._limit, self.total_usd
        if limit is None:
            limit = configured_limit_of_past_calls()
        if limit is not None and total > limit:
            raise CostLimitExceeded(total, limit)


def _ignore_reservations() -> None:
    """Report to nobody."""


# The tracker of the run that this code is part of: by default, the process is one run.

_DEFAULT = RunCostTracker()
_CURRENT: ContextVar[RunCostTracker | None] = ContextVar("fluid_cost_tracker", default=None)


def get_cost_tracker() -> RunCostTracker:
    """Return the tracker of this context's run, or the process's default."""
    return _CURRENT.get() or _DEFAULT


@contextmanager
def use_cost_tracker(tracker: RunCostTracker) -> Generator[RunCostTracker]:
    """Use ``tracker`` in this context and the tasks that it starts.

    A thread that the caller starts itself needs ``contextvars.copy_context`` to inherit it.
    """
    token = _CURRENT.set(tracker)
    try:
        yield tracker
    finally:
        _CURRENT.reset(token)
