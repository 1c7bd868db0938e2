"""What older Claude models lack and newer ones refuse, by the prefixes of their names.

A Claude model that isn't listed counts as current. Gateways' names are understood too, such as
``anthropic/claude-opus-4.5``. Sources, all on platform.claude.com: "Migrating to API version
2026-10-21" and "What's new in Claude Opus 4.7" (sampling), "Structured outputs", "Preserved
thinking"; the models are those of the SDK's ``types/model.py`` and ``DEPRECATED_MODELS``.
"""

from __future__ import annotations

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
