"""OpenAI's two APIs: which is chosen, what is sent, and what comes back with the conversation."""

import json
import logging
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming,
    ResponseCreateParamsStreaming,
)

from fluid_build.copilot.agents.errors import ProviderServerError, RateLimitError
from fluid_build.copilot.cost import RunCostTracker
from fluid_build.copilot.errors import ProviderError
from fluid_build.copilot.events import EventBus
from fluid_build.copilot.llm.base import LlmPrompt, LlmResponse, Usage
from fluid_build.copilot.llm.openai import OpenAIProvider
from fluid_build.copilot.llm.openai import api as openai_api
from fluid_build.copilot.llm.openai.api import has_cache_options, is_reasoning_model
from fluid_build.copilot.llm.providers import PROVIDERS, make_provider
from fluid_build.copilot.messages import ToolCall
from fluid_build.errors import UsageError
from tests.copilot.context.conversations import conversations
from tests.copilot.llm.conftest import ask_sync
from tests.copilot.llm.sdk_types import check_request
from tests.fault_server import Reply
from tests.fault_server.wire import FORMATS

CHAT_TYPES = (CompletionCreateParamsNonStreaming, CompletionCreateParamsStreaming)
RESPONSES_TYPES = (ResponseCreateParamsNonStreaming, ResponseCreateParamsStreaming)
TYPES = {"openai-chat": CHAT_TYPES, "openai-responses": RESPONSES_TYPES}
both_apis = pytest.mark.parametrize("api", TYPES)

