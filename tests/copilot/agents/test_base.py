"""The session of a run, and agents that ask for one typed answer."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from fluid_build.copilot.agents.base import (
    BaseStageAgent,
    PipelineEvent,
    ProviderMismatchError,
    StageSession,
)
from fluid_build.copilot.agents.errors import SchemaValidationError
from fluid_build.copilot.errors import CostLimitExceeded
from fluid_build.copilot.llm.base import LlmConfig, LlmPrompt, LlmResponse
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.providers import make_provider
from fluid_build.copilot.store.backends.file import FileBackend
from fluid_build.copilot.store.backends.null import NullBackend
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.errors import UsageError

CONFIG = LlmConfig("anthropic", "m")


def test_documented_sample(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The sample of the page runs as it is written."""
    monkeypatch.setenv("HOME", str(tmp_path))
    session = StageSession(
        store=FileBackend(root="~/.fluid/store", workspace_root="."),
        llm_config=...,
        active_provider="anthropic",
    )
    scratchpad = session.get_scratchpad()
    assert session.scratchpad is scratchpad


def test_flags_begin_unset() -> None:
    """A new session used no fallback and no repair, is not tiered and caches."""
    session = StageSession(NullBackend())
    flags = (session.fallback_used, session.repair_used, session.tiered, session.no_cache)
    assert flags == (False, False, False, False)
    assert session.scratchpad is None
    assert session.capability_matrix == {}


def test_the_active_provider_is_the_configured_one() -> None:
    """It is set from the configuration, and may not be another."""
    assert StageSession(NullBackend(), CONFIG).active_provider == "anthropic"
    with pytest.raises(ProviderMismatchError, match="uses openai"):
        StageSession(NullBackend(), CONFIG, active_provider="openai")


def test_a_session_without_a_model_takes_the_configured_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FLUID_LLM_PROVIDER", "OpenAI")
    monkeypatch.setenv("FLUID_LLM_MODEL", "m")
    session = StageSession(NullBackend())
    assert session.get_llm_config() == LlmConfig("OpenAI", "m")
    assert session.active_provider == "openai"
    monkeypatch.setenv("FLUID_LLM_MODEL", "changed during the run")
    assert session.get_llm_config().model == "m"
    assert StageSession(NullBackend(), CONFIG).get_llm_config() is CONFIG
    with pytest.raises(ProviderMismatchError, match="uses gemini"):
        StageSession(NullBackend(), active_provider="gemini").get_llm_config()


def test_a_session_without_any_model_says_how_to_configure_one() -> None:
    with pytest.raises(UsageError, match="No model is configured") as caught:
        StageSession(NullBackend()).get_llm_config()
    assert caught.value.hint is not None
    assert "FLUID_LLM_PROVIDER" in caught.value.hint


def test_a_run_has_one_provider() -> None:
    """A stage that resolves to another provider is refused."""
    session = StageSession(NullBackend(), CONFIG)
    session.assert_provider("anthropic")
    with pytest.raises(ProviderMismatchError, match="resolved to openai"):
        session.assert_provider("openai")


def test_a_run_has_one_scratchpad() -> None:
    """Threads that ask at the same moment get the same one."""
    session = StageSession(NullBackend())
    with ThreadPoolExecutor(8) as pool:
        pads = list(pool.map(lambda _: session.get_scratchpad(), range(50)))
    assert len({id(pad) for pad in pads}) == 1


def test_the_audit_trail() -> None:
    """Fallbacks and repairs set their flags and are kept in order."""
    session = StageSession(NullBackend())
    session.record_repair("builder", "validator")
    session.record_fallback()
    assert (session.fallback_used, session.repair_used) == (True, True)
    assert session.audit_trail == [
        PipelineEvent("repair", "builder", "validator"),
        PipelineEvent("fallback"),
    ]


def key(session: StageSession | None = None, **changes: Any) -> str:
    parts: dict[str, Any] = {"model": "m", "prompt": "p", "parameters": {"t": 0}, **changes}
    return (session or StageSession(NullBackend(), CONFIG)).cache_key(**parts)


def test_the_cache_key_depends_on_all_there_is() -> None:
    """Model, prompt, parameters, provider and each capability flag make it another."""
    thinking = StageSession(NullBackend(), CONFIG, capability_matrix={"thinking": True})
    quiet = StageSession(NullBackend(), CONFIG, capability_matrix={"thinking": False})
    other = StageSession(NullBackend(), LlmConfig("openai", "m"))
    keys = [
        key(),
        key(model="n"),
        key(prompt="q"),
        key(parameters={"t": 1}),
        key(thinking),
        key(quiet),
        key(other),
    ]
    assert len(set(keys)) == 7
    assert key() == key()
    assert key(parameters={"a": 1, "b": {3, 1, 2}}) == key(parameters={"b": {2, 3, 1}, "a": 1})
    with pytest.raises(TypeError, match="cache key"):
        key(parameters={"x": object()})


class Answer(BaseModel):
    names: list[str]


