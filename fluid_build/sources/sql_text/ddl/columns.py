"""A column: its name, its type, and what's declared after them.

The list after the type is cut into attributes, and sqlglot reads each. Given the whole list it
fails at the first word it doesn't know, and takes ``AS (a) NOT NULL`` for one expression.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, ParseError, TokenError

from fluid_build.sources.sql_text.ddl.dialects import Dialect
from fluid_build.sources.sql_text.ddl.reader import Reader, object_name, undotted
from fluid_build.sources.sql_text.ddl.schema import (
    ColumnDef,
    Elements,
    ForeignKey,
    Identifier,
    Key,
    ObjectName,
)
from fluid_build.sources.sql_text.ddl.tokens import Token, spell, written
from fluid_build.text import clip

# Words that begin an attribute we read.
_READ = frozenset(
    """
    ALIAS AS AUTOINCREMENT AUTO_INCREMENT COMMENT CONSTRAINT FOREIGN GENERATED IDENTITY KEY
    MATERIALIZED NOT NULL OPTIONS PRIMARY REFERENCES UNIQUE
    """.split()
)
# Words that begin an attribute without bearing on structure: defaults, storage, enforcement.
_IRRELEVANT = frozenset(
    """
    AFTER ASC BITMAP_UNION CACHE CASCADE CASESPECIFIC CHARSET CHECK CLUSTERED CODEC COLLATE
    COLUMN_FORMAT COMPACT COMPRESS COMPRESSION CYCLE DEFAULT DEFERRABLE DESC DISABLE DISTKEY
    ENABLE ENCODE ENCRYPTED ENFORCED EPHEMERAL FILESTREAM FIRST FORMAT HIDDEN HLL_UNION
    INCREMENT INDEX INITIALLY INLINE INVISIBLE LOGGED MASKED MATCH MAX MAXVALUE MIN MINVALUE
    NOCACHE NOCYCLE NONCLUSTERED NOORDER NORELY NOVALIDATE ON ORDER PERSISTED PERSISTENT
    PROPERTIES RELY REPLACE REPLACE_IF_NOT_NULL RESTRICT ROWGUIDCOL SALT SECURED SORTKEY SPARSE
    SRID START STATISTICS STORAGE STORED SUM TAG TITLE TTL UPPERCASE USING VALIDATE VIRTUAL
    VISIBLE WITH
    """.split()
)
# Words that begin no attribute after these, but belong to theirs.
_CONTINUED = frozenset(
    (("ALWAYS", "AS"), ("AS", "IDENTITY"), ("BY", "DEFAULT"), ("DEFAULT", "AS"), ("DEFAULT", "ON"),
     ("FOREIGN", "KEY"), ("KEY", "REFERENCES"), ("NULL", "AS"), ("ON", "NULL"), ("PRIMARY", "KEY"),
     ("SET", "DEFAULT"), ("SET", "NULL"), ("UNIQUE", "INDEX"), ("UNIQUE", "KEY"))
)  # fmt: skip
_COMPUTED = frozenset(("AS", "ALIAS", "MATERIALIZED", "GENERATED"))
_NUMBERED = frozenset(("AUTOINCREMENT", "AUTO_INCREMENT", "IDENTITY"))
_FAULT_SHOWN = 60
# sqlglot takes seconds for a list of a megabyte, and no real attribute is longer than this.
_LONGEST = 20_000


def read_type(reader: Reader) -> tuple[Token, ...]:
    """Take the tokens of the type that comes next; none where the column has none."""
    start = reader.at
    if reader.upper() in _READ or not reader.is_name():
        return ()
    reader.take()
    while not reader.is_done:
        word = reader.upper()
        if word == ".":
            reader.take()
            reader.name()
        elif reader.skip_group():
            continue
        elif word == "<":
            reader.skip_angles()
        elif word in ("WITH", "WITHOUT") and reader.upper(1) in ("TIME", "LOCAL"):
            reader.skip_to("ZONE")
        elif reader.kind() == "word" and not _starts_attribute(reader.tokens, reader.at):
            reader.take()
        else:
            break
    return tuple(reader.tokens[start : reader.at])


def read_column(reader: Reader, elements: Elements) -> ColumnDef:
    """Take a column's definition; the keys declared with it go to the elements."""
    name = reader.name(or_string=True)
    column = ColumnDef(name, read_type(reader))
    for tokens in _split(reader.remaining()):
        words = [token.upper for token in tokens]
        start = 2 if words[0] == "CONSTRAINT" and len(words) > 2 else 0
        first = words[start]
        if first in _IRRELEVANT or (first == "NOT" and set(words[1:2]) & _IRRELEVANT):
            continue
        if first in _NUMBERED or (first == "GENERATED" and "IDENTITY" in words):
            column.nullable = False
        elif first in _COMPUTED:
            # GENERATED ALWAYS AS ROW START is when a row was written.
            column.generated = column.generated or "ROW" not in words
        elif first == "COMMENT" and words[start + 1 :] not in ([], ["="]):
            # Every comment is different, so that sqlglot would have to parse each of them.
            column.comment = tokens[start + 1 + (words[start + 1] == "=")].text
        else:
            _read(tokens, reader.dialect, column, elements)
    return column


