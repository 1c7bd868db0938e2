"""The client over real sockets: answers, faults, the envelope, bounds, cost and secrets."""

import asyncio
import json
import threading
import traceback
from decimal import Decimal

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.agents.errors import (
    ContextOverflowError,
    ProviderAuthError,
    ProviderError,
    ProviderServerError,
    ProviderTimeoutError,
    RateLimitError,
    SchemaValidationError,
)
from fluid_build.copilot.cost import CostLimitExceeded, RunCostTracker
from fluid_build.copilot.events import EventBus
from fluid_build.copilot.llm.base import LlmConfig, LlmPrompt, Usage
from fluid_build.copilot.llm.client import LlmClient, timeout_seconds
from fluid_build.errors import UsageError
from tests.copilot.context.conversations import conversations
from tests.fault_server import (
    WIRE_FORMATS,
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
    wrong_schema,
)

HELLO = LlmPrompt("test-model", [{"role": "user", "content": "hello"}])
SCHEMA = {
    "type": "object",
    "properties": {"key": {"type": "string"}},
    "required": ["key"],
    "additionalProperties": False,
}
every_wire = pytest.mark.parametrize("wire", WIRE_FORMATS)


@every_wire
def test_an_answer_comes_back_with_its_usage(wire, bench, ask):
    """Text, tokens and the model's name, in each wire format."""
    bench.serve(Reply("hi there", usage=Usage(100, 7)))
    response = ask(bench.client(wire), HELLO)
    assert (response.text, response.stop_reason, response.model) == (
        "hi there",
        "end",
        "test-model",
    )
    assert (response.usage.input_tokens, response.usage.output_tokens) == (100, 7)


TRANSIENT = [
    rate_limit(),
    rate_limit(retry_after=3),
    server_error(500),
    server_error(503, retry_after=3),
    overloaded(),
    garbage(),
    cut_body(),
    dropped_connection(),
]


@every_wire
@pytest.mark.parametrize("fault", TRANSIENT, ids=lambda f: f"{f.kind}{f.status}{dict(f.headers)}")
def test_a_passing_fault_is_retried_and_then_answered(wire, fault, bench, ask):
    """One fault, one wait of one second or what was asked for, one answer."""
    server = bench.serve(fault, Reply("at last"))
    assert ask(bench.client(wire), HELLO).text == "at last"
    assert len(server.requests) == 2
    assert bench.waits == [3.0 if fault.headers else 1.0]


@every_wire
def test_three_requests_at_most(wire, bench, ask):
    """A server that stays down is asked three times, with waits of 1 and 2 seconds."""
    server = bench.serve(*[server_error()] * 9)
    with pytest.raises(ProviderServerError):
        ask(bench.client(wire), HELLO)
    assert (len(server.requests), bench.waits) == (3, [1.0, 2.0])


@every_wire
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (unauthorized(401), ProviderAuthError),
        (unauthorized(403), ProviderAuthError),
        (context_overflow(), ContextOverflowError),
    ],
)
def test_a_permanent_fault_is_not_retried(wire, fault, kind, bench, ask):
    """Nothing is asked again that would be refused again."""
    server = bench.serve(fault)
    with pytest.raises(kind) as caught:
        ask(bench.client(wire), HELLO)
    assert (len(server.requests), bench.waits) == (1, [])
    assert (caught.value.provider, caught.value.status_code) == (wire, fault.status)


@pytest.mark.parametrize("wire", ["openai", "gemini", "anthropic"])
def test_a_used_up_quota_is_not_retried(wire, bench, ask):
    """A 429 that will not pass is not waited for."""
    server = bench.serve(quota_exhausted())
    with pytest.raises(RateLimitError) as caught:
        ask(bench.client(wire), HELLO)
    assert caught.value.quota_exhausted
    assert len(server.requests) == 1


def test_milliseconds_and_dates_are_obeyed(bench, ask):
    """The three forms of the header, over the wire."""
    bench.serve(rate_limit(250, milliseconds=True), rate_limit("Thu, 01 Jan 1970 00:00:00 GMT"))
    ask(bench.client("openai"), HELLO)
    assert bench.waits == [0.25] or bench.waits == [0.25, 0.0]


def test_a_slow_answer_is_a_timeout(bench, ask):
    """Each attempt has its own time, and the class says what to raise."""
    server = bench.serve(slow(5), Reply("in time"))
    response = ask(bench.client("openai", timeout=0.3), HELLO)
    assert response.text == "in time"
    assert len(server.requests) == 2


