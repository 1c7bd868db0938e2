"""What a statement says of rows: the table they go into, its columns, and where they begin."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from fluid_build.sources.sql_text.ddl.dialects import Dialect
from fluid_build.sources.sql_text.ddl.reader import Reader, UnreadableError
from fluid_build.sources.sql_text.ddl.schema import Identifier, ObjectName
from fluid_build.sources.sql_text.ddl.tokens import Token, Tokenizer, tokens_of

_MOST_TOKENS = 5_000
"""More than the columns of the widest table take."""
_WITHOUT_VALUES = frozenset(("SELECT", "WITH", "SET", "EXEC", "EXECUTE", "TABLE"))
"""What stands in the place of VALUES in a statement whose rows are elsewhere."""
_WRITES = frozenset(("INSERT", "INTO", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "COPY"))
_MENTIONS_WRITES = re.compile(rf"\b(?:{'|'.join(sorted(_WRITES))})\b", re.IGNORECASE)
_USUAL = re.compile(r"[^'(;]{0,999}?(?:\([^()';]*\)[^'(;]{0,99}?)?\bVALUES\b", re.IGNORECASE)
"""Most headers; what else it matches isn't read as one."""
_REPLACING = (
    "OR REPLACE", "OR IGNORE", "OR ABORT", "OR FAIL", "OR ROLLBACK", "IGNORE", "OVERWRITE",
)  # fmt: skip
_PRIORITIES = ("LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED")
_BETWEEN = (
    *_REPLACING, *_PRIORITIES, "QUICK", "INTO", "FROM", "TABLE", "ONLY",
)  # fmt: skip
"""What may stand between a verb and the name of the table that it writes to."""
_NO_VERB_AFTER = frozenset(("ON", "FOR", "DO", "KEY", "THEN", "BEFORE", "AFTER", "OR", "WHEN"))
"""Words of clauses, as in ON DELETE, FOR UPDATE, ON DUPLICATE KEY UPDATE and THEN INSERT."""

_DEEPEST = 2
"""A body in a text, and a statement in a text in it."""


@dataclass(frozen=True, slots=True)
class RowHeader:
    """The table that rows go into, its columns if they are named, and where the rows begin.

    ``replaces`` says that a row may take the place of an earlier one, or give way to it.
    """

    table: ObjectName
    columns: tuple[Identifier, ...]
    start: int
    replaces: bool = False


def insert_header(text: str, start: int, end: int, dialect: Dialect) -> RowHeader | None:
    """Return the header of an INSERT, whose keyword ends at ``start``.

    None for one without values, such as INSERT … SELECT. Raises UnreadableError.
    """
    usual = _USUAL.match(text, start, end)
    header = _usual_header(usual[0], dialect) if usual else None
    header = header or _read_header(text[start:end], dialect)
    return header and RowHeader(header.table, header.columns, start + header.start, header.replaces)


@lru_cache(maxsize=1_000)
def _usual_header(text: str, dialect: Dialect) -> RowHeader | None:
    """Return a header that many statements share; None where the text isn't the whole of one."""
    try:
        return _read_header(text, dialect)
    except UnreadableError:
        return None


def _read_header(text: str, dialect: Dialect) -> RowHeader | None:
    tokens = _tokens_before_values(text, dialect)
    if tokens is None:
        return None
    reader = Reader(tokens[:-1], dialect)
    if reader.upper() in ("ALL", "FIRST") and reader.upper(1) in ("INTO", "WHEN"):
        # Oracle's way to write to several tables.
        return None
    replaces = False
    while reader.accept(*_REPLACING, *_PRIORITIES):
        replaces |= tokens[reader.at - 1].upper not in _PRIORITIES
    reader.accept("INTO")
    reader.accept("TABLE")
    name = reader.object_name()
    return RowHeader(name, _columns(reader), tokens[-1].end, replaces)


def copy_header(tokens: Sequence[Token], start: int, dialect: Dialect) -> RowHeader:
    """Return the header of a COPY from its tokens; its lines begin at ``start``."""
    reader = Reader(tokens, dialect)
    reader.expect("COPY")
    name = reader.object_name()
    return RowHeader(name, _columns(reader), start)


def emptied_tables(tokens: Sequence[Token], dialect: Dialect) -> list[ObjectName]:
    """Return the tables that a TRUNCATE, or a DELETE without a condition, takes all rows of.

    Raises UnreadableError.
    """
    reader = Reader(tokens, dialect)
    is_truncate = reader.accept("TRUNCATE")
    while reader.accept("DELETE", "FROM", "TABLE", "IF EXISTS", "ONLY"):
        pass
    names = reader.object_names()
    return names if is_truncate or reader.is_done else []


def written_tables(
    tokens: Sequence[Token], dialect: Dialect, depth: int = 0
) -> Iterator[ObjectName]:
    """Yield the names behind verbs that write rows, in the texts of a statement too."""
    reader = Reader(tokens, dialect)
    for place, token in enumerate(tokens):
        before = tokens[place - 1].upper if place else ""
        if token.kind == "string" and depth < _DEEPEST and _MENTIONS_WRITES.search(token.text):
            yield from written_tables(tokens_of(token.text, dialect), dialect, depth + 1)
        elif token.upper in _WRITES and before not in _NO_VERB_AFTER:
            reader.at = place + 1
            while reader.accept(*_BETWEEN):
                pass
            if reader.is_name():
                yield from _names(reader, is_update=token.upper == "UPDATE")


def _names(reader: Reader, *, is_update: bool) -> Iterator[ObjectName]:
    """Yield the name that comes next; before an UPDATE's SET, all of those that it may change."""
    try:
        yield reader.object_name()
        while is_update and not reader.is_done and reader.upper() not in ("SET", ";"):
            if reader.is_name():
                yield reader.object_name()
            else:
                reader.take()
    except UnreadableError:
        return


def is_text_format(tokens: Sequence[Token]) -> bool:
    """Return whether a COPY's lines are in its text format with the usual delimiter and null."""
    words = [token.upper for token in tokens]
    return not {"CSV", "BINARY", "DELIMITER", "DELIMITERS", "NULL", "FORMAT"} & set(words)


def _columns(reader: Reader) -> tuple[Identifier, ...]:
    if reader.upper() != "(":
        return ()
    return tuple(piece.name() for piece in reader.pieces())


def _tokens_before_values(text: str, dialect: Dialect) -> Sequence[Token] | None:
    """Return the tokens up to VALUES; None for a statement without values."""
    tokens: list[Token] = []
    tokenizer = Tokenizer(text, dialect)
    position = depth = 0
    while token := tokenizer.next(position):
        tokens.append(token)
        depth += {"(": 1, ")": -1}.get(token.upper, 0)
        # OVERRIDING SYSTEM VALUE stands before them, in PostgreSQL.
        is_overriding = len(tokens) > 2 and tokens[-3].upper == "OVERRIDING"
        # A column may be called so too.
        if token.upper in ("VALUES", "VALUE") and not is_overriding and depth == 0:
            return None if tokens[-2:-1] and tokens[-2].upper == "DEFAULT" else tokens
        is_first = len(tokens) == 1 or tokens[-2].upper in ("INTO", "OVERWRITE")
        if token.upper in _WITHOUT_VALUES and not is_first and not depth:
            return None
        if len(tokens) > _MOST_TOKENS:
            raise UnreadableError("its columns never end")
        position = token.end
    return None
