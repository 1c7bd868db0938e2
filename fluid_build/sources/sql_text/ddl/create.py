"""CREATE TABLE."""

from collections.abc import Set

from fluid_build.sources.base import Skipped
from fluid_build.sources.sql_text.ddl.changes import add_elements
from fluid_build.sources.sql_text.ddl.elements import key_columns, read_description, read_elements
from fluid_build.sources.sql_text.ddl.reader import Reader
from fluid_build.sources.sql_text.ddl.schema import (
    AbsentTableError,
    ChangeError,
    DraftTable,
    Elements,
    Key,
    ObjectName,
    Schema,
    find_column,
    find_table,
    table_key,
)

_TEMPORARY = frozenset(("TEMP", "TEMPORARY", "VOLATILE"))
_VIRTUAL = "It's a virtual table, whose columns a module decides."
_QUERY = frozenset(("SELECT", "WITH", "VALUES", "TABLE", "EXECUTE", "FROM", "("))


def create_table(reader: Reader, schema: Schema) -> list[str]:
    """Add the table that a statement creates; return what of it couldn't be read.

    Raises AbsentTableError if it takes its columns from a table that isn't there yet, and
    UnreadableError if even its name or the end of its body is missing.
    """
    before = {token.upper for token in reader.until(("TABLE",))}
    is_optional = reader.upper(1) == "IF" and reader.upper(2) == "NOT"
    full_name = table_name(reader)
    elements = Elements()
    is_virtual = "VIRTUAL" in before
    is_from_query = not is_virtual and (_read(reader, elements) or "DYNAMIC" in before)
    key, name = table_key(schema, full_name), full_name.name.text
    aside = _why_aside(name, before)
    reason = _VIRTUAL if is_virtual else _why_skipped(elements, is_from_query)
    if aside:
        schema.aside[key] = f"{name} is left out: {aside}"
        return []
    if reason:
        schema.skipped.setdefault(key, Skipped(name, reason))
        return []
    models = [_model(schema, model) for model in elements.models]
    if key in schema.tables and "REPLACE" not in before:
        return [] if is_optional else [f"{name} is created twice; the first counts"]
    home = full_name.schema.text if full_name.schema else schema.current
    table = DraftTable(full_name.name, home, comment=elements.comment, parent=elements.parent)
    for model in models:
        _copy(elements, model, table, schema)
    schema.tables[key] = table
    schema.moved.add(name.casefold())
    schema.skipped.pop(key, None)
    try:
        add_elements(schema, table, elements)
    except ChangeError as fault:
        return [f"{name}: {fault}"]
    return []


def table_name(reader: Reader) -> ObjectName:
    """Take everything up to and including the name in a CREATE TABLE statement."""
    reader.skip_to("TABLE")
    reader.accept("IF NOT EXISTS")
    return reader.object_name()


def _read(reader: Reader, elements: Elements) -> bool:
    """Take everything after the name, and return whether the table is made from a query."""
    has_body = is_from_query = False
    while not reader.is_done:
        if reader.upper() == "(" and not has_body:
            has_body = True
            body = reader.group()
            if body and body[0].upper in ("SELECT", "WITH"):
                is_from_query = True
            else:
                read_elements(body, reader.dialect, elements)
        elif reader.upper() == "SELECT" or (reader.upper() == "AS" and reader.upper(1) in _QUERY):
            reader.remaining()
            is_from_query = True
        elif reader.accept("PARTITION OF"):
            elements.parent = reader.object_name()
            reader.remaining()
        elif reader.accept("INHERITS"):
            parents = [piece.object_name() for piece in reader.pieces()]
            elements.models += parents
            elements.parent = None if elements.columns else parents[0]
        elif not has_body and _copies(reader):
            has_body = True
            elements.models.append(reader.object_name())
            elements.with_model_keys = True
        else:
            _read_option(reader, elements)
    return is_from_query


def _copies(reader: Reader) -> bool:
    """Return whether the name of a table to copy comes next; ClickHouse says ``AS`` for it."""
    return reader.accept("LIKE", "CLONE", "COPY") or (
        reader.dialect.name == "clickhouse" and reader.accept("AS")
    )


def _read_option(reader: Reader, elements: Elements) -> None:
    """Take an option after the body; those without bearing on structure are stepped over."""
    if reader.accept("COMMENT"):
        reader.accept("=")
        elements.comment = None if reader.is_done else reader.take().text
    elif reader.accept("OPTIONS"):
        elements.comment = read_description(reader) or elements.comment
    elif reader.accept("CLUSTER BY LINEAR", "CLUSTER BY"):
        reader.skip_group()
    elif reader.accept("PARTITIONED BY"):
        # Hive keeps the columns it partitions by outside the body; others only name them there.
        for piece in reader.pieces():
            if piece.kind(1) in ("word", "name"):
                read_elements(piece.tokens, reader.dialect, elements)
    elif reader.accept("PRIMARY KEY"):
        _add_key(reader, elements, primary=True)
    elif reader.accept("UNIQUE KEY", "UNIQUE PRIMARY INDEX"):
        _add_key(reader, elements, primary=False)
    elif not reader.skip_group():
        reader.take()


def _add_key(reader: Reader, elements: Elements, *, primary: bool) -> None:
    if reader.upper() != "(" and reader.upper(1) == "(":
        reader.take()
    if reader.upper() == "(":
        elements.keys.append(Key(primary, key_columns(reader.group())))


def _why_aside(name: str, before: Set[str]) -> str:
    """Return why nobody will miss a table."""
    if before & _TEMPORARY or name.startswith("#"):
        return "it's a temporary table."
    return "it's SQLite's own." if name.lower().startswith("sqlite_") else ""


def _why_skipped(elements: Elements, is_from_query: bool) -> str:
    """Return why a table that a user would miss can't be read."""
    if is_from_query and not any(column.type for column in elements.columns):
        return "It's made from a query, so its columns aren't declared."
    if elements.columns or elements.parent or elements.models:
        return ""
    if elements.faults:
        return f"None of its columns could be read: {elements.faults[0]}."
    return "It declares no columns."


def _model(schema: Schema, name: ObjectName) -> DraftTable:
    model = find_table(schema, name)
    if model is None:
        raise AbsentTableError(name.name.text)
    return model


def _copy(elements: Elements, model: DraftTable, table: DraftTable, schema: Schema) -> None:
    """Copy the columns of a table that's copied or inherited from; its keys only if asked to."""
    folding = schema.dialect.folding
    own = {column.name.text.lower() for column in (*table.columns, *elements.columns)}
    for column in model.columns:
        # Most names are new, which is seen without a look at each of the others.
        if column.name.text.lower() not in own or (
            find_column([*table.columns, *elements.columns], column.name, folding) is None
        ):
            table.columns.append(column)
    if elements.with_model_keys:
        table.keys += model.keys
