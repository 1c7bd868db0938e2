"""The Responses API as OpenAI's server speaks it, without any memory of earlier answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from fluid_build.json_types import JsonValue
from tests.fault_server.faults import Fault
from tests.fault_server.wire.format import (
    Reply,
    RequestBody,
    WireFormat,
    asks_for_stream,
    split_text,
)
from tests.fault_server.wire.openai_errors import (
    fault_body,
    reasons,
    refuse_strict_schema,
    refuse_untyped_schema,
    request_key,
)

_Item: TypeAlias = dict[str, Any]

_REASONING_ID = "rs_1"
_AFTER_REASONING = "fc_rs_1"
"""The start of the ids of calls that need their reasoning before them."""
_PARAMETERS = frozenset(
    {
        "background", "conversation", "include", "input", "instructions", "max_output_tokens",
        "max_tool_calls", "metadata", "model", "parallel_tool_calls", "previous_response_id",
        "prompt", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention",
        "reasoning", "safety_identifier", "service_tier", "store", "stream", "stream_options",
        "temperature", "text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation",
        "user",
    }
)  # fmt: skip


def _reply(reply: Reply, request: RequestBody) -> dict[str, JsonValue]:
    is_cut = reply.stop_reason == "length"
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "status": "incomplete" if is_cut else "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "instructions": request.get("instructions"),
        "metadata": {},
        "model": reply.model,
        "output": _items(reply),
        "parallel_tool_calls": True,
        "temperature": request.get("temperature", 1.0),
        "tool_choice": request.get("tool_choice", "auto"),
        "tools": request.get("tools", []),
        "top_p": 1.0,
        "store": request.get("store", True),
        "text": request.get("text", {"format": {"type": "text"}}),
        "usage": _usage(reply),
    }


def _items(reply: Reply) -> list[_Item]:
    items: list[_Item] = []
    if reply.thinking:
        summary = [{"type": "summary_text", "text": reply.thinking}]
        encrypted = f"encrypted-{len(reply.thinking)}"
        items.append(
            {
                "id": _REASONING_ID,
                "type": "reasoning",
                "summary": summary,
                "encrypted_content": encrypted,
            }
        )
    if reply.text:
        items.append(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [_text_part(reply)],
            }
        )
    start = _AFTER_REASONING if reply.thinking else "fc"
    items += [
        {
            "id": f"{start}_{number}",
            "type": "function_call",
            "status": "completed",
            "call_id": call.id,
            "name": call.name,
            "arguments": json.dumps(call.arguments),
        }
        for number, call in enumerate(reply.tool_calls)
    ]
    return items


def _text_part(reply: Reply) -> _Item:
    if reply.stop_reason == "refused":
        return {"type": "refusal", "refusal": reply.text}
    return {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}


def _usage(reply: Reply) -> dict[str, JsonValue] | None:
    usage = reply.usage
    if usage is None:
        return None
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


def _stream(reply: Reply, request: RequestBody) -> list[bytes]:
    """Return the events of the SDK's ``ResponseStreamEvent``, numbered."""
    body = _reply(reply, request)
    started = {**body, "status": "in_progress", "output": [], "usage": None}
    events: list[_Item] = [
        {"type": "response.created", "response": started},
        {"type": "response.in_progress", "response": started},
    ]
    for index, item in enumerate(_items(reply)):
        events += [{**event, "output_index": index} for event in _item_events(item)]
    events.append({"type": f"response.{body['status']}", "response": body})
    return [_event(event, number) for number, event in enumerate(events)]


def _item_events(item: _Item) -> list[_Item]:
    match item["type"]:
        case "reasoning":
            empty, events = {**item, "summary": [], "encrypted_content": ""}, _summary_events(item)
        case "message":
            empty, events = {**item, "content": []}, _text_events(item)
        case _:
            empty, events = {**item, "arguments": ""}, _argument_events(item)
    return [
        {"type": "response.output_item.added", "item": {**empty, "status": "in_progress"}},
        *events,
        {"type": "response.output_item.done", "item": item},
    ]


def _summary_events(item: _Item) -> list[_Item]:
    place = {"item_id": item["id"], "summary_index": 0}
    [part] = item["summary"]
    start = "response.reasoning_summary"
    return [
        {"type": f"{start}_part.added", "part": {**part, "text": ""}, **place},
        *(
            {"type": f"{start}_text.delta", "delta": text, **place}
            for text in split_text(part["text"])
        ),
        {"type": f"{start}_text.done", "text": part["text"], **place},
        {"type": f"{start}_part.done", "part": part, **place},
    ]


