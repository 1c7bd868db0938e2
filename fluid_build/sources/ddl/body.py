"""Columns and constraints: what stands between the parentheses of CREATE TABLE."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fluid_build.sources.ddl.dialects import Dialect
from fluid_build.sources.ddl.grammar import (
    Body,
    ColumnDef,
    ForeignKeyDef,
    Identifier,
    KeyDef,
    ObjectName,
)
from fluid_build.sources.ddl.lexer import Token
from fluid_build.sources.ddl.reader import Reader, UnreadableError, split_commas, written

_FAULT_SHOWN = 60
_BEFORE_INDEXED = frozenset(
    ("USING", "BTREE", "HASH", "RTREE", "UNIQUE", "CLUSTERED", "NONCLUSTERED", "COLUMNSTORE")
)


@dataclass
class _Draft:
    """A body while it is read."""

    columns: list[ColumnDef] = field(default_factory=list)
    keys: list[KeyDef] = field(default_factory=list)
    foreign_keys: list[ForeignKeyDef] = field(default_factory=list)
    like: list[ObjectName] = field(default_factory=list)
    like_keys: bool = False
    faults: list[str] = field(default_factory=list)


@dataclass
class _Column:
    """A column while it is read; ``constraint`` is the name given to what comes next."""

    name: Identifier
    body: _Draft
    type: tuple[Token, ...] = ()
    nullable: bool | None = None
    generated: bool = False
    comment: str | None = None
    constraint: str = ""
    faults: list[str] = field(default_factory=list)


def read_body(tokens: Sequence[Token], dialect: Dialect) -> Body:
    """The columns and constraints of a list; an element that cannot be read becomes a fault."""
    draft = _Draft()
    for element in split_commas(tokens):
        try:
            _read_element(Reader(element, dialect), draft)
        except UnreadableError as fault:
            draft.faults.append(f"{_short(element)} ({fault})")
    return Body(
        columns=tuple(draft.columns),
        keys=tuple(draft.keys),
        foreign_keys=tuple(draft.foreign_keys),
        like=tuple(draft.like),
        like_keys=draft.like_keys,
        faults=tuple(draft.faults),
    )


def read_column(reader: Reader) -> tuple[ColumnDef, Body]:
    """A column's definition, to the end of the tokens, and the keys declared inside it."""
    draft = _Draft()
    _read_column(reader, draft)
    column = draft.columns[0]
    return column, Body(keys=tuple(draft.keys), foreign_keys=tuple(draft.foreign_keys))


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


def _short(tokens: Sequence[Token]) -> str:
    text = written(tokens[:40])
    return text if len(text) <= _FAULT_SHOWN else text[: _FAULT_SHOWN - 1] + "…"


def _read_element(reader: Reader, draft: _Draft) -> None:
    name = ""
    if reader.upper() == "CONSTRAINT":
        reader.take()
        if reader.upper() not in ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
            reader.accept("IF", "NOT", "EXISTS")
            name = reader.object_name().name.text
    if _read_constraint(reader, draft, name):
        return
    if name:
        raise UnreadableError("this kind of constraint is not known")
    _read_column(reader, draft)


def _read_constraint(reader: Reader, draft: _Draft, name: str) -> bool:
    """Read a table constraint, or what else is no column; False if a column comes next."""
    word = reader.upper()
    if word == "PRIMARY" and reader.upper(1) == "KEY":
        reader.accept("PRIMARY", "KEY")
        draft.keys.append(_read_key(reader, name, primary=True))
    elif reader.accept("UNIQUE"):
        draft.keys.append(_read_unique(reader, name))
    elif word == "FOREIGN" and reader.upper(1) == "KEY":
        draft.foreign_keys.append(_read_foreign_key(reader, name))
    elif word == "LIKE" or (word == "(" and reader.upper(1) == "LIKE"):
        _read_like(reader, draft)
    elif (
        (word in ("CHECK", "EXCLUDE") and not _is_typed(reader))
        or word == "DEFAULT"
        or (name and word in ("NOT", "NULL", "ASSUME"))
        or _is_index(reader)
        or _is_no_column(reader)
    ):
        reader.rest()
    else:
        return False
    return True


def _is_typed(reader: Reader) -> bool:
    """Whether a word is a column's name, seeing that a type follows it."""
    return reader.kind(1) in ("word", "name") and reader.upper(1) not in ("USING", "NOT")


