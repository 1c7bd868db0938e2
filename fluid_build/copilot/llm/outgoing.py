"""The last look at what is about to be sent: no secret of this machine may be in it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

from fluid_build.secrets import redact_keys, secrets_of_environment

_SHORTEST = 8


def outgoing_secrets(
    api_key: str | None, environ: Mapping[str, str] = os.environ
) -> tuple[str, ...]:
    """The key, and the environment's secrets that are no plain words.

    A password such as ``postgres`` would be taken out of every sentence about Postgres.
    """
    strong = (
        value
        for value in secrets_of_environment(environ)
        if len(value) >= _SHORTEST and not value.isalpha()
    )
    return tuple(dict.fromkeys((*([api_key] if api_key else []), *strong)))


def without_secrets(value: Any, secrets: Iterable[str]) -> Any:
    """A JSON value of the same shape without ``secrets`` and without keys in its texts.

    What JSON cannot carry is replaced as well: halves of characters by ``?``, NaN by null.
    """
    known = tuple(secrets)
    if isinstance(value, str):
        return redact_keys(value.encode("utf-8", "replace").decode(), known)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {
            redact_keys(str(name), known): without_secrets(inner, known)
            for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [without_secrets(inner, known) for inner in value]
    return value
