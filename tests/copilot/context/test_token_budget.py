"""The estimate of messages, the anchor on reported usage, and the pre-flight check."""

import pytest

from fluid_build.copilot.agents.errors import ContextOverflowError
from fluid_build.copilot.context.token_budget import (
    HeuristicTokenCounter,
    TokenBudget,
    check_prompt_fits,
    estimate_message_tokens,
)


def test_the_counter_has_the_documented_protocol():
    """count_tokens(text) -> int."""
    assert HeuristicTokenCounter().count_tokens("a" * 7) == 2


def test_everything_in_a_message_counts():
    """Calls, their arguments and content blocks are in the estimate."""
    plain = estimate_message_tokens({"role": "assistant", "content": ""})
    call = {"id": "1", "name": "t", "arguments": {"x": "y" * 350}}
    assert (
        estimate_message_tokens({"role": "assistant", "content": "", "tool_calls": [call]})
        > plain + 100
    )
    assert (
        estimate_message_tokens({"role": "user", "content": [{"type": "text", "text": "y" * 350}]})
        > 100
    )


def message(text):
    return {"role": "user", "content": text}


def test_reported_usage_is_the_anchor_and_only_the_rest_is_estimated():
    """After a report the estimate is the report plus the new messages."""
    budget = TokenBudget()
    first = [message("a" * 700)]
    budget.record_usage(first, 1000, system="s")
    new = message("b" * 35)
    assert budget.estimate([*first, new], system="s") == 1000 + estimate_message_tokens(new)
    assert budget.estimate(first, system="s") == 1000


def test_a_changed_history_or_prompt_is_estimated_from_scratch():
    """The anchor holds only for the very conversation that it was reported for."""
    budget = TokenBudget()
    budget.record_usage([message("a")], 1000, system="s")
    assert budget.estimate([message("b")], system="s") < 100
    assert budget.estimate([message("a")], system="t") < 100
    assert budget.estimate([message("a")], system="s", tools=[{"name": "x"}]) < 100


def test_a_missing_report_changes_nothing():
    """A provider that reports no usage leaves the estimate in place."""
    budget = TokenBudget()
    budget.record_usage([message("a" * 700)], 0)
    assert budget.estimate([message("a" * 700)]) >= 200


def test_a_prompt_that_fits_passes_and_gives_the_window():
    """At exactly window - reservation the prompt still fits."""
    matrix = {"context_window": 1000}
    assert (
        check_prompt_fits(900, model="m", capability_matrix=matrix, output_reservation=100) == 1000
    )


def test_a_prompt_that_does_not_fit_is_refused_before_it_is_sent():
    """One token more raises ContextOverflowError with all three figures, never to be retried."""
    with pytest.raises(ContextOverflowError) as caught:
        check_prompt_fits(
            901, model="m", capability_matrix={"context_window": 1000}, output_reservation=100
        )
    error = caught.value
    assert (error.prompt_tokens, error.context_window, error.output_reservation) == (901, 1000, 100)
    assert not error.retryable


def test_a_small_window_keeps_a_quarter_for_the_answer():
    """The default reservation never eats a small model's window."""
    check_prompt_fits(3072, model="phi-3", provider="ollama")
    with pytest.raises(ContextOverflowError):
        check_prompt_fits(3073, model="phi-3", provider="ollama")


def test_an_unknown_model_passes():
    """Nobody knows the window, so nobody refuses."""
    assert check_prompt_fits(10**9, model="nobody-knows-it", provider="openai") is None
