"""A chat with an approval, a typed report and a failure, as a user interface sees them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from fluid_build.copilot import Agent, ScriptedProvider, forge_tool
from fluid_build.copilot.agents.agui import agui_events
from fluid_build.copilot.errors import ProviderServerError
from fluid_build.copilot.llm.answers import LlmResponse, Usage
from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from tests.copilot.agents.agent.models import call, calling


class Report(BaseModel):
    title: str
    sales: list[int]


def read_events(agent: Agent[Any, Any], store: SqliteBackend, **request: Any) -> list[Any]:
    """The events of a run."""

    async def read() -> list[Any]:
        return [event async for event in agui_events(agent, request, store=store)]

    return asyncio.run(read())


def says(text: str) -> dict[str, Any]:
    """A message of the user."""
    return {"id": "m", "role": "user", "content": text}


def chat(dropped: list[str]) -> Agent[Any, str]:
    """A chat that thinks, drops a table once it's asked to, and hands over."""

    @forge_tool(requires_approval=True, register=False)
    def drop(table: str) -> str:
        """Drop a table."""
        dropped.append(table)
        return "dropped"

    def answer(prompt: LlmPrompt) -> Any:
        last = prompt.messages[-1]
        if last["role"] == "user" and "Drop" in str(last["content"]):
            return calling(call("drop", table="orders"))
        count = sum(message["role"] == "user" for message in prompt.messages)
        return LlmResponse(f"Done, {count}.", usage=Usage(7, 3), thinking="Hm.")

    return Agent(ScriptedProvider(answer), tools=[drop])


def all_runs(folder: Path) -> list[list[Any]]:
    """The events of one run of each kind: success, interrupt, resumed, typed, handoff, error."""
    store, dropped = SqliteBackend(folder / "store.db"), list[str]()
    agent = chat(dropped)
    runs = [
        read_events(agent, store, threadId="t", runId="1", messages=[says("Hi.")]),
        read_events(agent, store, threadId="t", runId="2", messages=[says("Drop it.")]),
    ]
    answers = [
        {"interruptId": each["id"], "status": "resolved", "payload": {"approved": True}}
        for each in runs[-1][-1]["outcome"]["interrupts"]
    ]
    runs.append(read_events(agent, store, threadId="t", runId="3", messages=[], resume=answers))
    typed = Agent(ScriptedProvider([{"title": "Sales", "sales": [1, 2]}]), output=Report)
    runs.append(
        read_events(
            typed, store, threadId="u", runId="1", messages=[says("Go.")], state={"theme": "dark"}
        )
    )
    other = Agent(ScriptedProvider(["Hello."]), name="other")
    triage = Agent(ScriptedProvider([calling(call("transfer_to_other"))]), handoffs=[other])
    runs.append(read_events(triage, store, threadId="v", runId="1", messages=[says("Go.")]))
    failing = Agent(ScriptedProvider([ProviderServerError("The server is down.")]))
    runs.append(read_events(failing, store, threadId="w", runId="1", messages=[says("Go.")]))
    store.close()
    assert dropped == ["orders"]
    return runs
