"""The common ground of OpenAI's two APIs: the server's address and key, and the parameters."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from mimetypes import guess_extension
from typing import ClassVar
from urllib.parse import urlsplit

from fluid_build.copilot.error_classification import classify_error_document
from fluid_build.copilot.errors import ProviderError
from fluid_build.copilot.llm.base import (
    LlmPrompt,
    LlmProvider,
    Usage,
    check_image_type,
    costs_more,
    whole_number,
)
from fluid_build.copilot.llm.strict_schema import restore, strict_schema_enabled
from fluid_build.copilot.messages import Attachment, Message, content_parts, tool_results
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject, JsonValue

LOG = logging.getLogger(__name__)

_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_RESPONSES_TOKENS = ("input_tokens", "output_tokens")
_CHEAP_TIERS = ("auto", "default", "flex")
"""Service tiers that cost no more than the listed price, which all calls are reserved at."""

_LISTED_CACHE_LIFETIME = "30m"
"""The default. What it costs to write for longer isn't in the prices that calls are charged at."""


class OpenAIServer(LlmProvider):
    """A server of OpenAI's, of Azure's, or one that uses the same format."""

    name = "openai"
    default_base_url = "https://api.openai.com/v1"
    key_variables: ClassVar[tuple[str, ...]] = ("OPENAI_API_KEY",)
    image_types: ClassVar[tuple[str, ...]] = ("image/png", "image/jpeg", "image/webp", "image/gif")
    """The types of images that are taken; none says that the server decides.

    Source: OpenAI's guide "Images and vision".
    """
    fast_model: str | None = "gpt-6-luna"
    """gpt-4.1-nano was shut down on 2026-10-23 (developers.openai.com/api/docs/deprecations, and
    the SDK's ``ChatModel``). This model costs the same for input: $0.10 a million tokens."""

    def __init__(self, base_url: str | None = None, *, strict_schema: bool | None = None) -> None:
        super().__init__(base_url)
        self.strict_schema = (
            strict_schema_enabled(os.environ) if strict_schema is None else strict_schema
        )
        parts = urlsplit(self.base_url)
        self._host, self._path = parts.hostname or "", parts.path
        if self.is_azure:
            self.fast_model = None  # models are called as they were deployed

    def auth_headers(self, key: str) -> dict[str, str]:
        """Return a bearer token; ``api-key`` for Azure."""
        return {"api-key": key} if self.is_azure else {"authorization": f"Bearer {key}"}

    @property
    def is_azure(self) -> bool:
        """Return whether the server is one of Azure's."""
        return self._host.endswith(".azure.com")

    @property
    def is_openais_own(self) -> bool:
        """Return whether the server is OpenAI's or Azure's, which run OpenAI's own models.

        OpenAI's regional hosts are under its own, such as ``eu.api.openai.com``.
        """
        return self.is_azure or f".{self._host}".endswith(".api.openai.com")

    @property
    def has_responses(self) -> bool:
        """Return whether the server surely offers the Responses API.

        Azure does in its v1 API only: learn.microsoft.com, "Azure OpenAI Responses API".
        """
        is_v1 = "/openai/v1" in self._path
        return is_v1 if self.is_azure else self.is_openais_own

    def check_images(self, message: Message) -> None:
        """Raise ``UsageError`` for an image in ``message`` of a type that the server refuses."""
        if not self.image_types or isinstance(message.get("content"), str):
            return
        results = [part for result in tool_results(message) for part in result.attachments]
        for part in (*content_parts(message), *results):
            if isinstance(part, Attachment):
                check_image_type(part, "OpenAI", self.image_types)

    def reported_usage(self, body: JsonObject) -> Usage | None:
        """Return the usage of a failed answer, or of the event that reports the failure."""
        response = body.get("response")
        usage = (response if isinstance(response, Mapping) else body).get("usage")
        is_chat = isinstance(usage, Mapping) and "prompt_tokens" in usage
        names = ("prompt_tokens", "completion_tokens") if is_chat else _RESPONSES_TOKENS
        return read_usage(usage, *names)

    def failure(self, document: JsonObject) -> ProviderError:
        """Return the typed error for a document that reports a failure within an answer."""
        failure = classify_error_document(document, self.name)
        return failure or self.unreadable("a failure without an error")


