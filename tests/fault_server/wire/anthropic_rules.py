"""The requests that Anthropic's server refuses, and what it says.

The words are those that the API's users quote; they matter because our errors are classified by
them. Only what a client can get wrong is checked, not the size of anything.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from tests.fault_server.wire.format import RequestBody

_Block: TypeAlias = dict[str, Any]

_CURRENT_VERSION = "2026-10-21"
_VERSIONS = (_CURRENT_VERSION, "2023-06-01")
_SAMPLING = ("temperature", "top_p", "top_k")
_FIELDS = frozenset(
    {
        "cache_control", "container", "diagnostics", "inference_geo", "max_tokens", "messages",
        "metadata", "model", "output_config", "service_tier", "speed", "stop_sequences", "stream",
        "system", "thinking", "tool_choice", "tools",
    }
)  # fmt: skip
"""Source: the SDK's ``MessageCreateParams``."""
_CONSTRAINTS = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "maxItems",
)  # fmt: skip
_WITHOUT_FORCED_TOOLS = (
    "claude-fable", "claude-mythos", "claude-opus-5-5", "claude-sonnet-5-5",
)  # fmt: skip
_SINCE_4_7 = (
    "claude-fable", "claude-haiku-5", "claude-mythos", "claude-opus-4-7", "claude-opus-4-8",
    "claude-opus-5", "claude-sonnet-5",
)  # fmt: skip
_SINCE_4_6 = ("claude-opus-4-6", "claude-sonnet-4-6", *_SINCE_4_7)
_WITH_BOUND_THINKING = (
    "claude-fable-5-1", "claude-fable-5-2", "claude-haiku-5-5", "claude-mythos-5-1",
    "claude-mythos-5-2", "claude-opus-5-5", "claude-sonnet-5-5",
)  # fmt: skip
_BINDING_BETA = "thinking-binding-controls-2026-08-01"
_MOST_BREAKPOINTS = 4


def sign(thinking: str, request: RequestBody, count: int | None = None) -> str:
    """Return the signature of a thinking block, which changes with its text.

    Models with preserved thinking also sign what comes before it: system, tools, and the first
    ``count`` messages (default: all).
    """
    signed: list[object] = [thinking]
    if request["model"].startswith(_WITH_BOUND_THINKING):
        messages = request["messages"][:count]
        turns = [(message["role"], _blocks(message)) for message in messages]
        signed += [request.get("system"), request.get("tools"), turns]
    text = json.dumps(_without_marks(signed), sort_keys=True)
    return "signed-" + hashlib.sha256(text.encode()).hexdigest()[:16]


def _without_marks(node: object) -> object:
    """Return the node without its cache breakpoints, which may move."""
    if isinstance(node, dict):
        items = node.items()
        return {key: _without_marks(value) for key, value in items if key != "cache_control"}
    return [_without_marks(item) for item in node] if isinstance(node, list | tuple) else node


def refuse(headers: Mapping[str, str], body: RequestBody) -> str | None:
    """Return what the server says about a request that it refuses, or None."""
    try:
        return _first_refusal(headers, body)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        return f"the request isn't one of messages ({error!r})"


def _first_refusal(headers: Mapping[str, str], body: RequestBody) -> str | None:
    checks: tuple[Callable[[], Iterator[str]], ...] = (
        lambda: _check_fields(headers, body),
        lambda: _check_options(body),
        lambda: _check_schema(body),
        lambda: _check_blocks(body["messages"]),
        lambda: _check_signatures(headers, body),
        lambda: _check_tool_loop(body["messages"]),
        lambda: _check_thinking(body),
        lambda: _check_prefill(body),
    )
    return next((words for check in checks for words in check()), None)


def _check_fields(headers: Mapping[str, str], body: RequestBody) -> Iterator[str]:
    version = headers.get("anthropic-version")
    if version not in _VERSIONS:
        yield (
            "anthropic-version: header is required"
            if version is None
            else (f'anthropic-version: "{version}" is not a valid version')
        )
    allowed = _FIELDS if version == _CURRENT_VERSION else {*_FIELDS, *_SAMPLING}
    yield from (f"{name}: Extra inputs are not permitted" for name in body if name not in allowed)
    required = ("model", "max_tokens", "messages")
    yield from (f"{name}: Field required" for name in required if name not in body)
    if not body["messages"]:
        yield "messages: at least one message is required"


