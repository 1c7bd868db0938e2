"""What is known about OpenAI's models by their names; nothing is assumed of unknown ones."""

from __future__ import annotations

import re

_GPT_VERSION = re.compile(r"gpt-(\d+)(?:\.(\d+))?(?![\da-z])")
_FIRST_REASONING_GPT = (5, 0)
_FIRST_WITH_CACHE_OPTIONS = (5, 6)
"""``prompt_cache_options`` is "supported for gpt-5.6 and later models": the SDK's
``ResponseCreateParamsBase``."""
_REASONING_FAMILIES = (
    "o1", "o3", "o4", "codex", "computer-use", "gpt-daybreak", "gpt-rosalind",
)  # fmt: skip
"""Reasoning models without a version of GPT in their names: ``ChatModel`` and ``ResponsesModel``
of the official SDK (3.54)."""

_WITHOUT_REASONING = ("gpt-3", "gpt-4", "chatgpt-")


def is_reasoning_model(model: str) -> bool:
    """Return whether ``model`` reasons before it answers, as all GPTs do since 5.

    Such a model takes ``max_completion_tokens`` instead of ``max_tokens``, and no sampling
    parameters unless its reasoning is off. Source: OpenAI's reasoning guide.
    """
    name = _plain_name(model)
    return _gpt_version(name) >= _FIRST_REASONING_GPT or any(
        name == family or name.startswith(f"{family}-") for family in _REASONING_FAMILIES
    )


def never_reasons(model: str) -> bool:
    """Return whether ``model`` is one of OpenAI's from before it had reasoning models."""
    return _plain_name(model).startswith(_WITHOUT_REASONING)


def has_cache_options(model: str) -> bool:
    """Return whether a request to ``model`` can say what is written to the prompt's cache."""
    return _gpt_version(_plain_name(model)) >= _FIRST_WITH_CACHE_OPTIONS


def _plain_name(model: str) -> str:
    """Return the name without a router's ``openai/`` and a fine-tuned model's ``ft:``."""
    return model.strip().lower().rpartition("/")[2].removeprefix("ft:")


def _gpt_version(name: str) -> tuple[int, int]:
    match = _GPT_VERSION.match(name)
    return (int(match[1]), int(match[2] or 0)) if match else (0, 0)
