"""Compaction of a long loop: budget, head and tail, pairs, markers, summaries and their failure."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.context.compaction import (
    CompactionStrategy,
    compact_after,
    compact_messages,
    compaction_strategy,
)
from fluid_build.copilot.context.summary import SUMMARY_HEADING
from fluid_build.copilot.context.token_budget import estimate_message_tokens
from fluid_build.errors import UsageError
from tests.copilot.context.conversations import (
    assert_pairs_are_whole,
    conversations,
    system_messages,
)

every_strategy = pytest.mark.parametrize("strategy", list(CompactionStrategy))


def size(messages):
    return sum(map(estimate_message_tokens, messages))


@every_strategy
@given(messages=conversations(), max_tokens=st.integers(450, 2000))
def test_compaction_holds_its_budget_and_breaks_nothing(strategy, messages, max_tokens):
    """Within the budget, system messages there, pairs whole, the input untouched."""
    given_messages = copy.deepcopy(messages)
    compacted = compact_messages(
        messages,
        max_tokens=max_tokens,
        strategy=strategy,
        summarizer=lambda text: "They read files. " * 30,
    )
    assert size(compacted) <= max_tokens
    assert system_messages(compacted) == system_messages(messages)
    assert_pairs_are_whole(messages, compacted)
    assert compacted[-1]["role"] == messages[-1]["role"]
    assert messages == given_messages


@every_strategy
@given(messages=conversations(), max_tokens=st.integers(450, 2000))
def test_what_was_compacted_is_not_compacted_again(strategy, messages, max_tokens):
    """A second pass changes nothing and asks no summarizer."""
    once = compact_messages(
        messages, max_tokens=max_tokens, strategy=strategy, summarizer=lambda text: "Short."
    )

    def never(text):
        raise AssertionError("asked again")

    assert (
        compact_messages(once, max_tokens=max_tokens, strategy=strategy, summarizer=never) == once
    )


def loop(turns, rows=400):
    """An agent loop: a goal, then calls with large arguments and large results."""
    messages = [
        {"role": "system", "content": "You model data."},
        {"role": "user", "content": "Find the keys of the orders table."},
    ]
    for turn in range(turns):
        call = {
            "id": f"c{turn}",
            "name": f"tool_{turn}",
            "arguments": {"sql": f"select {turn} " * 100},
        }
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append(
            {"role": "tool", "tool_call_id": f"c{turn}", "content": f"row {turn} " * rows}
        )
    return messages


def test_truncate_keeps_head_and_tail_whole_and_clips_the_middle():
    """The goal and the last messages are as they were; the middle is shorter, none is gone."""
    messages = loop(8)
    compacted = compact_messages(
        messages, max_tokens=size(messages) // 2, strategy=CompactionStrategy.TRUNCATE
    )
    assert compacted[:2] == messages[:2]
    assert compacted[-4:] == messages[-4:]
    assert len(compacted) == len(messages)
    assert "characters left out" in compacted[3]["content"]


def test_truncate_keeps_tool_names_and_marks_the_arguments():
    """The model still sees what it called."""
    messages = loop(8)
    compacted = compact_messages(
        messages, max_tokens=size(messages) // 3, strategy=CompactionStrategy.TRUNCATE
    )
    call = compacted[2]["tool_calls"][0]
    assert call["name"] == "tool_0"
    assert set(call["arguments"]) == {"_truncated", "_preview", "_total_chars"}
    assert call["arguments"]["_truncated"] is True
    assert call["arguments"]["_total_chars"] > 900


def test_summarize_replaces_the_middle_by_a_message():
    """Head, summary, tail; the summarizer saw what the middle said."""
    seen = []
    messages = loop(8)

    def summarizer(text):
        seen.append(text)
        return "The user wants keys; tools 0 to 5 were called."

    compacted = compact_messages(
        messages,
        max_tokens=size(messages) // 2,
        strategy=CompactionStrategy.SUMMARIZE,
        summarizer=summarizer,
    )
    assert len(seen) == 1
    assert "tool_0" in seen[0]
    assert compacted[:2] == messages[:2]
    assert compacted[2]["content"].startswith(SUMMARY_HEADING)
    assert compacted[3:] == messages[-4:]


def test_hybrid_summarizes_the_truncated_middle():
    """The summarizer is given less than with summarize."""
    seen = {}
    messages = loop(8)
    for strategy in (CompactionStrategy.SUMMARIZE, CompactionStrategy.HYBRID):
        compact_messages(
            messages,
            max_tokens=size(messages) // 2,
            strategy=strategy,
            summarizer=lambda text, strategy=strategy: seen.setdefault(strategy, text),
        )
    assert len(seen[CompactionStrategy.HYBRID]) < len(seen[CompactionStrategy.SUMMARIZE])


def failing(text):
    raise RuntimeError("no model")


@pytest.mark.parametrize("strategy", [CompactionStrategy.SUMMARIZE, CompactionStrategy.HYBRID])
@pytest.mark.parametrize("summarizer", [None, failing, lambda text: ""])
def test_a_summarizer_that_fails_gives_way_to_truncation(strategy, summarizer):
    """The result is that of truncate."""
    messages = loop(8)
    budget = size(messages) // 2
    truncated = compact_messages(messages, max_tokens=budget, strategy=CompactionStrategy.TRUNCATE)
    assert (
        compact_messages(messages, max_tokens=budget, strategy=strategy, summarizer=summarizer)
        == truncated
    )


def test_the_goal_outlives_the_tightest_budget():
    """When even the clipped middle must go, the first user message stays."""
    compacted = compact_messages(loop(30), max_tokens=400, strategy=CompactionStrategy.TRUNCATE)
    assert any("keys of the orders table" in str(m["content"]) for m in compacted)
    assert size(compacted) <= 400


def test_a_conversation_that_fits_is_left_alone():
    """Nothing is clipped that need not be."""
    messages = loop(2)
    assert compact_messages(messages, max_tokens=10**6) == messages


def test_the_strategy_comes_from_the_environment(monkeypatch):
    """FLUID_COMPACTION_STRATEGY, truncate by default."""
    monkeypatch.setenv("FLUID_COMPACTION_STRATEGY", "summarize")
    messages = loop(8)
    compacted = compact_messages(
        messages, max_tokens=size(messages) // 2, summarizer=lambda text: "Short."
    )
    assert any(str(m["content"]).startswith(SUMMARY_HEADING) for m in compacted)


@pytest.mark.parametrize(
    ("value", "strategy"),
    [(None, "truncate"), ("", "truncate"), ("truncate", "truncate"), (" Hybrid ", "hybrid")],
)
def test_the_variable_names_a_strategy(value, strategy):
    """Unset is truncate; case and blanks do not matter."""
    environ = {} if value is None else {"FLUID_COMPACTION_STRATEGY": value}
    assert compaction_strategy(environ) is CompactionStrategy(strategy)


def test_an_unknown_strategy_is_refused():
    """With the variable's name and what to do."""
    with pytest.raises(UsageError, match="FLUID_COMPACTION_STRATEGY") as caught:
        compaction_strategy({"FLUID_COMPACTION_STRATEGY": "shrink"})
    assert "summarize" in (caught.value.hint or "")


def test_compaction_starts_after_six_iterations_unless_set():
    """FLUID_AGENT_COMPACT_AFTER, by default 6."""
    assert compact_after({}) == 6
    assert compact_after({"FLUID_AGENT_COMPACT_AFTER": "4"}) == 4


@pytest.mark.parametrize("value", ["0", "-1", "six", "1.5", "²"])
def test_a_number_of_iterations_that_cannot_be_meant_is_refused(value):
    """Only whole numbers from 1."""
    with pytest.raises(UsageError, match="FLUID_AGENT_COMPACT_AFTER"):
        compact_after({"FLUID_AGENT_COMPACT_AFTER": value})
