"""What stops a run for the sake of its ceiling."""

from __future__ import annotations

from decimal import Decimal

from fluid_build.errors import FluidError

__all__ = ["COST_LIMIT_VARIABLE", "CostLimitExceeded", "UnknownPriceError"]

COST_LIMIT_VARIABLE = "FLUID_COST_LIMIT_USD"


class CostLimitExceeded(FluidError):  # noqa: N818 - the documented name
    """The run has passed its ceiling, or the next call could: US dollars, both figures."""

    def __init__(self, total_usd: Decimal, limit_usd: Decimal) -> None:
        super().__init__(
            f"CostLimitExceeded({_dollars(total_usd, limit_usd)} > "
            f"{_dollars(limit_usd, total_usd)})",
            hint=f"Raise {COST_LIMIT_VARIABLE} or behavior.cost_limit_usd_per_run.",
        )
        self.total_usd = total_usd
        self.limit_usd = limit_usd


class UnknownPriceError(FluidError):
    """There is a ceiling, and nobody knows what this model costs."""

    def __init__(self, provider: str, model: str) -> None:
        super().__init__(
            f"The price of {provider} model {model!r} is not known, so the cost ceiling of this "
            "run could not be kept.",
            hint="Give its price under prices in config.yaml: dollars for a million input and "
            "output tokens, [0, 0] for a model of your own.",
        )
        self.provider = provider
        self.model = model


def _dollars(amount: Decimal, other: Decimal) -> str:
    """Cents, or as many places as it takes to tell the two amounts apart."""
    for places in range(2, 12):
        if round(amount, places) != round(other, places):
            return f"${amount:.{places}f}"
    return f"${amount}"
