"""Our requests against the official clients' types, and what is read from their answers."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.agents.errors import ProviderServerError
from fluid_build.copilot.llm.base import LlmPrompt, LlmResponse, ToolSpec, Usage
from fluid_build.copilot.llm.providers import PROVIDERS, make_provider
from fluid_build.copilot.messages import ToolCall
from fluid_build.errors import UsageError
from tests.copilot.context.conversations import conversations
from tests.copilot.llm.official_types import CHECKS
from tests.fault_server import WIRE_FORMATS, Reply
from tests.fault_server.wire import FORMATS

every_wire = pytest.mark.parametrize("wire", WIRE_FORMATS)

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
TALK = [
    {"role": "system", "content": "Be exact."},
    {"role": "user", "content": "Find the key."},
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {"id": "c1", "name": "read_rows", "arguments": {"table": "a"}},
            {"id": "c2", "name": "read_rows", "arguments": {"table": "b"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "1, 2"},
    {"role": "tool", "tool_call_id": "c2", "content": "no such table", "is_error": True},
    {"role": "system", "content": "Now answer."},
]


def build(wire, **options):
    options.setdefault("messages", TALK)
    return make_provider(wire).build_request(LlmPrompt("model-1", **options))


def validate(wire, body):
    CHECKS[wire](body)


@every_wire
@pytest.mark.parametrize("tools", [(), (TOOL,)])
@pytest.mark.parametrize("schema", [None, SCHEMA])
@pytest.mark.parametrize("temperature", [None, 0.2])
def test_a_request_has_the_official_clients_types(wire, tools, schema, temperature):
    """With and without tools, structured output and temperature: nothing missing, nothing else."""
    body = build(
        wire, tools=tools, response_schema=schema, temperature=temperature, system="You model."
    ).body
    validate(wire, body)


@every_wire
@given(messages=conversations(max_turns=8), cached=st.booleans())
def test_any_conversation_has_the_official_clients_types(wire, messages, cached):
    """Whatever was said, in either spelling of tool use, the request is well-formed."""
    validate(wire, build(wire, messages=messages, cache_prompt=cached, tools=[TOOL]).body)


@pytest.mark.parametrize("wire", ["anthropic", "gemini"])
@given(messages=conversations(max_turns=8))
def test_sides_alternate_and_the_user_begins(wire, messages):
    """As both APIs demand, and all results of a turn stand in the very next one."""
    body = build(wire, messages=messages).body
    turns = body["messages" if wire == "anthropic" else "contents"]
    roles = [turn["role"] for turn in turns]
    assert roles[0] == "user"
    assert all(first != second for first, second in pairwise(roles))


def test_openai_keeps_system_messages_where_they_stand():
    """The format knows them anywhere."""
    body = build("openai").body
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "system"]


def test_openai_and_azure_get_the_new_name_for_the_limit_and_others_the_old():
    """Compatible servers do not all know max_completion_tokens."""
    assert "max_completion_tokens" in build("openai").body
    prompt = LlmPrompt("m", TALK)
    for name, base_url, field in (
        ("azure", "https://x.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("vllm", None, "max_tokens"),
        ("openrouter", None, "max_tokens"),
        ("lmstudio", None, "max_tokens"),
    ):
        assert field in make_provider(name, base_url).build_request(prompt).body


@pytest.mark.parametrize(
    ("name", "base_url", "url"),
    [
        ("openai", None, "https://api.openai.com/v1/chat/completions"),
        ("openai", "http://localhost:8000/v1/", "http://localhost:8000/v1/chat/completions"),
        (
            "azure",
            "https://x.openai.azure.com/openai/v1?api-version=preview",
            "https://x.openai.azure.com/openai/v1/chat/completions?api-version=preview",
        ),
        ("openrouter", None, "https://openrouter.ai/api/v1/chat/completions"),
        ("vllm", None, "http://localhost:8000/v1/chat/completions"),
        ("lmstudio", None, "http://localhost:1234/v1/chat/completions"),
    ],
)
def test_base_url_leads_to_compatible_servers(name, base_url, url):
    """Azure, vLLM, OpenRouter and LM Studio, with a query kept."""
    assert make_provider(name, base_url).build_request(LlmPrompt("m", TALK)).url == url


def test_azure_carries_its_key_in_its_own_header():
    """api-key there, a bearer token elsewhere."""
    azure = make_provider("azure", "https://x.openai.azure.com/openai/v1")
    assert azure.auth_headers("k") == {"api-key": "k"}
    assert make_provider("openai").auth_headers("k") == {"authorization": "Bearer k"}


def test_each_service_has_a_key_of_its_own():
    """OpenAI's key is not offered to another company."""
    variables = [PROVIDERS[name].key_variables for name in PROVIDERS]
    assert len(set(variables)) == len(variables)
    assert PROVIDERS["anthropic"].key_variables == ("ANTHROPIC_API_KEY",)
    assert PROVIDERS["openai"].key_variables == ("OPENAI_API_KEY",)
    assert PROVIDERS["gemini"].key_variables == ("GEMINI_API_KEY",)


