"""The settings that exist, their types and their environment variables.

Source: Agentic Primitives, "Unified config".
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from fluid_build.errors import UsageError

ENVIRONMENT: Mapping[str, str] = {
    "llm.provider": "FLUID_LLM_PROVIDER",
    "llm.model": "FLUID_LLM_MODEL",
    "llm.base_url": "FLUID_LLM_BASE_URL",
    "llm.tiered": "FLUID_LLM_TIERED",
    "behavior.quiet": "FLUID_QUIET",
    "behavior.deterministic": "FLUID_DETERMINISTIC",
    "behavior.cost_limit_usd_per_run": "FLUID_COST_LIMIT_USD",
}
"""The environment variable of each setting that has one."""


class ConfigError(UsageError):
    """A configuration that isn't valid; ``key`` and ``line`` (from 1) say where."""

    def __init__(
        self,
        message: str,
        *,
        key: str | None = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.key = key
        self.line = line


def _checked_address(address: str) -> str:
    try:
        parts = urlsplit(address)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_address = False
    if not is_address:
        raise PydanticCustomError("address", "Input should be an http or https address")
    if parts.username or parts.password:
        raise PydanticCustomError(
            "address_with_key",
            "Input should have no user name or password: a key belongs in the environment",
        )
    return address


Address: TypeAlias = Annotated[str, AfterValidator(_checked_address)]
"""An http or https address without credentials."""

Dollars: TypeAlias = Annotated[Decimal, Field(ge=0, allow_inf_nan=False)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LlmSettings(_Section):
    """The model to use, if any; ``base_url`` is for servers other than the provider's own."""

    provider: str | None = None
    model: str | None = None
    base_url: Address | None = None
    max_output_tokens: int | None = Field(default=None, ge=1)
    tiered: bool = False


class SourcesConfig(_Section):
    """Sources by name; their settings depend on the catalog."""

    sources: dict[str, dict[str, object]] = Field(default_factory=dict)


class PricesConfig(_Section):
    """Prices by model: US dollars per million tokens of input, of output and of cached input.

    The last may be left out.
    """

    prices: dict[str, Annotated[tuple[Dollars, ...], Field(min_length=2, max_length=3)]] = Field(
        default_factory=dict
    )


class BehaviorConfig(_Section):
    """The behaviour of runs. The limit is in US dollars; None means no limit."""

    quiet: bool = False
    deterministic: bool = False
    cost_limit_usd_per_run: Dollars | None = None


class UnifiedConfig(_Section):
    """All settings, each from the first place that has it."""

    schema_version: int = Field(default=1, ge=1, le=1)
    llm: LlmSettings = LlmSettings()
    sources: SourcesConfig = SourcesConfig()
    prices: PricesConfig = PricesConfig()
    behavior: BehaviorConfig = BehaviorConfig()