def _text_events(item: _Item) -> list[_Item]:
    place = {"item_id": item["id"], "content_index": 0}
    [part] = item["content"]
    field = "refusal" if part["type"] == "refusal" else "text"
    name = "refusal" if part["type"] == "refusal" else "output_text"
    further: _Item = {} if field == "refusal" else {"logprobs": []}
    return [
        {"type": "response.content_part.added", "part": {**part, field: ""}, **place},
        *(
            {"type": f"response.{name}.delta", "delta": text, **place, **further}
            for text in split_text(part[field])
        ),
        {"type": f"response.{name}.done", field: part[field], **place, **further},
        {"type": "response.content_part.done", "part": part, **place},
    ]


def _argument_events(item: _Item) -> list[_Item]:
    place, arguments = {"item_id": item["id"]}, item["arguments"]
    start = "response.function_call_arguments"
    return [
        *({"type": f"{start}.delta", "delta": text, **place} for text in split_text(arguments)),
        {"type": f"{start}.done", "arguments": arguments, "name": item["name"], **place},
    ]


def _event(event: _Item, number: int) -> bytes:
    document = json.dumps({**event, "sequence_number": number}, ensure_ascii=False)
    return f"event: {event['type']}\ndata: {document}\n\n".encode()


def _stream_fault(fault: Fault) -> bytes:
    """Return the SDK's ``ResponseErrorEvent``, which is flat."""
    error = fault_body(fault, "")["error"]
    assert isinstance(error, dict)
    return _event({**error, "type": "error"}, 0)


def _refuse(_headers: Mapping[str, str], body: RequestBody) -> str | None:
    unknown = next((name for name in body if name not in _PARAMETERS), None)
    if unknown is not None:
        return f"Unknown parameter: '{unknown}'."
    if not body.get("model"):
        return "Missing required parameter: 'model'."
    effort = (body.get("reasoning") or {}).get("effort")
    if reasons(body["model"], effort) and body.get("temperature") is not None:
        return "Unsupported parameter: 'temperature' is not supported with this model."
    if "reasoning.encrypted_content" in (body.get("include") or ()) and not reasons(
        body["model"], None
    ):
        return "Encrypted content is not supported with this model."
    output = (body.get("text") or {}).get("format") or {}
    refusal = _refuse_tools(body.get("tools") or ())
    if not refusal and "schema" in output:
        refusal = refuse_untyped_schema(output["name"], output["schema"])
    if not refusal and output.get("strict"):
        refusal = refuse_strict_schema(output["name"], output["schema"])
    items = body.get("input")
    if refusal or not isinstance(items, list):
        return refusal
    return _refuse_calls(items) or _refuse_reasoning(items)


def _refuse_tools(tools: Iterable[_Item]) -> str | None:
    refusals = (
        refuse_untyped_schema(tool["name"], tool["parameters"])
        for tool in tools
        if tool.get("type") == "function" and tool.get("parameters") is not None
    )
    return next((refusal for refusal in refusals if refusal), None)


def _refuse_calls(items: list[_Item]) -> str | None:
    calls: list[str] = []
    for item in items:
        if item.get("type") == "function_call":
            calls.append(item["call_id"])
        elif item.get("type") == "function_call_output":
            if item["call_id"] not in calls:
                call = item["call_id"]
                return f"No tool call found for function call output with call_id {call}."
            calls.remove(item["call_id"])
    return f"No tool output found for function call {calls[0]}." if calls else None


def _refuse_reasoning(items: list[_Item]) -> str | None:
    """Refuse reasoning that lost its content, or its call, and a call that lost its reasoning.

    The last is known by the item's id, which the official client sends and ours doesn't.
    """
    reasoning_ids: set[str] = set()
    for item, following in zip(items, [*items[1:], {}], strict=True):
        item_id = str(item.get("id"))
        if item.get("type") == "reasoning":
            reasoning_ids.add(item_id)
            if not item.get("encrypted_content"):
                return (
                    f"Item with id '{item_id}' not found. Items are not persisted when `store` is "
                    "set to false."
                )
            if following.get("role", "assistant") != "assistant" or not following:
                return (
                    f"Item '{item_id}' of type 'reasoning' was provided without its required "
                    "following item."
                )
        elif item_id.startswith(_AFTER_REASONING) and _REASONING_ID not in reasoning_ids:
            return (
                f"Item '{item_id}' of type 'function_call' was provided without its required "
                f"'reasoning' item: '{_REASONING_ID}'."
            )
    return None


FORMAT = WireFormat(
    name="openai-responses",
    matches=lambda path: path.endswith("/responses"),
    key_in=request_key,
    reply=_reply,
    fault=fault_body,
    is_stream=asks_for_stream,
    stream=_stream,
    stream_fault=_stream_fault,
    base_path="/v1",
    refuse=_refuse,
)
