"""Gemini's requests and answers: signatures, ids, reasons to stop, schemas, attachments, extra."""

import json

import httpx
import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.cost import RunCostTracker
from fluid_build.copilot.errors import ProviderError, ProviderServerError
from fluid_build.copilot.events import EventBus
from fluid_build.copilot.llm.base import LlmPrompt, Usage
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.gemini import GeminiProvider
from fluid_build.copilot.llm.gemini.provider import gemini_schema
from fluid_build.copilot.messages import ToolCall
from fluid_build.errors import UsageError
from tests.copilot.context.conversations import conversations
from tests.copilot.llm.official_types import check_gemini as check
from tests.fault_server import Reply
from tests.fault_server.wire import FORMATS
from tests.fault_server.wire.gemini_rules import refuse

ASK = [{"role": "user", "content": "Find the key."}]
TOOL = {
    "name": "read_rows",
    "description": "Reads rows.",
    "input_schema": {"type": "object", "properties": {"table": {"type": "string"}}},
}
SCHEMA = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
SIGNED_PARTS = [
    {"text": "I think.", "thought": True},
    {"text": "First. "},
    {"text": "Second.", "thoughtSignature": "czE="},
    {"functionCall": {"id": "f1", "name": "read_rows", "args": {"table": "a"}},
     "thoughtSignature": "czI="},
    {"functionCall": {"id": "f2", "name": "read_rows", "args": {}}},
    {"toolCall": {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB", "args": {}}},
    {"text": "", "thoughtSignature": "czM="},
]  # fmt: skip
PIXEL = {"type": "image", "media_type": "image/png", "data": "aGk="}


def prompt(messages=ASK, model="gemini-3-pro-preview", **options):
    return LlmPrompt(model, messages, **options)


def body(messages=ASK, model="gemini-3-pro-preview", **options):
    return GeminiProvider().build_request(prompt(messages, model, **options)).body


def answer(parts=(), reason="STOP", **candidate):
    content = {"role": "model", "parts": list(parts)}
    return {"candidates": [{"content": content, "finishReason": reason, **candidate}]}


def read(document, **options):
    return GeminiProvider().parse_response(document, prompt(**options))


def test_parts_come_back_in_their_order_with_their_signatures():
    """Through JSON, as a checkpoint saves them; texts, calls, thoughts and Google's own calls."""
    response = read(answer(SIGNED_PARTS))
    assert (response.text, response.thinking) == ("First. Second.", "I think.")
    assert [call.id for call in response.tool_calls] == ["f1", "f2"]
    message = json.loads(json.dumps(response.as_message()))
    results = [call_result("f1"), call_result("f2")]
    sent = body([*ASK, message, *results])
    assert sent["contents"][1]["parts"] == SIGNED_PARTS
    check(sent)


def call_result(call_id, **options):
    return {"role": "tool", "tool_call_id": call_id, "content": "1", **options}


parts = st.lists(
    st.one_of(
        st.builds(lambda text: {"text": text}, st.sampled_from(["a", "bc"])),
        st.builds(
            lambda text, sign: {"text": text, "thoughtSignature": sign},
            st.sampled_from(["", "d", "ef"]),
            st.sampled_from(["c2E=", "c2I="]),
        ),
        st.just({"text": "hm", "thought": True}),
        st.just({"functionCall": {"id": "f", "name": "t", "args": {}}, "thoughtSignature": "cw=="}),
        st.just({"executableCode": {"language": "PYTHON", "code": "1"}}),
    ),
    min_size=1,
    max_size=6,
)


@given(parts)
def test_any_parts_come_back_as_they_came(sent):
    """Only texts without a signature may be merged with each other."""
    message = read(answer(sent)).as_message()
    rendered = body([*ASK, message])["contents"][1]["parts"]
    assert merged(rendered) == merged(sent)


def merged(sent):
    result = []
    for part in sent:
        if result and part.keys() == result[-1].keys() == {"text"}:
            result[-1] = {"text": result[-1]["text"] + part["text"]}
        else:
            result.append(part)
    return result


def test_a_signature_stays_when_its_text_was_shortened():
    """As compaction does."""
    message = read(answer(SIGNED_PARTS[1:3])).as_message()
    contents = body([*ASK, {**message, "content": "Fi"}])["contents"]
    assert contents[1]["parts"] == [{"text": "Fi"}, {"text": "", "thoughtSignature": "czE="}]


def test_blocks_of_another_format_are_not_sent():
    """Only their own provider understands them."""
    blocks = {"format": "anthropic", "blocks": [{"block": {"type": "thinking"}}]}
    contents = body([*ASK, {"role": "assistant", "content": "a", "provider_blocks": blocks}])
    assert contents["contents"][1]["parts"] == [{"text": "a"}]


def test_a_call_that_gemini_did_not_write_is_signed_for_gemini_3():
    """It refuses a step whose first call has no signature; older models don't ask for any."""
    calls = [{"id": i, "name": "read_rows", "arguments": {}} for i in "ab"]
    talk = [*ASK, {"role": "assistant", "content": "", "tool_calls": calls}]
    first, second = body(talk)["contents"][1]["parts"]
    assert first["thoughtSignature"] == "skip_thought_signature_validator"
    assert "thoughtSignature" not in second
    assert "thoughtSignature" not in str(body(talk, "gemini-2.5-pro"))


def test_ids_join_calls_and_results():
    """Google's own, or ours where it sent none; a failed result is an error."""
    calls = [{"functionCall": {"name": "read_rows"}}, {"functionCall": {"name": "b", "id": "f2"}}]
    response = read(answer(calls))
    own_id, given_id = (call.id for call in response.tool_calls)
    assert given_id == "f2"
    results = [call_result(own_id), call_result("f2", is_error=True)]
    contents = body([*ASK, response.as_message(), *results])["contents"]
    assert [part["functionCall"]["id"] for part in contents[1]["parts"]] == [own_id, "f2"]
    assert [part["functionResponse"] for part in contents[2]["parts"]] == [
        {"id": own_id, "name": "read_rows", "response": {"output": "1"}},
        {"id": "f2", "name": "b", "response": {"error": "1"}},
    ]


MALFORMED = {"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"}
LENGTH = {"MAX_TOKENS", "CONTINUATION", "TOO_MANY_TOOL_CALLS"}
OTHER = {"FINISH_REASON_UNSPECIFIED", "OTHER", "IMAGE_OTHER", "NO_IMAGE"}
NOT_REFUSED = MALFORMED | LENGTH | OTHER | {"STOP", "MISSING_THOUGHT_SIGNATURE"}


@pytest.mark.parametrize("reason", [reason.value for reason in types.FinishReason])
def test_each_reason_to_stop_has_its_meaning(reason):
    """All that the client's enumeration has: a new one must be looked at."""
    document = answer([{"text": "a"}], reason)
    if reason in MALFORMED:
        with pytest.raises(ProviderServerError) as caught:
            read(document)
        assert caught.value.retryable
        assert (caught.value.status_code, caught.value.error_code) == (200, reason)
    elif reason == "MISSING_THOUGHT_SIGNATURE":
        with pytest.raises(ProviderError, match="signature") as caught:
            read(document)
        assert not caught.value.retryable
    else:
        stop = "length" if reason in LENGTH else "other" if reason in OTHER else "refused"
        assert read(document).stop_reason == ("end" if reason == "STOP" else stop)
    assert (reason in NOT_REFUSED) or read(document).stop_reason == "refused"


@pytest.mark.parametrize("reason", [reason.value for reason in types.BlockedReason])
def test_a_blocked_prompt_is_refused(reason):
    """With what the provider says about it, if anything."""
    feedback = {"blockReason": reason, "blockReasonMessage": "no"}
    response = read({"promptFeedback": feedback, "usageMetadata": {"promptTokenCount": 3}})
    assert (response.stop_reason, response.text) == ("refused", "no")
    assert response.usage == Usage(3)


def test_a_refusal_without_text_says_what_the_provider_says():
    """The filter's message."""
    assert read(answer([], "SAFETY", finishMessage="blocked")).text == "blocked"


def test_all_tokens_are_counted():
    """Thinking is output, results of Google's own tools are input, and the cache is part of it."""
    usage = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 60,
        "toolUsePromptTokenCount": 7,
        "candidatesTokenCount": 20,
        "thoughtsTokenCount": 30,
    }
    assert read({**answer([]), "usageMetadata": usage}).usage == Usage(107, 50, 60)


@pytest.mark.parametrize("model", ["gemini-3-pro-preview", "models/gemini-3.8-flash"])
def test_gemini_3_takes_tools_and_a_schema_together(model):
    """The answer is text, not a function's arguments."""
    sent = body(model=model, tools=[TOOL], response_schema=SCHEMA)
    assert sent["generationConfig"]["responseJsonSchema"] == SCHEMA
    assert "toolConfig" not in sent
    assert len(sent["tools"][0]["functionDeclarations"]) == 1
    check(sent)
    response = read(answer([{"text": '{"key": "id"}'}]), tools=[TOOL], response_schema=SCHEMA)
    assert response.as_json() == {"key": "id"}


@pytest.mark.parametrize("model", ["gemini-2.5-flash", "gemini-flash-latest", "tunedModels/x"])
def test_other_models_answer_through_a_function_that_they_must_call(model):
    """They refuse a schema together with tools."""
    sent = body(model=model, tools=[TOOL], response_schema=SCHEMA)
    assert "responseJsonSchema" not in sent["generationConfig"]
    assert sent["toolConfig"]["functionCallingConfig"]["mode"] == "ANY"
    assert sent["tools"][0]["functionDeclarations"][-1]["name"] == "answer"
    check(sent)


def test_a_schema_is_written_as_gemini_reads_it():
    """Nothing is next to a reference, and a constant is an enumeration; names stay names."""
    schema = {
        "type": "object",
        "properties": {
            "const": {"const": "a", "description": "fixed"},
            "$ref": {"$ref": "#/$defs/B", "description": "other"},
            "plain": {"$ref": "#/$defs/B"},
            "list": {"type": "array", "items": {"anyOf": [{"const": 1}, {"type": "null"}]}},
        },
        "$defs": {"B": {"type": "object", "additionalProperties": False, "default": {"const": 1}}},
    }
    assert gemini_schema(schema) == {
        "type": "object",
        "properties": {
            "const": {"enum": ["a"], "type": "string", "description": "fixed"},
            "$ref": {"anyOf": [{"$ref": "#/$defs/B"}], "description": "other"},
            "plain": {"$ref": "#/$defs/B"},
            "list": {"type": "array", "items": {"anyOf": [{"enum": [1]}, {"type": "null"}]}},
        },
        "$defs": {"B": {"type": "object", "additionalProperties": False, "default": {"const": 1}}},
    }


def test_newer_models_are_asked_to_go_on_after_an_answer():
    """They refuse to complete it, as older ones do."""
    talk = [*ASK, {"role": "assistant", "content": "It may be"}]
    assert [turn["role"] for turn in body(talk)["contents"]] == ["user", "model"]
    newer = body(talk, "gemini-3.8-flash")["contents"]
    assert newer[2:] == [{"role": "user", "parts": [{"text": "Continue."}]}]


@pytest.mark.parametrize("model", ["gemini-3.8-flash", "gemini-3-pro", "gemini-2.5-pro"])
@given(messages=conversations(max_turns=8))
def test_google_would_take_any_conversation(model, messages):
    """By the rules of the fault server: turns, signatures, as many results as calls."""
    sent = body(messages, model, tools=[TOOL])
    assert refuse({":path": f"/v1beta/models/{model}:generateContent"}, sent) is None


def test_the_answers_function_has_a_name_that_google_takes():
    """It begins with a letter or an underscore."""
    sent = body(model="m", tools=[TOOL], response_schema=SCHEMA, schema_name="2nd answer")
    assert sent["tools"][0]["functionDeclarations"][-1]["name"] == "_2nd_answer"
    assert refuse({":path": "/models/m:generateContent"}, sent) is None


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (PIXEL, {"inlineData": {"mimeType": "image/png", "data": "aGk="}}),
        (
            {"type": "document", "media_type": "application/pdf", "data": "aGk=", "name": "a.pdf"},
            {"inlineData": {"mimeType": "application/pdf", "data": "aGk="}},
        ),
        (
            {"type": "document", "url": "https://example.com/terms.pdf?x=1"},
            {
                "fileData": {
                    "fileUri": "https://example.com/terms.pdf?x=1",
                    "mimeType": "application/pdf",
                }
            },
        ),
        (
            {"type": "image", "url": "gs://bucket/a", "media_type": "image/webp"},
            {"fileData": {"fileUri": "gs://bucket/a", "mimeType": "image/webp"}},
        ),
        (
            {"type": "image", "url": "https://example.com/a"},
            {"fileData": {"fileUri": "https://example.com/a"}},
        ),
    ],
)
def test_images_and_documents_are_sent(block, part):
    """As data or as an address."""
    content = [{"type": "text", "text": "What is it?"}, block]
    sent = body([{"role": "user", "content": content}])
    assert sent["contents"][0]["parts"] == [{"text": "What is it?"}, part]
    check(sent)


