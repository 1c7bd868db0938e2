"""Takes secrets out of what is kept about a tool's call: fields named so, and text shaped so."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from fluid_build.copilot.redaction import REDACTED, redact

__all__ = ["scrub", "scrub_text", "secrets_of_environment"]

_SECRET_NAME = re.compile(
    r"(?i)(passw(or)?d|passphrase|pwd|secret|token|api[_\-]?key|access[_\-]?key|private[_\-]?key"
    r"|credential|authorization|cookie|connection[_\-]?string)s?$"
)
_SHORTEST_SECRET = 6


def secrets_of_environment(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The values of all environment variables whose names say that they are secret."""
    return tuple(
        value
        for name, value in environ.items()
        if len(value) >= _SHORTEST_SECRET and _SECRET_NAME.search(name)
    )


def scrub_text(text: str, secrets: Iterable[str] | None = None) -> str:
    """``text`` without secrets; ``secrets`` are further ones (``None``: the environment's)."""
    return redact(text, secrets_of_environment() if secrets is None else secrets)


def scrub(value: Any, secrets: Iterable[str] | None = None) -> Any:
    """A JSON value of the same shape without secrets in its strings and its secret fields."""
    known = secrets_of_environment() if secrets is None else tuple(secrets)
    return _scrub(value, known)


def _scrub(value: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, Mapping):
        return {
            redact(str(key), secrets): _scrub_field(str(key), inner, secrets)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [_scrub(inner, secrets) for inner in value]
    return value


def _scrub_field(name: str, value: Any, secrets: tuple[str, ...]) -> Any:
    """Numbers stay: a count of tokens is no token."""
    if _SECRET_NAME.search(name) and not isinstance(value, bool | int | float | None):
        return REDACTED
    return _scrub(value, secrets)