AZURE = "https://x.openai.azure.com/openai/v1"
TOOL = {
    "name": "read_rows",
    "description": "Reads rows.",
    "input_schema": {
        "type": "object",
        "properties": {"table": {"type": "string"}},
        "required": ["table"],
        "additionalProperties": False,
    },
}
SCHEMA = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
USER = {"role": "user", "content": "Find the key."}
PNG = {"type": "image", "media_type": "image/png", "data": "aGk="}
PDF = {"type": "document", "media_type": "application/pdf", "data": "aGk=", "name": "terms.pdf"}
TALK = [
    USER,
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {"id": "c1", "name": "read_rows", "arguments": {"table": "a"}},
            {"id": "c2", "name": "read_rows", "arguments": {"table": "ä"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "1, 2"},
    {"role": "tool", "tool_call_id": "c2", "content": "no such table", "is_error": True},
    {"role": "system", "content": "Now answer."},
]


def build(api, *messages, model="gpt-6-sol", **options):
    prompt = LlmPrompt(model, messages or TALK, **options)
    return make_provider(api).build_request(prompt).body


def check(api, messages=TALK, model="gpt-6-sol", **options):
    """Check the request and its streaming twin against the SDK's types."""
    provider, prompt = make_provider(api), LlmPrompt(model, messages, **options)
    plain, streaming = TYPES[api]
    check_request(provider.build_request(prompt).body, plain)
    check_request(provider.stream_request(prompt).body, streaming)


@both_apis
@pytest.mark.parametrize("tools", [(), (TOOL,)])
@pytest.mark.parametrize("schema", [None, SCHEMA])
@pytest.mark.parametrize("model", ["gpt-6-sol", "gpt-4.1", "o3", "unknown"])
def test_a_request_has_the_sdks_type(api, tools, schema, model):
    """With and without tools and structured output, plain and streamed, unknown keys refused."""
    check(
        api,
        model=model,
        tools=tools,
        response_schema=schema,
        temperature=0.2,
        system="You model.",
        cache_prompt=False,
        extra={"prompt_cache_key": "run-1", "tool_choice": "auto"},
    )


@both_apis
@given(messages=conversations(max_turns=8))
def test_any_conversation_has_the_sdks_type(api, messages):
    """Whatever was said, in either spelling of tool use."""
    check(api, messages, tools=[TOOL])


@both_apis
def test_images_and_documents_are_sent(api):
    """In the form of the API, in their order."""
    talk = [{"role": "user", "content": [{"type": "text", "text": "Read."}, PNG, PDF]}]
    check(api, talk)
    sent = json.dumps(build(api, *talk))
    assert sent.index("Read.") < sent.index("data:image/png;base64,aGk=")
    assert "data:application/pdf;base64,aGk=" in sent
    assert "terms.pdf" in sent


def test_a_document_without_a_name_gets_one_with_its_type():
    """OpenAI reads the type from the name."""
    nameless = {name: value for name, value in PDF.items() if name != "name"}
    for api in TYPES:
        sent = json.dumps(build(api, {"role": "user", "content": [nameless]}))
        assert '"filename": "document.pdf"' in sent


def test_addresses_of_images_and_documents_are_sent_where_the_api_takes_them():
    """Chat Completions takes images only."""
    image = {"type": "image", "url": "https://x/y.png"}
    document = {"type": "document", "url": "https://x/y.pdf"}
    both = {"role": "user", "content": [image, document]}
    check("openai-responses", [both])
    check("openai-chat", [{"role": "user", "content": [image]}])
    with pytest.raises(UsageError, match="no documents by URL"):
        build("openai-chat", both)


def test_a_tools_result_may_be_an_image_in_responses_only():
    """In Chat Completions a result is text."""
    blocks = [{"type": "text", "text": "Seen."}, PNG, PDF]
    result = {"role": "tool", "tool_call_id": "c1", "content": blocks}
    talk = [*TALK[:2], result, TALK[3]]
    check("openai-responses", talk)
    output = next(
        item["output"] for item in build("openai-responses", *talk)["input"] if "output" in item
    )
    assert [part["type"] for part in output] == ["input_text", "input_image", "input_file"]
    with pytest.raises(UsageError, match="takes no image in a tool's result"):
        build("openai-chat", *talk)


@both_apis
@pytest.mark.parametrize("role", ["assistant", "system"])
def test_an_image_outside_of_the_users_messages_is_refused(api, role):
    """It isn't dropped."""
    with pytest.raises(UsageError, match="image or a document"):
        build(api, {"role": role, "content": [PNG]})


@pytest.mark.parametrize(
    ("model", "base_url", "path"),
    [
        ("gpt-6.2-astra", None, "/responses"),
        ("gpt-5-mini", "https://eu.api.openai.com/v1", "/responses"),
        ("o3", AZURE, "/responses"),
        ("codex-mini-latest", None, "/responses"),
        ("ft:gpt-5.4-nano:org::1", None, "/responses"),
        ("gpt-4.1-nano", None, "/chat/completions"),
        ("unknown", None, "/chat/completions"),
        ("my-deployment", AZURE, "/chat/completions"),
        ("o3", "https://x.openai.azure.com/openai/deployments/o3", "/chat/completions"),
        ("gpt-6-sol", "http://127.0.0.1:8000/v1", "/chat/completions"),
        ("gpt-6-sol", "https://fake-api.openai.com.evil.example/v1", "/chat/completions"),
    ],
)
def test_the_api_is_chosen_by_model_and_server(model, base_url, path):
    """Reasoning models use Responses where the server surely has it."""
    prompt = LlmPrompt(model, TALK, tools=[TOOL])
    provider = OpenAIProvider(base_url)
    for request in (provider.build_request(prompt), provider.stream_request(prompt)):
        assert request.url.partition("?")[0].endswith(path)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("openai-chat", "/chat/completions"),
        ("openai-responses", "/responses"),
        ("azure-chat", "/chat/completions"),
        ("azure-responses", "/responses"),
    ],
)
@pytest.mark.parametrize("model", ["gpt-6-sol", "gpt-4.1", "my-deployment"])
def test_a_name_chooses_the_api(name, path, model):
    """For every model; key, price and messages are the provider's."""
    provider = make_provider(name, AZURE)
    assert provider.build_request(LlmPrompt(model, TALK)).url.endswith(path)
    assert provider.name == name.partition("-")[0]
    assert provider.key_variables == PROVIDERS[provider.name].key_variables


def test_only_hosted_servers_have_a_fast_model():
    """Deployments and local models have the names that their owners gave them."""
    without = {name for name, provider in PROVIDERS.items() if provider.fast_model is None}
    assert without >= {"azure", "vllm", "lmstudio"}


def test_azure_has_no_fast_model_under_the_name_of_openai_either():
    """Its models are called as they were deployed."""
    assert make_provider("openai", "https://x.openai.azure.com/openai/v1").fast_model is None
    assert make_provider("openai").fast_model == "gpt-6-luna"