def test_a_result_has_its_images_as_parts():
    """Of the function's response."""
    call = {"functionCall": {"name": "plot", "id": "f1"}, "thoughtSignature": "czE="}
    content = [{"type": "text", "text": "a plot"}, PIXEL]
    result = {"role": "tool", "tool_call_id": "f1", "content": content}
    sent = body([*ASK, read(answer([call])).as_message(), result])
    assert sent["contents"][2]["parts"][0]["functionResponse"] == {
        "id": "f1",
        "name": "plot",
        "response": {"output": "a plot"},
        "parts": [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}],
    }
    check(sent)


def test_an_attachment_from_an_address_that_google_cannot_read_is_refused():
    """It wouldn't arrive."""
    with pytest.raises(UsageError, match="address"):
        body([{"role": "user", "content": [{"type": "image", "url": "file:///etc/passwd"}]}])


def test_extra_reaches_the_thinking_and_other_settings():
    """Merged into what the prompt sets."""
    extra = {
        "generationConfig": {
            "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "LOW"},
            "candidateCount": 1,
        },
        "safetySettings": [
            {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_ONLY_HIGH"}
        ],
    }
    sent = body(extra=extra, max_output_tokens=50)
    assert sent["generationConfig"]["thinkingConfig"]["thinkingLevel"] == "LOW"
    assert sent["generationConfig"]["maxOutputTokens"] == 50
    check(sent)


@pytest.mark.parametrize(
    ("extra", "name"),
    [
        ({"model": "gemini-3-ultra"}, "model"),
        ({"stream": True}, "stream"),
        ({"contents": []}, "contents"),
        ({"generationConfig": {"candidateCount": 3}}, "generationConfig.candidateCount"),
        ({"generationConfig": {"maxOutputTokens": 9}}, "generationConfig.maxOutputTokens"),
        ({"generationConfig": {"max_output_tokens": 9}}, "generationConfig.max_output_tokens"),
        ({"generation_config": {"maxOutputTokens": 9}}, "generation_config"),
        (
            {"toolConfig": {"functionCallingConfig": {"streamFunctionCallArguments": True}}},
            "toolConfig.functionCallingConfig.streamFunctionCallArguments",
        ),
    ],
)
def test_extra_cannot_change_the_cost_or_the_form_of_the_answer(extra, name):
    """Google reads names in both cases, so both are refused."""
    with pytest.raises(UsageError, match=rf"extra\.{name} would replace"):
        body(extra=extra)


@pytest.mark.parametrize(
    ("base_url", "model", "path"),
    [
        (None, "gemini-3-pro", "/v1beta/models/gemini-3-pro"),
        (None, "models/gemini-3-pro", "/v1beta/models/gemini-3-pro"),
        (None, "tunedModels/mine-1", "/v1beta/tunedModels/mine-1"),
        ("https://proxy/v1alpha/", "gemini-3-pro", "/v1alpha/models/gemini-3-pro"),
        ("https://x/v1/projects/p/locations/l/publishers/google", "g",
         "/v1/projects/p/locations/l/publishers/google/models/g"),
        ("https://x/gemini", "g", "/gemini/v1beta/models/g"),
        ("https://gateway/v1/account/google", "g", "/v1/account/google/v1beta/models/g"),
    ],
)  # fmt: skip
def test_the_address_names_version_and_model_once(base_url, model, path):
    """For the Gemini API, proxies and Vertex AI, streamed or not."""
    provider = GeminiProvider(base_url)
    host = provider.base_url.split("/")[2]
    request = provider.build_request(prompt(model=model))
    assert request.url == f"https://{host}{path}:generateContent"
    streamed = provider.stream_request(prompt(model=model))
    assert streamed.url == f"https://{host}{path}:streamGenerateContent?alt=sse"
    assert streamed.body == request.body


def test_a_query_in_the_address_is_kept():
    """With the one that asks for events."""
    provider = GeminiProvider("https://x?tenant=1")
    url = provider.stream_request(prompt(model="m")).url
    assert url == "https://x/v1beta/models/m:streamGenerateContent?tenant=1&alt=sse"


def test_an_access_token_is_sent_as_one():
    """Vertex AI takes it; a key goes into Google's own header."""
    provider = GeminiProvider()
    assert provider.auth_headers("ya29.abc") == {"authorization": "Bearer ya29.abc"}
    assert provider.auth_headers("AIzaabc") == {"x-goog-api-key": "AIzaabc"}


replies = st.builds(
    Reply,
    text=st.text(max_size=20),
    tool_calls=st.lists(
        st.builds(
            ToolCall,
            st.sampled_from(["c1", "c2", ""]),
            st.just("read_rows"),
            st.just({"table": "ä"}),
            st.sampled_from([None, "c2ln"]),
        ),
        max_size=2,
    ),
    usage=st.sampled_from([None, Usage(12, 3), Usage(12, 3, 4)]),
    stop_reason=st.sampled_from(["end", "length", "refused", "other"]),
    thinking=st.text(max_size=20),
)


@given(replies, st.sampled_from(["gemini-3-pro", "gemini-2.5-pro"]), st.booleans())
def test_a_streamed_answer_equals_the_same_in_one_piece(reply, model, is_structured):
    """And its events add up to it."""
    options = {"tools": [TOOL], "response_schema": SCHEMA} if is_structured else {}
    asked = prompt(model=model, **options)
    provider, wire = GeminiProvider(), FORMATS["gemini"]
    request = provider.build_request(asked).body
    whole = provider.parse_response(wire.reply(reply, request), asked)
    reader, frames = provider.stream_reader(asked), provider.stream_frames()
    events = []
    for chunk in wire.stream(reply, request):
        for document in frames.feed(chunk):
            events += reader.read(document)
    assert reader.is_complete
    assert reader.response() == whole
    assert text_of(events, "TextEvent") == whole.text
    assert text_of(events, "ThinkingEvent") == whole.thinking
    assert [e.call for e in events if type(e).__name__ == "ToolCallEvent"] == [*whole.tool_calls]
    assert reader.usage == whole.usage


def text_of(events, kind):
    return "".join(event.text for event in events if type(event).__name__ == kind)


@pytest.mark.parametrize("is_streamed", [True, False])
def test_a_malformed_answer_is_charged_and_retried(is_streamed):
    """Through the client: the same request, once more."""
    malformed = answer([], "MALFORMED_FUNCTION_CALL")
    bodies = [
        {**document, "usageMetadata": {"promptTokenCount": 1000, "candidatesTokenCount": 10}}
        for document in (malformed, answer([{"text": "id"}]))
    ]
    waits = []
    tracker = RunCostTracker(bus=EventBus())
    client = LlmClient(
        GeminiProvider(),
        api_key="some-key",
        tracker=tracker,
        sleep_sync=waits.append,
        transport=httpx.MockTransport(lambda _request: respond(bodies.pop(0), is_streamed)),
    )
    asked = prompt(model="gemini-2.5-flash")
    with client:
        if is_streamed:
            response = [*client.stream_sync(asked)][-1].response
        else:
            response = client.complete_sync(asked)
    assert (response.text, bodies, len(waits)) == ("id", [], 1)
    assert [row.calls for row in tracker.breakdown.rows] == [2]


def respond(document, is_streamed):
    if not is_streamed:
        return httpx.Response(200, json=document)
    return httpx.Response(200, text=f"data: {json.dumps(document)}\r\n\r\n")


def test_a_malformed_end_of_a_stream_is_raised():
    """It is retried as long as nothing was shown."""
    reader = GeminiProvider().stream_reader(prompt())
    with pytest.raises(ProviderServerError, match="MALFORMED_FUNCTION_CALL"):
        reader.read(answer([], "MALFORMED_FUNCTION_CALL"))


def test_a_blocked_prompt_ends_a_stream():
    """Its only event has no candidates."""
    reader = GeminiProvider().stream_reader(prompt())
    reader.read({"promptFeedback": {"blockReason": "SAFETY"}})
    assert reader.is_complete
    assert reader.response().stop_reason == "refused"