def shortened(tokens: Sequence[Token]) -> str:
    """Return tokens as text, cut to what a message has room for."""
    return clip(written(tokens[:40]), _FAULT_SHOWN)


def _split(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield the tokens of each attribute."""
    start = depth = 0
    for place, token in enumerate(tokens):
        depth += (token.upper == "(") - (token.upper == ")")
        if depth or place == start or not _starts_attribute(tokens, place):
            continue
        before = tokens[place - 1].upper
        is_named = place == start + 2 and tokens[start].upper == "CONSTRAINT"
        if not is_named and before != "NOT" and (before, token.upper) not in _CONTINUED:
            yield tokens[start:place]
            start = place
    if tokens[start:]:
        yield tokens[start:]


def _starts_attribute(tokens: Sequence[Token], place: int) -> bool:
    word = tokens[place].upper
    if word in ("CHARACTER", "CHAR"):
        return place + 1 < len(tokens) and tokens[place + 1].upper == "SET"
    return word in _READ or word in _IRRELEVANT


def _read(tokens: Sequence[Token], dialect: Dialect, column: ColumnDef, elements: Elements) -> None:
    """Read an attribute, or as much of its start as sqlglot understands."""
    constraints = _parse(spell(tokens, dialect), dialect.grammar)
    if isinstance(constraints, int):
        if 0 < constraints < len(tokens):
            _read(tokens[:constraints], dialect, column, elements)
            tokens = tokens[constraints:]
        if tokens[0].upper not in _IRRELEVANT:
            column.faults = (*column.faults, shortened(tokens))
        return
    for constraint in constraints:
        _declare(constraint, dialect, column, elements)


# Columns share few attributes, and parsing one takes half a millisecond.
@lru_cache(maxsize=4_096)
def _parse(text: str, grammar: str) -> Sequence[exp.Expression] | int:
    """Return the constraints that sqlglot reads, or the place of the token where it stops."""
    if len(text) > _LONGEST:
        return 0
    try:
        tree = sqlglot.parse_one(
            f"CREATE TABLE t (c INT\n{text}\n)", read=grammar, error_level=ErrorLevel.IMMEDIATE
        )
    except ParseError as error:
        # Each token is on a line, the first of them on the second.
        return error.errors[0]["line"] - 2 if error.errors else 0
    except (TokenError, RecursionError):
        return 0
    column = tree.find(exp.ColumnDef)
    return column.args["constraints"] if column else 0


def _declare(
    constraint: exp.Expression, dialect: Dialect, column: ColumnDef, elements: Elements
) -> None:
    kind, name = constraint.args.get("kind"), constraint.name
    if isinstance(kind, exp.NotNullColumnConstraint):
        allows_null = bool(kind.args.get("allow_null"))
        if not allows_null or column.nullable is None:
            column.nullable = allows_null
    elif isinstance(kind, exp.PrimaryKeyColumnConstraint | exp.UniqueColumnConstraint):
        is_primary = isinstance(kind, exp.PrimaryKeyColumnConstraint)
        # sqlglot notes these words, and not NULLS DISTINCT.
        nulls_are_equal = bool(kind.args.get("nulls"))
        elements.keys.append(Key(is_primary, (column.name,), name, nulls_are_equal=nulls_are_equal))
    elif isinstance(kind, exp.Reference):
        reference = _read_reference(kind, dialect)
        elements.foreign_keys.append(ForeignKey((column.name,), *reference, name))
    elif isinstance(kind, exp.Properties):
        for option in kind.expressions:
            if option.name.lower() == "description":
                column.comment = option.args["value"].name


def _read_reference(
    reference: exp.Reference, dialect: Dialect
) -> tuple[ObjectName, tuple[Identifier, ...]]:
    target = reference.this
    table = target.this if isinstance(target, exp.Schema) else target
    parts = [Identifier(part.name, bool(part.args.get("quoted"))) for part in table.parts]
    columns = target.expressions if isinstance(target, exp.Schema) else []
    return object_name(undotted(parts, dialect)), tuple(
        Identifier(column.name, bool(column.args.get("quoted"))) for column in columns
    )