def _check_options(body: RequestBody) -> Iterator[str]:
    thinking = body.get("thinking", {}).get("type", "disabled")
    is_forced = body.get("tool_choice", {}).get("type") in ("tool", "any")
    if is_forced and body["model"].startswith(_WITHOUT_FORCED_TOOLS):
        yield "tool_choice forces tool use is not compatible with this model."
    if is_forced and thinking != "disabled":
        yield "Thinking may not be enabled when tool_choice forces tool use."
    if thinking == "enabled" and body["model"].startswith(_SINCE_4_7):
        yield (
            '"thinking.type.enabled" is not supported for this model. Use '
            '"thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
        )
    for name in _SAMPLING:
        if name in body and body["model"].startswith(_SINCE_4_7):
            yield f"`{name}` is deprecated for this model."
    budget = body.get("thinking", {}).get("budget_tokens")
    if budget is not None and budget < 1024:
        yield ("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
    if budget is not None and budget >= body["max_tokens"]:
        yield "`max_tokens` must be greater than `thinking.budget_tokens`."
    breakpoints = str(body).count("'cache_control':")
    if breakpoints > _MOST_BREAKPOINTS:
        yield (
            f"A maximum of {_MOST_BREAKPOINTS} blocks with cache_control may be provided. "
            f"Found {breakpoints}."
        )


def _check_schema(body: RequestBody) -> Iterator[str]:
    for number, tool in enumerate(body.get("tools", [])):
        if tool.get("input_schema", {"type": "object"}).get("type") != "object":
            yield f"tools.{number}.custom.input_schema.type: Field required"
    schema = (body.get("output_config", {}).get("format") or {}).get("schema")
    if schema is not None:
        yield from (f"output_config.format.schema: {words}" for words in _check_node(schema))


def _check_node(node: object) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from _check_node(item)
    if not isinstance(node, dict):
        return
    if node.get("type") == "object" and node.get("additionalProperties") is not False:
        yield "For 'object' type, 'additionalProperties' must be explicitly set to false"
    for name in _CONSTRAINTS:
        if name in node and not isinstance(node[name], dict):
            yield f"For '{node.get('type')}' type, property '{name}' is not supported"
    for value in node.values():
        yield from _check_node(value)


def _check_blocks(messages: list[_Block]) -> Iterator[str]:
    for number, message in enumerate(messages):
        if message["role"] not in ("user", "assistant", "system"):
            yield f"messages.{number}.role: Input should be 'user' or 'assistant'"
        for place, block in enumerate(_blocks(message)):
            path = f"messages.{number}.content.{place}"
            if block["type"] == "text" and not block["text"].strip():
                yield f"{path}: text content blocks must contain non-whitespace text"
            if block["type"] == "document" and message["role"] == "assistant":
                yield f"{path}: document blocks are not permitted in assistant messages"
            if block["type"] in ("thinking", "redacted_thinking") and "cache_control" in block:
                yield f"{path}.cache_control: Extra inputs are not permitted"
    if messages[0]["role"] == "assistant":
        yield 'messages: first message must use the "user" role'
    last = _blocks(messages[-1])[-1]
    if messages[-1]["role"] == "assistant" and last.get("text", "").endswith((" ", "\n")):
        yield "messages: final assistant content cannot end with trailing whitespace"


def _check_signatures(headers: Mapping[str, str], body: RequestBody) -> Iterator[str]:
    """Check that thinking is unchanged, and for some models also what is before it.

    Source: "Prefix checks on thinking blocks" on platform.claude.com.
    """
    binding = body.get("thinking", {}).get("block_binding", {})
    may_be_dropped = binding.get(
        "prefix_mismatch_behavior"
    ) == "drop_block" and _BINDING_BETA in headers.get("anthropic-beta", "")
    for number, message in enumerate(body["messages"]):
        for place, block in enumerate(_blocks(message)):
            if block["type"] != "thinking":
                continue
            path = f"messages.{number}.content.{place}"
            if not block["signature"].startswith("signed-"):
                yield f"{path}: Invalid `signature` in `thinking` block"
            elif block["signature"] != sign(block["thinking"], body, number) and not may_be_dropped:
                yield (
                    f"{path}: Invalid `signature` in `thinking` block. The block is bound to a "
                    "different conversation. Remove the block, or set "
                    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
                )


def _check_tool_loop(messages: list[_Block]) -> Iterator[str]:
    """Check that each call has its result in the next message, and the other way round."""
    for number, message in enumerate(messages):
        calls = _values(message, "tool_use", "id")
        following = messages[number + 1] if number + 1 < len(messages) else {"content": []}
        missing = [i for i in calls if i not in _values(following, "tool_result", "tool_use_id")]
        if missing and number + 1 < len(messages):
            yield (
                f"messages.{number}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {', '.join(missing)}. Each `tool_use` block must have a "
                "corresponding `tool_result` block in the next message."
            )
        before = _values(messages[number - 1], "tool_use", "id") if number else []
        for identifier in _values(message, "tool_result", "tool_use_id"):
            if identifier not in before:
                yield (
                    f"messages.{number}: unexpected `tool_use_id` found in `tool_result` blocks: "
                    f"{identifier}. Each `tool_result` block must have a corresponding `tool_use` "
                    "block in the previous message."
                )


def _check_thinking(body: RequestBody) -> Iterator[str]:
    """Check that the calls that now get their results still follow the thinking behind them.

    With adaptive thinking a turn may be without any, and the API doesn't require it.
    """
    messages = body["messages"]
    if body.get("thinking", {}).get("type") != "enabled" or len(messages) < 2:
        return
    answer = _blocks(messages[-2])
    if _values(messages[-1], "tool_result", "tool_use_id") and not any(
        block["type"] in ("thinking", "redacted_thinking") for block in answer
    ):
        yield (
            f"messages.{len(messages) - 2}.content.0.type: Expected `thinking` or "
            f"`redacted_thinking`, but found `{answer[0]['type']}`. When `thinking` is enabled, a "
            "final `assistant` message must start with a thinking block."
        )


def _check_prefill(body: RequestBody) -> Iterator[str]:
    last = body["messages"][-1]
    has_server_call = _values(last, "server_tool_use", "id")
    if last["role"] == "assistant" and body["model"].startswith(_SINCE_4_6) and not has_server_call:
        yield (
            "This model does not support assistant message prefill. The conversation must end "
            "with a user message."
        )


def _blocks(message: _Block) -> list[_Block]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _values(message: _Block, kind: str, field: str) -> list[str]:
    return [block[field] for block in _blocks(message) if block["type"] == kind]