def _is_index(reader: Reader) -> bool:
    """Whether an index that is no key comes next (``KEY name (…)``), not a column called key."""
    word = reader.upper()
    if word in ("FULLTEXT", "SPATIAL"):
        return reader.upper(1) in ("KEY", "INDEX", "(")
    if word not in ("KEY", "INDEX") or (word == "KEY" and not reader.dialect.index_word):
        return False
    if reader.dialect.name == "clickhouse":
        return True
    place = 2 if reader.is_name(1) and reader.upper(1) != "USING" else 1
    while reader.upper(place) in _BEFORE_INDEXED:
        place += 1
    indexed = reader.upper(place + 1) == "(" or reader.kind(place + 1) in ("word", "name", "dquote")
    return reader.upper(place) == "(" and indexed and reader.upper(place + 1) != "MAX"


def _is_no_column(reader: Reader) -> bool:
    word, following = reader.upper(), reader.upper(1)
    return (
        (word == "PERIOD" and following == "FOR")
        or (word == "SUPPLEMENTAL" and following == "LOG")
        or (word == "PROJECTION" and reader.dialect.name == "clickhouse")
        or (word == "WATERMARK" and following == "FOR")
        or (word in ("SHARD", "SORT") and following == "KEY")
    )


def _read_key(reader: Reader, name: str, *, primary: bool) -> KeyDef:
    if reader.accept("USING", "INDEX") and reader.is_name():
        index = reader.object_name().name.text
        reader.rest()
        return KeyDef(primary, (), name, index)
    while reader.upper() != "(":
        reader.take()
    columns = key_columns(reader.group())
    reader.rest()
    return KeyDef(primary, columns, name)


def _read_unique(reader: Reader, name: str) -> KeyDef:
    if not reader.accept("KEY"):
        reader.accept("INDEX")
    if reader.upper() not in ("(", "USING", "CLUSTERED", "NONCLUSTERED", "NULLS") and (
        reader.is_name()
    ):
        own = reader.name().text
        name = name or own
    return _read_key(reader, name, primary=False)


def _read_foreign_key(reader: Reader, name: str) -> ForeignKeyDef:
    reader.expect("FOREIGN", "KEY")
    reader.accept("IF", "NOT", "EXISTS")
    if reader.upper() != "(":
        own = reader.name().text
        name = name or own
    columns = key_columns(reader.group())
    if not columns:
        raise UnreadableError("its columns are not plain names")
    reader.expect("REFERENCES")
    to_table, to_columns = _read_reference(reader)
    reader.rest()
    return ForeignKeyDef(columns, to_table, to_columns, name)


def _read_reference(reader: Reader) -> tuple[ObjectName, tuple[Identifier, ...]]:
    if not reader.accept("WITH", "NO", "CHECK", "OPTION"):
        reader.accept("WITH", "CHECK", "OPTION")
    to_table = reader.object_name()
    return to_table, key_columns(reader.group()) if reader.upper() == "(" else ()


def _read_like(reader: Reader, draft: _Draft) -> None:
    if reader.upper() == "(":
        reader = Reader(reader.group(), reader.dialect)
    reader.expect("LIKE")
    draft.like.append(reader.object_name())
    options = [token.upper for token in reader.rest()]
    for place, word in enumerate(options[:-1]):
        if word == "INCLUDING" and options[place + 1] in ("ALL", "INDEXES"):
            draft.like_keys = True


def _read_column(reader: Reader, draft: _Draft) -> None:
    column = _Column(reader.name(or_string=True), draft)
    column.type = read_type(reader)
    while not reader.done:
        _read_attribute(reader, column)
    draft.columns.append(
        ColumnDef(
            name=column.name,
            type=column.type,
            nullable=column.nullable,
            generated=column.generated,
            comment=column.comment,
            faults=tuple(column.faults),
        )
    )


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
        column.faults.append(_short(reader.tokens[start : reader.at]))


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
    column.body.keys.append(KeyDef(primary, (column.name,), column.constraint))
    column.constraint = ""


def _foreign(reader: Reader, _: _Column) -> None:
    reader.expect("KEY")


def _references(reader: Reader, column: _Column) -> None:
    to_table, to_columns = _read_reference(reader)
    column.body.foreign_keys.append(
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
