"""Values in binary digits, and the bytes of MySQL's, which mysqldump writes as they are."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from fluid_build.sources.base import Column
from fluid_build.sources.sql_text.ddl.dialects import Dialect
from fluid_build.sources.sql_text.ddl.files import SqlFile, without_surrogates
from fluid_build.sources.sql_text.dumps.literals import (
    BINARY,
    Bits,
    Hexadecimal,
    ManyLines,
    Row,
)

_NUMERIC = re.compile(r"U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DECIMAL.*|FLOAT|DOUBLE")
_OF_BITS = ("BIT", "BOOLEAN")
_PAIRS = re.compile(r"(?:[0-9A-Fa-f]{2})*")


@dataclass
class BinaryValues:
    """Rows of a file made exact, for a dialect.

    ``replaced`` counts by column the values of text that had bytes which aren't UTF-8, and
    ``digits`` those whose digits stand where a server has something else.
    """

    file: SqlFile
    columns: Sequence[Column]
    dialect: Dialect
    replaced: Counter[str] = field(default_factory=Counter)
    digits: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Find the places of the columns that hold bytes."""
        self._binary = [n for n, column in enumerate(self.columns) if column.type == "BLOB"]
        self._has_raw = bool(self.file.raw)
        self._are_bytes = self.dialect.version_comments
        self._are_pairs = self.dialect.sqlplus

    def exact(self, row: Row) -> Row | None:
        """Return a row with hexadecimal digits for bytes; None where they can't be told."""
        kinds = set(map(type, row))
        has_digits = Hexadecimal in kinds or Bits in kinds
        if not (self._binary or self._has_raw or has_digits):
            return row
        exact = list(row)
        if self._are_bytes or self._are_pairs:
            for place in self._binary:
                value = row[place]
                if value is None or isinstance(value, Hexadecimal):
                    continue
                data = self._pairs(value) if self._are_pairs else self._bytes(value)
                if data is None:
                    return None
                exact[place] = f"{BINARY}{data.hex()}"
        if has_digits:
            for place, digits in enumerate(row):
                if isinstance(digits, (Hexadecimal, Bits)) and place not in self._binary:
                    plain = self._of_digits(digits, self.columns[place])
                    if plain is None:
                        return None
                    exact[place] = plain
        if self._has_raw:
            for place, text in enumerate(exact):
                if text is not None and (plain := without_surrogates(text)) != text:
                    exact[place] = plain
                    self.replaced[self.columns[place].name] += 1
        return exact

    def _of_digits(self, value: Hexadecimal | Bits, column: Column) -> str | None:
        """Return what a column that isn't binary has of digits; None for bytes that are no text."""
        if isinstance(value, Bits) and (column.type in _OF_BITS or not self._are_bytes):
            return value
        if not self._are_bytes or column.type in _OF_BITS:
            self.digits[column.name] += 1
            return value
        base, digits = (2, str(value)) if isinstance(value, Bits) else (16, value[2:])
        number = int(digits or "0", base)
        if _NUMERIC.fullmatch(column.type):
            return str(number)
        per_byte = 8 if base == 2 else 2
        try:
            return number.to_bytes(-(-len(digits) // per_byte), "big").decode()
        except UnicodeDecodeError:
            return None

    def _pairs(self, value: str) -> bytes | None:
        """Return the bytes of a text that Oracle reads as hexadecimal digits in a RAW."""
        return bytes.fromhex(value) if _PAIRS.fullmatch(value) else None

    def _bytes(self, value: str) -> bytes | None:
        if isinstance(value, Bits):
            return int(value or "0", 2).to_bytes(-(-len(value) // 8), "big")
        # Which of its line ends were CRLF isn't known any more, nor what U+FFFD stood for.
        if self.file.has_returns and isinstance(value, ManyLines):
            return None
        if "\ufffd" in value and self.file.encoding != "utf-8":
            return None
        try:
            return value.encode(self.file.encoding, errors="surrogateescape")
        except (UnicodeEncodeError, LookupError):
            return None