def test_an_answer_that_is_always_late_raises_a_timeout_error(bench, ask):
    """After three attempts the typed error surfaces, with the variable to raise."""
    bench.serve(*[slow(5)] * 3)
    with pytest.raises(ProviderTimeoutError) as caught:
        ask(bench.client("openai", timeout=0.1), HELLO)
    assert "FLUID_LLM_TIMEOUT_SECONDS" in caught.value.hint


def test_a_refused_connection_is_transient_and_typed(bench, ask):
    """Nothing listens: three attempts, then ProviderServerError without a status."""
    with pytest.raises(ProviderServerError) as caught:
        ask(bench.client("openai", refused_base_url()), HELLO)
    assert caught.value.status_code is None
    assert bench.waits == [1.0, 2.0]


def test_an_answer_in_another_format_is_an_error(bench, ask):
    """JSON that is not the provider's own is retried and then typed."""
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json={"hello": 1}))
    for wire in WIRE_FORMATS:
        client = bench.client(
            wire, "http://127.0.0.1:9", transport=transport, async_transport=transport
        )
        with pytest.raises(ProviderServerError, match="isn't in its format"):
            ask(client, HELLO)


def test_a_failure_inside_a_success_is_a_failure(bench, ask):
    """Some gateways answer 200 with an error in it."""
    body = {"error": {"code": "insufficient_quota", "message": "no money"}}
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=body))
    client = bench.client(
        "openai", "http://127.0.0.1:9", transport=transport, async_transport=transport
    )
    with pytest.raises(ProviderError, match="no money"):
        ask(client, HELLO)


def test_a_redirect_is_not_followed(bench, ask):
    """The key goes to the address that was given, and to no other."""
    seen = []

    def answer(request):
        seen.append(str(request.url))
        return httpx.Response(307, headers={"location": "http://elsewhere.example/"})

    transport = httpx.MockTransport(answer)
    client = bench.client(
        "openai", "http://127.0.0.1:9", transport=transport, async_transport=transport
    )
    with pytest.raises(ProviderError):
        ask(client, HELLO)
    assert seen == ["http://127.0.0.1:9/chat/completions"]


def test_a_flood_is_cut_off(bench, ask, monkeypatch):
    """An answer beyond the bound is not read to its end."""
    monkeypatch.setattr("fluid_build.copilot.llm.attempts.MAX_ANSWER_BYTES", 1000)
    bench.serve(*[Reply("x" * 5000)] * 3)
    with pytest.raises(ProviderServerError):
        ask(bench.client("openai"), HELLO)


@every_wire
def test_structured_output_is_json_of_the_schema(wire, bench, ask):
    """The answer's text is the object that was asked for."""
    bench.serve(Reply('{"key": "id"}'))
    prompt = LlmPrompt("test-model", HELLO.messages, response_schema=SCHEMA)
    assert ask(bench.client(wire), prompt).as_json() == {"key": "id"}


@every_wire
def test_a_valid_answer_of_the_wrong_schema_reaches_validation(wire, bench, ask):
    """The client hands it on: what it means is for the schema's owner to say."""
    bench.serve(wrong_schema())
    prompt = LlmPrompt("test-model", HELLO.messages, response_schema=SCHEMA)
    assert ask(bench.client(wire), prompt).as_json() == {"unexpected": True}


def test_an_answer_that_is_not_json_is_a_schema_error(bench, ask):
    """With the raw output on it, and not to be retried by the envelope."""
    bench.serve(Reply("Sure! Here is"))
    response = ask(bench.client("openai"), HELLO)
    with pytest.raises(SchemaValidationError) as caught:
        response.as_json("Model")
    assert (caught.value.schema_name, caught.value.raw_output) == ("Model", "Sure! Here is")


def test_a_prompt_that_cannot_fit_is_never_sent(bench, ask):
    """Pre-flight refuses it before a byte leaves."""
    server = bench.serve()
    client = bench.client("openai", capability_matrix={"context_window": 100})
    with pytest.raises(ContextOverflowError):
        ask(client, LlmPrompt("m", [{"role": "user", "content": "x" * 10_000}]))
    assert server.requests == []


def tracker(limit=None, price=lambda *_, **__: Decimal("0.5")):
    return RunCostTracker(limit, price=price, bus=EventBus())


