"""Which columns are durations, from the schema that Arrow stores in Parquet files.

A schema is a FlatBuffers message. A table in it begins with the distance back to its list of
fields; that has, for each field, the distance from the table to its value, or 0 where it's missing.

https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format
https://github.com/apache/arrow/blob/main/format/Schema.fbs
"""

import struct
from collections.abc import Iterator

_CONTINUES = b"\xff\xff\xff\xff"
"""What a message begins with since Arrow 0.15, before its length."""
_MESSAGE_HEADER, _SCHEMA_FIELDS = 2, 1
_FIELD_NAME, _FIELD_KIND, _FIELD_TYPE, _FIELD_CHILDREN = 0, 2, 3, 5
_DURATION = 18
_DURATION_UNIT = 0
_UNITS = ("seconds", "milliseconds", "microseconds", "nanoseconds")
_DEFAULT_UNIT = 1
"""A unit that the message leaves out is milliseconds."""


def duration_units(message: bytes) -> dict[str, str]:
    """Return the unit of the durations in each top-level column that is one or holds some.

    None if it's no such message.
    """
    start = 8 if message.startswith(_CONTINUES) else 4
    try:
        schema = _table(message, _follow(message, start), _MESSAGE_HEADER)
        return {} if schema is None else dict(_durations(message, schema))
    except (struct.error, IndexError, UnicodeDecodeError):
        return {}


def _durations(message: bytes, schema: int) -> Iterator[tuple[str, str]]:
    seen: set[int] = set()  # A stranger's message may lead to one field again and again.
    for column in _tables(message, schema, _SCHEMA_FIELDS):
        name = _table(message, column, _FIELD_NAME)
        fields = [column]
        while fields:
            field = fields.pop()
            if field in seen:
                continue
            seen.add(field)
            fields.extend(_tables(message, field, _FIELD_CHILDREN))
            kind = _place(message, field, _FIELD_KIND)
            if name is not None and kind is not None and message[kind] == _DURATION:
                yield _text(message, name), _unit(message, field)


def _unit(message: bytes, field: int) -> str:
    type_ = _table(message, field, _FIELD_TYPE)
    unit = None if type_ is None else _place(message, type_, _DURATION_UNIT)
    return _UNITS[_DEFAULT_UNIT if unit is None else _number(message, "<h", unit)]


def _tables(message: bytes, table: int, field: int) -> Iterator[int]:
    """Yield where each table of a field's list begins."""
    place = _table(message, table, field)
    if place is not None:
        for i in range(_number(message, "<I", place)):
            yield _follow(message, place + 4 + 4 * i)


def _place(message: bytes, table: int, field: int) -> int | None:
    """Return where the value of a table's field begins."""
    layout = table - _number(message, "<i", table)
    if 4 + 2 * field >= _number(message, "<H", layout):
        return None
    distance = _number(message, "<H", layout + 4 + 2 * field)
    return table + distance if distance else None


def _table(message: bytes, table: int, field: int) -> int | None:
    """Return where a field leads whose value is elsewhere: a table, a list or text."""
    place = _place(message, table, field)
    return None if place is None else _follow(message, place)


def _follow(message: bytes, place: int) -> int:
    return place + _number(message, "<I", place)


def _text(message: bytes, place: int) -> str:
    length = _number(message, "<I", place)
    return message[place + 4 : place + 4 + length].decode()


def _number(message: bytes, form: str, place: int) -> int:
    if place < 0:
        raise IndexError(place)
    (number,) = struct.unpack_from(form, message, place)
    return int(number)