def check_extra(extra: JsonObject, fixed: Iterable[str]) -> None:
    """Raise ``UsageError`` where ``extra`` changes what a call costs or how its answer is read.

    ``fixed`` are the parameters that the prompt sets, or that the answer's form depends on.
    """
    for name in (*_LIMITS, *fixed):
        if extra.get(name) not in (None, False):
            raise UsageError(
                f"extra.{name} would replace what the prompt sets.",
                hint="Set it through the prompt's own fields, or leave it out.",
            )
    if extra.get("n") not in (None, 1):
        raise UsageError(
            "extra.n asks for several answers, of which only one would be read.",
            hint="Leave it out, and make several calls.",
        )
    if extra.get("service_tier") not in (None, *_CHEAP_TIERS):
        raise costs_more("service_tier", f"Use one of {', '.join(_CHEAP_TIERS)}.")
    cache = extra.get("prompt_cache_options")
    if isinstance(cache, Mapping) and cache.get("ttl") not in (None, _LISTED_CACHE_LIFETIME):
        raise UsageError(
            "extra.prompt_cache_options.ttl has no listed price.",
            hint=f"Leave it out, or use {_LISTED_CACHE_LIFETIME}.",
        )


def sampling_parameters(prompt: LlmPrompt, effort: JsonValue) -> dict[str, JsonValue]:
    """Return the prompt's temperature, but for a model that refuses it.

    Reasoning models do unless their reasoning ``effort`` is ``none``: OpenAI answers "'temperature'
    does not support 0.2 with this model".
    """
    if prompt.temperature is None:
        return {}
    if is_reasoning_model(prompt.model) and effort != "none":
        _report_dropped_temperature(prompt.model)
        return {}
    return {"temperature": prompt.temperature}


@cache
def _report_dropped_temperature(model: str) -> None:
    """Log the dropped parameter, once for each model."""
    LOG.warning("%s takes no temperature while it reasons, so none is sent.", model)


def refuse_attachments(parts: Iterable[str | Attachment], place: str) -> None:
    """Raise ``UsageError`` for an image or a document in ``place``, which can't have any."""
    if any(isinstance(part, Attachment) for part in parts):
        raise UsageError(
            f"{place} has an image or a document, which OpenAI's format doesn't allow.",
            hint="Put it into a user message.",
        )


def data_url(attachment: Attachment) -> str:
    """Return where the attachment is: its own URL, or one that holds its data."""
    return attachment.url or f"data:{attachment.media_type};base64,{attachment.data}"


def file_name(document: Attachment) -> str:
    """Return the document's name, or one that says its type, which the API reads from it."""
    return document.name or f"document{guess_extension(document.media_type) or ''}"


def restore_answer(text: str, schema: JsonObject) -> str:
    """Return the answer in the shape of the caller's own schema, without strict mode's."""
    try:
        return json.dumps(restore(json.loads(text), schema), ensure_ascii=False)
    except (ValueError, RecursionError):  # validation reports it, with the text as it came
        return text


def read_usage(usage: JsonValue, input_name: str, output_name: str) -> Usage | None:
    """Return the tokens; ``input_name`` and ``output_name`` are what the API calls them.

    Cache writes are ``cache_write_tokens`` in the SDK's ``CompletionUsage`` and ``ResponseUsage``,
    and ``cache_creation_input_tokens`` in LiteLLM's. xAI leaves reasoning out of the output tokens
    but not out of the total.
    """
    if not isinstance(usage, Mapping):
        return None
    details = usage.get(f"{input_name}_details")
    details = details if isinstance(details, Mapping) else {}
    prompt, answer = whole_number(usage.get(input_name)), whole_number(usage.get(output_name))
    return Usage(
        prompt,
        max(answer, whole_number(usage.get("total_tokens")) - prompt),
        whole_number(details.get("cached_tokens")),
        whole_number(details.get("cache_write_tokens"))
        or whole_number(usage.get("cache_creation_input_tokens")),
    )


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