def test_the_call_is_reserved_before_and_settled_after(bench, ask):
    """What is recorded is what the provider reported, under the stage that asked."""
    bench.serve(Reply(usage=Usage(50, 5, cached_tokens=20)))
    cost = tracker(10)
    ask(bench.client("openai", tracker=cost), HELLO, stage="logical", agent_class="Modeler")
    row = cost.breakdown.agent_rows[0]
    assert (row.stage, row.agent_class) == ("logical", "Modeler")
    assert (row.input_tokens, row.output_tokens) == (50, 5)
    assert cost.breakdown.reserved_usd == 0


def test_the_ceiling_refuses_before_anything_is_sent(bench, ask):
    """A call that could pass it costs nothing."""
    server = bench.serve()
    with pytest.raises(CostLimitExceeded):
        ask(bench.client("openai", tracker=tracker("0.40")), HELLO)
    assert server.requests == []


def test_an_answer_without_usage_counts_as_its_reserve(bench, ask):
    """Nobody knows what it used, so the worst is assumed."""
    bench.serve(Reply(usage=None))
    cost = tracker(10)
    ask(bench.client("openai", tracker=cost), HELLO)
    assert cost.total_usd == Decimal("0.5")


KEY = "my-secret-key-4711-abcdef"


@every_wire
@pytest.mark.parametrize(
    "step", [unauthorized(), server_error(), cut_body(), garbage(), context_overflow(), slow(5)],
    ids=lambda s: s.kind,
)  # fmt: skip
def test_the_key_is_in_no_exception(wire, step, bench, ask, caplog):
    """Not in its text, attributes, causes or traceback, nor in the log, whatever went wrong."""
    bench.serve(*[step] * 3)
    bench.server.key = KEY
    with caplog.at_level("DEBUG"), pytest.raises(ProviderError) as caught:
        ask(bench.client(wire, api_key=KEY, timeout=0.1 if step.delay else 10.0), HELLO)
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    assert KEY not in "".join(traceback.format_exception(error)) + repr(vars(error)) + caplog.text


def test_the_key_is_in_no_repr(bench):
    """Client, provider, prompt and request may be printed."""
    client = bench.client("anthropic", "http://127.0.0.1:9", api_key=KEY)
    request = client.provider.build_request(HELLO)
    assert KEY not in repr([client, client.provider, HELLO, request, client._key])


@every_wire
def test_no_secret_of_this_machine_reaches_the_provider(wire, bench, ask, monkeypatch):
    """Planted secrets in messages, tool results, tool schemas and system text are taken out."""
    canary = "CANARY-9f8e7d6c5b4a"
    monkeypatch.setenv("WAREHOUSE_PASSWORD", canary)
    server = bench.serve(Reply())
    call = {"id": "c1", "name": "t", "arguments": {"dsn": f"pg://u:{canary}@h"}}
    schema = {"type": "object", "properties": {canary: {"type": "string"}}}
    prompt = LlmPrompt(
        "m",
        [
            {"role": "user", "content": f"connect with {canary} and sk-proj-abcdefghijklmnopqrst"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": f"error: {canary} {server.key}"},
        ],
        system=f"The password is {canary}.",
        tools=[{"name": "t", "description": canary, "input_schema": schema}],
    )
    ask(bench.client(wire), prompt)
    raw = server.requests[0].raw.decode()
    assert canary not in raw
    assert "sk-proj" not in raw
    assert server.key not in raw
    assert "connect with" in raw


def texts_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)


secrets = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters="[]redact"),
    min_size=8,
    max_size=30,
).filter(lambda text: not text.isalpha())


@every_wire
@given(secret=secrets, messages=conversations(max_turns=4), place=st.integers(0, 10**6))
def test_a_secret_planted_anywhere_is_in_no_byte_that_is_sent(wire, bench, secret, messages, place):
    """Any secret of the environment, in any text of any conversation."""
    planted = plant(messages, secret, place)
    sent = []

    def answer(request):
        sent.append(request.content)
        return httpx.Response(401, json={})

    client = bench.client(wire, "http://127.0.0.1:9", transport=httpx.MockTransport(answer))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLANTED_SECRET", secret)
        with pytest.raises(ProviderAuthError):
            client.complete_sync(LlmPrompt("m", planted, system=f"It is {secret}."))
    assert secret.encode() not in sent[0]
    assert all(secret not in text for text in texts_in(json.loads(sent[0])))


