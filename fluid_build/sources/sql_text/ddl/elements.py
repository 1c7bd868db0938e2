"""Columns and constraints: what's between the parentheses of CREATE TABLE, or after ADD."""

from collections.abc import Sequence

from fluid_build.sources.sql_text.ddl.columns import read_column, shortened
from fluid_build.sources.sql_text.ddl.dialects import Dialect
from fluid_build.sources.sql_text.ddl.reader import Reader, UnreadableError, split_commas
from fluid_build.sources.sql_text.ddl.schema import Elements, ForeignKey, Identifier, Key
from fluid_build.sources.sql_text.ddl.tokens import Token

_BEFORE_INDEXED = frozenset(
    ("USING", "BTREE", "HASH", "RTREE", "UNIQUE", "CLUSTERED", "NONCLUSTERED", "COLUMNSTORE")
)


def read_elements(tokens: Sequence[Token], dialect: Dialect, elements: Elements) -> None:
    """Add what a list declares to the elements; one that can't be read becomes a fault."""
    for element in split_commas(tokens):
        try:
            _read_element(Reader(element, dialect), elements)
        except UnreadableError as fault:
            elements.faults.append(f"{shortened(element)} ({fault})")


def key_columns(tokens: Sequence[Token]) -> tuple[Identifier, ...]:
    """Return the columns of a key or index, in order; none if one of them is an expression."""
    columns = []
    for piece in split_commas(tokens):
        first, second = piece[0], piece[1] if len(piece) > 1 else None
        is_name = first.kind in ("word", "name", "dquote", "string")
        has_length = second is not None and second.upper == "(" and piece[2].kind == "number"
        if not is_name or not (second is None or second.kind == "word" or has_length):
            return ()
        columns.append(Identifier(first.text, first.kind != "word"))
    return tuple(columns)


def are_nulls_equal(tokens: Sequence[Token]) -> bool:
    """Return whether what is said of a unique key has NULLS NOT DISTINCT."""
    words = [token.upper for token in tokens]
    return any(words[i : i + 3] == ["NULLS", "NOT", "DISTINCT"] for i in range(len(words)))


def _read_element(reader: Reader, elements: Elements) -> None:
    name = ""
    if reader.upper() == "CONSTRAINT":
        reader.take()
        if reader.upper() not in ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
            reader.accept("IF NOT EXISTS")
            name = reader.object_name().name.text
    if reader.accept("PRIMARY KEY"):
        elements.keys.append(_read_key(reader, name, primary=True))
    elif reader.accept("UNIQUE"):
        elements.keys.append(_read_unique(reader, name))
    elif reader.accept("FOREIGN KEY"):
        elements.foreign_keys.append(_read_foreign_key(reader, name))
    elif reader.upper() == "LIKE" or (reader.upper() == "(" and reader.upper(1) == "LIKE"):
        _read_like(reader, elements)
    elif _is_irrelevant(reader, has_name=bool(name)):
        return
    elif name:
        raise UnreadableError("this kind of constraint isn't known")
    else:
        elements.columns.append(read_column(reader, elements))


def _read_key(reader: Reader, name: str, *, primary: bool) -> Key:
    if reader.accept("USING INDEX") and reader.is_name():
        return Key(primary, (), name, reader.object_name().name.text)
    nulls_are_equal = are_nulls_equal(reader.until("("))
    return Key(primary, key_columns(reader.group()), name, nulls_are_equal=nulls_are_equal)


def _read_unique(reader: Reader, name: str) -> Key:
    reader.accept("KEY", "INDEX")
    if reader.upper() not in ("(", "USING", "CLUSTERED", "NONCLUSTERED", "NULLS") and (
        reader.is_name()
    ):
        name = name or reader.name().text
    return _read_key(reader, name, primary=False)


def _read_foreign_key(reader: Reader, name: str) -> ForeignKey:
    reader.accept("IF NOT EXISTS")
    if reader.upper() != "(":
        name = name or reader.name().text
    reader.until("(")
    columns = key_columns(reader.group())
    if not columns:
        raise UnreadableError("its columns aren't plain names")
    reader.expect("REFERENCES")
    reader.accept("WITH NO CHECK OPTION", "WITH CHECK OPTION")
    to_table = reader.object_name()
    to_columns = key_columns(reader.group()) if reader.upper() == "(" else ()
    return ForeignKey(columns, to_table, to_columns, name)


def _read_like(reader: Reader, elements: Elements) -> None:
    if reader.upper() == "(":
        reader = Reader(reader.group(), reader.dialect)
    reader.expect("LIKE")
    elements.models.append(reader.object_name())
    while not reader.is_done:
        if reader.accept("INCLUDING ALL", "INCLUDING INDEXES"):
            elements.with_model_keys = True
        else:
            reader.take()


def _is_irrelevant(reader: Reader, *, has_name: bool) -> bool:
    """Return whether an element is neither a column nor a key (a check, an index, a period)."""
    word, following = reader.upper(), reader.upper(1)
    is_typed = reader.kind(1) in ("word", "name") and following not in ("USING", "NOT")
    is_clickhouse = reader.dialect.name == "clickhouse"
    return (
        (word in ("CHECK", "EXCLUDE") and not is_typed)
        or word == "DEFAULT"
        or (has_name and word in ("NOT", "NULL", "ASSUME"))
        or (word in ("PERIOD", "WATERMARK") and following == "FOR")
        or (word == "SUPPLEMENTAL" and following == "LOG")
        or (word == "PROJECTION" and is_clickhouse)
        or (word == "FAMILY" and reader.upper(2) == "(" and reader.kind(3) in ("word", "dquote"))
        or (word in ("SHARD", "SORT") and following == "KEY")
        or _is_index(reader)
    )


def _is_index(reader: Reader) -> bool:
    """Return whether an index that's no key comes next (``KEY name (…)``), not a column ``key``."""
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
