"""What stands before a statement's rows: the table, and its columns."""

from collections.abc import Sequence
from dataclasses import dataclass

from fluid_build.sources.sql_text.ddl.dialects import Dialect
from fluid_build.sources.sql_text.ddl.reader import Reader, UnreadableError
from fluid_build.sources.sql_text.ddl.schema import Identifier, ObjectName
from fluid_build.sources.sql_text.ddl.tokens import Token, Tokenizer

_MOST_TOKENS = 5_000
"""More than the columns of the widest table take."""
_WITHOUT_VALUES = ("SELECT", "WITH", "SET", "EXEC", "TABLE")
"""What stands in the place of VALUES in a statement whose rows are elsewhere."""


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
    tokens = _tokens_before_values(text, start, end, dialect)
    if tokens is None:
        return None
    reader = Reader(tokens[:-1], dialect)
    replaces = reader.accept("OR REPLACE", "OVERWRITE", "OR IGNORE", "IGNORE")
    reader.accept("INTO")
    reader.accept("TABLE")
    name = reader.object_name()
    return RowHeader(name, _columns(reader), start + tokens[-1].end, replaces)


def copy_header(tokens: Sequence[Token], start: int, dialect: Dialect) -> RowHeader:
    """Return the header of a COPY from its tokens; its lines begin at ``start``."""
    reader = Reader(tokens, dialect)
    reader.expect("COPY")
    name = reader.object_name()
    return RowHeader(name, _columns(reader), start)


def emptied_tables(tokens: Sequence[Token], dialect: Dialect) -> list[ObjectName]:
    """Return the tables that a TRUNCATE or DROP TABLE takes the rows of; empty for all others."""
    reader = Reader(tokens, dialect)
    if not reader.accept("TRUNCATE", "DROP TABLE"):
        return []
    reader.accept("TABLE")
    reader.accept("IF EXISTS")
    reader.accept("ONLY")
    try:
        names = [reader.object_name()]
        while reader.accept(","):
            names.append(reader.object_name())
    except UnreadableError:
        return []
    return names


def is_text_format(tokens: Sequence[Token]) -> bool:
    """Return whether a COPY's lines are in its text format with the usual delimiter and null."""
    words = [token.upper for token in tokens]
    return not {"CSV", "BINARY", "DELIMITER", "DELIMITERS", "NULL", "FORMAT"} & set(words)


def _columns(reader: Reader) -> tuple[Identifier, ...]:
    if reader.upper() != "(":
        return ()
    return tuple(piece.name() for piece in reader.pieces())


def _tokens_before_values(
    text: str, start: int, end: int, dialect: Dialect
) -> Sequence[Token] | None:
    """Return the tokens up to VALUES, with offsets from ``start``; None for one without values."""
    tokens: list[Token] = []
    tokenizer = Tokenizer(text[start:end], dialect)
    position = depth = 0
    while token := tokenizer.next(position):
        tokens.append(token)
        depth += {"(": 1, ")": -1}.get(token.upper, 0)
        # OVERRIDING SYSTEM VALUE stands before them, in PostgreSQL.
        is_overriding = len(tokens) > 2 and tokens[-3].upper == "OVERRIDING"
        # A column may be called so too.
        if token.upper in ("VALUES", "VALUE") and not is_overriding and depth == 0:
            return None if tokens[-2:-1] and tokens[-2].upper == "DEFAULT" else tokens
        if (
            token.upper in ("SELECT", "WITH", "SET", "EXEC", "TABLE")
            and len(tokens) > 1
            and not depth
        ):
            return None
        if len(tokens) > _MOST_TOKENS:
            raise UnreadableError("its columns never end")
        position = token.end
    return None