def test_the_fast_tiers_are_the_documented_ones():
    """Haiku, gemini-2.5-flash, and what replaced gpt-4.1-nano after its shutdown."""
    assert "haiku" in PROVIDERS["anthropic"].fast_model
    assert PROVIDERS["openai"].fast_model == "gpt-6-luna"
    assert PROVIDERS["gemini"].fast_model == "gemini-2.5-flash"


def test_gemini_names_the_model_in_the_path_and_keeps_the_key_out_of_it():
    """A model's name cannot lead to another endpoint."""
    provider = make_provider("gemini")
    request = provider.build_request(LlmPrompt("models/../x?key=1", TALK))
    assert request.url.endswith("/v1beta/models/..%2Fx%3Fkey%3D1:generateContent")
    assert provider.auth_headers("k") == {"x-goog-api-key": "k"}


def test_gemini_results_name_their_function_and_calls_return_their_signature():
    """What the model signed comes back with the call."""
    provider = make_provider("gemini")
    call = ToolCall("", "read_rows", {"table": "a"}, "sig-1")
    body = FORMATS["gemini"].reply(Reply("", [call]), {})
    response = provider.parse_response(body, LlmPrompt("m", TALK))
    message = response.as_message()
    result = {"role": "tool", "tool_call_id": response.tool_calls[0].id, "content": "1"}
    contents = provider.build_request(LlmPrompt("m", [message, result])).body["contents"]
    assert contents[1]["parts"][0]["thoughtSignature"] == "sig-1"
    assert contents[2]["parts"][0]["functionResponse"]["name"] == "read_rows"


def test_ollama_gets_the_context_length_that_the_prompt_needs():
    """A power of two that holds prompt and answer, never more than the model has."""
    small = build("ollama").body["options"]["num_ctx"]
    long = [{"role": "user", "content": "word " * 20_000}]
    large = build("ollama", messages=long).body["options"]["num_ctx"]
    bounded = build("ollama", messages=long, context_window=10_000).body["options"]["num_ctx"]
    assert (small, bounded) == (8192, 10_000)
    assert large >= 28_000
    assert large & (large - 1) == 0


@every_wire
def test_what_the_caller_adds_goes_into_the_body(wire):
    """Extra parameters are merged, nested ones too."""
    own = {"keep_alive": 3} if wire == "ollama" else {"top_k": 3}
    body = build(wire, extra={**own, "options": {"seed": 7}}).body
    assert {name: body[name] for name in own} == own
    assert body["options"]["seed"] == 7


@pytest.mark.parametrize("extra", [{"model": "dearer"}, {"messages": []}, {"max_tokens": 10**6}])
def test_what_the_caller_adds_replaces_nothing(extra):
    """A call could cost more than was reserved for it: the parameter is refused by name."""
    with pytest.raises(UsageError, match=f"extra.{next(iter(extra))} would replace"):
        build("anthropic", extra=extra)


def parsed(wire, reply, **options):
    provider = make_provider(wire)
    prompt = LlmPrompt("model-1", TALK, **options)
    request = provider.build_request(prompt)
    return provider.parse_response(FORMATS[wire].reply(reply, request.body), prompt)


@every_wire
def test_tool_calls_are_read_and_go_back_in_the_next_request(wire):
    """Name, arguments and a usable id; the round trip is well-formed."""
    calls = [ToolCall("x1", "read_rows", {"table": "ä"}), ToolCall("x2", "read_rows", {})]
    response = parsed(wire, Reply("", calls), tools=[TOOL])
    assert response.stop_reason == "tool_calls"
    assert [(c.name, c.arguments) for c in response.tool_calls] == [
        ("read_rows", {"table": "ä"}),
        ("read_rows", {}),
    ]
    assert len({c.id for c in response.tool_calls}) == 2
    results = [{"role": "tool", "tool_call_id": c.id, "content": "1"} for c in response.tool_calls]
    validate(wire, build(wire, messages=[*TALK, response.as_message(), *results]).body)


@every_wire
def test_the_same_answer_has_the_same_ids(wire):
    """The same answer gets the same ids."""
    reply = Reply("", [ToolCall("x1", "t", {})])
    assert parsed(wire, reply).tool_calls == parsed(wire, reply).tool_calls


