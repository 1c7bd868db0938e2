"""What an attempt costs: nothing, what was reported, or all that was reserved for it."""

import asyncio
import contextlib
import itertools
import json
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.context.token_budget import estimate_prompt_tokens
from fluid_build.copilot.cost import RunCostTracker
from fluid_build.copilot.errors import (
    CostLimitExceeded,
    ProviderError,
    ProviderServerError,
    ProviderTimeoutError,
)
from fluid_build.copilot.events import EventBus
from fluid_build.copilot.llm.base import LlmPrompt, Usage
from fluid_build.errors import FluidError
from tests.fault_server import (
    Reply,
    context_overflow,
    cut_body,
    dropped_connection,
    garbage,
    overloaded,
    quota_exhausted,
    rate_limit,
    refused_base_url,
    server_error,
    slow,
    unauthorized,
)

HELLO = LlmPrompt("test-model", [{"role": "user", "content": "hello"}])
ADDRESS = "http://127.0.0.1:9"
PLAIN_KEY = "zq7plainwords"
RESERVED = Decimal("1.00")
REPORTED = Decimal("0.21")


def cents(provider, model, input_tokens, output_tokens, *_, **__):
    """A price at which each attempt reserves a dollar and an answer of 21 tokens costs $0.21."""
    return Decimal(min(output_tokens, 100)) / 100


def tracker(limit=None, bus=None):
    return RunCostTracker(limit, price=cents, bus=bus or EventBus())


def whole(request):
    usage = {"prompt_tokens": 1, "completion_tokens": 21}
    choice = {"message": {"content": "x"}, "finish_reason": "stop"}
    return httpx.Response(200, json={"choices": [choice], "usage": usage})


def answering(bench, answer, cost, **options):
    """A client whose network is a function of the request."""
    transport = httpx.MockTransport(answer)
    return bench.client(
        "openai", ADDRESS, tracker=cost, transport=transport, async_transport=transport, **options
    )


BILLED = {"cut": cut_body(), "dropped": dropped_connection(), "garbage": garbage()}
REFUSED = [
    unauthorized(401),
    unauthorized(403),
    context_overflow(),
    rate_limit(),
    quota_exhausted(),
    server_error(500),
    server_error(502),
    server_error(503, retry_after=0),
    overloaded(),
]


@pytest.mark.parametrize("fault", BILLED.values(), ids=BILLED)
def test_each_attempt_that_may_have_been_billed_is_charged(fault, bench, ask):
    """Three attempts, none of which the provider refused."""
    bench.serve(*[fault] * 3)
    cost = tracker()
    with pytest.raises(ProviderServerError):
        ask(bench.client("openai", tracker=cost), HELLO)
    seen = cost.breakdown
    assert (seen.total_usd, seen.unconfirmed_usd, seen.reserved_usd) == (3, 3, 0)
    assert (seen.rows[0].calls, seen.missing_usage_calls) == (3, 3)


def test_each_timeout_is_charged(bench, ask):
    """The provider may finish its work, and bill for it, after we have left."""
    bench.serve(*[slow(5)] * 3)
    cost = tracker()
    with pytest.raises(ProviderTimeoutError):
        ask(bench.client("openai", tracker=cost, timeout=0.2), HELLO)
    assert (cost.total_usd, cost.breakdown.reserved_usd) == (3, 0)


@pytest.mark.parametrize("fault", REFUSED, ids=lambda fault: f"{fault.kind}{fault.status}")
def test_a_refused_attempt_costs_nothing(fault, bench, ask):
    """The provider said that it didn't do the work."""
    bench.serve(*[fault] * 3)
    cost = tracker()
    with pytest.raises(ProviderError):
        ask(bench.client("openai", tracker=cost), HELLO)
    assert (cost.total_usd, cost.breakdown.reserved_usd, cost.breakdown.rows) == (0, 0, ())


def test_a_refused_connection_costs_nothing(bench, ask):
    """Nothing was sent."""
    cost = tracker()
    with pytest.raises(ProviderServerError):
        ask(bench.client("openai", refused_base_url(), tracker=cost), HELLO)
    assert (cost.total_usd, cost.breakdown.reserved_usd) == (0, 0)


NOT_SENT = [
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
]
SENT = [
    httpx.ReadError,
    httpx.ReadTimeout,
    httpx.WriteError,
    httpx.WriteTimeout,
    httpx.CloseError,
    httpx.RemoteProtocolError,
    httpx.DecodingError,
]


