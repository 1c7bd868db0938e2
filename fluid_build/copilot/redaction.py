"""Keeps secrets out of text that a person, a log or a model may see.

``redact`` removes the secrets it is told of and whatever has the shape of one: the keys of the
usual providers, bearer tokens, JSON web tokens, private keys, passwords in URLs, and the values of
fields whose name says that they are secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["REDACTED", "redact", "redact_keys"]

REDACTED = "[redacted]"

_SHORTEST_SECRET = 4

_KEY_SHAPES = re.compile(
    r"""
      \bsk-[A-Za-z0-9_\-*]{8,}
    | \bAIza[0-9A-Za-z_\-]{20,}
    | \bgh[oprsu]_[A-Za-z0-9]{20,}
    | \bgithub_pat_[A-Za-z0-9_]{20,}
    | \bglpat-[A-Za-z0-9_\-]{16,}
    | \bxox[abeprs]-[A-Za-z0-9\-]{10,}
    | \b(?:gsk|xai|hf|nvapi|pplx)[_\-][A-Za-z0-9_\-]{16,}
    | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
    | \beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*
    | -----BEGIN[A-Z ]{0,40}PRIVATE\ KEY-----[^-]{0,8192}(?:-----END[A-Z ]{0,40}-----)?
    """,
    re.VERBOSE,
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=\-]{8,}")
_URL_USER = re.compile(r"(?i)(\b[a-z][a-z0-9+.\-]{1,20}://)[^\s/@'\"]{1,512}@")
_NAMED = re.compile(
    r"""(?ix)
    (["']?\b[a-z0-9_\-]{0,40}
      (?:api[_\-]?key|secret|token|passw(?:or)?d|pwd|authorization|credential)
    s?["']?\s{0,4}(?:=|:)\s{0,4})
    (?:"[^"\n]{1,4096}"|'[^'\n]{1,4096}'|[^\s"',;&}\])]{1,4096})
    """
)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """``text`` without ``secrets`` and without anything shaped like one.

    A secret shorter than four characters is left alone: to remove it would tear words apart.
    """
    text = redact_keys(text, secrets)
    text = _BEARER.sub(rf"\1 {REDACTED}", text)
    text = _URL_USER.sub(rf"\1{REDACTED}@", text)
    return _NAMED.sub(_keep_counts, text)


def redact_keys(text: str, secrets: Iterable[str] = ()) -> str:
    """``text`` without ``secrets`` and without what can be nothing but a key or a token.

    Milder than ``redact``: it leaves ``password: text`` in a schema alone.
    """
    for secret in sorted({s for s in secrets if len(s) >= _SHORTEST_SECRET}, key=len, reverse=True):
        text = text.replace(secret, REDACTED)
    return _KEY_SHAPES.sub(REDACTED, text)


def _keep_counts(found: re.Match[str]) -> str:
    """Hides the value, unless it is a plain number: "tokens: 512" tells no secret."""
    value = found.group(0)[len(found.group(1)) :]
    return found.group(0) if value.strip("\"'").isdigit() else found.group(1) + REDACTED
