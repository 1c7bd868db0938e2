"""An agent's run that is stopped anywhere ends as it would have, and repeats nothing."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.agents.agent import Agent, AgentResult
from fluid_build.copilot.llm.answers import LlmResponse
from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.copilot.messages import ToolCall
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.copilot.tools.registry import forge_tool
from tests.copilot.agents.agent.models import calling


class Stopped(BaseException):
    """As good as a kill: nothing catches it."""


class World:
    """A model and its tools, which stop at the event of a given number and note what was begun."""

    model = "world"

    def __init__(self, turns: Sequence[Sequence[str]], stop_at: int | None = None) -> None:
        self.turns = turns
        self.stop_at = stop_at
        self.begun: list[str] = []

        @forge_tool(read_only=True, register=False)
        async def read(key: str) -> str:
            """Read."""
            return self.event(key)

        @forge_tool(register=False)
        async def write(key: str) -> str:
            """Write."""
            return self.event(key)

        @forge_tool(register=False)
        async def fail(key: str) -> str:
            """Fail."""
            self.event(key)
            raise ValueError(key)

        self.agent = Agent(self, tools=[read, write, fail], max_turns=50)

    def event(self, name: str) -> str:
        self.begun.append(name)
        if len(self.begun) == self.stop_at:
            raise Stopped
        return name

    async def complete(self, prompt: LlmPrompt, **_: str) -> LlmResponse:
        turn = sum(message["role"] == "assistant" for message in prompt.messages)
        self.event(f"turn {turn}")
        if turn == len(self.turns):
            return LlmResponse("done")
        keys = [f"{turn}/{place}" for place in range(len(self.turns[turn]))]
        return calling(
            *(
                ToolCall(key, name, {"key": key})
                for key, name in zip(keys, self.turns[turn], strict=True)
            )
        )

    def complete_sync(self, prompt: LlmPrompt, **_: str) -> LlmResponse:
        raise NotImplementedError


def run_with_stops(
    turns: Sequence[Sequence[str]], stops: Sequence[int]
) -> tuple[AgentResult[str], list[str]]:
    """Run in as many processes as there are stops, and one that goes on to the end."""
    begun: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteBackend(Path(folder) / "store.db")
        for number, stop in enumerate([*stops, None]):
            world = World(turns, stop)
            saved: dict[str, Any] = {"store": store}
            try:
                result = (
                    world.agent.resume_sync("r", **saved)
                    if number
                    else world.agent.run_sync("Go.", run_id="r", **saved)
                )
            except Stopped:
                begun += world.begun
                continue
            begun += world.begun
            break
        store.close()
    return result, begun


@given(
    turns=st.lists(
        st.lists(st.sampled_from(["read", "write", "fail", "unknown"]), min_size=1, max_size=4),
        max_size=4,
    ),
    stops=st.lists(st.integers(1, 8), max_size=4),
)
def test_a_run_that_is_stopped_anywhere_ends_as_it_would_have(
    turns: list[list[str]], stops: list[int]
) -> None:
    whole, expected = run_with_stops(turns, [])
    result, begun = run_with_stops(turns, stops)
    assert list(result.messages) == list(whole.messages)
    assert (result.output, result.turns, result.usage) == (whole.output, whole.turns, whole.usage)
    # What was begun again was under way at a stop; only read-only calls were so together.
    assert list(dict.fromkeys(begun)) == expected
    kinds = {
        f"{turn}/{place}": kind
        for turn, names in enumerate(turns)
        for place, kind in enumerate(names)
    }
    repeated = [name for name in set(begun) if begun.count(name) > 1 and kinds.get(name) != "read"]
    assert len(repeated) <= len(stops)
