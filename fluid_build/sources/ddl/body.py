"""Constraints and columns: what stands between the parentheses of CREATE TABLE."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fluid_build.sources.ddl.columns import (
    key_columns,
    read_column,
    read_reference,
    shortened,
)
from fluid_build.sources.ddl.dialects import Dialect
from fluid_build.sources.ddl.grammar import (
    Body,
    ColumnDef,
    ForeignKeyDef,
    KeyDef,
    ObjectName,
)
from fluid_build.sources.ddl.lexer import Token
from fluid_build.sources.ddl.reader import Reader, UnreadableError, split_commas

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


def read_body(tokens: Sequence[Token], dialect: Dialect) -> Body:
    """The columns and constraints of a list; an element that cannot be read becomes a fault."""
    draft = _Draft()
    for element in split_commas(tokens):
        try:
            _read_element(Reader(element, dialect), draft)
        except UnreadableError as fault:
            draft.faults.append(f"{shortened(element)} ({fault})")
    return Body(
        columns=tuple(draft.columns),
        keys=tuple(draft.keys),
        foreign_keys=tuple(draft.foreign_keys),
        like=tuple(draft.like),
        like_keys=draft.like_keys,
        faults=tuple(draft.faults),
    )


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
    column, keys = read_column(reader)
    draft.columns.append(column)
    draft.keys += keys.keys
    draft.foreign_keys += keys.foreign_keys


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
        or (word == "FAMILY" and reader.upper(2) == "(" and reader.kind(3) in ("word", "dquote"))
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
    to_table, to_columns = read_reference(reader)
    reader.rest()
    return ForeignKeyDef(columns, to_table, to_columns, name)


def _read_like(reader: Reader, draft: _Draft) -> None:
    if reader.upper() == "(":
        reader = Reader(reader.group(), reader.dialect)
    reader.expect("LIKE")
    draft.like.append(reader.object_name())
    options = [token.upper for token in reader.rest()]
    for place, word in enumerate(options[:-1]):
        if word == "INCLUDING" and options[place + 1] in ("ALL", "INDEXES"):
            draft.like_keys = True
