"""LiteLLM under the ordinary client, against the loopback server; skipped where it is missing."""

import asyncio
import importlib.util
import sys
from decimal import Decimal
from types import SimpleNamespace

import httpx
import openai
import pytest
from pydantic import BaseModel

from fluid_build.copilot import Agent, LlmConfig
from fluid_build.copilot.agents.base import BaseStageAgent, StageSession
from fluid_build.copilot.agents.errors import (
    ContextOverflowError,
    ProviderAuthError,
    ProviderServerError,
    RateLimitError,
)
from fluid_build.copilot.cost import RunCostTracker
from fluid_build.copilot.events import EventBus
from fluid_build.copilot.llm.base import LlmPrompt, Usage
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.litellm_backend import make_litellm_client
from fluid_build.copilot.llm.providers import make_provider
from fluid_build.copilot.llm.streaming import TextEvent
from fluid_build.copilot.store.backends.null import NullBackend
from fluid_build.errors import FluidError, MissingExtraError
from tests.fault_server import (
    LoopbackServer,
    Reply,
    context_overflow,
    quota_exhausted,
    rate_limit,
    unauthorized,
)

PROMPT = LlmPrompt("openai/test-model", [{"role": "user", "content": "hello"}])
needs_litellm = pytest.mark.skipif(
    importlib.util.find_spec("litellm") is None, reason="the extra litellm is not installed"
)


def ask(*script):
    waits = []
    with LoopbackServer(script) as server:
        options = {"api_base": server.base_url("openai"), "api_key": server.key}
        with make_litellm_client(call_options=options, sleep_sync=waits.append) as client:
            try:
                return client.complete_sync(PROMPT), waits, len(server.requests)
            except FluidError as error:
                return error, waits, len(server.requests)


@needs_litellm
def test_an_answer_comes_through_after_the_wait_that_was_asked_for():
    """Our envelope retries, LiteLLM's own do not."""
    response, waits, requests = ask(rate_limit(retry_after=7), Reply("hi"))
    assert (response.text, waits, requests) == ("hi", [7.0], 2)


@needs_litellm
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (unauthorized(), ProviderAuthError),
        (context_overflow(), ContextOverflowError),
        (quota_exhausted(), RateLimitError),
    ],
)
def test_a_lasting_failure_is_typed_and_made_once(fault, kind):
    """And the key that the provider echoes is not in it."""
    error, waits, requests = ask(fault)
    assert type(error) is kind
    assert (waits, requests) == ([], 1)
    assert "loopback-key" not in str(error)


@needs_litellm
@pytest.mark.filterwarnings("default")  # LiteLLM catches its own warnings as if they were errors
def test_an_answer_is_streamed():
    """In LiteLLM's chunks, which have OpenAI's form, with the usage at the end."""
    with LoopbackServer([Reply("four score", usage=Usage(9, 2))]) as server:
        options = {"api_base": server.base_url("openai"), "api_key": server.key}
        with make_litellm_client(call_options=options) as client:
            events = list(client.stream_sync(PROMPT))
    assert "".join(event.text for event in events if isinstance(event, TextEvent)) == "four score"
    assert (events[-1].response.usage.input_tokens, server.requests[0].body["stream"]) == (9, True)


@needs_litellm
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("faults", [[], [rate_limit(retry_after=0)]])
def test_an_agent_asks_a_model_of_litellm_by_its_name(faults, monkeypatch):
    """As ``"litellm:provider/model"``: LiteLLM finds the key, and our envelope retries."""
    with LoopbackServer([*faults, Reply("Paris.")]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url("openai"))
        monkeypatch.setenv("OPENAI_API_BASE", server.base_url("openai"))
        agent = Agent("litellm:openai/test-model", instructions="You know geography.")
        assert agent.run_sync("The capital of France?").output == "Paris."
        assert len(server.requests) == len(faults) + 1


