"""A column: its name, its type, and what is declared beside them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fluid_build.sources.ddl.grammar import (
    Body,
    ColumnDef,
    ForeignKeyDef,
    Identifier,
    KeyDef,
    ObjectName,
)
from fluid_build.sources.ddl.lexer import Token
from fluid_build.sources.ddl.reader import Reader, split_commas, written

_FAULT_SHOWN = 60


@dataclass
class _Column:
    """A column while it is read; ``constraint`` is the name given to what comes next."""

    name: Identifier
    type: tuple[Token, ...] = ()
    nullable: bool | None = None
    generated: bool = False
    comment: str | None = None
    constraint: str = ""
    keys: list[KeyDef] = field(default_factory=list)
    foreign_keys: list[ForeignKeyDef] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def read_column(reader: Reader) -> tuple[ColumnDef, Body]:
    """A column's definition, to the end of the tokens, and the keys declared inside it."""
    column = _Column(reader.name(or_string=True))
    column.type = read_type(reader)
    while not reader.done:
        _read_attribute(reader, column)
    definition = ColumnDef(
        name=column.name,
        type=column.type,
        nullable=column.nullable,
        generated=column.generated,
        comment=column.comment,
        faults=tuple(column.faults),
    )
    return definition, Body(keys=tuple(column.keys), foreign_keys=tuple(column.foreign_keys))


def key_columns(tokens: Sequence[Token]) -> tuple[Identifier, ...]:
    """The columns of a key or index, in order; none at all if one of them is an expression."""
    columns = []
    for piece in split_commas(tokens):
        first, second = piece[0], piece[1] if len(piece) > 1 else None
        plain = first.kind in ("word", "name", "dquote", "string")
        length = second is not None and second.upper == "(" and piece[2].kind == "number"
        follows = second is None or second.kind == "word" or length
        if not (plain and follows):
            return ()
        columns.append(Identifier(first.text, first.kind != "word"))
    return tuple(columns)


def description_option(tokens: Sequence[Token]) -> str | None:
    """The description in BigQuery's ``OPTIONS(description = "…")``."""
    for piece in split_commas(tokens):
        if len(piece) > 2 and piece[0].upper == "DESCRIPTION" and piece[1].upper == "=":
            return piece[2].text
    return None


def shortened(tokens: Sequence[Token]) -> str:
    """Tokens as text, cut to what a message has room for."""
    text = written(tokens[:40])
    return text if len(text) <= _FAULT_SHOWN else text[: _FAULT_SHOWN - 1] + "…"


def read_reference(reader: Reader) -> tuple[ObjectName, tuple[Identifier, ...]]:
    """The table and columns behind REFERENCES; no columns where none are named."""
    if not reader.accept("WITH", "NO", "CHECK", "OPTION"):
        reader.accept("WITH", "CHECK", "OPTION")
    to_table = reader.object_name()
    return to_table, key_columns(reader.group()) if reader.upper() == "(" else ()


def read_type(reader: Reader) -> tuple[Token, ...]:
    """The tokens of the type that comes next; none where the column has none."""
    start = reader.at
    if reader.upper() in _ATTRIBUTES or not reader.is_name():
        return ()
    reader.take()
    while not reader.done:
        word = reader.upper()
        if word == ".":
            reader.take()
            reader.name()
        elif word in ("(", "["):
            reader.group()
        elif word == "<":
            reader.angles()
        elif word in ("WITH", "WITHOUT") and reader.upper(1) in ("TIME", "LOCAL"):
            while reader.take().upper != "ZONE":
                pass
        elif reader.kind() == "word" and not _starts_attribute(reader):
            reader.take()
        else:
            break
    return tuple(reader.tokens[start : reader.at])


def _read_attribute(reader: Reader, column: _Column) -> None:
    word = reader.upper()
    read = _ATTRIBUTES.get(word)
    if read is not None:
        reader.take()
        read(reader, column)
    elif word in _PASSED:
        reader.take()
        _skip_to_attribute(reader)
    elif word in ("CHARACTER", "CHAR") and reader.upper(1) == "SET":
        reader.accept(word, "SET")
        reader.accept("=")
        reader.take()
    else:
        start = reader.at
        reader.take()
        _skip_to_attribute(reader)
        column.faults.append(shortened(reader.tokens[start : reader.at]))


def _starts_attribute(reader: Reader) -> bool:
    word = reader.upper()
    if word in ("CHARACTER", "CHAR"):
        return reader.upper(1) == "SET"
    return word in _ATTRIBUTES or word in _PASSED


def _skip_to_attribute(reader: Reader) -> None:
    while not reader.done and not _starts_attribute(reader):
        if not reader.skip_group():
            reader.take()


def _not(reader: Reader, column: _Column) -> None:
    if reader.accept("NULL"):
        column.nullable = False
    elif reader.accept("FOR", "REPLICATION"):
        return
    elif not reader.done:
        reader.take()


def _null(_: Reader, column: _Column) -> None:
    if column.nullable is None:
        column.nullable = True