@pytest.mark.parametrize("name", ["openai", "openrouter", "vllm", "lmstudio"])
def test_reasoning_models_get_the_new_limit_and_no_temperature_on_every_server(name):
    """They refuse max_tokens and sampling parameters."""
    provider = make_provider(name, "http://127.0.0.1:1/v1")
    body = provider.build_request(LlmPrompt("openai/gpt-6-sol", TALK, temperature=0.2)).body
    assert "temperature" not in body
    assert "max_tokens" not in body
    assert body["max_completion_tokens"] == 4096


@both_apis
def test_a_dropped_temperature_is_logged_once_for_each_model(api, caplog):
    """It doesn't vanish silently."""
    openai_api._report_dropped_temperature.cache_clear()
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert "temperature" not in build(api, model="o3", temperature=0.2)
    assert [record.getMessage() for record in caplog.records] == [
        "o3 takes no temperature while it reasons, so none is sent."
    ]


def test_a_model_whose_reasoning_is_off_takes_a_temperature():
    """So do models that don't reason, and unknown ones."""
    off = {"reasoning": {"effort": "none"}}
    assert build("openai-responses", temperature=0.2, extra=off)["temperature"] == 0.2
    off = {"reasoning_effort": "none"}
    assert build("openai-chat", temperature=0.2, extra=off)["temperature"] == 0.2
    for model in ("gpt-4.1", "my-model"):
        assert build("openai-responses", model=model, temperature=0.2)["temperature"] == 0.2


@pytest.mark.parametrize(
    ("model", "reasons"),
    [
        ("gpt-5", True), ("gpt-5.4-nano", True), ("gpt-6.2-astra-law", True), ("o3-pro", True),
        ("o4-mini-2025-04-16", True), ("openai/gpt-5:online", True), ("gpt-10", True),
        ("computer-use-preview", True), ("gpt-4.1", False), ("gpt-4o", False), ("o300", False),
        ("gpt-3.5-turbo", False), ("gpt-oss-120b", False), ("olmo", False), ("gpt-5x", False),
    ],
)  # fmt: skip
def test_models_are_known_by_their_names(model, reasons):
    """An unknown one isn't taken for a reasoning model."""
    assert is_reasoning_model(model) is reasons


def test_a_prompt_that_is_not_cached_says_so_to_models_that_charge_for_it():
    """Cache writes cost a quarter more since 5.6; other models refuse the parameter."""
    options = {"prompt_cache_options": {"mode": "explicit"}}
    assert build("openai-responses", cache_prompt=False).items() >= options.items()
    for body in (
        build("openai-responses"),
        build("openai-responses", model="gpt-5.4", cache_prompt=False),
    ):
        assert "prompt_cache_options" not in body
    assert has_cache_options("gpt-5.6-sol")


@pytest.mark.parametrize("api", TYPES)
@pytest.mark.parametrize(
    "extra",
    [
        {"max_tokens": 10**6},
        {"max_completion_tokens": 10**6},
        {"max_output_tokens": 10**6},
        {"model": "dearer"},
        {"stream": True},
        {"n": 2},
        {"service_tier": "priority"},
    ],
)
def test_what_the_caller_adds_changes_neither_the_cost_nor_the_form_of_an_answer(api, extra):
    """The parameter is refused by name, also where the request doesn't have it."""
    with pytest.raises(UsageError, match=f"extra.{next(iter(extra))} "):
        build(api, extra=extra)


@both_apis
def test_what_the_caller_adds_is_merged_deeply(api):
    """Next to what the prompt sets."""
    extra = {"text": {"verbosity": "low"}, "n": 1, "service_tier": "flex"}
    body = build(api, response_schema=SCHEMA, extra=extra)
    assert body["text"]["verbosity"] == "low"
    assert body["service_tier"] == "flex"


def test_more_can_be_included_in_a_response():
    """Ours stays, because the reasoning is needed; a model without reasoning has none."""
    extra = {"include": ["message.output_text.logprobs"]}
    assert build("openai-responses", extra=extra)["include"] == [
        "message.output_text.logprobs",
        "reasoning.encrypted_content",
    ]
    assert "include" not in build("openai-responses", model="gpt-4.1")


def test_a_response_is_not_stored():
    """The conversation is in the request."""
    body = build("openai-responses", system="You model.")
    assert body["store"] is False
    assert body["instructions"] == "You model."


