"""What a SQLite column is meant to hold, from its declared type.

SQLite enforces no type: a declaration gives an affinity (https://www.sqlite.org/datatype3.html,
section 3.1), and any value may stand anywhere. The target here is what the declaration promises;
the values decide whether it is kept.
"""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Meaning: TypeAlias = Literal[
    "integer", "text", "blob", "real", "decimal", "number", "boolean", "date", "timestamp", "time",
    "any",
]  # fmt: skip

_DUCKDB: dict[Meaning, str] = {
    "integer": "BIGINT", "text": "VARCHAR", "blob": "BLOB", "real": "DOUBLE", "number": "DOUBLE",
    "boolean": "BOOLEAN", "date": "DATE", "timestamp": "TIMESTAMP", "time": "TIME",
    "any": "VARCHAR",
}  # fmt: skip
_PRECISION = re.compile(r"\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")
_MAX_DIGITS = 38


@dataclass(frozen=True, slots=True)
class Target:
    """What a column is meant to hold, and DuckDB's type for that."""

    meaning: Meaning
    type: str


def target(declared: str) -> Target:
    """Return what a column declared with these words is meant to hold."""
    words = declared.upper()
    meaning = _meaning(words)
    if meaning != "number":
        return Target(meaning, _DUCKDB[meaning])
    match = _PRECISION.search(words)
    if match:
        precision, scale = int(match.group(1)), int(match.group(2) or 0)
        if 0 < precision <= _MAX_DIGITS and scale <= precision:
            return Target("decimal", f"DECIMAL({precision},{scale})")
    return Target("number", "DOUBLE")


def _meaning(words: str) -> Meaning:
    if "INT" in words:
        return "integer"
    if any(part in words for part in ("CHAR", "CLOB", "TEXT")):
        return "text"
    if "BLOB" in words:
        return "blob"
    if any(part in words for part in ("REAL", "FLOA", "DOUB")):
        return "real"
    if words.startswith(("DATETIME", "TIMESTAMP")):
        return "timestamp"
    if words.startswith("DATE"):
        return "date"
    if words.startswith("TIME"):
        return "time"
    if words.startswith("BOOL"):
        return "boolean"
    if words.startswith(("NUM", "DEC", "MONEY")):
        return "number"
    return "any"
