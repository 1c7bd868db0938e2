"""Anthropic's Messages API (``POST /v1/messages``, version 2026-10-21).

A structured answer is text in a closed schema (``output_config.format``). Where the model or the
schema doesn't allow that, it is the input of a tool. Thinking and the blocks of Anthropic's own
tools stay in the conversation unchanged: without them, the API refuses a loop of tool calls.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from fluid_build.copilot.llm.alternating_turns import alternate, end_with_user, split_system
from fluid_build.copilot.llm.anthropic.blocks import (
    AnswerContent,
    end_cached,
    has_open_server_call,
    has_thinking,
    read_content,
    read_usage,
    write_messages,
)
from fluid_build.copilot.llm.anthropic.stream import AnthropicStreamReader
from fluid_build.copilot.llm.base import (
    LlmPrompt,
    LlmProvider,
    LlmRequest,
    LlmResponse,
    StopReason,
    ToolSpec,
    costs_more,
    merge_extra,
)
from fluid_build.copilot.llm.closed_schema import compile_closed_schema
from fluid_build.copilot.llm.strict_schema import restore
from fluid_build.copilot.messages import ToolCall
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject, JsonValue

# What older Claude models lack and newer ones refuse, by the prefixes of their names.
# A Claude model that isn't listed counts as current. Gateways' names are understood too, such as
# `anthropic/claude-opus-4.5`. Sources, all on platform.claude.com: "Migrating to API version
# 2026-10-21" and "What's new in Claude Opus 4.7" (sampling), "Structured outputs", "Preserved
# thinking"; the models are those of the SDK's `types/model.py` and `DEPRECATED_MODELS`.

_BEFORE_4_5 = (
    "claude-1", "claude-2", "claude-3", "claude-4-", "claude-instant", "claude-v",
    "claude-haiku-3", "claude-opus-4-0", "claude-opus-4-2", "claude-opus-4@",
    "claude-sonnet-4-0", "claude-sonnet-4-2", "claude-sonnet-4@",
)  # fmt: skip
_WITH_PREFILL = (
    *_BEFORE_4_5, "claude-haiku-4", "claude-opus-4-1", "claude-opus-4-5", "claude-sonnet-4-5",
)  # fmt: skip
_WITH_SAMPLING = (*_WITH_PREFILL, "claude-opus-4-6", "claude-sonnet-4-6")
_THINKING_IF_ASKED = (*_WITH_SAMPLING, "claude-opus-4-7", "claude-opus-4-8")
_WITH_BOUND_THINKING = (
    "claude-fable-5-1", "claude-fable-5-2", "claude-haiku-5-5", "claude-mythos-5-1",
    "claude-mythos-5-2", "claude-opus-5-5", "claude-sonnet-5-5",
)  # fmt: skip


def answers_in_schema(model: str) -> bool:
    """Return whether ``output_config.format`` works: with Claude 4.1, 4.5 and later."""
    return not _claude_name(model).startswith(_BEFORE_4_5)


def takes_sampling(model: str) -> bool:
    """Return whether the model takes a temperature: Claude up to 4.6, and other companies' models.

    The API takes it only in its version of 2023.
    """
    name = _claude_name(model)
    return not name or name.startswith(_WITH_SAMPLING)


def allows_prefill(model: str) -> bool:
    """Return whether a conversation may end with the beginning of the answer.

    "Prefilling assistant messages returns a 400 error" since Claude 4.6: "Migration guide".
    """
    name = _claude_name(model)
    return not name or name.startswith(_WITH_PREFILL)


def thinks_by_default(model: str) -> bool:
    """Return whether the model may think in requests without ``thinking``.

    Claude Mythos Preview was the first to; Mythos 5, Fable 5 and Opus 5 always think. Source:
    "Adaptive thinking" in Amazon Bedrock's user guide.
    """
    name = _claude_name(model)
    return bool(name) and not name.startswith(_THINKING_IF_ASKED)


def binds_thinking(model: str) -> bool:
    """Return whether thinking is refused after anything before it has changed."""
    return _claude_name(model).startswith(_WITH_BOUND_THINKING)


def _claude_name(model: str) -> str:
    """Return the part of the name that is Anthropic's, or nothing."""
    _, prefix, version = model.rpartition("claude-")
    return prefix + version.replace(".", "-") if prefix else ""