def test_a_tool_is_strict_where_its_schema_fits_strict_mode():
    """Any other schema is sent as it is, and checked when the call arrives."""
    loose = {**TOOL, "name": "loose", "input_schema": {"type": "object", "properties": {}}}
    tools = build("openai-responses", tools=[TOOL, loose])["tools"]
    assert [tool["strict"] for tool in tools] == [True, False]
    assert tools[1]["parameters"] == loose["input_schema"]


def test_a_structured_response_is_hardened_and_restored_in_strict_mode(monkeypatch):
    """FLUID_OPENAI_STRICT_SCHEMA=1 works in both APIs."""
    schema = {"type": "object", "properties": {"free": {"type": "object"}, "n": {"type": "null"}}}
    assert build("openai-responses", response_schema=schema)["text"]["format"]["strict"] is False
    monkeypatch.setenv("FLUID_OPENAI_STRICT_SCHEMA", "1")
    sent = build("openai-responses", response_schema=schema)["text"]["format"]
    assert (sent["strict"], sent["schema"]["additionalProperties"]) == (True, False)
    answer = parsed("openai-responses", Reply('{"free": "{\\"a\\": 1}"}'), response_schema=schema)
    assert answer.as_json() == {"free": {"a": 1}}


def parsed(api, reply, model="gpt-6-sol", **options):
    provider, prompt = make_provider(api), LlmPrompt(model, TALK, **options)
    wire = "openai" if api == "openai-chat" else api
    body = FORMATS[wire].reply(reply, provider.build_request(prompt).body)
    return provider.parse_response(body, prompt)


def read(api, body, **options):
    return make_provider(api).parse_response(body, LlmPrompt("gpt-6-sol", TALK, **options))


@both_apis
def test_an_answer_is_read(api):
    """Text, thinking, calls and the usage, of which cached and cache-written tokens are parts."""
    calls = (ToolCall("c1", "read_rows", {"table": "ä"}), ToolCall("c2", "read_rows", {}))
    usage = Usage(1000, 10, 600, 300)
    answer = parsed(api, Reply("I look.", calls, usage, thinking="Hm.", model="m-1"))
    assert (answer.text, answer.thinking, answer.tool_calls) == ("I look.", "Hm.", calls)
    assert (answer.usage, answer.model) == (usage, "m-1")
    assert (answer.stop_reason, answer.format_name) == ("tool_calls", api)


@both_apis
@pytest.mark.parametrize("stop_reason", ["end", "length", "refused"])
def test_the_reason_why_the_model_stopped_is_read(api, stop_reason):
    """A refusal keeps what the model said."""
    answer = parsed(api, Reply("I can't.", stop_reason=stop_reason))
    assert (answer.text, answer.stop_reason) == ("I can't.", stop_reason)


@pytest.mark.parametrize(
    ("status", "reason", "expected"),
    [
        ("completed", None, "end"),
        ("incomplete", "max_output_tokens", "length"),
        ("incomplete", "content_filter", "refused"),
        ("incomplete", "max_messages", "other"),
        ("queued", None, "other"),
    ],
)
def test_a_response_that_is_not_complete_says_why(status, reason, expected):
    """All reasons of the SDK's IncompleteDetails, and a status that isn't final."""
    body = {"status": status, "incomplete_details": {"reason": reason}, "output": []}
    assert read("openai-responses", body).stop_reason == expected


@pytest.mark.parametrize(
    ("code", "error_class"),
    [
        ("server_error", ProviderServerError),
        ("rate_limit_exceeded", RateLimitError),
        ("invalid_prompt", ProviderError),
    ],
)
def test_a_failed_response_is_a_typed_error(code, error_class):
    """What may pass is retried, and what won't isn't."""
    body = {"status": "failed", "output": [], "error": {"code": code, "message": "It broke."}}
    with pytest.raises(error_class, match="It broke") as caught:
        read("openai-responses", body)
    assert caught.value.retryable is (code != "invalid_prompt")


def test_a_choice_that_failed_is_a_typed_error():
    """As OpenRouter reports the failure of a model."""
    choice = {"error": {"code": 502, "message": "It broke."}, "message": {"content": ""}}
    with pytest.raises(ProviderServerError, match="It broke"):
        read("openai-chat", {"choices": [choice]})


def test_the_thinking_of_compatible_servers_is_read():
    """In both spellings."""
    for field in ("reasoning_content", "reasoning"):
        message = {"content": "4", field: "2 + 2"}
        answer = read("openai-chat", {"choices": [{"message": message, "finish_reason": "stop"}]})
        assert (answer.text, answer.thinking) == ("4", "2 + 2")


