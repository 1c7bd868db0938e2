"""The last check of a request: no secret of this machine may be in it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.secrets import redact_keys, secrets_of_environment

_SHORTEST = 8
"""Characters of a secret of the environment; shorter ones occur in ordinary text."""
_ENCRYPTED = re.compile(r"gAAAA[A-Za-z0-9_\-]{80,}={0,2}")
"""A Fernet token, such as OpenAI's encrypted reasoning.

In so much random text the format of a key occurs by chance, and the API refuses a changed token.
"""


def outgoing_secrets(
    api_key: str | None, environ: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return the key, and the environment's secrets that aren't plain words.

    A password such as ``postgres`` would be removed from every sentence about Postgres.
    """
    strong = (
        value
        for value in secrets_of_environment(environ)
        if len(value) >= _SHORTEST and not value.isalpha()
    )
    return tuple(dict.fromkeys((*([api_key] if api_key else []), *strong)))


def without_secrets(body: JsonObject, secrets: Iterable[str]) -> dict[str, JsonValue]:
    """Return a body of the same shape without ``secrets`` and without keys in its texts.

    What JSON can't carry is replaced too: halves of characters by ``?``, NaN by null.
    """
    known = tuple(secrets)
    return {
        redact_keys(str(name), known): _without_secrets(value, known)
        for name, value in body.items()
    }


def _without_secrets(value: JsonValue, known: tuple[str, ...]) -> JsonValue:
    if isinstance(value, str):
        if _ENCRYPTED.fullmatch(value) and not any(secret in value for secret in known):
            return value
        return redact_keys(value.encode("utf-8", "replace").decode(), known)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return without_secrets(value, known)
    if isinstance(value, list | tuple):
        return [_without_secrets(inner, known) for inner in value]
    return value
