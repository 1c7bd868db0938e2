"""The agent loop: a model explores a workspace and answers with decisions."""

import json
from pathlib import Path

import pytest

from fluid_build.cli.forge_copilot_agent_loop import run_copilot_agent_loop
from fluid_build.copilot import LlmClient, ScriptedProvider, make_provider
from fluid_build.copilot.agents.base import StageSession
from fluid_build.copilot.errors import AgentExecutionError, TurnLimitError
from fluid_build.copilot.llm.base import LlmConfig
from fluid_build.copilot.messages import ToolCall
from fluid_build.copilot.store.backends.null import NullBackend
from fluid_build.errors import FluidError, UsageError
from tests.copilot.llm.characters import attacker, liar, random_model
from tests.fault_server import LoopbackServer

KEY = {
    "decision": "set_key",
    "table": "orders",
    "columns": ["order_no"],
    "reason": "It numbers the orders.",
}
ANSWER = {"source": "shop.db", "technique": "flat", "summary": "A shop.", "decisions": [KEY]}


def _session(provider: str = "anthropic", model: str = "claude-sonnet-4-6") -> StageSession:
    return StageSession(NullBackend(), LlmConfig(provider, model), no_cache=True)


def _run(workspace: Path, script, **options):
    return run_copilot_agent_loop(
        session=_session(), workspace_root=workspace, client=ScriptedProvider(script), **options
    )


def test_the_answer_is_a_source_of_the_workspace_and_decisions_of_a_model(workspace: Path) -> None:
    outcome = _run(workspace, [ToolCall("1", "discover_workspace", {}), ANSWER])
    assert outcome.source == workspace.resolve() / "shop.db"
    assert [(d.decision, d.by) for d in outcome.decisions] == [("set_key", "model")]
    assert outcome.iterations == 2


def _prompts(workspace: Path, call: ToolCall):
    """Run one call and the answer; return the prompts that the model got."""
    model = ScriptedProvider([call, ANSWER])
    run_copilot_agent_loop(session=_session(), workspace_root=workspace, client=model)
    return model.prompts


def test_the_model_sees_what_its_tools_found(workspace: Path) -> None:
    call = ToolCall("1", "profile_source", {"source": "shop.db"})
    conversation = json.dumps(_prompts(workspace, call)[-1].messages, default=str)
    assert "customer_id" in conversation
    assert "canary" not in conversation


def test_a_failed_call_is_followed_by_guidance(workspace: Path) -> None:
    call = ToolCall("1", "read_sample_schema", {"path": "../secret.csv"})
    last = _prompts(workspace, call)[-1].messages[-1]["content"]
    assert "failed with error class ``path_outside_workspace``" in last


@pytest.mark.parametrize(
    "source", ["../secret.csv", "missing.db", "notes.md", "/etc/passwd", "a" * 10_000]
)
def test_an_answer_without_a_source_of_the_workspace_is_refused(
    workspace: Path, source: str
) -> None:
    with pytest.raises(UsageError, match="no source of the workspace"):
        _run(workspace, [{**ANSWER, "source": source}])


def test_a_wrong_entry_costs_only_itself(workspace: Path) -> None:
    outcome = _run(workspace, [{**ANSWER, "decisions": [{"decision": "explode"}, KEY]}])
    assert len(outcome.decisions) == len(outcome.invalid) == 1


def test_the_loop_stops_after_its_iterations(workspace: Path) -> None:
    calls = [ToolCall(str(n), "list_templates", {}) for n in range(5)]
    with pytest.raises(TurnLimitError):
        _run(workspace, calls, max_iterations=3)


def test_weak_models_are_warned_about(workspace: Path) -> None:
    outcome = run_copilot_agent_loop(
        session=_session("ollama", "gemma2:9b"),
        workspace_root=workspace,
        client=ScriptedProvider([ANSWER]),
    )
    assert "window of 8,192 tokens" in outcome.warnings[0]
    assert "schema" in outcome.warnings[1]
    assert "call tools" in outcome.warnings[2]


@pytest.mark.parametrize("character", [random_model, liar, attacker])
@pytest.mark.parametrize("seed", range(3))
def test_a_hostile_model_ends_by_itself_and_harms_nothing(
    workspace: Path, character, seed: int
) -> None:
    before = {path: path.read_bytes() for path in workspace.parent.rglob("*") if path.is_file()}
    with LoopbackServer(character(seed)) as server:
        url = server.base_url("openai")
        session = StageSession(NullBackend(), LlmConfig("openai", "gpt-4.1", url), no_cache=True)
        with LlmClient(make_provider("openai", url), api_key=server.key) as client:
            try:
                run_copilot_agent_loop(
                    session=session, workspace_root=workspace, client=client, max_iterations=6
                )
            except FluidError as error:
                assert isinstance(error, AgentExecutionError | UsageError)
        sent = b"".join(request.raw for request in server.requests)
    assert len(server.requests) <= 6
    assert b"canary" not in sent
    after = {path: path.read_bytes() for path in workspace.parent.rglob("*") if path.is_file()}
    assert {path for path in after if "home" not in path.parts} == set(before)
    assert all(after[path] == content for path, content in before.items())
