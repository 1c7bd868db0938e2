"""The common ground of providers: the prompt, the answer, and the translations between them.

A provider is a pure translator. ``build_request`` returns what to send and where, without the key;
``parse_response`` reads the answer. ``fluid_build.copilot.llm.client`` does the sending.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol
from urllib.parse import urlsplit, urlunsplit

from fluid_build.copilot.errors import ProviderServerError
from fluid_build.copilot.llm.answer_streams import AnswerStream, AnswerStreamSync
from fluid_build.copilot.llm.answers import LlmResponse as LlmResponse
from fluid_build.copilot.llm.answers import StopReason as StopReason
from fluid_build.copilot.llm.answers import Usage as Usage
from fluid_build.copilot.llm.streaming import ServerSentEvents, StreamFrames, StreamReader
from fluid_build.copilot.messages import Attachment, Message
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject, JsonValue

DEFAULT_MAX_OUTPUT_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class LlmConfig:
    """The model to use. It holds no key, so it may be logged and saved."""

    provider: str
    model: str
    base_url: str | None = None
    max_output_tokens: int = DEFAULT_MAX_OUTPUT_TOKENS
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it; ``input_schema`` is the JSON schema of an object."""

    name: str
    description: str
    input_schema: JsonObject

    def __post_init__(self) -> None:
        """Give the schema a type at its root."""
        object.__setattr__(self, "input_schema", _inline_root(self.input_schema))

    @classmethod
    def read(cls, definition: JsonObject | ToolSpec) -> ToolSpec:
        """Read ``{name, description, input_schema}``, or OpenAI's ``{"function": {...}}``."""
        if isinstance(definition, ToolSpec):
            return definition
        function = definition.get("function")
        source = function if isinstance(function, Mapping) else definition
        schema = source.get("input_schema", source.get("parameters"))
        if not isinstance(schema, Mapping) or not schema:
            schema = {"type": "object"}
        return cls(str(source["name"]), str(source.get("description", "")), schema)

    def as_function(self) -> dict[str, JsonValue]:
        """Return the tool as OpenAI's and Ollama's formats write it."""
        function: dict[str, JsonValue] = {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.input_schema),
        }
        return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class LlmPrompt:
    """A prompt with its parameters.

    ``response_schema`` is the JSON schema of an object that the answer has to follow;
    ``context_window`` (tokens) is the memory that a local server may use; ``extra`` is merged into
    the body of the request, nested objects too, and may not set what the prompt sets.
    """

    model: str
    messages: Sequence[Message]
    system: str = ""
    tools: Sequence[ToolSpec | JsonObject] = ()
    response_schema: JsonObject | None = None
    schema_name: str = "answer"
    max_output_tokens: int = DEFAULT_MAX_OUTPUT_TOKENS
    temperature: float | None = None
    cache_prompt: bool = True
    context_window: int | None = None
    extra: JsonObject = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give the schema a type at its root."""
        if self.response_schema is not None:
            object.__setattr__(self, "response_schema", _inline_root(self.response_schema))

    @property
    def tool_specs(self) -> list[ToolSpec]:
        """Return the tools as specs."""
        return [ToolSpec.read(tool) for tool in self.tools]

    @property
    def answer_name(self) -> str:
        """Return ``schema_name`` in characters that all providers take, unlike any tool's name."""
        name = re.sub(r"[^a-zA-Z0-9_-]", "_", self.schema_name)[:48] or "answer"
        name = name if name[0].isalpha() or name[0] == "_" else f"_{name}"
        tool_names = {tool.name for tool in self.tool_specs}
        return f"{name}_final" if name in tool_names else name

    @property
    def answer_tool(self) -> ToolSpec:
        """Return a tool whose arguments are the structured answer."""
        description = "Gives the final answer, in the requested form."
        return ToolSpec(self.answer_name, description, self.response_schema or {})


@dataclass(frozen=True, slots=True)
class LlmRequest:
    """A POST request to a provider, without the key."""

    url: str
    body: dict[str, JsonValue]
    headers: Mapping[str, str] = field(default_factory=dict)


class CompletionClient(Protocol):
    """A client that answers prompts: over HTTP, from a script, or through LiteLLM."""

    async def complete(
        self, prompt: LlmPrompt, *, stage: str = "", agent_class: str = ""
    ) -> LlmResponse:
        """Return the model's answer; its cost counts for ``stage`` and ``agent_class``."""
        ...

    def complete_sync(
        self, prompt: LlmPrompt, *, stage: str = "", agent_class: str = ""
    ) -> LlmResponse:
        """Return the model's answer, and wait for it."""
        ...

    def stream(self, prompt: LlmPrompt, *, stage: str = "", agent_class: str = "") -> AnswerStream:
        """Return the model's answer as events, while it is written."""
        ...

    def stream_sync(
        self, prompt: LlmPrompt, *, stage: str = "", agent_class: str = ""
    ) -> AnswerStreamSync:
        """Return the model's answer as events, for a blocking loop."""
        ...