def _primary(reader: Reader, column: _Column) -> None:
    reader.expect("KEY")
    _add_key(column, primary=True)


def _unique(reader: Reader, column: _Column) -> None:
    if not reader.accept("KEY"):
        reader.accept("INDEX")
    if not reader.accept("NULLS", "NOT", "DISTINCT"):
        reader.accept("NULLS", "DISTINCT")
    _add_key(column, primary=False)


def _key(_: Reader, column: _Column) -> None:
    _add_key(column, primary=True)


def _add_key(column: _Column, *, primary: bool) -> None:
    column.keys.append(KeyDef(primary, (column.name,), column.constraint))
    column.constraint = ""


def _foreign(reader: Reader, _: _Column) -> None:
    reader.expect("KEY")


def _references(reader: Reader, column: _Column) -> None:
    to_table, to_columns = read_reference(reader)
    column.foreign_keys.append(
        ForeignKeyDef((column.name,), to_table, to_columns, column.constraint)
    )
    column.constraint = ""


def _constraint(reader: Reader, column: _Column) -> None:
    if not _starts_attribute(reader):
        column.constraint = reader.object_name().name.text


def _check(reader: Reader, _: _Column) -> None:
    reader.skip_group()


def _default(reader: Reader, _: _Column) -> None:
    if not (reader.accept("ON", "NULL", "FOR") or reader.accept("ON", "NULL")):
        reader.accept("FOR", "INSERT")
    if reader.done:
        return
    if not reader.skip_group():
        reader.take()
    _skip_to_attribute(reader)


def _generated(reader: Reader, column: _Column) -> None:
    if not reader.accept("ALWAYS"):
        reader.accept("BY", "DEFAULT")
        reader.accept("ON", "NULL")
    if reader.accept("AS"):
        if reader.accept("IDENTITY"):
            _identity(reader, column)
        elif reader.accept("ROW"):
            _skip_to_attribute(reader)
        else:
            _computed(reader, column)


def _computed(reader: Reader, column: _Column) -> None:
    column.generated = True
    if not reader.skip_group():
        _default(reader, column)
    elif not _starts_attribute(reader):
        _skip_to_attribute(reader)


def _identity(reader: Reader, column: _Column) -> None:
    column.nullable = False
    reader.skip_group()


def _comment(reader: Reader, column: _Column) -> None:
    reader.accept("=")
    column.comment = reader.take().text


def _collate(reader: Reader, _: _Column) -> None:
    reader.accept("=")
    reader.object_name()


def _on(reader: Reader, _: _Column) -> None:
    event = reader.take().upper
    if event not in ("DELETE", "UPDATE", "CONFLICT"):
        return
    if reader.accept("SET") or not reader.accept("NO", "ACTION"):
        reader.take()
    reader.skip_group()


def _options(reader: Reader, column: _Column) -> None:
    column.comment = description_option(reader.group()) or column.comment


_ATTRIBUTES: dict[str, Callable[[Reader, _Column], None]] = {
    "ALIAS": _computed,
    "AS": _computed,
    "AUTOINCREMENT": _identity,
    "AUTO_INCREMENT": _identity,
    "CHECK": _check,
    "COLLATE": _collate,
    "COMMENT": _comment,
    "CONSTRAINT": _constraint,
    "DEFAULT": _default,
    "FOREIGN": _foreign,
    "GENERATED": _generated,
    "IDENTITY": _identity,
    "KEY": _key,
    "MATERIALIZED": _computed,
    "NOT": _not,
    "NULL": _null,
    "ON": _on,
    "OPTIONS": _options,
    "PRIMARY": _primary,
    "REFERENCES": _references,
    "UNIQUE": _unique,
}
_PASSED = frozenset(
    (
        "AFTER", "ASC", "BITMAP_UNION", "CASCADE", "CASESPECIFIC", "CHARSET", "CLUSTERED", "CODEC",
        "COLUMN_FORMAT", "COMPRESS", "COMPRESSION", "DEFERRABLE", "DESC", "DISABLE", "DISTKEY",
        "ENABLE", "ENCODE", "ENCRYPTED", "ENFORCED", "EPHEMERAL", "FILESTREAM", "FIRST", "FORMAT",
        "HIDDEN", "HLL_UNION", "INCREMENT", "INDEX", "INITIALLY", "INLINE", "INVISIBLE", "MASKED",
        "MATCH", "MAX", "MIN", "NONCLUSTERED", "NOORDER", "NORELY", "NOVALIDATE", "ORDER",
        "PERSISTED", "PERSISTENT", "PROPERTIES", "RELY", "REPLACE", "REPLACE_IF_NOT_NULL",
        "RESTRICT", "ROWGUIDCOL", "SALT", "SECURED", "SORTKEY", "SPARSE", "SRID", "START",
        "STATISTICS", "STORAGE", "STORED", "SUM", "TAG", "TITLE", "TTL", "UPPERCASE", "USING",
        "VALIDATE", "VIRTUAL", "VISIBLE", "WITH",
    )
)  # fmt: skip
