"""The context of an agent's loop: prompts that don't fit are refused, long loops compacted."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from fluid_build.copilot.agents.agent import Agent
from fluid_build.copilot.agents.agent.model_turns import ConversationDigest, ConversationTokens
from fluid_build.copilot.agents.base import StageSession
from fluid_build.copilot.context.token_budget import estimate_prompt_tokens
from fluid_build.copilot.errors import ContextOverflowError
from fluid_build.copilot.llm.answers import LlmResponse
from fluid_build.copilot.llm.base import LlmConfig, LlmPrompt
from fluid_build.copilot.llm.summarizer import SUMMARY_INSTRUCTIONS
from fluid_build.copilot.llm.testing import ScriptedProvider
from fluid_build.copilot.messages import Message
from fluid_build.copilot.store.backends.null import NullBackend
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from tests.copilot.agents.agent.models import call


def read(page: int) -> str:
    """Read a page."""
    return f"page {page} " * 100


def reading(turns: int) -> Any:
    """A model that reads so many pages; it reports no usage."""

    def answer(prompt: LlmPrompt) -> LlmResponse:
        page = answer.turns = answer.turns + 1  # type: ignore[attr-defined]
        if page > turns:
            return LlmResponse("done")
        return LlmResponse("", (call("read", f"c{page}", page=page),), None, "tool_calls")

    answer.turns = 0  # type: ignore[attr-defined]
    return ScriptedProvider(answer)


def reader(model: Any, window: int, **settings: Any) -> Agent[None, str]:
    session = StageSession(
        NullBackend(), LlmConfig("anthropic", "m"), capability_matrix={"context_window": window}
    )
    return Agent(session, client=model, tools=[read], max_output_tokens=100, **settings)


def tokens(prompt: LlmPrompt) -> int:
    return estimate_prompt_tokens(prompt.messages, tools=prompt.tools)  # type: ignore[arg-type]


def test_a_long_loop_is_compacted_where_it_outgrows_the_window() -> None:
    model = reading(20)
    result = reader(model, 3000).run_sync("Read the book.")
    assert result.output == "done"
    assert all(tokens(prompt) <= 2900 for prompt in model.prompts)
    assert all(prompt.messages[0]["content"] == "Read the book." for prompt in model.prompts)


def test_what_was_compacted_is_not_compacted_again_each_turn() -> None:
    """It is half the budget, so that it may grow for some turns."""
    model = reading(20)
    reader(model, 3000).run_sync("Read the book.")
    lengths = [tokens(prompt) for prompt in model.prompts]
    compactions = [after for before, after in itertools.pairwise(lengths) if after < before]
    assert 1 < len(compactions) < 8


def test_before_the_documented_turn_a_prompt_that_does_not_fit_is_refused() -> None:
    model = reading(20)
    with pytest.raises(ContextOverflowError):
        reader(model, 1500).run_sync("Read the book.")
    assert len(model.prompts) < 6


def test_the_documented_turn_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLUID_AGENT_COMPACT_AFTER", "2")
    assert reader(reading(20), 1500).run_sync("Read the book.").output == "done"


def test_summaries_come_from_the_agents_summarizer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLUID_COMPACTION_STRATEGY", "summarize")
    model = reading(12)
    reader(model, 3000, summarizer=lambda text: "It was long.").run_sync("Read the book.")
    texts = [str(message["content"]) for message in model.prompts[-1].messages]
    assert any(text.endswith("It was long.") for text in texts)


def test_without_a_summarizer_the_model_summarizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider's fast model does, where the client has one, and its tokens are the run's."""
    monkeypatch.setenv("FLUID_COMPACTION_STRATEGY", "summarize")
    pages = reading(12)
    model = ScriptedProvider(
        lambda prompt: (
            "It was long." if prompt.system == SUMMARY_INSTRUCTIONS else pages._function(prompt)
        )
    )
    result = reader(model, 3000).run_sync("Read the book.")
    texts = [str(message["content"]) for message in model.prompts[-1].messages]
    assert any(text.endswith("It was long.") for text in texts)
    summaries = [prompt for prompt in model.prompts if prompt.system == SUMMARY_INSTRUCTIONS]
    without = reader(reading(12), 3000, summarizer=lambda text: "It was long.")
    assert result.usage.output_tokens == len(summaries) + (
        without.run_sync("Read the book.").usage.output_tokens
    )


def test_a_compacted_run_resumes_compacted(tmp_path: Path) -> None:
    store, model = SqliteBackend(tmp_path / "store.db"), reading(20)
    result = reader(model, 3000).run_sync("Read the book.", store=store, run_id="r")
    again = reader(model, 3000).resume_sync("r", store=store)
    assert list(again.messages) == list(result.messages)
    store.close()


def test_a_model_with_an_unknown_window_is_not_compacted(tmp_path: Path) -> None:
    model = reading(20)
    Agent(model, tools=[read]).run_sync("Read the book.")
    assert len(model.prompts[-1].messages) == 41


def message(text: str) -> Message:
    return {"role": "user", "content": text}


def test_a_digest_depends_on_every_message_and_their_order() -> None:
    growing, a, b = ConversationDigest(), message("a"), message("b")
    first, both = growing.of([a]), growing.of([a, b])
    assert first == ConversationDigest().of([a])
    assert both == ConversationDigest().of([message("a"), message("b")])
    assert growing.of([b, a]) == ConversationDigest().of([b, a])
    assert len({first, both, growing.of([b, a]), growing.of([b]), growing.of([])}) == 5


def test_tokens_are_those_of_the_whole_conversation_unless_reported() -> None:
    growing, conversation = ConversationTokens(), [message("one two three"), message("four")]
    growing.of(conversation[:1])
    assert growing.of(conversation) == estimate_prompt_tokens(conversation)
    growing.correct(100)
    more = [*conversation, message("five")]
    assert growing.of(more) == 100 + estimate_prompt_tokens(more[2:])
