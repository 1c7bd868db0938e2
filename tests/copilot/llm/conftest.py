"""A loopback server and clients for it that never sleep and never look for a real key."""

import asyncio
from contextlib import ExitStack

import pytest

from fluid_build.copilot.cost import RunCostTracker
from fluid_build.copilot.events import EventBus
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.providers import make_provider
from tests.fault_server import LoopbackServer


@pytest.fixture(autouse=True)
def _no_configuration_from_outside(monkeypatch):
    """No key, limit or switch of the developer's own reaches a test."""
    for name in (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "OLLAMA_API_KEY",
        "FLUID_COST_LIMIT_USD",
        "FLUID_LLM_TIMEOUT_SECONDS",
        "FLUID_OPENAI_STRICT_SCHEMA",
    ):
        monkeypatch.delenv(name, raising=False)


class Bench:
    """One server, and clients whose waits are kept instead of slept."""

    def __init__(self, stack):
        self._stack = stack
        self.waits = []
        self.server = None

    def serve(self, *script):
        steps = script[0] if len(script) == 1 and callable(script[0]) else script
        self.server = self._stack.enter_context(LoopbackServer(steps))
        return self.server

    def client(self, wire, base_url=None, **options):
        async def sleep(seconds):
            self.waits.append(seconds)

        options.setdefault("api_key", self.server.key if self.server else "some-key-1")
        options.setdefault("timeout", 10.0)
        options.setdefault("tracker", RunCostTracker(bus=EventBus()))
        return LlmClient(
            make_provider(wire, base_url or self.server.base_url(wire)),
            sleep=sleep,
            sleep_sync=self.waits.append,
            draw=lambda: 0.0,
            **options,
        )


@pytest.fixture
def bench():
    with ExitStack() as stack:
        yield Bench(stack)


def ask_sync(client, prompt, **options):
    with client:
        return client.complete_sync(prompt, **options)


def ask_async(client, prompt, **options):
    async def ask():
        async with client:
            return await client.complete(prompt, **options)

    return asyncio.run(ask())


@pytest.fixture(params=[ask_sync, ask_async], ids=["sync", "async"])
def ask(request):
    """Each test runs over the blocking twin and over the async core."""
    return request.param
