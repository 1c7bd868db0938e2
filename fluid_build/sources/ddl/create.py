"""CREATE TABLE."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fluid_build.sources.base import Skipped
from fluid_build.sources.ddl.changes import add_elements
from fluid_build.sources.ddl.elements import key_columns, read_elements
from fluid_build.sources.ddl.reader import Reader
from fluid_build.sources.ddl.schema import (
    AbsentTableError,
    DraftTable,
    Elements,
    Key,
    ObjectName,
    Schema,
    find_column,
    find_table,
    table_key,
)
from fluid_build.sources.ddl.tokens import Token

_TEMPORARY = frozenset(("TEMP", "TEMPORARY", "VOLATILE"))
_QUERY = frozenset(("SELECT", "WITH", "VALUES", "TABLE", "EXECUTE", "FROM", "("))


@dataclass
class _Definition:
    """A table as its statement defines it; ``before`` are the words before TABLE."""

    before: Sequence[str]
    if_not_exists: bool
    name: ObjectName
    elements: Elements = field(default_factory=Elements)
    comment: str | None = None
    inherits: Sequence[ObjectName] = ()
    partition_of: ObjectName | None = None
    is_from_query: bool = False


def create_table(reader: Reader, schema: Schema) -> list[str]:
    """Add the table that a statement creates; return what of it couldn't be read.

    Raises AbsentTableError if it takes its columns from a table that isn't there yet, and
    UnreadableError if even its name or the end of its body is missing.
    """
    definition = _read(reader)
    key, name = table_key(schema, definition.name), definition.name.name.text
    aside, reason = _why_aside(definition), _why_skipped(definition)
    if aside:
        schema.aside[key] = f"{name} is left out: {aside}"
        return []
    if reason:
        schema.skipped.setdefault(key, Skipped(name, reason))
        return []
    models = [_model(schema, model) for model in _models(definition)]
    if key in schema.tables and "REPLACE" not in definition.before:
        return [] if definition.if_not_exists else [f"{name} is created twice; the first counts"]
    home = definition.name.schema.text if definition.name.schema else schema.current
    table = DraftTable(
        definition.name.name, home, comment=definition.comment, parent=definition.partition_of
    )
    for model in models:
        _copy(definition.elements, model, table, schema)
    if definition.inherits and not definition.elements.columns:
        table.parent = definition.inherits[0]
    fault = add_elements(schema, table, definition.elements)
    schema.tables[key] = table
    schema.skipped.pop(key, None)
    return [f"{name}: {fault}"] if fault else []


def table_name(reader: Reader) -> ObjectName:
    """Take everything up to and including the name in a CREATE TABLE statement."""
    reader.skip_to("TABLE")
    reader.accept("IF NOT EXISTS")
    return reader.object_name()


def _read(reader: Reader) -> _Definition:
    before = []
    while (word := reader.take().upper) != "TABLE":
        before.append(word)
    definition = _Definition(before, reader.accept("IF NOT EXISTS"), reader.object_name())
    definition.is_from_query = "DYNAMIC" in before
    if "VIRTUAL" in before:
        return definition
    has_body = False
    while not reader.is_done:
        if reader.upper() == "(" and not has_body:
            has_body = True
            _read_body(reader.group(), reader, definition)
        elif reader.upper() == "SELECT" or (reader.upper() == "AS" and reader.upper(1) in _QUERY):
            reader.remaining()
            definition.is_from_query = True
        elif reader.accept("PARTITION OF"):
            definition.partition_of = reader.object_name()
            reader.remaining()
        elif reader.accept("INHERITS"):
            definition.inherits = [piece.object_name() for piece in reader.pieces()]
        elif not has_body and _copies(reader):
            has_body = True
            definition.elements = Elements(models=[reader.object_name()], with_model_keys=True)
        else:
            _read_option(reader, definition)
    return definition


def _read_body(tokens: Sequence[Token], reader: Reader, definition: _Definition) -> None:
    if tokens and tokens[0].upper in ("SELECT", "WITH"):
        definition.is_from_query = True
    else:
        definition.elements = read_elements(tokens, reader.dialect)


def _copies(reader: Reader) -> bool:
    """Return whether the name of a table to copy comes next; ClickHouse says ``AS`` for it."""
    return reader.accept("LIKE", "CLONE", "COPY") or (
        reader.dialect.name == "clickhouse" and reader.accept("AS")
    )


def _read_option(reader: Reader, definition: _Definition) -> None:
    """Take an option after the body; those without bearing on structure are stepped over."""
    elements = definition.elements
    if reader.accept("COMMENT"):
        reader.accept("=")
        definition.comment = None if reader.is_done else reader.take().text
    elif reader.accept("OPTIONS"):
        definition.comment = _description(reader) or definition.comment
    elif reader.accept("CLUSTER BY LINEAR", "CLUSTER BY"):
        reader.skip_group()
    elif reader.accept("PARTITIONED BY"):
        # Hive keeps the columns it partitions by outside the body; others only name them there.
        for piece in reader.pieces():
            if piece.kind(1) in ("word", "name"):
                elements.columns += read_elements(piece.tokens, reader.dialect).columns
    elif reader.accept("PRIMARY KEY"):
        _add_key(reader, elements, primary=True)
    elif reader.accept("UNIQUE KEY", "UNIQUE PRIMARY INDEX"):
        _add_key(reader, elements, primary=False)
    elif not reader.skip_group():
        reader.take()


def _description(reader: Reader) -> str | None:
    """Take BigQuery's ``(description = "…")``."""
    for piece in reader.pieces():
        if piece.accept("DESCRIPTION ="):
            return piece.take().text
    return None


def _add_key(reader: Reader, elements: Elements, *, primary: bool) -> None:
    if reader.upper() != "(" and reader.upper(1) == "(":
        reader.take()
    if reader.upper() == "(":
        elements.keys.append(Key(primary, key_columns(reader.group())))


def _why_aside(definition: _Definition) -> str:
    """Return why nobody will miss a table."""
    name = definition.name.name.text
    if _TEMPORARY.intersection(definition.before) or name.startswith("#"):
        return "it's a temporary table."
    if name.lower().startswith("sqlite_"):
        return "it's SQLite's own."
    return ""


def _why_skipped(definition: _Definition) -> str:
    """Return why a table that a user would miss can't be read."""
    if "VIRTUAL" in definition.before:
        return "It's a virtual table, whose columns a module decides."
    elements = definition.elements
    if definition.is_from_query and not any(column.type for column in elements.columns):
        return "It's made from a query, so its columns aren't declared."
    if elements.columns or definition.partition_of or _models(definition):
        return ""
    if elements.faults:
        return f"None of its columns could be read: {elements.faults[0]}."
    return "It declares no columns."


def _models(definition: _Definition) -> list[ObjectName]:
    return [*definition.elements.models, *definition.inherits]


def _model(schema: Schema, name: ObjectName) -> DraftTable:
    model = find_table(schema, name)
    if model is None:
        raise AbsentTableError(name.name.text)
    return model


def _copy(elements: Elements, model: DraftTable, table: DraftTable, schema: Schema) -> None:
    """Copy the columns of a table that's copied or inherited from; its keys only if asked to."""
    folding = schema.dialect.folding
    for column in model.columns:
        if find_column([*table.columns, *elements.columns], column.name, folding) is None:
            table.columns.append(column)
    if elements.with_model_keys:
        table.keys += model.keys