def test_tokens_outside_of_the_answers_count_are_output():
    """Reasoning is in the total only with xAI."""
    usage = {"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 135}
    body = {"choices": [{"message": {"content": "x"}}], "usage": usage}
    assert read("openai-chat", body).usage == Usage(32, 103)


def test_cache_writes_as_litellm_reports_them_are_read():
    """Anthropic's models behind LiteLLM."""
    usage = {"prompt_tokens": 32, "completion_tokens": 9, "cache_creation_input_tokens": 20}
    body = {"choices": [{"message": {"content": "x"}}], "usage": usage}
    assert read("openai-chat", body).usage == Usage(32, 9, 0, 20)


@both_apis
def test_cache_writes_are_charged_at_their_own_price(bench, api):
    """A quarter more than other input, which is $0.01 for 100,000 tokens of gpt-6-luna."""
    bench.serve(Reply(usage=Usage(100_000, 0, 0, 100_000)))
    tracker = RunCostTracker(bus=EventBus())
    base_url = bench.server.base_url("openai")
    client = bench.client(api, base_url, tracker=tracker)
    ask_sync(client, LlmPrompt("gpt-6-luna", [USER]))
    assert tracker.total_usd == Decimal("0.0125")


REASONING = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "First."}],
    "encrypted_content": "secret-1",
    "status": "completed",
}
CALL = {"type": "function_call", "id": "fc_1", "name": "read_rows", "arguments": "{}"}
ANSWER = {
    "status": "completed",
    "output": [
        REASONING,
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "phase": "commentary",
            "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
        },
        {**CALL, "call_id": "c1"},
        {**REASONING, "id": "rs_2", "encrypted_content": "secret-2"},
        {**CALL, "call_id": "c2"},
    ],
}


def next_items(answer, shorten=False):
    message = json.loads(json.dumps(answer.as_message()))
    if shorten:
        message["content"] = message["content"][:3]
    results = [{"role": "tool", "tool_call_id": c.id, "content": "1"} for c in answer.tool_calls]
    check("openai-responses", [USER, message, *results])
    return build("openai-responses", USER, message, *results)["input"][1:]


def test_reasoning_goes_back_unchanged_before_its_calls():
    """And the message between them with its phase, also after a store and a compaction."""
    answer = read("openai-responses", ANSWER)
    assert answer.thinking == "First.\n\nFirst."
    for shorten in (False, True):
        items = next_items(answer, shorten)
        assert items[0] == ANSWER["output"][0]
        assert items[1] == {
            "type": "message",
            "role": "assistant",
            "content": "I l" if shorten else "I look.",
            "phase": "commentary",
        }
        assert items[2]["call_id"] == "c1"
        assert items[3] == ANSWER["output"][3]
        assert [item.get("call_id") for item in items[4:]] == ["c2", "c1", "c2"]


def test_encrypted_reasoning_is_not_taken_for_a_key(bench):
    """By chance it has a key's format in it; a known secret is removed from it all the same."""
    by_chance = f"gAAAAAB{'x' * 80}-sk-proj-1234567890{'x' * 80}=="
    holding = f"gAAAAAB{'x' * 80}-loopback-key-1-{'x' * 80}=="
    for encrypted, arrives in ((by_chance, True), (holding, False)):
        server = bench.serve(Reply("ok"))
        reasoning = {**REASONING, "encrypted_content": encrypted}
        body = {"status": "completed", "output": [reasoning, ANSWER["output"][1]]}
        message = read("openai-responses", body).as_message()
        client = bench.client("openai-responses", server.base_url("openai"))
        ask_sync(client, LlmPrompt("gpt-6-sol", [USER, message, USER]))
        assert (encrypted in server.requests[0].raw.decode()) is arrives


def test_the_choosing_provider_reads_what_its_api_answers():
    """In one piece and streamed."""
    provider, prompt = OpenAIProvider(), LlmPrompt("gpt-6-sol", [USER])
    assert provider.parse_response(ANSWER, prompt).format_name == "openai-responses"
    reader = provider.stream_reader(prompt)
    reader.read({"type": "response.completed", "response": ANSWER})
    assert reader.response() == provider.parse_response(ANSWER, prompt)


