"""What can go wrong with a provider, each as a value to put into a server's script."""

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
]


@dataclass(frozen=True, slots=True)
class Fault:
    """One failure: the HTTP status it has, further headers, and seconds of delay before it."""

    kind: FaultKind
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0


def rate_limit(retry_after: float | str | None = None, *, milliseconds: bool = False) -> Fault:
    """429, with ``Retry-After`` (seconds or a date) or ``retry-after-ms``, or without."""
    name = "retry-after-ms" if milliseconds else "retry-after"
    headers = {} if retry_after is None else {name: f"{retry_after}"}
    return Fault("rate_limit", 429, headers)


def quota_exhausted() -> Fault:
    """429 that says that the quota is used up."""
    return Fault("quota", 429)


def server_error(status: int = 500, retry_after: float | None = None) -> Fault:
    """A 5xx."""
    headers = {} if retry_after is None else {"retry-after": f"{retry_after}"}
    return Fault("server", status, headers)


def overloaded() -> Fault:
    """529, as Anthropic answers under load."""
    return Fault("overloaded", 529)


def unauthorized(status: int = 401) -> Fault:
    """401 or 403; the body quotes the key that was sent, as some providers do."""
    return Fault("auth", status)


def context_overflow() -> Fault:
    """400: the prompt does not fit, said as the provider says it."""
    return Fault("overflow", 400)


def cut_body() -> Fault:
    """A good answer whose connection closes in the middle of the body."""
    return Fault("cut")


def dropped_connection() -> Fault:
    """The connection closes before any answer."""
    return Fault("dropped")


def garbage() -> Fault:
    """200 with bytes that are no JSON."""
    return Fault("garbage")


def wrong_schema() -> Fault:
    """A valid answer, whose structured content follows another schema."""
    return Fault("wrong_schema")


def slow(seconds: float) -> Fault:
    """A good answer after ``seconds``."""
    return Fault("slow", delay=seconds)
