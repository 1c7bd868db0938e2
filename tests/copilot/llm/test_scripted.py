"""The scripted provider: lists, functions, errors, and what it was asked."""

import asyncio

import pytest

from fluid_build.copilot.agents.errors import RateLimitError
from fluid_build.copilot.llm.base import LlmPrompt, LlmResponse, Usage
from fluid_build.copilot.llm.testing import ScriptedProvider
from fluid_build.copilot.messages import ToolCall

PROMPT = LlmPrompt("m", [{"role": "user", "content": "hello"}])


def test_a_list_is_answered_in_order():
    """Texts, objects as JSON, whole responses."""
    whole = LlmResponse("three", usage=Usage(5, 5))
    provider = ScriptedProvider(["one", {"two": 2}, whole])
    assert provider.complete_sync(PROMPT).text == "one"
    assert provider.complete_sync(PROMPT).as_json() == {"two": 2}
    assert provider.complete_sync(PROMPT) is whole


def test_an_error_in_the_list_is_raised():
    """A failing model is a line of the script."""
    provider = ScriptedProvider([RateLimitError(), "ok"])
    with pytest.raises(RateLimitError):
        provider.complete_sync(PROMPT)
    assert provider.complete_sync(PROMPT).text == "ok"


def test_a_list_that_is_used_up_fails_the_test():
    """One call too many is an error."""
    provider = ScriptedProvider(["one"])
    provider.complete_sync(PROMPT)
    with pytest.raises(AssertionError, match="1 answers"):
        provider.complete_sync(PROMPT)


def test_a_function_of_the_prompt_answers():
    """Plain or coroutine."""

    async def later(prompt):
        await asyncio.sleep(0)
        return prompt.messages[0]["content"].upper()

    assert ScriptedProvider(later).complete_sync(PROMPT).text == "HELLO"
    assert ScriptedProvider(lambda prompt: prompt.model).complete_sync(PROMPT).text == "m"


def test_the_prompts_are_recorded():
    """Prompts in order, with whose they were."""
    provider = ScriptedProvider(lambda prompt: "ok")
    asyncio.run(provider.complete(PROMPT, stage="logical", agent_class="Modeler"))
    assert provider.prompts == [PROMPT]
    assert provider.callers == [("logical", "Modeler")]


def test_parallel_calls_each_get_an_answer_of_their_own():
    """No answer is given twice."""
    provider = ScriptedProvider([str(n) for n in range(50)])

    async def ask_all():
        return await asyncio.gather(*(provider.complete(PROMPT) for _ in range(50)))

    texts = {response.text for response in asyncio.run(ask_all())}
    assert len(texts) == 50


def test_calls_of_tools_are_an_answer() -> None:
    calls = [ToolCall("1", "add", {"a": 1}), ToolCall("2", "add", {"a": 2})]
    model = ScriptedProvider([calls[0], calls])
    prompt = LlmPrompt("any", [])
    assert model.complete_sync(prompt).tool_calls == (calls[0],)
    answer = model.complete_sync(prompt)
    assert (list(answer.tool_calls), answer.text, answer.stop_reason) == (calls, "", "tool_calls")
