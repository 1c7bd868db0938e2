"""The last check of a request: no secret of this machine may be in it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.secrets import has_keys, redact_keys, secrets_of_environment

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
    texts: list[str] = []
    if _collect_texts(body, texts) and _is_clean("\0".join(texts), known):
        return dict(body)
    return {
        redact_keys(str(name), known): _without_secrets(value, known)
        for name, value in body.items()
    }


def _collect_texts(value: JsonValue, texts: list[str]) -> bool:
    """Add all texts of a value, names included; return whether JSON can hold all other values."""
    if isinstance(value, str):
        texts.append(value)
        return True
    if isinstance(value, dict):
        texts += map(str, value)
        return all(_collect_texts(inner, texts) for inner in value.values())
    if isinstance(value, list):
        return all(_collect_texts(inner, texts) for inner in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, int)


def _is_clean(text: str, known: tuple[str, ...]) -> bool:
    """Return whether nothing in the texts has to change: one search instead of one for each."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return not has_keys(text, known)


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
