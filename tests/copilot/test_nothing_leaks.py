"""From end to end: no secret of this machine is in any byte that a provider is sent."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from fluid_build.copilot import Agent
from fluid_build.copilot.agents.composite import (
    Composite,
    CompositeAgent,
    Skip,
    completion,
    delegate,
    run,
)
from fluid_build.copilot.cost import RunCostTracker
from fluid_build.copilot.events import EventBus
from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.providers import make_provider
from fluid_build.copilot.llm.testing import ScriptedProvider
from fluid_build.copilot.messages import ToolCall, ToolResult
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.copilot.tools.confinement import read_confined
from fluid_build.copilot.tools.dispatch import dispatch_tool_call_async, tool_result_text
from fluid_build.copilot.tools.registry import FORGE_TOOL_REGISTRY, forge_tool
from tests.fault_server import LoopbackServer, Reply

CANARY = "c4n4ry-7f21"

EXCEPTIONS = sorted(
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type)
    and issubclass(kind, Exception)
    and not issubclass(kind, Warning | UnicodeError | BaseExceptionGroup)
)


class Args(BaseModel):
    path: str = ""


def secret_error(name: str, shape: int) -> Exception:
    """An exception that quotes a path, a password or a variable's value, or carries a cause."""
    texts = [f"/home/{CANARY}/.aws/credentials", f"password={CANARY}", CANARY, f"env-{CANARY}"]
    error: Exception = getattr(builtins, name)(texts[shape % 4])
    error.__cause__ = RuntimeError(CANARY) if shape % 3 else None
    error.add_note(CANARY)
    return error


class Talker:
    """Speaks to a provider over a socket, and does the tool calls that it asks for."""

    def __init__(self, client: LlmClient, workspace: Path) -> None:
        self.client = client
        self.workspace = workspace

    async def get_completion(self, *, messages: Sequence[Mapping[str, Any]], **_: Any) -> Any:
        conversation = list(messages)
        while True:
            prompt = LlmPrompt(model="m", messages=conversation)
            answer = await self.client.complete(prompt)
            conversation.append(answer.as_message())
            if not answer.tool_calls:
                return SimpleNamespace(response=answer.text, messages=conversation)
            for call in answer.tool_calls:
                value = await dispatch_tool_call_async(call.name, call.arguments, self.workspace)
                result = ToolResult(call.id, tool_result_text(value), call.name)
                conversation.append(result.as_message())


class Forging(CompositeAgent):
    """Calls tools that fail, delegates to agents that fail, and goes on talking."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def init(self, args: Mapping[str, Any]) -> Composite:
        def broken(_: Any) -> Any:
            raise self.error

        agent = SimpleNamespace(get_response=broken)
        group = [delegate(f"branch_{n}", agent, lambda state: {}) for n in range(2)]
        return Composite(
            agent=args["agent"],
            messages=[{"role": "user", "content": "go"}],
            steps=[completion("tools", "Use tools."), group, completion("end", "Sum up.")],
        )

    def on_error(self, step: Any, error: Any, state: Composite) -> Any:
        return Skip(state)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    root = tmp_path / CANARY
    root.mkdir()
    (tmp_path / "secret.csv").write_text(CANARY)
    (root / "link.csv").symlink_to(tmp_path / "secret.csv")
    monkeypatch.setenv("WAREHOUSE_PASSWORD", f"env-{CANARY}")
    saved = dict(FORGE_TOOL_REGISTRY)
    yield root
    FORGE_TOOL_REGISTRY.clear()
    FORGE_TOOL_REGISTRY.update(saved)


@settings(max_examples=12)
@given(
    name=st.sampled_from(EXCEPTIONS),
    shape=st.integers(0, 11),
    wire=st.sampled_from(["anthropic", "openai", "gemini", "ollama"]),
    path=st.sampled_from(["link.csv", "../secret.csv", "none.csv", "/etc/x.csv", "a\0.csv"]),
)
def test_no_secret_reaches_a_provider(
    workspace: Path, name: str, shape: int, wire: str, path: str
) -> None:
    """Whatever fails and however it says so, in tools, validators or agents: nothing leaks."""
    FORGE_TOOL_REGISTRY.clear()
    error = secret_error(name, shape)

    @forge_tool(name="broken", description="d", args_schema=Args)
    def broken(args: Args) -> Any:
        raise error

    @forge_tool(name="read", description="d", args_schema=Args, workspace_root_aware=True)
    def read_file(args: Args, *, workspace_root: Path) -> Any:
        content = read_confined(workspace_root, args.path, suffixes=[".csv"], max_bytes=99)
        return {"content": content.decode()}

    calls = Reply(
        tool_calls=(
            ToolCall("1", "broken", {"path": path}),
            ToolCall("2", "read", {"path": path}),
            ToolCall("3", "no_such_tool", {}),
            ToolCall("4", "read", {"path": 5, "extra": 1}),
        )
    )
    with LoopbackServer([calls, Reply("done"), Reply("end")]) as server:
        client = LlmClient(
            make_provider(wire, server.base_url(wire)),
            api_key=server.key,
            tracker=RunCostTracker(bus=EventBus()),
        )

        async def go() -> Any:
            async with client:
                return await run(Forging(error), {"agent": Talker(client, workspace)})

        result = asyncio.run(go())
    assert result.ok
    assert len(server.requests) == 3
    sent = b"".join(request.raw for request in server.requests).decode()
    assert "Tool 'broken' failed" in sent
    assert "## Branch 0" in sent
    assert CANARY not in sent


def test_no_secret_that_a_tool_returns_is_in_a_checkpoint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whether the message is saved with the head or in a chunk, and the run resumes."""
    monkeypatch.setenv("SHOP_DB_PASSWORD", "hunter2-canary")
    key = "sk-ant-canary-0123456789"

    def look(place: int) -> dict[str, str]:
        """Look up how to connect."""
        if place == 5 and not answers:
            answers.append("interrupted")
            raise KeyboardInterrupt
        return {"connect_with": "hunter2-canary", "header": f"x {key}"}

    answers: list[str] = []
    calls = [ToolCall(str(place), "look", {"place": place}) for place in range(6)]
    agent = Agent(ScriptedProvider([calls, "Connected."]), tools=[look])
    with closing(SqliteBackend(tmp_path / "runs.db")) as store:
        with pytest.raises(KeyboardInterrupt):
            agent.run_sync(f"Use {key}.", store=store, run_id="r")
        assert agent.resume_sync("r", store=store).output == "Connected."
        saved = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert saved.count(b"[redacted]") >= 6
    assert b"canary" not in saved