def test_reasoning_goes_to_no_other_format():
    """Each API gets its own blocks."""
    message = read("openai-responses", ANSWER).as_message()
    assert "secret" not in json.dumps(build("openai-chat", USER, message))


def test_reasoning_that_led_to_nothing_is_left_out():
    """An answer cut off while the model reasoned; the API refuses reasoning with nothing after."""
    body = {"status": "incomplete", "output": [REASONING]}
    assert next_items(read("openai-responses", body)) == []


def test_reasoning_is_not_sent_to_a_model_that_never_reasons():
    """Which would refuse it; a deployment's name says nothing, and gets it."""
    message = read("openai-responses", ANSWER).as_message()
    results = [{"role": "tool", "tool_call_id": name, "content": "1"} for name in ("c1", "c2")]
    for model, has_reasoning in (("gpt-4.1", False), ("our-deployment", True)):
        prompt = LlmPrompt(model, [USER, message, *results])
        items = make_provider("openai-responses").build_request(prompt).body["input"]
        assert ("reasoning" in [item["type"] for item in items]) is has_reasoning


def test_reasoning_without_its_content_is_left_out():
    """The server doesn't store it, so that its id means nothing."""
    bare = {name: value for name, value in REASONING.items() if name != "encrypted_content"}
    body = {"status": "completed", "output": [bare, {**CALL, "call_id": "c1"}]}
    assert [item["type"] for item in next_items(read("openai-responses", body))] == [
        "function_call",
        "function_call_output",
    ]


def test_the_commentary_of_a_structured_answer_is_not_part_of_it():
    """The text is JSON; the commentary goes back unchanged."""
    final = {"type": "message", "content": [{"type": "output_text", "text": '{"key": "id"}'}]}
    body = {"status": "completed", "output": [ANSWER["output"][1], final]}
    answer = read("openai-responses", body, response_schema=SCHEMA)
    assert answer.as_json() == {"key": "id"}
    assert answer.thinking == "I look."
    assert next_items(answer)[0] == ANSWER["output"][1]


THOUGHTS = {
    "reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "signature": "s"}],
    "reasoning_content": "Hm.",
    "reasoning": "Hm.",
}


@pytest.mark.parametrize(
    ("name", "fields", "returned"),
    [
        ("openrouter", ["reasoning", "reasoning_details"], "reasoning_details"),
        ("openrouter", ["reasoning"], None),
        ("vllm", ["reasoning"], "reasoning"),
        ("openai", ["reasoning_content"], "reasoning_content"),
    ],
)
def test_thinking_goes_back_in_the_field_that_the_server_documents(name, fields, returned):
    """DeepSeek refuses a tool's results without it; ``openai`` is any compatible server here."""
    provider = make_provider(name, "https://api.deepseek.com/v1")
    call = {"id": "c1", "function": {"name": "read_rows", "arguments": "{}"}}
    message = {"content": None, "tool_calls": [call], **{f: THOUGHTS[f] for f in fields}}
    prompt = LlmPrompt("deepseek-v4", [USER])
    answer = provider.parse_response({"choices": [{"message": message}]}, prompt)
    result = {"role": "tool", "tool_call_id": "c1", "content": "1"}
    sent = provider.build_request(LlmPrompt("deepseek-v4", [USER, answer.as_message(), result]))
    thoughts = {name: sent.body["messages"][1].get(name) for name in THOUGHTS}
    assert thoughts == {f: THOUGHTS[f] if f == returned else None for f in THOUGHTS}
    assert "Hm." not in json.dumps(build("openai-chat", USER, answer.as_message()))


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=10)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["type", "content", "summary", "text", "refusal", "phase", "call_id", "name"]
            ),
            st.sampled_from(["message", "reasoning", "function_call", "commentary"]) | inner,
            max_size=5,
        ),
    ),
    max_leaves=15,
)


@given(
    body=st.dictionaries(
        st.sampled_from(["output", "status", "error", "usage", "incomplete_details"]), json_values
    ),
    schema=st.none() | st.just(SCHEMA),
)
@example(body={"output": [{}]}, schema=None)
def test_any_json_is_read_or_refused_with_a_typed_error(body, schema):
    """A stranger's answer never breaks the reader in another way."""
    try:
        response = read("openai-responses", body, response_schema=schema)
    except ProviderError:
        return
    assert isinstance(response, LlmResponse)
    json.dumps(build("openai-responses", USER, response.as_message()))
