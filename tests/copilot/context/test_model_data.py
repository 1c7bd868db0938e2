"""Windows and prices: listed, overridden, local, unknown."""

import subprocess
import sys
from decimal import Decimal

import pytest

from fluid_build.copilot.context.model_data import context_window, price_usd


@pytest.mark.parametrize(
    ("provider", "model", "at_least"),
    [
        ("anthropic", "claude-opus-4-7", 1_000_000),
        ("openai", "gpt-4.1", 1_000_000),
        ("gemini", "gemini-2.5-pro", 1_000_000),
        ("gemini", "models/gemini-2.5-flash", 1_000_000),
        ("anthropic", "claude-haiku-4-5", 200_000),
        ("openrouter", "anthropic/claude-sonnet-4", 200_000),
    ],
)
def test_the_documented_models_have_their_windows(provider, model, at_least):
    """From genai-prices, or from the table where that has none."""
    assert (context_window(model, provider) or 0) >= at_least


@pytest.mark.parametrize(
    ("model", "window"), [("gemma2", 8192), ("phi-3", 4096), ("phi3:mini", 4096)]
)
def test_the_documented_local_models_have_their_small_windows(model, window):
    """gemma2 8K, phi-3 4K."""
    assert context_window(model, "ollama") == window


def test_an_unknown_model_has_no_window_and_no_price():
    """None, not a guess, and not free."""
    assert context_window("nobody-knows-it", "openai") is None
    assert price_usd("openai", "nobody-knows-it", 1, 1) is None
    assert price_usd("nobody", "gpt-4.1", 1, 1) is None


def test_the_capability_matrix_overrides_the_window():
    """Per session, for any model."""
    assert context_window("gpt-4.1", "openai", capability_matrix={"context_window": 5}) == 5


@pytest.mark.parametrize("wrong", [0, -1, "8192", 1.5, True])
def test_a_window_must_be_a_positive_whole_number(wrong):
    """A typing error does not switch pre-flight off."""
    with pytest.raises(ValueError, match="context_window"):
        context_window("m", capability_matrix={"context_window": wrong})


def test_a_listed_price_distinguishes_cached_input():
    """Tokens read from the cache are cheaper, tokens written to it dearer, than others."""
    plain = price_usd("anthropic", "claude-sonnet-4-6", 1000, 0)
    read = price_usd("anthropic", "claude-sonnet-4-6", 1000, 0, 1000)
    written = price_usd("anthropic", "claude-sonnet-4-6", 1000, 0, cache_write_tokens=1000)
    assert read < plain < written


def test_a_configured_price_comes_first():
    """The documented override: [input, output] in dollars for a million tokens."""
    prices = {"claude-sonnet-4-6": [2.40, 12.00]}
    assert price_usd(
        "anthropic", "claude-sonnet-4-6", 1_000_000, 1_000_000, overrides=prices
    ) == Decimal("14.4")


def test_a_configured_price_may_name_the_provider_and_the_cache():
    """provider/model wins over model; a third figure is for cached input."""
    prices = {"m": [1, 1], "openai/m": [2, 3, 1]}
    assert price_usd("openai", "m", 1_000_000, 0, 500_000, overrides=prices) == Decimal("1.5")


@pytest.mark.parametrize("wrong", [[1], [1, -1], [1, float("nan")], [1, 2, 3, 4]])
def test_a_configured_price_of_the_wrong_shape_is_refused(wrong):
    """Two or three figures, none negative."""
    with pytest.raises(ValueError, match="price of m"):
        price_usd("openai", "m", 1, 1, overrides={"m": wrong})


def test_a_model_behind_litellm_has_the_window_and_price_of_its_provider():
    """LiteLLM's names hold both."""
    assert context_window("openai/gpt-4.1", "litellm") == context_window("gpt-4.1", "openai")
    assert price_usd("litellm", "openai/gpt-4.1", 9, 9) == price_usd("openai", "gpt-4.1", 9, 9)
    assert price_usd("litellm", "ollama/llama3.1", 9, 9) == 0


def test_a_local_model_costs_nothing():
    """Ollama runs on the user's machine."""
    assert price_usd("ollama", "llama3.1", 10, 10) == 0


def test_more_cached_than_sent_is_not_charged_below_zero():
    """Odd usage reports never give a negative price."""
    assert price_usd("openai", "gpt-4.1", 10, 0, 1000) >= 0


def test_genai_prices_is_imported_on_use_only():
    """Importing the module does not pay for the table of prices."""
    code = (
        "import sys, fluid_build.copilot.context.model_data as m;"
        "assert 'genai_prices' not in sys.modules;"
        "m.context_window('gpt-4.1', 'openai'); assert 'genai_prices' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_own_prices_keep_the_listed_surcharge_for_cache_writes():
    """Anthropic writes at 1.25 times the input price; a model without a listed price at 1."""
    prices = {"claude-sonnet-4-6": ("2.40", 12), "mine": (2, 10)}
    written = {"cache_write_tokens": 100_000, "overrides": prices}
    assert price_usd("anthropic", "claude-sonnet-4-6", 100_000, 0, **written) == Decimal("0.3")
    assert price_usd("vllm", "mine", 100_000, 0, **written) == Decimal("0.2")
