"""JSON data as YAML in block style, fast enough for a contract of a million nodes.

Written by hand because a YAML library takes some ten times as long, and so that the bytes do not
change with that library's version. Readers of YAML 1.1 and of 1.2 get the same: whatever either
could take for something else than text stands in quotes, and nothing is folded or shared.
"""

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

_BARE = re.compile(r"[A-Za-z_(][^\n]*")
# A colon or a hash may end a bare text early, and blanks at its end would be lost.
_ENDS_EARLY = re.compile(r": |:$| #| $")
# Some readers of YAML 1.1 end a bare text in a flow at any colon.
_ENDS_FLOW = re.compile(r"[,:?{}\[\]]")
_NOT_TEXT = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"}
# Beside what YAML calls unprintable: line breaks, and marks that turn the direction of text.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\xa0\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufffe\uffff]"
)
_ESCAPED = re.compile(f'["\\\\]|{_UNPRINTABLE.pattern}')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


def block_yaml(document: Mapping[str, object], width: int = 0) -> str:
    """Return the document as YAML, in its own order; keys are of at most 1,000 characters.

    A mapping or list below it that fits into one line of ``width`` characters is written as one.
    """
    lines: list[str] = []
    _mapping(document, "", "", lines, width)
    return "\n".join(lines) + "\n"


def _mapping(
    value: Mapping[str, object], first: str, indent: str, lines: list[str], width: int
) -> None:
    """Lines of a mapping; the first one begins with ``first``, the others with ``indent``."""
    start = first
    for key, item in value.items():
        head = f"{start}{_key(key)}:"
        start = indent
        if isinstance(item, str):
            lines.append(f"{head} {_text(item)}")
        elif not isinstance(item, Mapping | Sequence) or not item:
            lines.append(f"{head} {_scalar(item)}")
        elif width and (text := _flow(item, width - len(head) - 1)):
            lines.append(f"{head} {text}")
        elif isinstance(item, Mapping):
            lines.append(head)
            _mapping(item, f"{indent}  ", f"{indent}  ", lines, width)
        else:
            lines.append(head)
            _sequence(item, indent, lines, width)


def _sequence(value: Sequence[object], indent: str, lines: list[str], width: int) -> None:
    for item in value:
        if isinstance(item, str):
            lines.append(f"{indent}- {_text(item)}")
        elif not isinstance(item, Mapping | Sequence) or not item:
            lines.append(f"{indent}- {_scalar(item)}")
        elif width and (text := _flow(item, width - len(indent) - 2)):
            lines.append(f"{indent}- {text}")
        elif isinstance(item, Mapping):
            _mapping(item, f"{indent}- ", f"{indent}  ", lines, width)
        else:
            lines.append(f"{indent}-")
            _sequence(item, f"{indent}  ", lines, width)


def _flow(value: object, room: int) -> str:
    """Return a value in flow style, "" where it takes more than ``room`` characters."""
    if isinstance(value, str):
        text = _text_in_flow(value) if len(value) <= room else ""
        return text if len(text) <= room else ""
    if not isinstance(value, Mapping | Sequence) or not value:
        return _scalar(value)
    parts = []
    keys: Sequence[object] = tuple(value) if isinstance(value, Mapping) else ()
    room -= 2
    for at, item in enumerate(value.values() if isinstance(value, Mapping) else value):
        head = f"{_text_in_flow(str(keys[at]))}: " if keys else ""
        text = _flow(item, room - len(head))
        room -= len(head) + len(text) + 2
        if not text or room < -2:
            return ""
        parts.append(head + text)
    inner = ", ".join(parts)
    return f"{{{inner}}}" if keys else f"[{inner}]"


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    return "{}" if isinstance(value, Mapping) else "[]"


def _number(value: float) -> str:
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    text = repr(value)
    # YAML 1.1 reads 1e-07 as text.
    return text.replace("e", ".0e", 1) if "e" in text and "." not in text else text


@lru_cache(maxsize=16_384)
def _text(value: str) -> str:
    if _UNPRINTABLE.search(value):
        return f'"{_ESCAPED.sub(_escape, value)}"'
    if _BARE.fullmatch(value) and not _ENDS_EARLY.search(value):
        return _quoted(value) if value.lower() in _NOT_TEXT else value
    return _quoted(value)


def _quoted(value: str) -> str:
    text = value.replace("'", "''")
    return f"'{text}'"


def _text_in_flow(value: str) -> str:
    """Return a text between commas and brackets, which it may not hold outside of quotes."""
    text = _text(value)
    return _quoted(value) if text == value and _ENDS_FLOW.search(value) else text


@lru_cache(maxsize=1024)
def _key(value: str) -> str:
    """Return a key: the same few come again and again."""
    return _text(value)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return _SHORT.get(char) or f"\\u{ord(char):04x}"