class Client:
    """Answers from a list, and notes what it was asked."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.asked: list[tuple[LlmPrompt, str, str]] = []

    def complete_sync(
        self, prompt: LlmPrompt, *, stage: str = "", agent_class: str = ""
    ) -> LlmResponse:
        self.asked.append((prompt, stage, agent_class))
        return LlmResponse(self.texts.pop(0))

    async def complete(
        self, prompt: LlmPrompt, *, stage: str = "", agent_class: str = ""
    ) -> LlmResponse:
        return self.complete_sync(prompt, stage=stage, agent_class=agent_class)


class Namer(BaseStageAgent):
    stage = "naming"


@pytest.fixture
def session(tmp_path: Path) -> StageSession:
    return StageSession(SqliteBackend(tmp_path / "store.db"), CONFIG)


def ask(agent: BaseStageAgent, is_async: bool, **parameters: Any) -> Answer:
    if is_async:
        return asyncio.run(agent.call(Answer, system="s", user="u", **parameters))
    return agent.call_sync(Answer, system="s", user="u", **parameters)


@pytest.mark.parametrize("is_async", [True, False])
def test_a_typed_answer(session: StageSession, is_async: bool) -> None:
    """The model is asked with the schema, and its answer comes back as the type."""
    client = Client('{"names": ["a"]}')
    assert ask(Namer(session, client), is_async) == Answer(names=["a"])
    ((prompt, stage, agent_class),) = client.asked
    assert (stage, agent_class) == ("naming", "Namer")
    assert (prompt.model, prompt.system) == ("m", "s")
    assert prompt.response_schema == Answer.model_json_schema()


@pytest.mark.parametrize("is_async", [True, False])
def test_what_was_paid_for_is_not_paid_for_twice(session: StageSession, is_async: bool) -> None:
    """The same question is answered from the cache; another one, or another setting, is not."""
    client = Client('{"names": ["a"]}', '{"names": ["b"]}')
    agent = Namer(session, client)
    assert ask(agent, is_async) == ask(Namer(session, Client()), is_async)
    assert ask(agent, is_async, temperature=0.5).names == ["b"]
    assert len(client.asked) == 2


def test_no_cache(session: StageSession) -> None:
    """With no_cache nothing is read from the cache and nothing written to it."""
    session.no_cache = True
    client = Client('{"names": ["a"]}', '{"names": ["b"]}')
    agent = Namer(session, client)
    assert (ask(agent, False).names, ask(agent, False).names) == (["a"], ["b"])
    assert session.store.namespaces() == []


@pytest.mark.parametrize("is_async", [True, False])
def test_an_answer_that_breaks_the_schema(session: StageSession, is_async: bool) -> None:
    """It is a SchemaValidationError with what is wrong, quotes no input, and is not cached."""
    client = Client('{"names": "canary"}', "no json", '{"names": []}')
    agent = Namer(session, client)
    with pytest.raises(SchemaValidationError) as caught:
        ask(agent, is_async)
    error = caught.value
    assert (error.schema_name, error.raw_output) == ("Answer", '{"names": "canary"}')
    assert error.validation_errors[0]["loc"] == ("names",)
    assert "canary" not in str(error.validation_errors)
    assert "canary" not in str(error)
    with pytest.raises(SchemaValidationError):
        ask(agent, is_async)
    assert ask(agent, is_async).names == []


def test_an_answer_from_an_older_schema_is_asked_for_again(session: StageSession) -> None:
    """What is in the cache and does not fit any more is as good as not there."""
    client = Client('{"names": ["a"]}', '{"names": ["b"]}')
    agent = Namer(session, client)
    ask(agent, False)
    (cached,) = session.store.keys("cache/llm")
    session.store.put("cache/llm", cached, '{"name": 1}')
    assert ask(agent, False).names == ["b"]


def test_the_runs_provider_is_asserted_on_each_call(session: StageSession) -> None:
    """A configuration that was changed in the middle of a run is refused."""
    session.llm_config = LlmConfig("openai", "m")
    with pytest.raises(ProviderMismatchError):
        ask(Namer(session, Client()), False)


def test_a_client_of_another_provider_is_refused(session: StageSession) -> None:
    """A call's provider is checked, also with the caller's own client, in any case."""
    openai = LlmClient(make_provider("openai"), api_key="some-key-1")
    with pytest.raises(ProviderMismatchError, match="resolved to openai"):
        ask(Namer(session, openai), False)
    shouted = StageSession(NullBackend(), LlmConfig("Anthropic", "m"))
    shouted.assert_provider("anthropic")
    assert key(shouted) == key()


def test_a_name_that_chooses_an_api_is_its_providers() -> None:
    """A session for ``openai-responses`` takes OpenAI's clients."""
    session = StageSession(NullBackend(), LlmConfig("openai-responses", "m"))
    session.assert_provider("openai")
    session.assert_provider(make_provider("openai-responses").name)


def test_two_servers_share_no_answers():
    """The same name may be another model elsewhere; without an address the key stays as it was."""
    keys = {
        StageSession(NullBackend(), replace(CONFIG, base_url=url)).cache_key(
            model="m", prompt="p", parameters={}
        )
        for url in (None, "http://one.test/v1", "http://two.test/v1")
    }
    assert len(keys) == 3


@pytest.mark.parametrize("is_async", [True, False])
def test_an_answer_that_passed_the_cost_limit_is_kept(
    session: StageSession, is_async: bool
) -> None:
    """It was paid for, so the next run has it for nothing."""

    class DearClient(Client):
        def complete_sync(
            self, prompt: LlmPrompt, *, stage: str = "", agent_class: str = ""
        ) -> LlmResponse:
            response = super().complete_sync(prompt, stage=stage, agent_class=agent_class)
            refusal = CostLimitExceeded(Decimal(2), Decimal(1))
            refusal.response = response
            raise refusal

    with pytest.raises(CostLimitExceeded):
        ask(Namer(session, DearClient('{"names": ["a"]}')), is_async)
    assert ask(Namer(session, Client()), is_async) == Answer(names=["a"])
