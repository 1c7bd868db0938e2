"""LiteLLM under the ordinary client, against the loopback server; skipped where it is missing."""

import importlib.util
import sys

import pytest

from fluid_build.copilot.agents.errors import (
    ContextOverflowError,
    ProviderAuthError,
    RateLimitError,
)
from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.copilot.llm.litellm_backend import make_litellm_client
from fluid_build.copilot.llm.testing import (
    LoopbackServer,
    Reply,
    context_overflow,
    quota_exhausted,
    rate_limit,
    unauthorized,
)
from fluid_build.errors import FluidError, UsageError

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


def test_without_litellm_the_extra_is_named(monkeypatch):
    """Nothing else of the runtime needs it."""
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(UsageError) as caught:
        make_litellm_client()
    assert "fluid-forge[litellm]" in caught.value.hint
