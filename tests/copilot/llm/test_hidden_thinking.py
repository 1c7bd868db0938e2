"""A stream that ends early may have thought unseen, so it costs the most that it may have."""

import contextlib
import json
from decimal import Decimal

import httpx
import pytest

from fluid_build.copilot.cost import RunCostTracker
from fluid_build.copilot.errors import ProviderServerError
from fluid_build.copilot.events import EventBus
from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.copilot.llm.streaming import TextEvent

USAGE = {"input_tokens": 10, "output_tokens": 1}
START = {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": USAGE}}
ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}
FINAL = {
    "type": "message_delta",
    "delta": {"stop_reason": "end_turn"},
    "usage": {"output_tokens": 400},
}
MOST = Decimal("10.10")


def block(index, **content):
    return [
        {"type": "content_block_start", "index": index, "content_block": content},
        {"type": "content_block_stop", "index": index},
    ]


HIDDEN = block(0, type="thinking", thinking="", signature="EqQB" * 20)
REDACTED = block(0, type="redacted_thinking", data="abcd")
SEARCH = block(0, type="server_tool_use", id="s", name="web_search", input={})
TEXT = [
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "text_delta", "text": "Hi"},
    },
]
"""It goes on."""


def cost_of(bench, wire, model, documents, **options):
    """The cost of an attempt where the reader leaves at the first text; a token costs a cent."""

    def answer(request):
        frames = "".join(f"data: {json.dumps(document)}\n\n" for document in documents)
        return httpx.Response(200, text=frames, headers={"content-type": "text/event-stream"})

    def price(provider, model, input_tokens, output_tokens, *_, **__):
        return Decimal(input_tokens + output_tokens) / 100

    cost = RunCostTracker(price=price, bus=EventBus())
    transport = httpx.MockTransport(answer)
    client = bench.client(wire, "http://127.0.0.1:9", tracker=cost, transport=transport)
    messages = [{"role": "user", "content": "hello"}]
    prompt = LlmPrompt(model, messages, max_output_tokens=1000, **options)
    with client, contextlib.suppress(ProviderServerError), client.stream_sync(prompt) as stream:
        for event in stream:
            if isinstance(event, TextEvent):
                break
    assert cost.breakdown.reserved_usd == 0
    return cost.total_usd / cost.breakdown.rows[0].calls


@pytest.mark.parametrize("thought", [HIDDEN, REDACTED, SEARCH], ids=["hidden", "redacted", "tool"])
@pytest.mark.parametrize("end", [TEXT, [ERROR]], ids=["left", "failed"])
def test_thinking_that_was_not_shown_costs_all_that_it_may_have_had(thought, end, bench):
    """Only the end of the answer says how much it was."""
    documents = [START, *thought, *end]
    assert cost_of(bench, "anthropic", "claude-sonnet-4-6", documents) == MOST


def test_a_model_that_thinks_by_default_may_have_thought(bench):
    """Even if no block of it has come yet."""
    documents = [START, *TEXT]
    assert cost_of(bench, "anthropic", "claude-opus-5-5", documents) == MOST
    extra = {"thinking": {"type": "adaptive"}}
    assert cost_of(bench, "anthropic", "claude-opus-4-8", documents, extra=extra) == MOST


def test_an_answer_without_thinking_costs_its_length(bench):
    """Everything that is billed has been seen."""
    assert cost_of(bench, "anthropic", "claude-opus-4-8", [START, *TEXT]) < 1
    extra = {"thinking": {"type": "disabled"}}
    assert cost_of(bench, "anthropic", "claude-opus-5-5", [START, *TEXT], extra=extra) < 1


def test_a_final_report_is_believed(bench):
    """It counts thinking too."""
    documents = [START, *HIDDEN, *TEXT, FINAL]
    assert cost_of(bench, "anthropic", "claude-opus-5-5", documents) == Decimal("4.10")


@pytest.mark.parametrize(("counted", "total"), [({}, MOST), ({"thoughtsTokenCount": 50}, None)])
def test_geminis_thoughts_count_once_they_are_reported(counted, total, bench):
    """Until then, a signature says that there were some."""
    parts = [{"text": "Hi", "thoughtSignature": "c2ln"}]
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 1, **counted}
    document = {"candidates": [{"content": {"parts": parts}}], "usageMetadata": usage}
    cost = cost_of(bench, "gemini", "gemini-3-pro", [document])
    assert cost == total if total else cost < 1