@needs_litellm
@pytest.mark.filterwarnings("default")
def test_a_session_asks_a_model_of_litellm_at_an_address(monkeypatch):
    """As `fluid ai setup` and a forge configure it."""

    class Capital(BaseModel):
        city: str

    class Asker(BaseStageAgent):
        stage = "geography"

    with LoopbackServer([Reply('{"city": "Paris"}')]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        config = LlmConfig("litellm", "openai/gpt-4.1-mini", server.base_url("openai"))
        with Asker(StageSession(NullBackend(), config)) as agent:
            assert agent.call_sync(Capital, system="s", user="France?") == Capital(city="Paris")


def test_litellm_is_a_provider_that_can_be_chosen(fake_litellm):
    """The configuration takes its name, and the client of it calls LiteLLM."""
    fake_litellm(lambda: iter([TEXT, STOP, USAGE]))
    assert make_provider("litellm").needs_key is False
    client = LlmClient.from_config(LlmConfig("litellm", "mistral/large"))
    with client:
        assert "".join(e.text for e in client.stream_sync(PROMPT) if isinstance(e, TextEvent))


class FakeChunk:
    def __init__(self, document):
        self.document = document

    def model_dump(self):
        return self.document


TEXT = FakeChunk({"choices": [{"delta": {"content": "four"}, "finish_reason": None}]})
STOP = FakeChunk({"choices": [{"delta": {}, "finish_reason": "stop"}]})
USAGE = FakeChunk({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}})


class Overloaded(openai.OpenAIError):
    status_code = 529


class APIConnectionError(openai.OpenAIError):
    status_code = 500


@pytest.fixture
def fake_litellm(monkeypatch):
    """A LiteLLM whose completions are a test's own iterators of chunks."""

    def install(chunks):
        async def acompletion(**_):
            async def stream():
                for chunk in chunks():
                    yield chunk

            return stream()

        fake = SimpleNamespace(completion=lambda **_: chunks(), acompletion=acompletion)
        monkeypatch.setitem(sys.modules, "litellm", fake)
        cost = RunCostTracker(price=lambda *_, **__: Decimal(1), bus=EventBus())
        return make_litellm_client(tracker=cost, sleep_sync=lambda _: None), cost

    return install


def read_sync(client):
    with client:
        return list(client.stream_sync(PROMPT))


def read_async(client):
    async def read():
        async with client:
            return [event async for event in client.stream(PROMPT)]

    return asyncio.run(read())


@pytest.mark.parametrize("read", [read_sync, read_async])
def test_chunks_become_events(read, fake_litellm):
    """Both twins."""
    client, _ = fake_litellm(lambda: iter([TEXT, STOP, USAGE]))
    events = read(client)
    assert events[0] == TextEvent("four")
    assert events[-1].response.usage == Usage(9, 2)


@pytest.mark.parametrize("read", [read_sync, read_async])
def test_a_failure_within_a_stream_has_the_status_that_litellm_gives_it(read, fake_litellm):
    """It is raised to the reader, who has seen text."""

    def chunks():
        yield TEXT
        raise Overloaded("busy")

    client, _ = fake_litellm(chunks)
    with pytest.raises(ProviderServerError, match="busy") as caught:
        read(client)
    assert caught.value.status_code == 529


@pytest.mark.parametrize(("cause", "spent"), [(httpx.ConnectError("x"), 0), (None, 3)])
def test_a_lost_connection_is_charged_unless_there_never_was_one(cause, spent, fake_litellm):
    """LiteLLM's error is the same for both; its cause isn't."""

    def chunks():
        raise APIConnectionError("lost") from cause
        yield

    client, cost = fake_litellm(chunks)
    with pytest.raises(ProviderServerError):
        read_sync(client)
    assert cost.total_usd == spent


def test_without_litellm_the_extra_is_named(monkeypatch):
    """Nothing else of the runtime needs it."""
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(MissingExtraError) as caught:
        make_litellm_client()
    assert caught.value.extra == "litellm"