@pytest.mark.parametrize("kind", [*NOT_SENT, *SENT])
def test_an_error_of_the_network_costs_its_reserve_once_something_was_sent(kind, bench, ask):
    """DNS failures are connection errors to httpx."""

    def fail(request):
        raise kind("x", request=request)

    cost = tracker()
    client = answering(bench, fail, cost)
    with pytest.raises(ProviderError):
        ask(client, HELLO)
    attempts = len(bench.waits) + 1
    assert cost.total_usd == (attempts if kind in SENT else 0)
    assert cost.breakdown.reserved_usd == 0


def test_a_failure_inside_a_success_costs_nothing(bench, ask):
    """Some gateways answer 200 where the provider refused."""
    cost = tracker()
    body = {"error": {"code": "insufficient_quota", "message": "no money"}}
    client = answering(bench, lambda request: httpx.Response(200, json=body), cost)
    with pytest.raises(ProviderError, match="no money"):
        ask(client, HELLO)
    assert cost.total_usd == 0


def test_a_failed_answer_with_usage_is_charged(bench, ask):
    """The model ran, and failed on its way: it costs what the provider says."""
    cost = tracker()
    error = {"code": "invalid_prompt", "message": "m"}
    body = {"status": "failed", "error": error, "usage": {"input_tokens": 9, "output_tokens": 1}}
    client = answering(bench, lambda request: httpx.Response(200, json=body), cost)
    with pytest.raises(ProviderError):
        ask(client, HELLO)
    assert (cost.total_usd, cost.breakdown.missing_usage_calls) == (Decimal("0.01"), 0)


@pytest.mark.parametrize("usage", [{}, {"prompt_tokens": None, "completion_tokens": None}])
def test_a_usage_of_nothing_is_missing(bench, ask, usage):
    """No prompt has 0 tokens, so the call costs its reservation."""
    cost = tracker()
    choice = {"message": {"content": "x" * 4000}, "finish_reason": "stop"}
    body = {"choices": [choice], "usage": usage}
    ask(answering(bench, lambda request: httpx.Response(200, json=body), cost), HELLO)
    assert (cost.total_usd, cost.breakdown.missing_usage_calls) == (RESERVED, 1)


def test_the_answer_that_passes_the_limit_is_in_the_error(bench, ask):
    """It's paid for."""
    cost = RunCostTracker(
        "0.5", price=lambda p, m, i, o, *_, **__: Decimal(o) / 100, bus=EventBus()
    )
    prompt = LlmPrompt("test-model", HELLO.messages, max_output_tokens=40)
    choice = {"message": {"content": "dear"}, "finish_reason": "stop"}
    body = {"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 60}}
    with pytest.raises(CostLimitExceeded) as caught:
        ask(answering(bench, lambda request: httpx.Response(200, json=body), cost), prompt)
    assert caught.value.response.text == "dear"


def test_an_answer_that_cannot_be_decompressed_is_asked_for_again(bench, ask):
    """As any other unreadable answer."""
    bodies = [httpx.Response(200, content=b"x", headers={"content-encoding": "gzip"})]
    client = answering(bench, lambda request: bodies.pop() if bodies else whole(request), tracker())
    assert ask(client, HELLO).text == "x"


def test_a_stream_that_lacks_only_its_end_costs_what_was_reported(bench):
    """Anthropic's ``message_delta`` has the whole usage; only ``message_stop`` is missing."""
    documents = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 7},
        },
    ]
    content = "".join(f"data: {json.dumps(document)}\n\n" for document in documents)
    transport = httpx.MockTransport(lambda request: httpx.Response(200, text=content))
    cost = tracker()
    client = bench.client("anthropic", ADDRESS, tracker=cost, transport=transport)
    with pytest.raises(ProviderServerError, match="ended before"):
        list(client.stream_sync(HELLO))
    assert (cost.total_usd, cost.breakdown.unconfirmed_usd) == (Decimal("0.07"), 0)


def test_an_error_about_an_answer_does_not_quote_the_key(bench, ask):
    """Gemini explains a malformed call in its own words."""
    candidate = {"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": f"bad {PLAIN_KEY}."}
    body = {
        "candidates": [candidate],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 1},
    }
    cost = tracker()
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=body))
    options = {"transport": transport, "async_transport": transport, "api_key": PLAIN_KEY}
    client = bench.client("gemini", ADDRESS, tracker=cost, **options)
    with pytest.raises(ProviderServerError, match="MALFORMED_FUNCTION_CALL") as caught:
        ask(client, HELLO)
    assert PLAIN_KEY not in str(caught.value) + caught.value.message
    assert cost.total_usd == Decimal("0.03")


