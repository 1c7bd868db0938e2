"""CREATE TABLE."""

from dataclasses import replace

from fluid_build.sources.ddl.body import read_body
from fluid_build.sources.ddl.columns import description_option, key_columns
from fluid_build.sources.ddl.grammar import Body, CreateTable, KeyDef, ObjectName
from fluid_build.sources.ddl.reader import Reader, split_commas

_TEMPORARY = frozenset(("TEMP", "TEMPORARY", "VOLATILE"))
_QUERY = frozenset(("SELECT", "WITH", "VALUES", "TABLE", "EXECUTE", "FROM", "("))
_UNIQUE_MODELS = (("PRIMARY", "KEY"), ("UNIQUE", "KEY"), ("UNIQUE", "PRIMARY", "INDEX"))


def read_create_table(reader: Reader) -> CreateTable:
    """A CREATE TABLE statement; UnreadableError if even its name or its body's end is missing."""
    before = []
    while (word := reader.take().upper) != "TABLE":
        before.append(word)
    if_not_exists = reader.accept("IF", "NOT", "EXISTS")
    name = reader.object_name()
    made = CreateTable(
        name=name,
        temporary=bool(_TEMPORARY.intersection(before)) or name.name.text.startswith("#"),
        if_not_exists=if_not_exists,
        or_replace="REPLACE" in before,
        virtual="VIRTUAL" in before,
        from_query="DYNAMIC" in before,
    )
    return made if made.virtual else _read_definition(reader, made)


def _read_definition(reader: Reader, made: CreateTable) -> CreateTable:
    """What stands behind the name: the body, or the table whose columns it takes."""
    has_body = False
    while not reader.done:
        if reader.upper() == "(" and not has_body:
            has_body = True
            made = _read_list(reader, made)
        elif reader.accept("CLUSTER", "BY"):
            reader.accept("LINEAR")
            reader.skip_group()
        elif _begins_query(reader):
            reader.rest()
            return replace(made, from_query=True)
        elif reader.accept("PARTITION", "OF"):
            made = replace(made, partition_of=reader.object_name())
            reader.rest()
        elif reader.accept("INHERITS"):
            made = replace(made, inherits=_names(reader))
        elif not has_body and _copies(reader):
            made = replace(made, body=Body(like=(reader.object_name(),), like_keys=True))
            has_body = True
        else:
            made = _read_option(reader, made)
    return made


def _begins_query(reader: Reader) -> bool:
    return reader.upper() == "SELECT" or (reader.upper() == "AS" and reader.upper(1) in _QUERY)


def _read_list(reader: Reader, made: CreateTable) -> CreateTable:
    inside = reader.group()
    if inside and inside[0].upper in ("SELECT", "WITH"):
        return replace(made, from_query=True)
    return replace(made, body=read_body(inside, reader.dialect))


def _copies(reader: Reader) -> bool:
    """Whether the name of a table to copy comes next; ClickHouse says ``AS`` for it."""
    return any(reader.accept(word) for word in ("LIKE", "CLONE", "COPY")) or (
        reader.dialect.name == "clickhouse" and reader.accept("AS")
    )


def _names(reader: Reader) -> tuple[ObjectName, ...]:
    return tuple(
        Reader(piece, reader.dialect).object_name() for piece in split_commas(reader.group())
    )


def _read_option(reader: Reader, made: CreateTable) -> CreateTable:
    """One of the options behind the body; those without bearing on structure are stepped over."""
    if reader.accept("COMMENT"):
        reader.accept("=")
        return replace(made, comment=None if reader.done else reader.take().text)
    if reader.accept("OPTIONS"):
        comment = description_option(reader.group()) if reader.upper() == "(" else None
        return replace(made, comment=comment or made.comment)
    if reader.accept("PARTITIONED", "BY"):
        return _add_partition_columns(reader, made)
    for words in _UNIQUE_MODELS:
        if reader.accept(*words):
            return _add_key_option(reader, made, primary=words[0] == "PRIMARY")
    if not reader.skip_group():
        reader.take()
    return made


def _add_key_option(reader: Reader, made: CreateTable, *, primary: bool) -> CreateTable:
    if reader.upper() != "(" and reader.upper(1) == "(":
        reader.take()
    if reader.upper() != "(":
        return made
    key = KeyDef(primary, key_columns(reader.group()))
    return replace(made, body=replace(made.body, keys=(*made.body.keys, key)))


def _add_partition_columns(reader: Reader, made: CreateTable) -> CreateTable:
    """Hive keeps the columns it partitions by outside the body; others only name them there."""
    if reader.upper() != "(":
        return made
    columns = list(made.body.columns)
    for piece in split_commas(reader.group()):
        if len(piece) > 1 and piece[1].kind in ("word", "name"):
            columns += read_body(piece, reader.dialect).columns
    return replace(made, body=replace(made.body, columns=tuple(columns)))
