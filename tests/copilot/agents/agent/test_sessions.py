"""Conversations that go on: sessions by id in a store, and handoffs to another agent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from fluid_build.copilot import Agent, LlmConfig, ScriptedProvider, StageSession, forge_tool
from fluid_build.copilot.agents.agent import ChatSession, HandoffEvent, ask
from fluid_build.copilot.context.token_budget import estimate_message_tokens
from fluid_build.copilot.context.window_manager import ContextPruningStrategy, ContextWindowManager
from fluid_build.copilot.errors import ProviderServerError
from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.providers import make_provider
from fluid_build.copilot.messages import text_of
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.errors import UsageError
from tests.copilot.agents.agent.models import MODELS, call, calling
from tests.fault_server import LoopbackServer, Reply, overloaded


def count(prompt: LlmPrompt) -> str:
    return f"You said {sum(message['role'] == 'user' for message in prompt.messages)} things."


async def no_wait(_seconds: float) -> None:
    pass


# Sessions.


def test_a_session_goes_on_in_another_process(store: SqliteBackend) -> None:
    for number in (1, 2, 3):
        agent = Agent(ScriptedProvider(count))
        result = agent.run_sync(f"Thing {number}.", session=ChatSession(store, "ada"))
        assert result.output == f"You said {number} things."
    assert len(ChatSession(store, "ada").messages()) == 6
    other = Agent(ScriptedProvider(count)).run_sync("Hi.", session=ChatSession(store, "grace"))
    assert other.output == "You said 1 things."


def test_a_failed_run_leaves_its_session_as_it_was(store: SqliteBackend) -> None:
    session = ChatSession(store, "ada")
    with pytest.raises(ProviderServerError):
        Agent(ScriptedProvider([ProviderServerError()])).run_sync("Hi.", session=session)
    assert session.messages() == []


def test_two_runs_at_once_lose_nothing_of_each_other(store: SqliteBackend) -> None:
    session = ChatSession(store, "ada")

    def answer(prompt: LlmPrompt) -> str:
        if text_of(prompt.messages[-1]) == "First.":
            Agent(ScriptedProvider(["Two."])).run_sync("Second.", session=session)
        return "One."

    Agent(ScriptedProvider(answer)).run_sync("First.", session=session)
    said = [text_of(message) for message in session.messages()]
    assert said == ["Second.", "Two.", "First.", "One."]


def test_a_session_gets_the_messages_of_a_run_that_waited_once(store: SqliteBackend) -> None:
    @forge_tool(requires_approval=True, register=False)
    def drop() -> str:
        """Drop."""
        return "dropped"

    session, script = ChatSession(store, "ada"), [calling(call("drop")), "Done."]
    agent = Agent(ScriptedProvider(script), tools=[drop])
    agent.run_sync("Drop it.", session=session, store=store, run_id="r")
    assert session.messages() == []
    for approvals in ({"c1": True}, None):  # a run that is complete adds nothing more
        agent.resume_sync("r", store=store, approvals=approvals, session=session)
    roles = [message["role"] for message in session.messages()]
    assert roles == ["user", "assistant", "tool", "assistant"]


def test_a_secret_of_the_environment_is_not_saved(
    store: SqliteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "hunter2hunter2hunter2")
    session = ChatSession(store, "ada")
    Agent(ScriptedProvider(["Yes."])).run_sync("It's hunter2hunter2hunter2.", session=session)
    assert "hunter2" not in str(session.messages())


@pytest.mark.parametrize("session_id", ["", "a/b"])
def test_an_id_that_is_none_is_refused(store: SqliteBackend, session_id: str) -> None:
    with pytest.raises(UsageError):
        ChatSession(store, session_id)


def test_a_session_and_a_history_are_refused(store: SqliteBackend) -> None:
    history = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    with pytest.raises(UsageError, match="has the earlier messages"):
        Agent(ScriptedProvider(["x"])).run_sync(
            "Hi.", session=ChatSession(store, "ada"), message_history=history
        )


@given(
    texts=st.lists(st.text("abc ", max_size=400).map("q{}".format), min_size=1, max_size=12),
    strategy=st.sampled_from(ContextPruningStrategy),
)
def test_a_window_prunes_what_is_sent_and_never_what_is_saved(
    texts: list[str], strategy: ContextPruningStrategy
) -> None:
    store = SqliteBackend(":memory:")
    session, model = ChatSession(store, "ada"), ScriptedProvider(lambda _: "ok " * 50)
    window = ContextWindowManager(max_tokens=300, pruning_strategy=strategy)
    for text in texts:
        Agent(model, window=window).run_sync(text, session=session)
    said = [text_of(m) for m in session.messages() if m["role"] == "user"]
    assert said == texts
    assert len(session.messages()) == 2 * len(texts)
    sent = model.prompts[-1].messages
    assert text_of(sent[-1]) == texts[-1]
    assert sum(map(estimate_message_tokens, sent)) <= 300
    store.close()


def test_a_conversation_that_had_to_be_compacted_replaces_what_it_was(
    store: SqliteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLUID_AGENT_COMPACT_AFTER", "1")
    config = LlmConfig("anthropic", "claude-sonnet-4-6")
    limits = StageSession(
        store,
        config,
        capability_matrix={"context_window": 2000},
    )

    def read(page: int) -> str:
        """Read a page."""
        return "word " * 500

    def answer(prompt: LlmPrompt) -> Any:
        last = text_of(prompt.messages[-1])
        return calling(call("read", page=1)) if last.startswith("Question") else "An answer."

    session = ChatSession(store, "ada")
    agent = Agent(limits, client=ScriptedProvider(answer), tools=[read], max_output_tokens=300)
    for number in range(6):
        agent.run_sync(f"Question {number}?", session=session)
    saved = session.messages()
    assert len(saved) < 24
    assert text_of(saved[-1]) == "An answer."


# Handoffs.


class Refund(BaseModel):
    euros: int


def look_up(order: int) -> str:
    """Look an order up."""
    return f"order {order}: 20 euros"


def desk(triage_model: Any, billing_model: Any, **settings: Any) -> Agent[Any, Any]:
    billing = Agent(
        billing_model,
        tools=[look_up],
        output=Refund,
        name="billing",
        instructions="You refund.\nAlways look the order up.",
    )
    return Agent(
        triage_model, name="triage", instructions="You sort.", handoffs=[billing], **settings
    )


HANDOVER = calling(call("transfer_to_billing", "h1"))


def test_the_conversation_goes_on_with_the_other_agent() -> None:
    triage = ScriptedProvider([HANDOVER])
    billing = ScriptedProvider([calling(call("look_up", order=7)), {"euros": 20}])
    result = desk(triage, billing).run_sync("Refund order 7.")
    assert (result.output, result.agent) == (Refund(euros=20), "billing")
    first, last = triage.prompts[0], billing.prompts[-1]
    assert [tool.name for tool in first.tool_specs] == ["transfer_to_billing"]
    assert "billing. You refund." in first.tool_specs[0].description
    assert last.system.startswith("You refund.")
    assert text_of(last.messages[0]) == "Refund order 7."
    assert result.turns == 3


def test_an_agent_that_keeps_the_conversation_answers_itself() -> None:
    result = desk(ScriptedProvider(["Hello."]), ScriptedProvider([])).run_sync("Hi.")
    assert (result.output, result.agent) == ("Hello.", "triage")


@pytest.mark.parametrize("provider", MODELS)
def test_every_format_takes_a_conversation_that_was_handed_over(provider: str) -> None:
    """Over real sockets, with a fault on the way: the server checks what it is sent."""
    script = [
        Reply("", [call("transfer_to_billing", "h1")]),
        overloaded(),
        Reply("", [call("look_up", "c2", order=7)]),
        Reply('{"euros": 20}'),
    ]
    with LoopbackServer(script) as server:
        wire = make_provider(provider, server.base_url(provider))
        with LlmClient(wire, api_key=server.key, sleep=no_wait) as client:
            model = f"{provider}:{MODELS[provider]}"
            billing = Agent(model, client=client, tools=[look_up], output=Refund, name="billing")
            agent = Agent(model, client=client, handoffs=[billing])
            assert agent.run_sync("Refund.").output == Refund(euros=20)


def test_a_run_that_was_handed_over_resumes_with_the_other_agent(store: SqliteBackend) -> None:
    triage, billing = ScriptedProvider([HANDOVER]), ScriptedProvider([ProviderServerError()])
    with pytest.raises(ProviderServerError):
        desk(triage, billing).run_sync("Refund.", store=store, run_id="r")
    billing = ScriptedProvider([{"euros": 1}])
    result = desk(ScriptedProvider([]), billing).resume_sync("r", store=store)
    assert (result.output, result.agent) == (Refund(euros=1), "billing")


def test_a_handoff_is_a_call_to_which_rules_apply() -> None:
    agent = desk(ScriptedProvider([HANDOVER]), ScriptedProvider([{"euros": 1}]), rules=[ask("*")])
    first = agent.run_sync("Refund.")
    assert [each.name for each in first.pending] == ["transfer_to_billing"]
    assert agent.resume_sync(first, approvals={"h1": True}).agent == "billing"


def test_a_stream_says_who_has_the_conversation() -> None:
    agent = desk(ScriptedProvider([HANDOVER]), ScriptedProvider([{"euros": 1}]))
    assert HandoffEvent("billing") in list(agent.stream_sync("Refund."))


def test_two_agents_of_one_name_are_refused() -> None:
    model = ScriptedProvider([])
    with pytest.raises(UsageError, match="named 'agent'"):
        Agent(model, handoffs=[Agent(model)])