def test_an_error_whose_body_is_cut_is_still_a_refusal(bench, ask):
    """Its status says so."""

    class Cut(httpx.SyncByteStream, httpx.AsyncByteStream):
        def __iter__(self):
            yield b"{"
            raise httpx.ReadError("cut")

        async def __aiter__(self):
            yield b"{"
            raise httpx.ReadError("cut")

    cost = tracker()
    client = answering(bench, lambda request: httpx.Response(503, stream=Cut()), cost)
    with pytest.raises(ProviderServerError) as caught:
        ask(client, HELLO)
    assert (caught.value.status_code, cost.total_usd) == (503, 0)


def test_a_retry_is_charged_apart_from_the_attempt_before(bench, ask):
    """The lost attempt at its reserve, the answer at its usage."""
    bench.serve(dropped_connection(), Reply(usage=Usage(1, 21)))
    cost = tracker()
    ask(bench.client("openai", tracker=cost), HELLO)
    seen = cost.breakdown
    assert (seen.total_usd, seen.unconfirmed_usd) == (RESERVED + REPORTED, RESERVED)


def test_a_retry_over_the_limit_is_refused_with_the_error_before(bench, ask):
    """The ceiling counts the attempt that may have been billed."""
    server = bench.serve(*[dropped_connection()] * 3)
    cost = tracker("1.50")
    with pytest.raises(CostLimitExceeded) as caught:
        ask(bench.client("openai", tracker=cost), HELLO)
    assert isinstance(caught.value.__cause__, ProviderServerError)
    assert caught.value.total_usd == 2
    assert (len(server.requests), cost.total_usd, cost.breakdown.reserved_usd) == (1, 1, 0)


def test_parallel_calls_under_a_small_limit_all_succeed(bench):
    """Ten calls of $0.21 that reserve $1 each, under a limit of $5."""
    bench.serve(lambda request: Reply(usage=Usage(1, 21)))
    cost = tracker(5)
    client = bench.client("openai", tracker=cost)

    async def ask_all():
        async with client:
            return await asyncio.gather(*(client.complete(HELLO) for _ in range(10)))

    assert len(asyncio.run(ask_all())) == 10
    assert (cost.total_usd, cost.breakdown.reserved_usd) == (10 * REPORTED, 0)


def test_the_events_of_a_lost_attempt_are_those_of_missing_usage(bench, ask):
    """Both documented events, with their documented payloads."""
    bus, heard = EventBus(), []
    bus.subscribe(heard.append)
    bench.serve(dropped_connection(), Reply(usage=Usage(1, 21)))
    ask(bench.client("openai", tracker=tracker(bus=bus)), HELLO, stage="s", agent_class="A")
    assert [(event.event_type, event.payload.get("missing_usage")) for event in heard] == [
        ("llm.call_completed", True),
        ("llm.usage_missing", None),
        ("llm.call_completed", False),
    ]


@given(text=st.text(max_size=400), schema=st.booleans())
def test_the_reserve_is_the_estimate_and_a_half_and_never_more_than_the_bytes(text, schema, bench):
    """A token is at least one byte."""
    reserved, sent = [], []

    def price(provider, model, input_tokens, output_tokens, *_, **__):
        reserved.append(input_tokens)
        return Decimal(0)

    def answer(request):
        sent.append(request.content)
        return whole(request)

    cost = RunCostTracker(price=price, bus=EventBus())
    messages = [{"role": "user", "content": text.encode("utf-8", "replace").decode()}]
    response_schema = {"type": "object", "properties": {}} if schema else None
    prompt = LlmPrompt("m", messages, response_schema=response_schema)
    answering(bench, answer, cost).complete_sync(prompt)
    schemas = [response_schema] if response_schema else []
    estimate = math.ceil(estimate_prompt_tokens(messages, tools=schemas) * 1.5)
    assert reserved[0] == min(estimate, len(sent[0]))


def test_a_short_prompt_reserves_no_more_than_its_bytes(bench):
    """Where a caller's own count says otherwise, too."""
    reserved = []

    def price(provider, model, input_tokens, output_tokens, *_, **__):
        reserved.append(input_tokens)
        return Decimal(0)

    cost = RunCostTracker(price=price, bus=EventBus())
    client = answering(bench, whole, cost)
    client.complete_sync(HELLO, prompt_tokens=50_000)
    client.complete_sync(HELLO, prompt_tokens=20)
    body = client.provider.build_request(HELLO).body
    assert reserved[0] == len(json.dumps(body, separators=(",", ":")))
    assert 30 in reserved


