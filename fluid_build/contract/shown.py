"""A stranger's values and keys as they may be printed: escaped, clipped, without secrets."""

import re
from collections.abc import Sequence

from fluid_build.sources.uri import redact
from fluid_build.text import clip, noun

_CLIP = 60
_SECRET_KEY = re.compile(
    r"passw|passphrase|secret|token|credential|api_?key|access_?key|private_?key|\bpwd\b", re.I
)
_SECRET_PREFIX = re.compile(
    r"^(sk-|sk_|pk_|rk_|gh[opsur]_|github_pat_|glpat-|xox[a-z]-|AKIA|ASIA|AIza|eyJ|Bearer |Basic )"
    r"|-----BEGIN"
)
_OPAQUE = re.compile(r"[A-Za-z0-9+/=_\-.~]{24,}")
_SIMPLE_KEY = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)


def shown(value: object, key: object = None) -> str:
    """A value in a few words; ``key`` is the one it stands under, which may tell a secret."""
    if isinstance(value, str):
        if _looks_secret(value, key):
            return f"a text of {len(value)} characters that looks like a secret"
        return f"`{escaped(redact(value))}`" if value else "an empty text"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list):
        return _counted("a list", len(value), "item")
    if isinstance(value, dict):
        return _counted("a mapping", len(value), "key")
    return f"a {type(value).__name__}"


def kind_shown(value: object) -> str:
    """What kind of value it is, without the value."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    return {type(None): "null", list: "a list", dict: "a mapping"}.get(
        type(value), f"a {type(value).__name__}"
    )


def escaped(text: str, longest: int = _CLIP) -> str:
    """Text on one line, with what cannot be printed escaped, and cut short."""
    head = clip(text, longest)
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in head
    )


def path_shown(path: Sequence[str | int]) -> str:
    """A path such as ``exposes[0].contract.schema[2].type``; of the whole, ``(document)``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _SIMPLE_KEY.fullmatch(part):
            text += f".{escaped(part)}" if text else escaped(part)
        else:
            quoted = escaped(part.replace("\\", "\\\\").replace('"', '\\"'))
            text += f'["{quoted}"]'
    return text or "(document)"


def _looks_secret(value: str, key: object) -> bool:
    if isinstance(key, str) and _SECRET_KEY.search(key):
        return True
    if _SECRET_PREFIX.search(value):
        return True
    return any(
        any(char.isdigit() for char in run)
        and any(char.isupper() for char in run)
        and any(char.islower() for char in run)
        for run in _OPAQUE.findall(value)
    )


def _number(value: int | float) -> str:
    # An int of thousands of digits cannot even be turned into text.
    if isinstance(value, int) and value.bit_length() > 256:
        return f"a number of {value.bit_length()} bits"
    return f"`{value}`"


def _counted(what: str, number: int, unit: str) -> str:
    if number == 0:
        return f"{what} that is empty"
    return f"{what} of {number} {noun(number, unit)}"