LOG = logging.getLogger(__name__)

_VERSION = "2026-10-21"
_VERSION_WITH_SAMPLING = "2023-06-01"
_SAMPLING = ("temperature", "top_p", "top_k")
"""The current version refuses them for every model."""
_BETA_OF_BOUND_THINKING = "thinking-binding-controls-2026-08-01"
_LEAST_THINKING = 1024
_LISTED: dict[str, tuple[str, ...]] = {
    "speed": ("standard",),
    "inference_geo": ("global",),
    "fallbacks": (),
}
"""The values of options that are charged at the listed price.

Fast mode costs a multiple, inference in the US 1.1 times as much, a cache for an hour 2 times the
input instead of 1.25 (platform.claude.com, "Pricing"); a fallback is another model.
"""
_STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "refused",
}
"""``pause_turn`` is "other": send the answer back as it is, and the model goes on."""


class AnthropicProvider(LlmProvider):
    """Claude, and servers that use its format."""

    name = "anthropic"
    default_base_url = "https://api.anthropic.com"
    key_variables = ("ANTHROPIC_API_KEY",)
    token_variables = ("ANTHROPIC_AUTH_TOKEN",)
    fast_model = "claude-haiku-5-5"
    tool_prompt_tokens = 530  # the most in its page "Tool use pricing and tokens"

    def auth_headers(self, key: str) -> dict[str, str]:
        """Return ``x-api-key``, or ``authorization`` for a token (OAuth, or a gateway's)."""
        is_token = key.startswith("sk-ant-oat") or any(
            os.environ.get(name, "").strip() == key for name in self.token_variables
        )
        return {"authorization": f"Bearer {key}"} if is_token else {"x-api-key": key}

    def build_request(self, prompt: LlmPrompt) -> LlmRequest:
        """Return the Messages request; with caching, the whole prompt is a cached prefix.

        ``extra`` may have ``betas``, as in the official client: they become a header.
        """
        return self._request(prompt, {})

    def stream_request(self, prompt: LlmPrompt) -> LlmRequest:
        """Return the request for the same answer as server-sent events."""
        return self._request(prompt, {"stream": True})

    def stream_reader(self, prompt: LlmPrompt) -> AnthropicStreamReader:
        """Return a reader for one streamed answer."""
        answer_tool = prompt.answer_name if prompt.response_schema is not None else None
        thinking = _thinking_type(prompt.extra)
        may_think = thinks_by_default(prompt.model) if thinking is None else thinking != "disabled"
        return AnthropicStreamReader(
            lambda body: self.parse_response(body, prompt), answer_tool, may_think=may_think
        )

    def parse_response(self, body: JsonObject, prompt: LlmPrompt) -> LlmResponse:
        """Return text, calls, usage and the provider's own blocks of a Messages answer."""
        blocks = body.get("content")
        if not isinstance(blocks, list):
            raise self.unreadable("no content")
        content = read_content(block for block in blocks if isinstance(block, Mapping))
        stop_reason = _STOP_REASONS.get(str(body.get("stop_reason")), "other")
        text, calls = content.text, content.calls
        if prompt.response_schema is not None:
            text, calls = _read_structured(content, prompt)
            if stop_reason == "tool_calls" and not calls:
                stop_reason = "end"
        return LlmResponse(
            text or (_explanation(body) if stop_reason == "refused" else ""),
            tuple(calls),
            read_usage(body.get("usage")),
            stop_reason,
            str(body.get("model", "")),
            content.thinking,
            tuple(content.blocks),
            self.name,
            self.name,
        )

    def _request(self, prompt: LlmPrompt, options: JsonObject) -> LlmRequest:
        _check_extra(prompt)
        system, messages = split_system(prompt)
        mark = end_cached if prompt.cache_prompt else list[JsonObject]
        turns = alternate(messages, self.name)
        if not allows_prefill(prompt.model) and not has_open_server_call(turns[-1]):
            turns = end_with_user(turns)
        body: dict[str, JsonValue] = {
            "model": prompt.model,
            "max_tokens": prompt.max_output_tokens,
            "messages": write_messages(turns, mark),
            **options,
        }
        if system:
            body["system"] = mark([{"type": "text", "text": text} for text in system])
        structure = _structure(prompt)
        if tools := [_tool(spec) for spec in (*prompt.tool_specs, *structure.tools)]:
            body["tools"] = mark(tools)
        body |= structure.options
        if prompt.temperature is not None and _sends_temperature(prompt.model):
            body["temperature"] = prompt.temperature
        extra = {name: value for name, value in prompt.extra.items() if name != "betas"}
        body = merge_extra(body, extra)
        betas = _betas(prompt)
        if binds_thinking(prompt.model) and has_thinking(turns):
            body |= _allow_dropped_thinking(body, betas)
        return LlmRequest(self.endpoint("/v1/messages"), body, _headers(body, betas))


