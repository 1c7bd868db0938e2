"""Failures of providers, each a value for a server's script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

FaultKind: TypeAlias = Literal[
    "rate_limit",
    "quota",
    "server",
    "overloaded",
    "auth",
    "overflow",
    "cut",
    "dropped",
    "garbage",
    "wrong_schema",
    "slow",
    "invalid",
    "unfinished_stream",
    "stream_error",
    "silence",
    "trickle",
]


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure: its HTTP status, further headers, seconds of delay, and what the server says."""

    kind: FaultKind
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    message: str = ""


def rate_limit(retry_after: float | str | None = None, *, milliseconds: bool = False) -> Fault:
    """Return a 429, with ``Retry-After`` (seconds or a date), ``retry-after-ms``, or neither."""
    name = "retry-after-ms" if milliseconds else "retry-after"
    headers = {} if retry_after is None else {name: f"{retry_after}"}
    return Fault("rate_limit", 429, headers)


def quota_exhausted() -> Fault:
    """Return a 429 that says that the quota is used up."""
    return Fault("quota", 429)


def server_error(status: int = 500, retry_after: float | None = None) -> Fault:
    """Return a 5xx."""
    headers = {} if retry_after is None else {"retry-after": f"{retry_after}"}
    return Fault("server", status, headers)


def overloaded() -> Fault:
    """Return a 529, as Anthropic answers under load."""
    return Fault("overloaded", 529)


def unauthorized(status: int = 401) -> Fault:
    """Return a 401 or 403 whose body quotes the key that was sent, as some providers do."""
    return Fault("auth", status)


def context_overflow() -> Fault:
    """Return a 400 that says in the provider's words that the prompt doesn't fit."""
    return Fault("overflow", 400)


def cut_body() -> Fault:
    """Return a good answer whose connection closes in the middle of the body."""
    return Fault("cut")


def dropped_connection() -> Fault:
    """Return a connection that closes before any answer."""
    return Fault("dropped")


def garbage() -> Fault:
    """Return a 200 with bytes that aren't JSON."""
    return Fault("garbage")


def wrong_schema() -> Fault:
    """Return a valid answer whose structured content follows another schema."""
    return Fault("wrong_schema")


def slow(seconds: float) -> Fault:
    """Return a good answer after ``seconds``."""
    return Fault("slow", delay=seconds)


def invalid_request(message: str = "the request is invalid") -> Fault:
    """Return a 400 that says what is wrong with the request."""
    return Fault("invalid", 400, message=message)


def cut_stream() -> Fault:
    """Return a stream whose connection closes in the middle of an event, after some text."""
    return cut_body()


def unfinished_stream() -> Fault:
    """Return a stream that ends properly, but without the events that complete the answer."""
    return Fault("unfinished_stream")


def stream_error() -> Fault:
    """Return a stream in which the provider reports, after some text, that it is overloaded.

    A request for an answer in one piece gets the same error as a 529.
    """
    return Fault("stream_error", 529)


def silence(seconds: float) -> Fault:
    """Return a good answer that stops in the middle and goes on after ``seconds``."""
    return Fault("silence", delay=seconds)


def trickle(seconds: float) -> Fault:
    """Return a good answer in parts, with a pause of ``seconds`` before each."""
    return Fault("trickle", delay=seconds)
