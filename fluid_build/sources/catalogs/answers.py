"""Reading a stranger's JSON: a missing value or one of another type is as good as none."""

from collections.abc import Iterator, Mapping

from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.text import clip

LONGEST_TEXT = 2_000
"""Characters of a comment, which is as long as a description may be."""
_LONGEST_NAME = 500


def member(value: JsonValue, *keys: str) -> JsonValue:
    """Return what is found in a JSON value by following keys; None where a step is missing."""
    for key in keys:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def text_of(value: JsonValue, *keys: str) -> str:
    """Return the text at some keys, clipped; "" where there is none."""
    text = member(value, *keys)
    return clip(printable(text), LONGEST_TEXT) if isinstance(text, str) else ""


def name_of(value: JsonValue, *keys: str) -> str:
    """Return the name at some keys as it is spelled; "" where there is none or it's too long."""
    text = member(value, *keys)
    return text if isinstance(text, str) and len(text) <= _LONGEST_NAME else ""


def token_of(value: JsonValue, *keys: str) -> str:
    """Return the text at some keys as it is, to be sent back; "" where there is none."""
    token = member(value, *keys)
    return token if isinstance(token, str) else ""


def objects_of(value: JsonValue, *keys: str) -> Iterator[JsonObject]:
    """Yield the objects in the list at some keys."""
    items = member(value, *keys)
    if isinstance(items, list):
        yield from (item for item in items if isinstance(item, Mapping))


def texts_of(value: JsonValue, *keys: str) -> Iterator[str]:
    """Yield the texts in the list at some keys."""
    items = member(value, *keys)
    if isinstance(items, list):
        yield from (item for item in items if isinstance(item, str))


def printable(text: str) -> str:
    """Return a text without characters that steer a terminal or can't be stored."""
    plain = "".join(c if c.isprintable() or c == "\n" else " " for c in text)
    return plain.strip()