@dataclass(frozen=True, slots=True)
class _Structure:
    """How a structured answer is asked for: by further tools, by further keys of the body."""

    tools: tuple[ToolSpec, ...] = ()
    options: JsonObject = field(default_factory=dict)


def _structure(prompt: LlmPrompt) -> _Structure:
    """Return the closed schema, or a tool, which can be forced only on models that don't think.

    Current models refuse a forced tool, and all do while they think. Source: "What's new in Claude
    Opus 5.5" and "Forcing tool use".
    """
    if prompt.response_schema is None:
        return _Structure()
    takes_schema = answers_in_schema(prompt.model)
    schema = compile_closed_schema(prompt.response_schema) if takes_schema else None
    if schema is not None:
        return _Structure(
            options={"output_config": {"format": {"type": "json_schema", "schema": schema}}}
        )
    if takes_schema or _thinking_type(prompt.extra) not in (None, "disabled"):
        description = f"{prompt.answer_tool.description} Always call it to answer."
        return _Structure((replace(prompt.answer_tool, description=description),))
    only = {"type": "tool", "name": prompt.answer_name}
    choice = {"type": "any"} if prompt.tools else only
    return _Structure((prompt.answer_tool,), {"tool_choice": choice})


def _tool(spec: ToolSpec) -> JsonObject:
    return {
        "name": spec.name,
        "description": spec.description,
        "input_schema": dict(spec.input_schema),
    }


def _sends_temperature(model: str) -> bool:
    if not takes_sampling(model):
        _warn_about_temperature(model)
    return takes_sampling(model)


@cache
def _warn_about_temperature(model: str) -> None:
    """Warn once for a model."""
    LOG.warning("%s takes no temperature: the one that is set isn't sent.", model)


def _check_extra(prompt: LlmPrompt) -> None:
    """Refuse what the API would refuse, and what changes how the answer is sent."""
    if "stream" in prompt.extra:
        raise UsageError("extra.stream can't be set.", hint="Call stream instead of complete.")
    for name, listed in _LISTED.items():
        if prompt.extra.get(name) not in (None, *listed):
            raise costs_more(name, "Leave it out.")
    if _caches_for_an_hour(prompt.extra):
        raise costs_more("cache_control.ttl", "Leave it out: a cache lives for 5 minutes.")
    sampling = [name for name in _SAMPLING if name in prompt.extra]
    if sampling and not takes_sampling(prompt.model):
        raise UsageError(
            f"{prompt.model} doesn't take extra.{sampling[0]}.",
            hint="Claude 4.7 and later take no sampling parameters: leave it out.",
        )
    if _thinking_type(prompt.extra) == "enabled":
        _check_budget(prompt)