@pytest.mark.parametrize("wire", ["anthropic", "openai", "gemini"])
def test_usage_counts_the_whole_prompt_and_its_cached_part(wire):
    """However the provider splits it, input is everything that was sent."""
    usage = parsed(wire, Reply(usage=Usage(1000, 10, cached_tokens=600))).usage
    assert usage == Usage(1000, 10, 600)


def test_gemini_counts_thinking_as_output_and_does_not_show_it():
    """Thoughts are paid for, but aren't part of the answer."""
    body = {
        "candidates": [
            {
                "content": {"parts": [{"text": "hm", "thought": True}, {"text": "yes"}]},
                "finishReason": "STOP",
            }
        ],
        "usageMetadata": {
            "promptTokenCount": 5,
            "candidatesTokenCount": 1,
            "thoughtsTokenCount": 7,
        },
    }
    response = make_provider("gemini").parse_response(body, LlmPrompt("m", TALK))
    assert (response.text, response.usage) == ("yes", Usage(5, 8))


def test_a_blocked_gemini_prompt_is_a_refusal():
    """There is no candidate, and a reason."""
    body = {"promptFeedback": {"blockReason": "SAFETY"}}
    response = make_provider("gemini").parse_response(body, LlmPrompt("m", TALK))
    assert (response.stop_reason, response.text) == ("refused", "")


@every_wire
def test_an_answer_cut_at_the_limit_says_so(wire):
    """stop_reason is length."""
    assert parsed(wire, Reply("half", stop_reason="length")).stop_reason == "length"


@pytest.mark.parametrize("wire", ["anthropic", "openai", "gemini"])
def test_a_refusal_has_its_own_stop_reason(wire):
    """stop_reason is refused."""
    assert parsed(wire, Reply("I cannot.", stop_reason="refused")).stop_reason == "refused"


@every_wire
def test_tools_and_structured_output_go_together(wire):
    """With both, the model may call a tool first and give the object in the end."""
    options = {"tools": [TOOL], "response_schema": SCHEMA}
    first = parsed(wire, Reply("", [ToolCall("x1", "read_rows", {"table": "a"})]), **options)
    assert [call.name for call in first.tool_calls] == ["read_rows"]
    last = parsed(wire, Reply('{"key": "id"}'), **options)
    assert last.as_json() == {"key": "id"}
    assert last.tool_calls == ()


@every_wire
def test_a_schema_may_have_any_name(wire):
    """Even with blanks or a tool's name, the answer differs from a call."""
    for name in ("My Model", "read_rows"):
        options = {"tools": [TOOL], "response_schema": SCHEMA, "schema_name": name}
        validate(wire, build(wire, **options).body)
        assert parsed(wire, Reply('{"key": "id"}'), **options).as_json() == {"key": "id"}


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=10)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["content", "choices", "message", "candidates", "parts", "usage", "tool_calls",
                 "function", "arguments", "text", "type", "usageMetadata", "functionCall", "input"]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=15,
)  # fmt: skip


@every_wire
@given(body=st.dictionaries(st.sampled_from(["content", "choices", "message", "candidates", "usage",
                                             "usageMetadata", "model"]), json_values))  # fmt: skip
def test_any_json_is_read_or_refused_with_a_typed_error(wire, body):
    """A stranger's answer never breaks the reader in another way."""
    try:
        response = make_provider(wire).parse_response(body, LlmPrompt("m", TALK))
    except ProviderServerError:
        return
    assert isinstance(response, LlmResponse)
    assert isinstance(response.text, str)


def test_tool_definitions_are_read_in_both_spellings():
    """The runtime's own, and OpenAI's."""
    wrapped = {
        "type": "function",
        "function": {
            "name": TOOL["name"],
            "description": TOOL["description"],
            "parameters": TOOL["input_schema"],
        },
    }
    assert ToolSpec.read(TOOL) == ToolSpec.read(wrapped)


@pytest.mark.parametrize(
    "base_url", ["ftp://x", "api.openai.com", "https://user:pw@host/v1", "https:///v1", "http://"]
)
def test_an_address_that_cannot_be_meant_is_refused_without_being_quoted(base_url):
    """It might hold a password."""
    with pytest.raises(UsageError) as caught:
        make_provider("openai", base_url)
    assert "pw" not in str(caught.value)


def test_an_unknown_provider_is_refused_with_the_known_ones():
    """The hint says what there is."""
    with pytest.raises(UsageError, match="'nobody'") as caught:
        make_provider("nobody")
    assert "anthropic" in caught.value.hint


def test_azure_needs_an_address():
    """It has none of its own."""
    with pytest.raises(UsageError, match="base_url"):
        make_provider("azure")
