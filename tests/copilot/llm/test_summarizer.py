"""The default summarizer: the fast tier, over the same client, for compaction."""

import pytest

from fluid_build.copilot.context.compaction import CompactionStrategy, compact_messages
from fluid_build.copilot.context.summary import SUMMARY_HEADING
from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.copilot.llm.summarizer import make_summarizer
from fluid_build.errors import UsageError
from tests.fault_server import Reply, server_error

MESSAGES = [
    {"role": "user", "content": "Find the key."},
    *({"role": "assistant", "content": f"step {n} " * 200} for n in range(10)),
]


def compact(client, strategy=CompactionStrategy.SUMMARIZE):
    summarizer = make_summarizer(client, client.provider.fast_model)
    return compact_messages(MESSAGES, max_tokens=3500, strategy=strategy, summarizer=summarizer)


def test_a_compaction_is_one_call_to_the_fast_tier(bench):
    """The transcript goes there, its sentences come back into the conversation."""
    server = bench.serve(Reply("They looked for the key."))
    with bench.client("openai") as client:
        compacted = compact(client)
    assert len(server.requests) == 1
    assert server.requests[0].body["model"] == "gpt-6-luna"
    assert "step 0" in server.requests[0].raw.decode()
    assert compacted[1]["content"] == f"{SUMMARY_HEADING}\nThey looked for the key."


def test_a_provider_that_is_down_gives_way_to_truncation(bench):
    """The loop goes on."""
    bench.serve(*[server_error()] * 3)
    with bench.client("openai") as client:
        compacted = compact(client)
    assert "characters left out" in str(compacted)


@pytest.mark.parametrize("stop_reason", ["refused", "length"])
def test_a_refusal_or_half_a_summary_gives_way_to_truncation(stop_reason, bench):
    """Neither says what happened before."""
    bench.serve(Reply("They looked", stop_reason=stop_reason))
    with bench.client("openai") as client:
        compacted = compact(client)
    assert "characters left out" in str(compacted)


def test_a_provider_without_a_fast_model_asks_for_one(bench):
    """Ollama's models are the user's own."""
    client = bench.client("ollama", "http://127.0.0.1:9")
    with pytest.raises(UsageError, match="no fast model"):
        make_summarizer(client, client.provider.fast_model)


def test_the_cost_of_a_summary_has_its_own_stage(bench):
    """Under a stage of its own."""
    bench.serve(Reply("Short."))
    with bench.client("openai") as client:
        make_summarizer(client, "fast")("text")
        assert client._tracker.breakdown.agent_rows[0].stage == "compaction"


def test_the_prompt_is_small_and_says_what_to_keep(bench):
    """Three to five sentences: goal, tools, decisions."""
    server = bench.serve(Reply("Short."))
    with bench.client("anthropic") as client:
        make_summarizer(client, client.provider.fast_model)("text")
    body = server.requests[0].body
    assert "goal" in body["system"][0]["text"]
    assert 2000 < body["max_tokens"] <= 4096  # what a model thinks counts too
    assert isinstance(LlmPrompt("m", []).tools, tuple)
