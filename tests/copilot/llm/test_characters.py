"""Models of bad character: random, liar, attacker."""

import json

import jsonschema
import pytest
from pydantic import BaseModel

from fluid_build.copilot import Agent, BaseStageAgent, LlmClient, StageSession, make_provider
from fluid_build.copilot.errors import AgentExecutionError
from fluid_build.copilot.llm.base import LlmConfig, LlmPrompt, ToolSpec
from fluid_build.copilot.store.backends.null import NullBackend
from tests.copilot.llm.characters import ATTACKS, attacker, liar, random_model
from tests.fault_server import WIRE_FORMATS, LoopbackServer

MODELS = {
    "anthropic": "claude-sonnet-4-6",
    "openai": "gpt-4.1",
    "gemini": "gemini-2.5-pro",
    "ollama": "llama3.1",
}


class Key(BaseModel):
    table: str
    columns: list[str]
    certainty: float = 1.0


class Keys(BaseModel):
    keys: list[Key]
    note: str | None = None


class Namer(BaseStageAgent):
    stage = "naming"


def _answers(wire, character, questions):
    with LoopbackServer(character) as server:
        url = server.base_url(wire)
        session = StageSession(NullBackend(), LlmConfig(wire, MODELS[wire], url), no_cache=True)
        with LlmClient(make_provider(wire, url), api_key=server.key) as client:
            agent = Namer(session, client)
            return [agent.call_sync(Keys, system="Find keys.", user=text) for text in questions]


@pytest.mark.parametrize("wire", WIRE_FORMATS)
def test_a_random_model_answers_by_the_schema_of_the_request(wire):
    answers = _answers(wire, random_model(1), [f"question {n}" for n in range(5)])
    for answer in answers:
        jsonschema.validate(answer.model_dump(), Keys.model_json_schema())
    assert len({answer.model_dump_json() for answer in answers}) > 1


def test_the_same_request_gets_the_same_answer():
    first, second = _answers("openai", random_model(7), ["same", "same"])
    assert first == second


def test_a_liar_uses_the_names_of_the_prompt():
    questions = [f"customers orders order_no {n:03d}" for n in range(20)]
    tables = {key.table for answer in _answers("openai", liar(), questions) for key in answer.keys}
    assert tables
    assert tables <= {"customers", "orders", "order_no"}


def test_an_attacker_answers_with_attacks_and_sometimes_with_megabytes():
    texts, too_large = set(), 0
    for number in range(30):
        try:
            (answer,) = _answers("openai", attacker(), [f"question {number}"])
            texts |= {key.table for key in answer.keys}
        except AgentExecutionError:
            too_large += 1
    assert texts & set(ATTACKS)
    assert too_large


@pytest.mark.parametrize("wire", WIRE_FORMATS)
def test_a_character_calls_the_tools_that_it_is_offered(wire):
    tool = ToolSpec("check_key", "Check a key.", Key.model_json_schema())
    names = set()
    with LoopbackServer(random_model()) as server:
        provider = make_provider(wire, server.base_url(wire))
        with LlmClient(provider, api_key=server.key) as client:
            for number in range(8):
                messages = [{"role": "user", "content": f"go {number}"}]
                prompt = LlmPrompt(MODELS[wire], messages, tools=[tool])
                names |= {call.name for call in client.complete_sync(prompt).tool_calls}
    assert names == {"check_key"}


def test_an_agent_with_a_random_model_ends_within_its_turns():
    def count(table: str) -> int:
        """Count the rows of a table."""
        return 3

    with LoopbackServer(random_model(3)) as server:
        provider = make_provider("openai", server.base_url("openai"))
        with LlmClient(provider, api_key=server.key) as client:
            agent = Agent("openai:gpt-4.1", client=client, tools=[count], max_turns=10)
            try:
                assert isinstance(agent.run_sync("Count.").output, str)
            except AgentExecutionError as error:
                assert error.__class__.__name__ == "TurnLimitError"
    assert len(server.requests) <= 10


def test_every_attack_can_be_sent_as_json():
    assert json.loads(json.dumps(list(ATTACKS))) == list(ATTACKS)
