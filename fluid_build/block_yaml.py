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
_NOT_TEXT = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"}
# Beside what YAML calls unprintable: line breaks, and marks that turn the direction of text.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\xa0\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufffe\uffff]"
)
_ESCAPED = re.compile(f'["\\\\]|{_UNPRINTABLE.pattern}')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


def block_yaml(document: Mapping[str, object]) -> str:
    """Return the document as YAML, in its own order; keys are of at most 1,000 characters."""
    lines: list[str] = []
    _mapping(document, "", "", lines)
    return "\n".join(lines) + "\n"


def _mapping(value: Mapping[str, object], first: str, indent: str, lines: list[str]) -> None:
    """Lines of a mapping; the first one begins with ``first``, the others with ``indent``."""
    start = first
    for key, item in value.items():
        head = f"{start}{_key(key)}:"
        start = indent
        if isinstance(item, str):
            lines.append(f"{head} {_text(item)}")
        elif isinstance(item, Mapping) and item:
            lines.append(head)
            _mapping(item, f"{indent}  ", f"{indent}  ", lines)
        elif isinstance(item, Sequence) and item:
            lines.append(head)
            _sequence(item, indent, lines)
        else:
            lines.append(f"{head} {_scalar(item)}")


def _sequence(value: Sequence[object], indent: str, lines: list[str]) -> None:
    for item in value:
        if isinstance(item, str):
            lines.append(f"{indent}- {_text(item)}")
        elif isinstance(item, Mapping) and item:
            _mapping(item, f"{indent}- ", f"{indent}  ", lines)
        elif isinstance(item, Sequence) and item:
            lines.append(f"{indent}-")
            _sequence(item, f"{indent}  ", lines)
        else:
            lines.append(f"{indent}- {_scalar(item)}")


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
        return f"'{value}'" if value.lower() in _NOT_TEXT else value
    quoted = value.replace("'", "''")
    return f"'{quoted}'"


@lru_cache(maxsize=1024)
def _key(value: str) -> str:
    """Return a key: the same few come again and again."""
    return _text(value)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return _SHORT.get(char) or f"\\u{ord(char):04x}"
