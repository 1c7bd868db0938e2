"""An ``Agent`` as the agent of a composite: tools, types, cache and compaction in its steps."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from fluid_build.copilot import (
    Agent,
    Checkpoint,
    Composite,
    CompositeAgent,
    LlmConfig,
    ScriptedProvider,
    StageSession,
    Toolbox,
    completion,
    forge_tool,
)
from fluid_build.copilot.agents.composite import Retry, put_state, resume_sync, run_sync
from fluid_build.copilot.errors import ApprovalRequiredError, ProviderServerError, RateLimitError
from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.copilot.messages import ToolCall
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.errors import UsageError

SCHEMA = {
    "type": "object",
    "properties": {"tasks": {"type": "array", "items": {"type": "string"}}},
    "required": ["tasks"],
}


class Plan(BaseModel):
    tasks: list[str]


class Coder(CompositeAgent):
    """The steps of a queue, with whatever agent it is given."""

    def __init__(self, steps: list[Any], **state: Any) -> None:
        self.steps = steps
        self.state = state
        self.decide: Any = None

    def init(self, args: Any) -> Composite:
        return Composite(agent=args["agent"], steps=self.steps, **self.state)

    def on_step_complete(self, step: Any, state: Composite) -> Composite:
        return put_state(state, step.name, state.response)

    def on_error(self, step: Any, error: object, state: Composite) -> Any:
        return super().on_error(step, error, state) if self.decide is None else self.decide(state)


def count(table: str) -> int:
    """Count a table's rows."""
    return len(table)


def test_a_step_of_an_agent_calls_its_tools_and_continues_the_conversation() -> None:
    script = [ToolCall("1", "count", {"table": "orders"}), "Six rows.", "Done."]
    model = ScriptedProvider(script)
    agent = Agent(model, tools=[count], instructions="You count.")
    result = run_sync(
        Coder([completion("research", "Count the orders."), completion("sum_up", "Sum up.")]),
        {"agent": agent},
    )
    assert result.ok, result.error
    assert result.state.internal == {"research": "Six rows.", "sum_up": "Done."}
    roles = [message["role"] for message in result.state.messages]
    assert roles == ["assistant", "tool", "assistant", "assistant"]
    last: LlmPrompt = model.prompts[-1]
    assert last.system == "You count."
    assert [m["content"] for m in last.messages if m["role"] == "system"] == ["Sum up."]


def test_a_step_has_a_model_a_toolbox_and_a_format_of_its_own() -> None:
    model = ScriptedProvider([ToolCall("1", "count", {"table": "abc"}), {"tasks": ["a"]}, "Plain."])
    agent = Agent(model)
    steps = [
        completion(
            "plan", "Plan.", model="large", toolbox=Toolbox([count]), response_format=SCHEMA
        ),
        completion("talk", "Talk."),
    ]
    result = run_sync(Coder(steps), {"agent": agent})
    assert result.ok, result.error
    assert result.state.internal == {"plan": '{"tasks": ["a"]}', "talk": "Plain."}
    first, _, last = model.prompts
    assert (first.model, last.model) == ("large", ScriptedProvider([]).model)
    assert [tool.name for tool in first.tool_specs] == ["count"]
    assert list(last.tool_specs) == []
    assert first.response_schema == SCHEMA


def test_an_answer_that_breaks_the_format_of_its_step_is_corrected() -> None:
    model = ScriptedProvider([{"tasks": "a"}, {"tasks": ["a"]}])
    step = completion("plan", "Plan.", response_format=SCHEMA)
    result = run_sync(Coder([step]), {"agent": Agent(model)})
    assert result.response == '{"tasks": ["a"]}'


def test_a_typed_answer_is_a_value_of_its_type_and_survives_a_checkpoint(tmp_path: Any) -> None:
    agent = Agent(ScriptedProvider([{"tasks": ["a", "b"]}]), output=Plan)
    saved = Checkpoint(SqliteBackend(tmp_path / "runs.db"), "r")
    coder = Coder([completion("plan", "Plan.")])
    result = run_sync(coder, {"agent": agent}, checkpoint=saved)
    assert result.response == Plan(tasks=["a", "b"])
    again = resume_sync(coder, {"agent": agent}, checkpoint=saved)
    assert again.response == Plan(tasks=["a", "b"])


def test_the_answers_of_steps_come_from_the_cache_of_the_session(tmp_path: Any) -> None:
    session = StageSession(SqliteBackend(tmp_path / "s.db"), LlmConfig("anthropic", "m"))
    model = ScriptedProvider(["Once."])
    for _ in range(2):
        agent = Agent(session, client=model)
        assert run_sync(Coder([completion("a", "A.")]), {"agent": agent}).response == "Once."
    assert len(model.prompts) == 1


def test_a_long_conversation_is_compacted_within_a_step() -> None:
    calls = [ToolCall(str(n), "read", {}) for n in range(10)]
    session = StageSession(
        SqliteBackend(":memory:"),
        LlmConfig("anthropic", "m"),
        capability_matrix={"context_window": 6000},
    )
    model = ScriptedProvider([*calls, "Read."])
    agent = Agent(session, client=model, tools=[read], max_output_tokens=500)
    result = run_sync(Coder([completion("a", "Read all.")]), {"agent": agent})
    assert result.ok, result.error
    assert result.response == "Read."


def read() -> str:
    """Read a page."""
    return "A page of words that say something. " * 60


@forge_tool(requires_approval=True, register=False)
def drop() -> str:
    """Drop a table."""
    return "dropped"


def test_a_step_cannot_wait_for_a_person() -> None:
    agent = Agent(ScriptedProvider([ToolCall("1", "drop", {})]), tools=[drop])
    result = run_sync(Coder([completion("a", "A.")]), {"agent": agent})
    assert isinstance(result.error, ApprovalRequiredError)


async def no_wait(_seconds: float) -> None:
    pass


@pytest.mark.parametrize(
    ("error", "waits"),
    [(ProviderServerError("busy"), [1, 2]), (RateLimitError("slow", retry_after=7.0), [7, 7])],
)
def test_a_retry_is_bounded_and_waits(error: Exception, waits: list[float]) -> None:
    class Failing:
        calls = 0

        async def get_completion(self, **_: Any) -> Any:
            self.calls += 1
            raise error

    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    coder, agent = Coder([completion("a", "A.")]), Failing()
    coder.decide = Retry
    result = run_sync(coder, {"agent": agent}, sleep=sleep)
    assert not result.ok
    assert agent.calls == 3
    assert [int(seconds) for seconds in waited] == waits


def test_a_step_takes_a_pydantic_model_as_the_form_of_its_answer() -> None:
    """A checkpoint saves the step as JSON, so it has the schema."""
    step = completion("plan", "List what is to do.", response_format=Plan)
    assert step.response_format == Plan.model_json_schema()
    agent = Agent(ScriptedProvider([{"tasks": ["Fix it."]}]))
    result = run_sync(Coder([step]), {"agent": agent})
    assert Plan.model_validate_json(result.response) == Plan(tasks=["Fix it."])


@pytest.mark.parametrize("form", [list[str], "json", Plan(tasks=[])])
def test_a_step_refuses_anything_else_where_it_is_written(form: Any) -> None:
    with pytest.raises(UsageError, match=r"'plan'.*JSON schema"):
        completion("plan", "List what is to do.", response_format=form)
