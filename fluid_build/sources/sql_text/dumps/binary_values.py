"""The bytes of MySQL's binary values, which mysqldump writes between quotes as they are."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from fluid_build.sources.base import Column
from fluid_build.sources.sql_text.ddl.files import SqlFile, without_surrogates
from fluid_build.sources.sql_text.dumps.literals import BINARY, Hexadecimal, ManyLines, Row


@dataclass
class BinaryValues:
    """Rows of a file made exact: ``binary`` are the places of columns that hold bytes.

    ``replaced`` counts by column the values of text that had bytes which aren't UTF-8.
    """

    file: SqlFile
    names: Sequence[str]
    binary: Sequence[int]
    replaced: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, file: SqlFile, columns: Sequence[Column]) -> "BinaryValues | None":
        """Return what makes rows of those columns exact; None where they are."""
        binary = [place for place, column in enumerate(columns) if column.type == "BLOB"]
        if not binary and not file.raw:
            return None
        return cls(file, [column.name for column in columns], binary)

    def exact(self, row: Row) -> Row | None:
        """Return a row with hexadecimal digits for bytes; None where they can't be told."""
        exact = list(row)
        for place in self.binary:
            value = row[place]
            if value is None or isinstance(value, Hexadecimal):
                continue
            data = self._bytes(value)
            if data is None:
                return None
            exact[place] = f"{BINARY}{data.hex()}"
        if self.file.raw:
            for place, text in enumerate(exact):
                if text is not None and (plain := without_surrogates(text)) != text:
                    exact[place] = plain
                    self.replaced[self.names[place]] += 1
        return exact

    def _bytes(self, value: str) -> bytes | None:
        # Which of its line ends were CRLF isn't known any more, nor what U+FFFD stood for.
        if self.file.has_returns and isinstance(value, ManyLines):
            return None
        if "\ufffd" in value and self.file.encoding != "utf-8":
            return None
        try:
            return value.encode(self.file.encoding, errors="surrogateescape")
        except (UnicodeEncodeError, LookupError):
            return None
