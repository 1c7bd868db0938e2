"""A stranger's values and keys as they may be printed: escaped, clipped, without secrets."""

import re
from collections.abc import Sequence

from fluid_build.secrets import looks_secret, redact
from fluid_build.text import clip, noun

_CLIP = 60
_SIMPLE_KEY = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)


def shown(value: object, key: object = None) -> str:
    """Describe a value in a few words; ``key`` is its key, which may hint at a secret."""
    if isinstance(value, str):
        if looks_secret(value, key if isinstance(key, str) else ""):
            return f"text of {len(value)} characters that looks like a secret"
        return f"`{escaped(redact(value))}`" if value else "empty text"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list):
        return _counted("list", len(value), "item")
    if isinstance(value, dict):
        return _counted("mapping", len(value), "key")
    return f"a {type(value).__name__}"


def kind_shown(value: object) -> str:
    """Return what kind of value it is, without the value."""
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
    """Return text on one line, cut short, with unprintable characters escaped."""
    head = clip(text, longest)
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in head
    )


def path_shown(path: Sequence[str | int]) -> str:
    """Write a path as ``exposes[0].contract.schema[2].type``; the whole is ``(document)``."""
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


def _number(value: int | float) -> str:
    # An int of thousands of digits cannot even be turned into text.
    if isinstance(value, int) and value.bit_length() > 256:
        return f"a number of {value.bit_length()} bits"
    return f"`{value}`"


def _counted(what: str, number: int, unit: str) -> str:
    if number == 0:
        return f"an empty {what}"
    return f"a {what} of {number} {noun(number, unit)}"
