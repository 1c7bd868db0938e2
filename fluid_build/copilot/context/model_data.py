"""Context windows and prices of models.

They come from genai-prices (bundled data, no network), which is imported on first use because that
takes a third of a second; a small table has the windows that it lacks. What the user configured
takes precedence over both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo

PriceOverrides = Mapping[str, Sequence[float | int | str | Decimal]]
"""US dollars per million tokens of input, of output and, optionally, of input read from the
provider's cache, by model or ``provider/model``."""

LOCAL_PROVIDERS = frozenset({"ollama", "vllm", "lmstudio"})
"""Providers that run on the user's own machines, where no call costs money."""

_NAMES_IN_GENAI_PRICES = {"gemini": "google"}
_PER_MILLION = Decimal(1_000_000)

_WINDOWS: tuple[tuple[str, int], ...] = (
    ("gemini-1.5-pro", 2_097_152),
    ("gemini-2.5-pro", 1_048_576),
    ("gemini-", 1_048_576),
    ("gpt-4.1", 1_047_576),
    ("claude-", 200_000),
    ("gpt-oss", 131_072),
    ("codellama", 16_384),
    ("command-r", 131_072),
    ("deepseek-r1", 131_072),
    ("gemma3", 131_072),
    ("gemma2", 8_192),
    ("gemma", 8_192),
    ("llama3.1", 131_072),
    ("llama3.2", 131_072),
    ("llama3.3", 131_072),
    ("llama3", 8_192),
    ("llama2", 4_096),
    ("mistral-nemo", 131_072),
    ("mistral", 32_768),
    ("mixtral", 32_768),
    ("phi4", 16_384),
    ("phi-3", 4_096),
    ("phi3", 4_096),
    ("qwen2.5", 32_768),
    ("qwen3", 40_960),
)
"""Windows by the beginning of a model's name, the longer first, where genai-prices has none."""


def context_window(
    model: str,
    provider: str | None = None,
    *,
    capability_matrix: Mapping[str, object] | None = None,
) -> int | None:
    """Return the tokens that prompt and answer may have together; None for an unknown model.

    ``capability_matrix["context_window"]`` takes precedence: raises ``ValueError`` unless that is
    a positive whole number.
    """
    override = (capability_matrix or {}).get("context_window")
    if override is not None:
        if isinstance(override, bool) or not isinstance(override, int) or override <= 0:
            raise ValueError('capability_matrix["context_window"] must be a positive whole number')
        return int(override)
    if provider is not None:
        provider, model = _split_provider(provider, model)
    info = _model_info(model, provider)
    if info is not None and info.context_window:
        return int(info.context_window)
    name = model.rpartition("/")[2].lower()
    return next((window for start, window in _WINDOWS if name.startswith(start)), None)


def price_usd(
    provider: str,
    model: str,
    input_tokens: int,
    output_tokens: int,
    cached_tokens: int = 0,
    *,
    cache_write_tokens: int = 0,
    overrides: PriceOverrides | None = None,
) -> Decimal | None:
    """Return the US dollars that a call costs; None where the price is unknown, which isn't free.

    ``input_tokens`` is the whole prompt, with the ``cached_tokens`` read from and the
    ``cache_write_tokens`` written to the provider's cache. By the user's own prices, cached tokens
    without a price of their own cost the same as other input, and written ones as many times more
    as by the listed prices.
    """
    provider, model = _split_provider(provider, model)
    if min(input_tokens, output_tokens, cached_tokens, cache_write_tokens) < 0:
        raise ValueError("token counts must not be negative")
    cached_tokens = min(cached_tokens, input_tokens)
    cache_write_tokens = min(cache_write_tokens, input_tokens - cached_tokens)
    configured = _override(provider, model, overrides or {})
    if configured is not None:
        prices = (*configured, configured[0]) if len(configured) == 2 else configured
        surcharge = _write_ratio(provider, model) - 1 if cache_write_tokens else Decimal(0)
        plain = input_tokens - cached_tokens + cache_write_tokens * surcharge
        spent = plain * prices[0] + cached_tokens * prices[2] + output_tokens * prices[1]
        return spent / _PER_MILLION
    if provider in LOCAL_PROVIDERS:
        return Decimal(0)
    return _listed_price(
        provider, model, input_tokens, output_tokens, cached_tokens, cache_write_tokens
    )


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model by its name, with its window in tokens and US dollars per million tokens."""

    name: str
    window: int | None
    input_usd: Decimal | None
    output_usd: Decimal | None


def known_models(provider: str) -> list[KnownModel]:
    """Return the models of a provider that have a listed price, by name; imports genai-prices."""
    from genai_prices import data_snapshot

    provider_id = _NAMES_IN_GENAI_PRICES.get(provider, provider)
    names = sorted(
        info.id
        for listed in data_snapshot.get_snapshot().providers
        if listed.id == provider_id
        for info in listed.models
    )
    return [
        KnownModel(
            name,
            context_window(name, provider),
            price_usd(provider, name, 1_000_000, 0),
            price_usd(provider, name, 0, 1_000_000),
        )
        for name in names
    ]


@lru_cache(maxsize=256)
def _write_ratio(provider: str, model: str) -> Decimal:
    """Return the listed price of writing to the cache over that of other input; 1 if unknown."""
    plain = _listed_price(provider, model, 1000, 0, 0, 0)
    written = _listed_price(provider, model, 1000, 0, 0, 1000)
    return max(written / plain, Decimal(1)) if plain and written else Decimal(1)


def _listed_price(
    provider: str, model: str, total_input: int, output: int, cached: int, written: int
) -> Decimal | None:
    info = _model_info(model, provider)
    if info is None:
        return None
    from genai_prices import Usage, calc_price

    try:
        return calc_price(
            Usage(
                input_tokens=total_input,
                output_tokens=output,
                cache_read_tokens=cached,
                cache_write_tokens=written,
            ),
            model_ref=_plain_model(model, provider),
            provider_id=_NAMES_IN_GENAI_PRICES.get(provider, provider),
        ).total_price
    except LookupError:
        return None


@lru_cache(maxsize=256)
def _model_info(model: str, provider: str | None) -> ModelInfo | None:
    if provider in LOCAL_PROVIDERS:
        return None
    try:
        from genai_prices import data_snapshot
    except ImportError:  # the extra is not installed
        return None
    provider_id = _NAMES_IN_GENAI_PRICES.get(provider, provider) if provider else None
    try:
        _, info = data_snapshot.get_snapshot().find_provider_model(
            _plain_model(model, provider), None, provider_id, None
        )
    except LookupError:
        return None
    return info


def _split_provider(provider: str, model: str) -> tuple[str, str]:
    """Return provider and model where LiteLLM names both: ``anthropic/claude-...``."""
    if provider == "litellm" and "/" in model:
        provider, _, model = model.partition("/")
    return provider, model


def _plain_model(model: str, provider: str | None) -> str:
    """Return a model's name without the ``models/`` that Google's API puts before it."""
    return model.removeprefix("models/") if provider == "gemini" else model


def _override(provider: str, model: str, overrides: PriceOverrides) -> tuple[Decimal, ...] | None:
    configured = overrides.get(f"{provider}/{model}", overrides.get(model))
    if configured is None:
        return None
    prices = tuple(Decimal(str(price)) for price in configured)
    if len(prices) not in (2, 3) or any(not p.is_finite() or p < 0 for p in prices):
        raise ValueError(f"the price of {model} must be two or three numbers, none negative")
    return prices