def test_a_picture_reserves_its_own_tokens(bench):
    """Its bytes say nothing about them: an address is short, and the picture large."""
    reserved = []

    def price(provider, model, input_tokens, output_tokens, *_, **__):
        reserved.append(input_tokens)
        return Decimal(0)

    cost = RunCostTracker(price=price, bus=EventBus())
    picture = {"type": "image", "url": "https://example.org/a.png"}
    prompt = LlmPrompt("m", [{"role": "user", "content": [picture]}])
    answering(bench, whole, cost).complete_sync(prompt, prompt_tokens=50_000)
    assert reserved[0] == 75_000


def reserved_input(bench, provider, prompt):
    """The input tokens that a call reserves."""
    reserved = []

    def price(provider, model, input_tokens, output_tokens, *_, **__):
        reserved.append(input_tokens)
        return Decimal(0)

    transport = httpx.MockTransport(lambda request: httpx.Response(401))
    cost = RunCostTracker(price=price, bus=EventBus())
    client = bench.client(provider, ADDRESS, tracker=cost, transport=transport)
    with client, pytest.raises(ProviderError):
        client.complete_sync(prompt)
    return reserved[0]


@pytest.mark.parametrize(
    "document",
    [
        {"type": "document", "url": "https://example.org/a.pdf"},
        {"type": "document", "media_type": "application/pdf", "data": "A" * 4_000_000},
    ],
    ids=["address", "unreadable"],
)
def test_a_document_of_unknown_length_reserves_the_window_and_is_sent(document, bench):
    """A guess isn't a reason to refuse it."""
    prompt = LlmPrompt("claude-haiku-4-5", [{"role": "user", "content": [document]}])
    assert reserved_input(bench, "anthropic", prompt) == 200_000


def test_anthropics_own_prompt_for_tools_is_reserved(bench):
    """It isn't in the request."""
    tool = {"name": "t", "description": "d", "input_schema": {"type": "object"}}
    prompt = LlmPrompt("claude-haiku-4-5", HELLO.messages)
    plain = reserved_input(bench, "anthropic", prompt)
    with_tool = reserved_input(bench, "anthropic", replace(prompt, tools=[tool]))
    assert 530 < with_tool - plain < 630


outcomes = st.sampled_from(["answer", "drop", "refuse", "garbage", "unreachable"])


@given(
    scripts=st.lists(st.lists(outcomes, min_size=3, max_size=3), max_size=8),
    limit=st.integers(0, 6),
)
def test_any_mix_of_faults_in_parallel_calls_settles_everything(scripts, limit, bench):
    """The limit holds, nothing stays reserved, and each attempt costs what it should."""
    cost = tracker(limit)
    expected = []

    async def answer(request):
        seen = cost.breakdown
        assert seen.total_usd + seen.reserved_usd <= limit
        await asyncio.sleep(0)
        content = json.loads(request.content)["messages"][0]["content"]
        outcome = scripts[int(content)].pop(0)
        if outcome == "unreachable":
            raise httpx.ConnectError("x")
        expected.append({"answer": REPORTED, "refuse": Decimal(0)}.get(outcome, RESERVED))
        if outcome == "drop":
            raise httpx.ReadError("x")
        if outcome == "refuse":
            return httpx.Response(529, json={})
        return whole(request) if outcome == "answer" else httpx.Response(200, text="<html>")

    client = bench.client(
        "openai", ADDRESS, tracker=cost, async_transport=httpx.MockTransport(answer)
    )

    async def ask_all():
        prompts = [
            LlmPrompt("m", [{"role": "user", "content": f"{n}"}]) for n in range(len(scripts))
        ]
        calls = (client.complete(prompt) for prompt in prompts)
        async with client:
            return await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 20)

    for result in asyncio.run(ask_all()):
        assert not isinstance(result, Exception) or isinstance(result, FluidError)
    assert cost.total_usd == sum(expected)
    assert cost.breakdown.reserved_usd == 0


def test_threads_and_streams_with_faults_settle_everything(bench):
    """Blocking calls, and streams that are left early, under one small limit."""
    limit, exceeded, turns = Decimal(6), [], itertools.count()
    faults = [dropped_connection(), overloaded(), garbage(), cut_body(), Reply("x" * 50)]

    def answer(request):
        seen = cost.breakdown
        if seen.total_usd + seen.reserved_usd > limit:
            exceeded.append(seen)
        return faults[next(turns) % len(faults)]

    bench.serve(answer)
    cost = tracker(limit)
    client = bench.client("ollama", tracker=cost)

    def ask(number):
        with contextlib.suppress(ProviderError, CostLimitExceeded):
            if number % 2:
                client.complete_sync(HELLO)
            else:
                with client.stream_sync(HELLO) as stream:
                    next(stream)

    with client, ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(24)))
    assert exceeded == []
    assert cost.total_usd <= limit
    assert cost.breakdown.reserved_usd == 0
