"""Writes Avro files by the specification, with the binary encoding spelled out."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_SYNC = b"0123456789abcdef"


def number(value: int) -> bytes:
    """A whole number in seven bits a byte."""
    value = (value << 1) ^ (value >> 63)
    encoded = b""
    while True:
        low, value = value & 0x7F, value >> 7
        if not value:
            return encoded + bytes([low])
        encoded += bytes([low | 0x80])


def text(value: str | bytes) -> bytes:
    """Text or bytes, after their length."""
    raw = value.encode() if isinstance(value, str) else value
    return number(len(raw)) + raw


def decimal(value: int) -> bytes:
    """A decimal's digits as a whole number in two's complement, in as few bytes as it takes."""
    return text(value.to_bytes((value.bit_length() + 8) // 8, "big", signed=True))


def write_avro(path: Path, schema: Mapping[str, Any], rows: Sequence[bytes]) -> None:
    """Write a file of one block without compression."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = b"Obj\x01" + number(2)
    head += text("avro.codec") + text("null")
    head += text("avro.schema") + text(json.dumps(schema)) + number(0)
    body = b"".join(rows)
    block = number(len(rows)) + number(len(body)) + body + _SYNC if rows else b""
    path.write_bytes(head + _SYNC + block)
