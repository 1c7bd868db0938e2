"""Limits and prices as the user has configured them."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from fluid_build.copilot.context.model_data import price_usd
from fluid_build.errors import UsageError


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
