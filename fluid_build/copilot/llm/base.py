"""What all providers have in common: the prompt, the answer, and the two translations between.

A provider is a pure translator. ``build_request`` says what to send and where, without the key;
``parse_response`` reads what came back. ``fluid_build.copilot.llm.client`` does the sending.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, TypeAlias
from urllib.parse import urlsplit, urlunsplit

from fluid_build.copilot.errors import ProviderServerError, SchemaValidationError
from fluid_build.copilot.messages import Message, ToolCall
from fluid_build.errors import UsageError

DEFAULT_MAX_OUTPUT_TOKENS = 4096

StopReason: TypeAlias = Literal["end", "length", "tool_calls", "refused", "other"]
"""Why the model stopped: done, cut at the limit, wants tools, declined, anything else."""


@dataclass(frozen=True, slots=True)
class LlmConfig:
    """Which model to speak to. It holds no key, so it may be logged and saved."""

    provider: str
    model: str
    base_url: str | None = None
    max_output_tokens: int = DEFAULT_MAX_OUTPUT_TOKENS
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it: ``input_schema`` is a JSON schema of an object."""

    name: str
    description: str
    input_schema: Mapping[str, Any]

    @classmethod
    def read(cls, definition: Mapping[str, Any] | ToolSpec) -> ToolSpec:
        """From ``{name, description, input_schema}``, or from OpenAI's ``{"function": {...}}``."""
        if isinstance(definition, ToolSpec):
            return definition
        source = definition.get("function", definition)
        schema = source.get("input_schema", source.get("parameters"))
        return cls(
            str(source["name"]), str(source.get("description", "")), schema or {"type": "object"}
        )


@dataclass(frozen=True, slots=True)
class LlmPrompt:
    """Everything that a model is asked with.

    ``response_schema`` is a JSON schema of an object that the answer has to follow;
    ``context_window`` (tokens) tells a local server how much to set aside; ``extra`` goes into the
    body of the request beside what is there, and replaces nothing.
    """

    model: str
    messages: Sequence[Message]
    system: str = ""
    tools: Sequence[ToolSpec | Mapping[str, Any]] = ()
    response_schema: Mapping[str, Any] | None = None
    schema_name: str = "answer"
    max_output_tokens: int = DEFAULT_MAX_OUTPUT_TOKENS
    temperature: float | None = None
    cache_prompt: bool = True
    context_window: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tool_specs(self) -> list[ToolSpec]:
        """The tools, read."""
        return [ToolSpec.read(tool) for tool in self.tools]

    @property
    def answer_name(self) -> str:
        """``schema_name`` in the characters that all providers take, and not a tool's name."""
        name = re.sub(r"[^a-zA-Z0-9_-]", "_", self.schema_name)[:48] or "answer"
        taken = {tool.name for tool in self.tool_specs}
        return f"{name}_final" if name in taken else name


@dataclass(frozen=True, slots=True)
class LlmRequest:
    """A POST to a provider, without the key."""

    url: str
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. ``input_tokens`` is the whole prompt, cached or not."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0


@dataclass(frozen=True, slots=True)
class LlmResponse:
    """A model's answer: data from a stranger. ``usage`` is ``None`` where none was reported."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    stop_reason: StopReason = "end"
    model: str = ""

    def as_message(self) -> dict[str, Any]:
        """The message that goes into the conversation."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.tool_calls:
            message["tool_calls"] = [call.as_entry() for call in self.tool_calls]
        return message

    def as_json(self, schema_name: str = "answer") -> Any:
        """The text read as JSON. Raises ``SchemaValidationError`` where it is none."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            cut = (
                " It was cut at the limit of output tokens." if self.stop_reason == "length" else ""
            )
            raise SchemaValidationError(
                f"The answer is not JSON.{cut}",
                schema_name=schema_name,
                validation_errors=[{"type": "json_invalid", "loc": (), "msg": "not JSON"}],
                raw_output=self.text,
            ) from None


class CompletionClient(Protocol):
    """Anything that answers prompts: the HTTP client, the scripted one, LiteLLM's."""

    async def complete(
        self, prompt: LlmPrompt, *, stage: str = "", agent_class: str = ""
    ) -> LlmResponse:
        """The model's answer; ``stage`` and ``agent_class`` say whose cost it is."""
        ...

    def complete_sync(
        self, prompt: LlmPrompt, *, stage: str = "", agent_class: str = ""
    ) -> LlmResponse:
        """The blocking twin."""
        ...


class LlmProvider(ABC):
    """One wire format. Instances hold no state but where the server is.

    ``base_url`` is for servers that speak the same format; it may have a query (which is kept),
    and raises ``UsageError`` unless it is http(s) without credentials in it.
    """

    name: ClassVar[str]
    default_base_url: ClassVar[str]
    key_variables: ClassVar[tuple[str, ...]]
    fast_model: ClassVar[str]
    """The cheap tier, for summaries."""
    needs_key: ClassVar[bool] = True

    def __init__(self, base_url: str | None = None) -> None:
        self.base_url = _checked_url(base_url or self.default_base_url)

    @abstractmethod
    def build_request(self, prompt: LlmPrompt) -> LlmRequest:
        """The request for ``prompt``; pure, and without the key."""

    @abstractmethod
    def parse_response(self, body: Mapping[str, Any], prompt: LlmPrompt) -> LlmResponse:
        """The answer in ``body``. Raises ``ProviderServerError`` if it is not in the format."""

    @abstractmethod
    def auth_headers(self, key: str) -> dict[str, str]:
        """The headers that carry the key."""

    def endpoint(self, path: str) -> str:
        """``base_url`` with ``path`` added and its query kept."""
        parts = urlsplit(self.base_url)
        return urlunsplit(parts._replace(path=parts.path.rstrip("/") + path))

    def unreadable(self, what: str) -> ProviderServerError:
        """The error for an answer that is not in the provider's own format."""
        return ProviderServerError(
            f"{self.name} sent an answer that is not in its format: {what}.",
            provider=self.name,
            status_code=200,
            hint="Check base_url: does it lead to a server that speaks this format?",
        )


def _checked_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            "base_url is not an http or https address.", hint="Write https://host/path."
        )
    if parts.username or parts.password:
        raise UsageError(
            "base_url holds a user name or password.",
            hint="Take it out, and put the key in the environment or the keyring.",
        )
    return url


def call_id(body: Mapping[str, Any], index: int) -> str:
    """An id for a call that the provider gave none: the same answer, the same id."""
    digest = hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()
    return f"call_{digest[:16]}_{index}"


def whole_number(value: Any) -> int:
    """A token count as providers send it: missing, null and nonsense are 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
