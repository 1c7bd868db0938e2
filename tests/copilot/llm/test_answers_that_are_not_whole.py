"""Structured answers that a model refuses, or that end at the limit: errors of their own."""

import pytest
from pydantic import BaseModel

from fluid_build.copilot.agents.base import BaseStageAgent, StageSession
from fluid_build.copilot.agents.errors import AnswerCutOffError, AnswerRefusedError
from fluid_build.copilot.llm.base import LlmConfig, LlmPrompt, Usage
from fluid_build.copilot.llm.providers import PROVIDERS
from fluid_build.copilot.store.backends.null import NullBackend
from tests.fault_server import Reply
from tests.fault_server.wire import FORMATS


class Report(BaseModel):
    """A structured answer."""

    summary: str
    rows: int = 0


REFUSED = (Reply("I can't help with that.", stop_reason="refused"), AnswerRefusedError)
CUT_OFF = (Reply('{"summary": "The ta', stop_reason="length"), AnswerCutOffError)
WIRES = [name for name in FORMATS if name in PROVIDERS]
# Ollama's API has no way to say that the model declined
CASES = [(wire, *CUT_OFF) for wire in WIRES] + [
    (wire, *REFUSED) for wire in WIRES if wire != "ollama"
]
every_case = pytest.mark.parametrize(("wire", "reply", "error"), CASES)
PROMPT = LlmPrompt(
    "test-model",
    [{"role": "user", "content": "Report."}],
    response_schema=Report.model_json_schema(),
)


@every_case
def test_an_answer_that_is_not_whole_is_no_broken_schema(wire, reply, error, bench, ask):
    """It is paid for, and the error has what the model said."""
    bench.serve(reply)
    response = ask(bench.client(wire), PROMPT)
    assert response.usage == Usage(12, 3)
    with pytest.raises(error) as caught:
        response.as_json()
    assert caught.value.text == reply.text
    assert not caught.value.retryable


@every_case
def test_a_stream_that_ends_so_says_the_same(wire, reply, error, bench):
    """The stream itself is complete."""
    bench.serve(reply)
    with bench.client(wire) as client, client.stream_sync(PROMPT) as stream:
        for _ in stream:
            pass
        with pytest.raises(error):
            stream.response.as_json()


@every_case
def test_a_stage_agent_raises_it_and_saves_nothing(wire, reply, error, bench):
    """Another call asks again."""
    server = bench.serve(reply, Reply('{"summary": "ok", "rows": 1}'))
    config = LlmConfig(wire, "test-model", server.base_url(wire))
    with bench.client(wire) as client:
        agent = BaseStageAgent(StageSession(NullBackend(), config), client)
        with pytest.raises(error):
            agent.call_sync(Report, system="", user="Report.")
        assert agent.call_sync(Report, system="", user="Report.").summary == "ok"
    assert len(server.requests) == 2
