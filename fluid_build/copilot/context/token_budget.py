"""The tokens of a prompt, and whether it fits the model's window.

Once a provider has reported the tokens of a conversation, only the messages since then are
estimated. Source: the Agentic Primitives page, "Token-budget pre-flight & compaction".
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from fluid_build.copilot.context.message_parts import split_countable
from fluid_build.copilot.context.model_data import context_window
from fluid_build.copilot.context.token_estimate import CHARS_PER_TOKEN as CHARS_PER_TOKEN
from fluid_build.copilot.context.token_estimate import estimate_tokens as estimate_tokens
from fluid_build.copilot.errors import ContextOverflowError
from fluid_build.copilot.messages import Message

DEFAULT_OUTPUT_RESERVATION = 4096
"""Tokens kept free for the answer by default, and at most a quarter of the window."""

_TOKENS_PER_MESSAGE = 4
"""The frame of a message in chat formats: role and separators (OpenAI's cookbook counts 3 to 4)."""
_TOKENS_PER_CALL = 8
"""An allowance for the frame of a tool call or definition, set by hand."""


class HeuristicTokenCounter:
    """A ``TokenCounter`` that uses ``estimate_tokens``."""

    def count_tokens(self, text: str) -> int:
        """Return the estimated tokens in ``text``."""
        return estimate_tokens(text)


def estimate_message_tokens(message: Message) -> int:
    """Return the tokens of a message: text, calls, results and attachments, with their frames."""
    plain, other_tokens = split_countable(message)
    total = _TOKENS_PER_MESSAGE + other_tokens
    for key, value in plain.items():
        if key == "role":
            continue
        total += _estimate_value(value)
    return total


def estimate_prompt_tokens(
    messages: Sequence[Message], *, system: str = "", tools: Sequence[Mapping[str, object]] = ()
) -> int:
    """Return the tokens of a request; ``tools`` are definitions and any other schemas."""
    conversation = sum(map(estimate_message_tokens, messages))
    return estimate_tokens(system) + _tools_tokens(tools) + conversation


def _tools_tokens(tools: Sequence[Mapping[str, object]]) -> int:
    return sum(_estimate_value(tool) + _TOKENS_PER_CALL for tool in tools)


def _estimate_value(value: object) -> int:
    if isinstance(value, str):
        return estimate_tokens(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return sum(_estimate_value(item) + _TOKENS_PER_CALL for item in value)
    if value is None or isinstance(value, bool):
        return 1
    return estimate_tokens(json.dumps(value, ensure_ascii=False, default=str))


class TokenBudget:
    """The tokens of a conversation, based on the usage that the provider reported last.

    A budget is for one conversation, and not shared between threads.
    """

    def __init__(self) -> None:
        self._anchored: tuple[Message, ...] = ()
        self._anchored_extra: tuple[str, int] | None = None
        self._anchored_tokens = 0

    def record_usage(
        self,
        messages: Sequence[Message],
        input_tokens: int,
        *,
        system: str = "",
        tools: Sequence[Mapping[str, object]] = (),
    ) -> None:
        """Record that a request of these parts had ``input_tokens``, cached ones included.

        Zero means that the provider reported nothing, and changes nothing.
        """
        if input_tokens > 0:
            self._anchored = tuple(messages)
            self._anchored_extra = (system, _tools_tokens(tools))
            self._anchored_tokens = input_tokens

    def estimate(
        self,
        messages: Sequence[Message],
        *,
        system: str = "",
        tools: Sequence[Mapping[str, object]] = (),
    ) -> int:
        """Return the tokens of a request, estimating only what is new since the reported one."""
        extra = (system, _tools_tokens(tools))
        known = len(self._anchored)
        if extra == self._anchored_extra and tuple(messages[:known]) == self._anchored:
            return self._anchored_tokens + sum(map(estimate_message_tokens, messages[known:]))
        return estimate_prompt_tokens(messages, system=system, tools=tools)


def check_prompt_fits(
    prompt_tokens: int,
    *,
    model: str,
    provider: str | None = None,
    capability_matrix: Mapping[str, object] | None = None,
    output_reservation: int | None = None,
) -> int | None:
    """Check a prompt before it is sent; return the model's window in tokens.

    Raises ``ContextOverflowError`` where ``prompt_tokens`` exceeds window - reservation. An unknown
    model passes, with None: the provider will say.
    """
    window = context_window(model, provider, capability_matrix=capability_matrix)
    if window is None:
        return None
    if output_reservation is None:
        output_reservation = min(DEFAULT_OUTPUT_RESERVATION, window // 4)
    if prompt_tokens > window - output_reservation:
        raise ContextOverflowError(
            f"The prompt has about {prompt_tokens:,} tokens; {model} has a window of {window:,}, "
            f"of which {output_reservation:,} are reserved for the answer.",
            provider=provider,
            hint="Shorten the input, compact earlier (FLUID_AGENT_COMPACT_AFTER), choose a model "
            'with a larger window, or set capability_matrix["context_window"].',
            prompt_tokens=prompt_tokens,
            context_window=window,
            output_reservation=output_reservation,
        )
    return window