class LlmProvider(ABC):
    """A wire format. Instances hold no state but the server's address.

    ``base_url`` is for servers that use the same format; it may have a query (which is kept).
    Raises ``UsageError`` unless it is http(s) without credentials.
    """

    name: ClassVar[str]
    default_base_url: ClassVar[str]
    key_variables: ClassVar[tuple[str, ...]]
    token_variables: ClassVar[tuple[str, ...]] = ()
    """Variables with a token instead, for where no key is set."""
    fast_model: str | None = None
    """The model of the cheap tier, for summaries. None: whoever needs one has to name it."""
    needs_key: ClassVar[bool] = True
    tool_prompt_tokens: ClassVar[int] = 0
    """What the provider adds to the input of a request with tools."""
    stream_frames: ClassVar[type[StreamFrames]] = ServerSentEvents
    """The framing of a streamed answer."""

    def __init__(self, base_url: str | None = None) -> None:
        self.base_url = _checked_url(base_url or self.default_base_url)

    @abstractmethod
    def build_request(self, prompt: LlmPrompt) -> LlmRequest:
        """Return the request for ``prompt``, without the key."""

    @abstractmethod
    def parse_response(self, body: JsonObject, prompt: LlmPrompt) -> LlmResponse:
        """Return the answer in ``body``. Raises ``ProviderServerError`` for another format."""

    def reported_usage(self, body: JsonObject) -> Usage | None:  # noqa: ARG002 - for subclasses
        """Return the tokens that a failed answer has used, if ``body`` or its event says so."""
        return None

    def stream_request(self, prompt: LlmPrompt) -> LlmRequest:  # noqa: ARG002 - for subclasses
        """Return the request for a streamed answer, without the key.

        Raises ``UsageError`` where the provider can't stream.
        """
        raise self._no_streams()

    def stream_reader(self, prompt: LlmPrompt) -> StreamReader:  # noqa: ARG002 - for subclasses
        """Return a reader for one streamed answer. Raises ``UsageError`` as above."""
        raise self._no_streams()

    def _no_streams(self) -> UsageError:
        return UsageError(f"{self.name} can't stream.", hint="Call complete instead of stream.")

    @abstractmethod
    def auth_headers(self, key: str) -> dict[str, str]:
        """Return the headers that carry the key."""

    def endpoint(self, path: str) -> str:
        """Return ``base_url`` with ``path`` added and its query kept."""
        parts = urlsplit(self.base_url)
        return urlunsplit(parts._replace(path=parts.path.rstrip("/") + path))

    def unreadable(self, reason: str) -> ProviderServerError:
        """Return the error for an answer that isn't in the provider's format."""
        return ProviderServerError(
            f"{self.name} sent an answer that isn't in its format: {reason}.",
            provider=self.name,
            status_code=200,
            hint="Check base_url: does the server use this format?",
        )


def _inline_root(schema: JsonObject) -> JsonObject:
    """Return the schema with the definition that its root refers to put there.

    Pydantic writes a recursive model as ``{"$defs": ..., "$ref": "#/$defs/Node"}``, and providers
    refuse a schema without a type: the SDKs' ``InputSchemaTyped``, jcrist/msgspec#640.
    """
    followed: set[str] = set()
    while isinstance(reference := schema.get("$ref"), str) and reference not in followed:
        followed.add(reference)
        group, _, name = reference.removeprefix("#/").partition("/")
        definitions = schema.get(group)
        target = definitions.get(name) if isinstance(definitions, Mapping) else None
        if not isinstance(target, Mapping):
            break
        own = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**target, **own}
    return schema


def _checked_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            "base_url isn't an http or https address.", hint="Write https://host/path."
        )
    if parts.username or parts.password:
        raise UsageError(
            "base_url has a user name or password in it.",
            hint="Remove it, and put the key into the environment or the keyring.",
        )
    return url


def call_id(body: JsonObject, index: int) -> str:
    """Return an id for a call without one; the same answer gets the same id."""
    try:
        text = json.dumps(body, sort_keys=True, default=str)
    except RecursionError:  # nested deeper than can be written here, though it could be read
        text = ""
    return f"call_{hashlib.sha256(text.encode()).hexdigest()[:16]}_{index}"


def merge_extra(body: JsonObject, extra: JsonObject, path: str = "extra") -> dict[str, JsonValue]:
    """Return the body with ``extra`` merged in, nested objects too.

    Raises ``UsageError`` where ``extra`` sets what the body already has.
    """
    merged = dict(body)
    for name, value in extra.items():
        present = merged.get(name)
        if present is None:
            merged[name] = value
        elif isinstance(present, Mapping) and isinstance(value, Mapping):
            merged[name] = merge_extra(present, value, f"{path}.{name}")
        elif present != value:
            raise UsageError(
                f"{path}.{name} would replace what the prompt sets.",
                hint="Set it through the prompt's own fields, or leave it out.",
            )
    return merged


def costs_more(name: str, hint: str) -> UsageError:
    """Return the error for an option of ``extra`` that changes what tokens cost."""
    return UsageError(
        f"extra.{name} costs more than the listed price, which calls are charged at.", hint=hint
    )


def check_image_type(image: Attachment, provider: str, types: Collection[str]) -> None:
    """Raise ``UsageError`` for an image of a type that the provider doesn't take."""
    if image.kind == "image" and image.media_type and image.media_type.lower() not in types:
        raise UsageError(
            f"{provider} takes no image of type {image.media_type}.",
            hint=f"Send one of {', '.join(sorted(types))}.",
        )


def whole_number(value: JsonValue) -> int:
    """Return a token count as providers send it; missing, null and nonsense are 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