def _caches_for_an_hour(node: JsonValue) -> bool:
    """Return whether a cache breakpoint anywhere in the node lives longer than by default."""
    if isinstance(node, Mapping):
        mark = node.get("cache_control")
        ttl = mark.get("ttl") if isinstance(mark, Mapping) else None
        return ttl not in (None, "5m") or any(map(_caches_for_an_hour, node.values()))
    return isinstance(node, list | tuple) and any(map(_caches_for_an_hour, node))


def _check_budget(prompt: LlmPrompt) -> None:
    thinking = prompt.extra["thinking"]
    budget = thinking.get("budget_tokens") if isinstance(thinking, Mapping) else None
    if not isinstance(budget, int) or not _LEAST_THINKING <= budget < prompt.max_output_tokens:
        raise UsageError(
            f"extra.thinking.budget_tokens is {budget!r}. It has to be at least {_LEAST_THINKING} "
            f"and less than max_output_tokens ({prompt.max_output_tokens}).",
            hint="Raise max_output_tokens: thinking counts towards it.",
        )


def _thinking_type(options: JsonObject) -> str | None:
    thinking = options.get("thinking")
    return str(thinking.get("type")) if isinstance(thinking, Mapping) else None


def _betas(prompt: LlmPrompt) -> list[str]:
    value = prompt.extra.get("betas", [])
    names = [str(name) for name in value] if isinstance(value, list | tuple) else [""]
    if not all(re.fullmatch(r"[\w.-]+", name) for name in names):
        raise UsageError(
            "extra.betas isn't a list of names.", hint='Write it like {"betas": ["x-2026-01-01"]}.'
        )
    return names


def _allow_dropped_thinking(body: JsonObject, betas: list[str]) -> JsonObject:
    """Return the options that let the API drop thinking that no longer matches its conversation.

    It would refuse the request otherwise, and the runtime does change conversations: it shortens
    them, and takes the prompts of steps out. Source: "Prefix checks on thinking blocks".
    """
    thinking = body.get("thinking", {"type": "adaptive"})
    if not isinstance(thinking, Mapping) or thinking.get("type") != "adaptive":
        return {}
    betas.append(_BETA_OF_BOUND_THINKING)
    return {"thinking": {"block_binding": {"prefix_mismatch_behavior": "drop_block"}, **thinking}}


def _headers(body: JsonObject, betas: list[str]) -> dict[str, str]:
    has_sampling = any(name in body for name in _SAMPLING)
    headers = {"anthropic-version": _VERSION_WITH_SAMPLING if has_sampling else _VERSION}
    if betas:
        headers["anthropic-beta"] = ",".join(dict.fromkeys(betas))
    return headers


def _read_structured(content: AnswerContent, prompt: LlmPrompt) -> tuple[str, list[ToolCall]]:
    """Return a structured answer as text, and the calls; there are none next to an answer."""
    call = next((c for c in content.calls if c.name == prompt.answer_name), None)
    if call is not None:
        return json.dumps(call.arguments, ensure_ascii=False), []
    if content.calls:
        return content.text, content.calls
    return _restore_text(content.text, prompt.response_schema or {}), []


def _restore_text(text: str, schema: JsonObject) -> str:
    """Return JSON in the shape of the prompt's own schema; other text stays as it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    restored = restore(value, schema)
    return text if restored == value else json.dumps(restored, ensure_ascii=False)


def _explanation(body: JsonObject) -> str:
    """Return why the model declined, where it didn't say so itself."""
    details = body.get("stop_details")
    explanation = details.get("explanation") if isinstance(details, Mapping) else None
    return explanation if isinstance(explanation, str) else ""
