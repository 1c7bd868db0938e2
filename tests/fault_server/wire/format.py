"""A wire format as a server speaks it, and the answers that a test's script asks for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

from fluid_build.copilot.llm.base import StopReason, Usage
from fluid_build.copilot.messages import ToolCall
from fluid_build.json_types import JsonValue
from tests.fault_server.faults import Fault

RequestBody: TypeAlias = dict[str, Any]
"""A client's request, which the double takes on trust; an answer's has the path as ``:path``."""

_SOME_USAGE = Usage(input_tokens=12, output_tokens=3)


@dataclass(frozen=True, slots=True)
class Reply:
    """A good answer. ``usage`` of ``None`` leaves the usage out."""

    text: str = "ok"
    tool_calls: Sequence[ToolCall] = ()
    usage: Usage | None = _SOME_USAGE
    stop_reason: StopReason = "end"
    model: str = "test-model"
    thinking: str = ""

    def __post_init__(self) -> None:
        """Refuse a reason to stop that doesn't exist: it would be sent as the ordinary end."""
        if self.stop_reason not in get_args(StopReason):
            known = ", ".join(get_args(StopReason))
            raise ValueError(f"no such stop_reason: {self.stop_reason}. Use one of {known}.")


@dataclass(frozen=True, slots=True)
class WireFormat:
    """The server's side of a format.

    ``matches`` recognises the endpoint's path, ``is_stream`` a request for a stream (by path and
    body), ``key_in`` reads the key from headers (lower-case names) and query. ``stream`` returns
    the chunks of a streamed answer as they are sent, ``stream_fault`` the chunk that reports a
    failure. ``refuse`` returns what the real server says about a request that it refuses, by its
    headers (with the path as ``:path``, as in HTTP/2) and body: a text for a 400, else a
    ``Fault``.
    """

    name: str
    matches: Callable[[str], bool]
    key_in: Callable[[Mapping[str, str], Mapping[str, str]], str]
    reply: Callable[[Reply, RequestBody], dict[str, JsonValue]]
    fault: Callable[[Fault, str], dict[str, JsonValue]]
    is_stream: Callable[[str, RequestBody], bool]
    stream: Callable[[Reply, RequestBody], list[bytes]]
    refuse: Callable[[Mapping[str, str], RequestBody], Fault | str | None]
    stream_type: str = "text/event-stream"
    base_path: str = ""
    stream_fault: Callable[[Fault], bytes] | None = None

    def stream_failure(self, fault: Fault) -> bytes:
        """Return the chunk of a stream that reports ``fault``."""
        if self.stream_fault is not None:
            return self.stream_fault(fault)
        document = json.dumps(self.fault(fault, ""), ensure_ascii=False)
        is_lines = self.stream_type == "application/x-ndjson"
        return (f"{document}\n" if is_lines else f"data: {document}\n\n").encode()


def split_text(text: str) -> list[str]:
    """Return the text in up to four parts, as a stream sends them."""
    size = -(-len(text) // 4) or 1
    return [text[start : start + size] for start in range(0, len(text), size)]


def bearer_token(headers: Mapping[str, str]) -> str:
    """Return the token of the ``authorization`` header."""
    return headers.get("authorization", "").removeprefix("Bearer ")


def asks_for_stream(_path: str, body: RequestBody) -> bool:
    """Return whether the body says ``"stream": true``."""
    return body.get("stream") is True


def as_arguments(text: str) -> dict[str, JsonValue]:
    """Return a structured answer as the arguments of a function."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"text": text}
