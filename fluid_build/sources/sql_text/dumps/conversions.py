"""Conversions around a literal: whether it comes out of one as it went in."""

import re

_TYPE = re.compile(r"\s*([\w\s.\[\]\"]*?)\s*(?:\(\s*(\w+)\s*(?:,\s*(\d+)\s*)?\))?[\s\[\]]*")
_TEXT = frozenset(
    ("CHAR", "CHARACTER", "NCHAR", "VARCHAR", "NVARCHAR", "VARCHAR2", "NVARCHAR2", "BPCHAR",
     "CHARACTER VARYING", "CHAR VARYING")
)  # fmt: skip
_ONE_CHARACTER = frozenset(("CHAR", "CHARACTER", "NCHAR"))
_SHORT_IN_SQL_SERVER = 30
"""Characters of a VARCHAR without a length in SQL Server's CAST."""
_WHOLE = frozenset(
    ("INT", "INTEGER", "BIGINT", "SMALLINT", "TINYINT", "INT2", "INT4", "INT8", "SIGNED",
     "UNSIGNED", "SIGNED INTEGER", "UNSIGNED INTEGER")
)  # fmt: skip
_DECIMAL = frozenset(("DECIMAL", "NUMERIC", "DEC", "NUMBER"))
_FRACTION = {"DATETIME": 3, "SMALLDATETIME": 0, "DATETIME2": 7, "DATETIMEOFFSET": 7}
"""Digits of a second that a type keeps; others of the sort keep six."""


def survives(text: str, type_: str, *, is_cast: bool) -> bool:
    """Return whether a literal's text is the same after a conversion to a type.

    ``is_cast`` tells CAST from PostgreSQL's ``::``. A type that isn't known is taken for one that
    keeps the text, such as an enumeration's.
    """
    match = _TYPE.fullmatch(type_)
    if match is None:
        return False
    words = match[1].replace("[", "").replace("]", "").replace('"', "").upper().split()
    name = " ".join(words).rpartition(".")[2]
    width = int(match[2]) if match[2] and match[2].isdecimal() else None
    if name in _TEXT:
        if match[2] is None:
            width = _default_width(name, is_cast=is_cast)
        return width is None or len(text) <= width
    if name in _WHOLE:
        return re.fullmatch(r"-?\d+", text) is not None
    if name in _DECIMAL:
        scale = int(match[3] or 0) if width is not None or is_cast else None
        decimals = text.partition(".")[2].rstrip("0")
        return scale is None or ("e" not in text.lower() and len(decimals) <= scale)
    if name == "DATE":
        return re.fullmatch(r"\d{4}-\d\d-\d\d", text) is not None
    if name == "SMALLDATETIME" and not re.search(r"(?<![\d:])\d\d:\d\d(?::00(?:\.0*)?)?$", text):
        return False
    if name.startswith(("TIME", "DATETIME", "SMALLDATETIME")):
        kept = width if width is not None else _FRACTION.get(name, 6)
        fraction = re.search(r":\d\d\.(\d+)", text)
        return fraction is None or len(fraction[1].rstrip("0")) <= kept
    return True


def _default_width(name: str, *, is_cast: bool) -> int | None:
    if name in _ONE_CHARACTER:
        return 1
    return _SHORT_IN_SQL_SERVER if is_cast and name in ("VARCHAR", "NVARCHAR") else None