def plant(messages, secret, place):
    """The conversation with the secret in one of its texts, arguments or results."""
    planted = json.loads(json.dumps(messages))
    message = planted[place % len(planted)]
    if isinstance(message["content"], str):
        message["content"] += f" {secret} "
    for block in message["content"] if isinstance(message["content"], list) else []:
        name = "input" if block["type"] == "tool_use" else "content"
        block[name] = {secret: [secret]} if name == "input" else f"<{secret}>"
    for call in message.get("tool_calls", []):
        call["arguments"] = {"path": f"/{secret}/x"}
    return planted


def test_a_password_that_is_a_plain_word_does_not_tear_the_prompt(bench, ask, monkeypatch):
    """A database called postgres may still be spoken of."""
    monkeypatch.setenv("PG_PASSWORD", "postgres")
    server = bench.serve(Reply())
    ask(bench.client("openai"), LlmPrompt("m", [{"role": "user", "content": "postgres types"}]))
    assert "postgres types" in server.requests[0].raw.decode()


def test_what_json_cannot_carry_does_not_stop_a_prompt(bench, ask):
    """Broken characters and NaN come from data, and data is all there is."""
    server = bench.serve(Reply())
    call = {"id": "c1", "name": "t", "arguments": {"mean": float("nan")}}
    messages = [
        {"role": "user", "content": "half \ud800 a character"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
    ]
    assert ask(bench.client("gemini"), LlmPrompt("m", messages)).text == "ok"
    assert server.requests[0].body["contents"][0]["parts"][0]["text"] == "half ? a character"


def test_two_event_loops_may_share_a_client(bench):
    """Connections belong to the loop that made them."""
    bench.serve()
    client = bench.client("openai")

    async def ask():
        response = await client.complete(HELLO)
        await client.aclose()
        return response.text

    assert [asyncio.run(ask()), asyncio.run(ask())] == ["ok", "ok"]


def test_many_calls_run_at_once(bench):
    """The server answers none of eight until all eight have arrived."""
    together = threading.Barrier(8)

    def answer(request):
        together.wait(timeout=20)
        return Reply()

    bench.serve(answer)
    client = bench.client("openai", timeout=30.0)

    async def ask():
        async with client:
            return await asyncio.gather(*(client.complete(HELLO) for _ in range(8)))

    assert [response.text for response in asyncio.run(ask())] == ["ok"] * 8


def test_a_cancelled_call_is_not_retried_and_paid_for(bench):
    """Cancellation ends the request, which may have been answered already."""
    server = bench.serve(*[slow(5)] * 3)
    cost = tracker(10)
    client = bench.client("openai", tracker=cost)

    async def ask():
        async with client:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.complete(HELLO), 0.2)

    asyncio.run(ask())
    assert len(server.requests) == 1
    assert (cost.total_usd, cost.breakdown.reserved_usd) == (Decimal("0.5"), 0)


def test_a_client_is_made_from_a_config(bench):
    """The config names provider, model and address, and holds no key."""
    bench.serve()
    config = LlmConfig("openai", "test-model", base_url=bench.server.base_url("openai"))
    with LlmClient.from_config(config, api_key=bench.server.key) as client:
        assert client.complete_sync(HELLO).text == "ok"


def test_a_missing_key_is_an_error_when_the_client_is_created(monkeypatch, tmp_path):
    """With the variable to set."""
    monkeypatch.setenv("FLUID_HOME", str(tmp_path))
    with pytest.raises(ProviderAuthError) as caught:
        LlmClient.from_config(LlmConfig("anthropic", "m"))
    assert "ANTHROPIC_API_KEY" in caught.value.hint


def test_the_timeout_comes_from_the_environment():
    """FLUID_LLM_TIMEOUT_SECONDS, 120 by default."""
    assert timeout_seconds({}) == 120.0
    assert timeout_seconds({"FLUID_LLM_TIMEOUT_SECONDS": "7.5"}) == 7.5


@pytest.mark.parametrize("value", ["0", "-3", "soon", "inf", "nan"])
def test_a_timeout_that_cannot_be_meant_is_refused(value):
    """Only numbers over 0."""
    with pytest.raises(UsageError, match="FLUID_LLM_TIMEOUT_SECONDS"):
        timeout_seconds({"FLUID_LLM_TIMEOUT_SECONDS": value})
