"""What's between the parentheses of CREATE TABLE, or after ADD: columns, keys and references.

A column is its name, its type, and the attributes declared after them.
"""

from collections.abc import Iterator, Sequence

from fluid_build.sources.sql_text.ddl.dialects import Dialect
from fluid_build.sources.sql_text.ddl.reader import Reader, UnreadableError, split_commas
from fluid_build.sources.sql_text.ddl.schema import (
    ColumnDef,
    Elements,
    ForeignKey,
    Identifier,
    Key,
    ObjectName,
)
from fluid_build.sources.sql_text.ddl.tokens import Token, written
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
# Those and what else may follow an attribute; as part of a type, it begins none.
_PASSED = _IRRELEVANT | frozenset(
    ("CHAR", "CHARACTER", "FOR", "INCLUDE", "MASKING", "PATH", "PROJECTION", "ZEROFILL")
)
# Words that begin no attribute after these, but belong to theirs.
_CONTINUED = frozenset(
    (("ALWAYS", "AS"), ("AS", "IDENTITY"), ("BY", "DEFAULT"), ("DEFAULT", "AS"), ("DEFAULT", "ON"),
     ("FOREIGN", "KEY"), ("KEY", "REFERENCES"), ("NULL", "AS"), ("NULLS", "NOT"), ("ON", "NULL"),
     ("PRIMARY", "KEY"), ("SET", "DEFAULT"), ("SET", "NULL"), ("UNIQUE", "INDEX"),
     ("UNIQUE", "KEY"))
)  # fmt: skip
_COMPUTED = frozenset(("AS", "ALIAS", "MATERIALIZED", "GENERATED"))
_NUMBERED = frozenset(("AUTOINCREMENT", "AUTO_INCREMENT", "IDENTITY"))
_FAULT_SHOWN = 60
_BEFORE_INDEXED = frozenset(
    ("USING", "BTREE", "HASH", "RTREE", "UNIQUE", "CLUSTERED", "NONCLUSTERED", "COLUMNSTORE")
)


def read_elements(tokens: Sequence[Token], dialect: Dialect, elements: Elements) -> None:
    """Add what a list declares to the elements; one that can't be read becomes a fault."""
    for element in split_commas(tokens):
        try:
            _read_element(Reader(element, dialect), elements)
        except UnreadableError as fault:
            elements.faults.append(f"{_shortened(element)} ({fault})")


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
    return ForeignKey(columns, *_read_reference(reader), name)


def _read_reference(reader: Reader) -> tuple[ObjectName, tuple[Identifier, ...]]:
    reader.accept("WITH NO CHECK OPTION", "WITH CHECK OPTION")
    to_table = reader.object_name()
    return to_table, key_columns(reader.group()) if reader.upper() == "(" else ()


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
        if first in _PASSED or (first == "NOT" and set(words[1:2]) & _PASSED):
            continue
        if first in _NUMBERED or (first == "GENERATED" and "IDENTITY" in words):
            column.nullable = False
        elif first in _COMPUTED:
            # GENERATED ALWAYS AS ROW START is when a row was written.
            column.generated = column.generated or "ROW" not in words
        elif first == "COMMENT" and words[start + 1 :] not in ([], ["="]):
            column.comment = tokens[start + 1 + (words[start + 1] == "=")].text
        else:
            _read_attribute(Reader(tokens, reader.dialect), column, elements)
    return column


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


def _read_attribute(attribute: Reader, column: ColumnDef, elements: Elements) -> None:
    """Read what an attribute declares; what else it says is a fault."""
    try:
        _declare(attribute, column, elements)
    except UnreadableError:
        attribute.at = 0
    left = attribute.remaining()
    if left and left[0].upper not in _PASSED:
        column.faults = (*column.faults, _shortened(left))


def _declare(attribute: Reader, column: ColumnDef, elements: Elements) -> None:
    is_named = attribute.accept("CONSTRAINT") and not attribute.is_done
    name = attribute.name().text if is_named else ""
    has_short_keys = attribute.dialect.version_comments
    if attribute.accept("NOT NULL"):
        column.nullable = False
    elif attribute.accept("NULL"):
        column.nullable = True if column.nullable is None else column.nullable
    elif attribute.accept("PRIMARY KEY") or (has_short_keys and attribute.accept("KEY")):
        # With columns of its own, it's the table's key behind a comma that is missing.
        if not attribute.skip_group():
            elements.keys.append(Key(True, (column.name,), name))
    elif attribute.accept("UNIQUE"):
        attribute.accept("KEY", "INDEX")
        nulls_are_equal = attribute.accept("NULLS NOT DISTINCT")
        attribute.accept("NULLS DISTINCT")
        attribute.skip_group()
        elements.keys.append(Key(False, (column.name,), name, nulls_are_equal=nulls_are_equal))
    elif attribute.accept("FOREIGN KEY REFERENCES", "REFERENCES"):
        reference = _read_reference(attribute)
        elements.foreign_keys.append(ForeignKey((column.name,), *reference, name))
    elif attribute.accept("OPTIONS"):
        column.comment = read_description(attribute) or column.comment


def read_description(reader: Reader) -> str | None:
    """Take BigQuery's ``(description = "…")``."""
    for piece in reader.pieces():
        if piece.accept("DESCRIPTION ="):
            return piece.take().text
    return None


def _shortened(tokens: Sequence[Token]) -> str:
    """Return tokens as text, cut to what a message has room for."""
    return clip(written(tokens[:40]), _FAULT_SHOWN)
