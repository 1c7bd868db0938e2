"""The client's streams in all wire formats, with the fault server's answers and failures."""

import asyncio
import os
import time
from decimal import Decimal

import pytest

from fluid_build.copilot.cost import RunCostTracker
from fluid_build.copilot.errors import (
    ProviderAuthError,
    ProviderServerError,
    ProviderTimeoutError,
    RateLimitError,
)
from fluid_build.copilot.events import EventBus
from fluid_build.copilot.llm.base import LlmPrompt, Usage
from fluid_build.copilot.llm.streaming import (
    AnswerEvent,
    TextEvent,
    ThinkingEvent,
    ToolCallEvent,
    UsageEvent,
)
from fluid_build.copilot.messages import ToolCall
from tests.fault_server import (
    Reply,
    cut_stream,
    dropped_connection,
    garbage,
    overloaded,
    rate_limit,
    silence,
    stream_error,
    trickle,
    unauthorized,
    unfinished_stream,
)

FORMATS = ("anthropic", "openai", "openai-responses", "gemini", "ollama")
every_format = pytest.mark.parametrize("wire", FORMATS)
PROMPT = LlmPrompt("test-model", [{"role": "user", "content": "hello"}], max_output_tokens=1000)


def tracker():
    """A token costs a cent."""
    return RunCostTracker(price=lambda p, m, i, o, *_, **__: Decimal(i + o) / 100, bus=EventBus())


def read_sync(client, prompt, count=None):
    with client, client.stream_sync(prompt) as stream:
        events = []
        for event in stream:
            events.append(event)
            if len(events) == count:
                break
        return events


def read_async(client, prompt, count=None):
    async def read():
        async with client, client.stream(prompt) as stream:
            events = []
            async for event in stream:
                events.append(event)
                if len(events) == count:
                    break
            return events

    return asyncio.run(read())


@pytest.fixture(params=[read_sync, read_async], ids=["sync", "async"])
def read(request):
    return request.param


REPLIES = {
    "text": Reply("Four score and seven years ago, 日本 🎉.", usage=Usage(10, 7, cached_tokens=2)),
    "thinking": Reply("Four.", thinking="Two and two.", usage=Usage(10, 7)),
    "calls": Reply(
        "Let me see.",
        tool_calls=(ToolCall("c1", "count", {"n": 1}), ToolCall("c2", "list_tables", {})),
    ),
    "cut off": Reply("Four sc", stop_reason="length"),
    "without usage": Reply("Four.", usage=None),
}


@every_format
@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
def test_a_streamed_answer_is_the_answer_in_one_piece(wire, reply, bench, read):
    """Its events add up to it, and it costs the same."""
    bench.serve(reply, reply)
    streamed, whole = tracker(), tracker()
    events = read(bench.client(wire, tracker=streamed), PROMPT)
    with bench.client(wire, tracker=whole) as client:
        answer = client.complete_sync(PROMPT)
    assert events[-1] == AnswerEvent(answer)
    assert "".join(event.text for event in events if isinstance(event, TextEvent)) == answer.text
    thinking = (event.text for event in events if isinstance(event, ThinkingEvent))
    assert "".join(thinking) == answer.thinking
    calls = (event.call for event in events if isinstance(event, ToolCallEvent))
    assert tuple(calls) == answer.tool_calls
    if answer.usage is not None:
        assert [e.usage for e in events if isinstance(e, UsageEvent)][-1] == answer.usage
    assert streamed.breakdown == whole.breakdown


@every_format
def test_an_overloaded_provider_within_an_answer_is_a_typed_error(wire, bench, read):
    """In the provider's own words, after the text that came before it."""
    server = bench.serve(stream_error())
    cost = tracker()
    with pytest.raises(ProviderServerError) as caught:
        read(bench.client(wire, tracker=cost), PROMPT)
    assert (caught.value.retryable, caught.value.provider) == (True, wire.partition("-")[0])
    assert (len(server.requests), cost.breakdown.reserved_usd) == (1, 0)
    assert cost.total_usd > 0


@every_format
@pytest.mark.parametrize("fault", [cut_stream(), unfinished_stream()], ids=lambda f: f.kind)
def test_a_stream_without_its_end_is_an_error_and_charged(wire, fault, bench, read):
    """Whether the connection was lost, or the server just stopped."""
    bench.serve(fault)
    cost = tracker()
    with pytest.raises(ProviderServerError):
        read(bench.client(wire, tracker=cost), PROMPT)
    assert cost.total_usd > 0
    assert cost.breakdown.reserved_usd == 0


@every_format
@pytest.mark.parametrize(
    "fault",
    [rate_limit(), rate_limit(retry_after=3), overloaded(), dropped_connection(), garbage()],
    ids=lambda fault: f"{fault.kind}{dict(fault.headers)}",
)
def test_a_passing_fault_before_the_first_event_is_retried(wire, fault, bench, read):
    """With the waits of a call in one piece."""
    server = bench.serve(fault, Reply("at last"))
    events = read(bench.client(wire), PROMPT)
    assert events[-1].response.text == "at last"
    assert len(server.requests) == 2
    assert bench.waits == [3.0 if fault.headers else 1.0]


@every_format
def test_refusals_of_a_stream_are_typed(wire, bench, read):
    """As those of a call in one piece."""
    bench.serve(unauthorized(), *[rate_limit()] * 3)
    cost = tracker()
    with pytest.raises(ProviderAuthError):
        read(bench.client(wire, tracker=cost), PROMPT)
    with pytest.raises(RateLimitError):
        read(bench.client(wire, tracker=cost), PROMPT)
    assert cost.total_usd == 0


@every_format
def test_a_slow_stream_is_no_timeout_and_a_silent_one_is(wire, bench):
    """Only the time between two pieces counts."""
    bench.serve(trickle(0.15), silence(2.0))
    started = time.monotonic()
    events = read_async(bench.client(wire, timeout=0.45), PROMPT)
    assert time.monotonic() - started > 0.45
    assert isinstance(events[-1], AnswerEvent)
    with pytest.raises(ProviderTimeoutError):
        read_async(bench.client(wire, timeout=0.2), PROMPT)


@every_format
def test_leaving_early_is_paid_for(wire, bench, read):
    """With at least one token of output."""
    reply = Reply("Four score and seven years ago. " * 30, usage=Usage(10, 200))
    bench.serve(reply)
    cost = tracker()
    events = read(bench.client(wire, tracker=cost), PROMPT, count=3)
    assert cost.breakdown.reserved_usd == 0
    text = "".join(event.text for event in events if isinstance(event, TextEvent))
    assert cost.total_usd >= Decimal(10 + len(text) // 4) / 100


@every_format
def test_the_key_is_in_no_exception_of_a_stream(wire, bench, read):
    """Not in its text, and not in its causes."""
    key = "my-secret-key-4711-" + os.urandom(4).hex()
    for fault in (unauthorized(), cut_stream(), stream_error()):
        bench.serve(fault)
        bench.server.key = key
        with pytest.raises((ProviderAuthError, ProviderServerError)) as caught:
            read(bench.client(wire, api_key=key), PROMPT)
        assert key not in f"{caught.value!r} {vars(caught.value)}"
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
