"""The tables of a source with nested columns, replaced by those that they are split into."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import duckdb

from fluid_build.errors import SourceUnreadableError
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.sources.base import (
    Column,
    DeclaredForeignKey,
    Documents,
    OpenSource,
    SampledRows,
    Skipped,
    Split,
    Table,
)
from fluid_build.sources.declarations.catalog_facts import CatalogFacts, TableFacts
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, reason
from fluid_build.sources.engine.query_progress import following
from fluid_build.sources.nested.json_columns import is_json, leaves
from fluid_build.sources.nested.levels import Level, ValueColumn
from fluid_build.sources.nested.rebuilding import rebuilt_documents
from fluid_build.sources.nested.splitting import Splitting, is_nested
from fluid_build.sources.origin import InDatabase, Origin
from fluid_build.sources.sql import quote
from fluid_build.sources.staged_views import stage_in_place
from fluid_build.text import listed_up_to

# The tags of nested columns, for the columns that they are split into.


def with_tagged_parts(facts: CatalogFacts, tables: Sequence[Table]) -> CatalogFacts:
    """Return a catalog's facts with the tags of nested columns on each of their parts."""
    described = dict(facts.tables)
    for table in tables:
        if table.split is None:
            continue
        original = table.split.documents.table
        tags = _tags_of_parts(table, original, facts.tables.get(original.name, TableFacts()))
        if tags:
            own = facts.tables.get(table.name, TableFacts())
            described[table.name] = replace(own, column_tags={**own.column_tags, **tags})
    return replace(facts, tables=described)


def _tags_of_parts(table: Table, original: Table, facts: TableFacts) -> dict[str, tuple[str, ...]]:
    names = {column.alias: column.name for column in original.columns}
    parts = {
        column.name: names.get(column.path[0], column.path[0])
        for column in table.columns
        if column.path
    }
    return {
        part: facts.column_tags[column]
        for part, column in parts.items()
        if column in facts.column_tags
    }


_DOCUMENTS = "\0"
"""Takes the place of the documents in a query that's cut there: no SQL has it."""

_MOST_NAMED = 5
"""Child tables that a note names; the others are counted."""

_STAYS_JSON = "Its JSON values have no structure in common, so they stay JSON."


class _EqualKeysError(Exception):
    """A map can't be rebuilt from the rows of its entries."""


def split_nested(source: OpenSource, on_progress: OnProgress = ignore) -> None:
    """Replace each table that has nested columns by the tables that it's split into.

    A table that can't be split stays as it is, with a note that says why; one that DuckDB couldn't
    put together again is skipped. Raises SourceUnreadableError where no table is left.
    """
    if not any(map(may_be_nested, source.tables)):
        return
    used_names = {table.name.lower() for table in source.tables}
    tables: list[Table] = []
    for position, table in enumerate(source.tables):
        if not may_be_nested(table):
            tables.append(table)
            continue
        report = Progress("reading", position, len(source.tables), table.name)
        with following(source.connection, on_progress, report):
            try:
                tables += _split(source, table, used_names)
            except _EqualKeysError as error:
                source.skipped = (*source.skipped, Skipped(table.name, str(error)))
    on_progress(Progress("reading", len(source.tables), len(source.tables)))
    if not tables:
        raise SourceUnreadableError(
            f"{source.name} could not be read. {source.skipped[-1].reason}",
            hint="Pass --nested keep to leave nested columns as they are.",
        )
    source.tables = tuple(tables)
    if source.catalog is not None:
        facts = with_tagged_parts(source.catalog.facts, tables)
        source.catalog = replace(source.catalog, facts=facts)


def may_be_nested(table: Table) -> bool:
    """Return whether a table has a column that could be split into tables."""
    return any(is_nested(column.type) or is_json(column) for column in table.columns)


def _split(source: OpenSource, table: Table, used_names: set[str]) -> list[Table]:
    try:
        return _tables(source, Splitting(source, table, used_names))
    except duckdb.InterruptException:
        raise
    except DUCKDB_ERRORS as error:
        why = reason(error)
    try:
        # DuckDB can't run every query on some Parquet files where they are.
        staged = stage_in_place(source, table)
        if staged is not None:
            return _tables(source, Splitting(source, staged, used_names))
    except duckdb.InterruptException:
        raise
    except DUCKDB_ERRORS as error:
        why = reason(error)
    note = f"Its nested columns stay as they are, because splitting them failed: {why}"
    return [replace(table, notes=(*table.notes, note))]


def _tables(source: OpenSource, splitting: Splitting) -> list[Table]:
    table = splitting.table
    connection = source.connection
    if not splitting.levels:
        kept = [column.alias for column in table.columns if column.type == "JSON"]
        mixed = _with_values(connection, table.relation, kept)
        return [replace(table, columns=tuple(_noted(c, c.alias in mixed) for c in table.columns))]
    relations = splitting.create_tables()
    for level in splitting.levels:
        _check_keys(connection, level, relations[level.name])
    documents = _documents(splitting, relations)
    root, *children = splitting.levels
    return [
        _root_table(connection, splitting, relations[root.name], documents),
        *(
            _child_table(connection, splitting, level, relations[level.name], documents)
            for level in children
        ),
    ]


def _check_keys(connection: duckdb.DuckDBPyConnection, level: Level, relation: str) -> None:
    """Raise _EqualKeysError where a map has a key twice: Arrow may write one, DuckDB makes none."""
    if level.items is None or not level.items.is_map:
        return
    keys = [column.name for column in level.columns if column.node.path == ("key",)]
    if not keys:
        return
    columns = ", ".join(quote(name) for name in (*(key.name for key in level.key[:-1]), *keys))
    found = connection.execute(
        f"SELECT 1 FROM {relation} GROUP BY {columns} HAVING count(*) > 1 LIMIT 1"
    ).fetchone()
    if found:
        name = ".".join(level.path)
        raise _EqualKeysError(f"A map in {name} has a key more than once. Write it as a list.")


def _documents(splitting: Splitting, relations: Mapping[str, str]) -> Documents:
    root, *children = splitting.levels
    names = [column.alias for column in splitting.table.columns]
    rebuilt = rebuilt_documents(root, children, relations, names)
    return Documents(
        table=splitting.table,
        tables=tuple(level.name for level in splitting.levels),
        original=f"SELECT {', '.join(map(quote, names))} FROM {splitting.documents}",
        rebuilt=rebuilt,
        json_parts=tuple(_json_parts(splitting, rebuilt)),
        is_numbered=splitting.is_numbered,
    )


def _json_parts(splitting: Splitting, rebuilt: str) -> Iterator[tuple[str, str]]:
    """Return the queries for the parts of each JSON column, as it was read and as rebuilt."""
    for parsed in splitting.parsed.values():
        yield (
            leaves(splitting.table.relation, parsed.text),
            leaves(f"({rebuilt})", f"to_json({quote(parsed.column.alias)})"),
        )


def _split_of(splitting: Splitting, level: Level, documents: Documents) -> Split:
    query = level.query(splitting.reading(_DOCUMENTS))
    before, _, after = query.partition(_DOCUMENTS)
    return Split(documents, f"({before}", f"{after})", is_root=level.parent is None)


def _root_table(
    connection: duckdb.DuckDBPyConnection,
    splitting: Splitting,
    relation: str,
    documents: Documents,
) -> Table:
    table = splitting.table
    (root, *_) = splitting.levels
    columns = _columns(connection, root, relation, splitting)
    names = {column.name for column in columns}
    return replace(
        table,
        columns=columns,
        relation=relation,
        primary_key=(splitting.number,)
        if splitting.is_numbered and not table.primary_key
        else _complete(table.primary_key, names),
        unique_keys=tuple(key for key in table.unique_keys if names.issuperset(key)),
        foreign_keys=tuple(key for key in table.foreign_keys if names.issuperset(key.columns)),
        notes=(*table.notes, *_notes(splitting)),
        split=_split_of(splitting, root, documents),
    )


def _complete(key: tuple[str, ...], names: set[str]) -> tuple[str, ...]:
    return key if names.issuperset(key) else ()


def _notes(splitting: Splitting) -> list[str]:
    children = [level.name for level in splitting.levels[1:]]
    notes = []
    if children:
        tables = "the table" if len(children) == 1 else "the tables"
        notes.append(f"Its lists became {tables} {listed_up_to(_MOST_NAMED, children)}.")
    if splitting.is_numbered:
        notes.append(
            f"No column identifies its rows, so {splitting.number} numbers them in the order that"
            " they were read."
        )
    return notes + splitting.notes


def _child_table(
    connection: duckdb.DuckDBPyConnection,
    splitting: Splitting,
    level: Level,
    relation: str,
    documents: Documents,
) -> Table:
    table = splitting.table
    parent = level.parent
    assert parent is not None and level.items is not None
    names = {column.alias: column.name for column in table.columns}
    parent_key = tuple(
        names.get(key.name, key.name) if parent.parent is None else key.name for key in parent.key
    )
    own_key = tuple(key.name for key in level.key)
    comment = _comments(table).get(level.items.path[0]) if parent.parent is None else None
    return Table(
        name=level.name,
        columns=_columns(connection, level, relation, splitting),
        relation=relation,
        primary_key=own_key,
        foreign_keys=(DeclaredForeignKey(own_key[:-1], parent.name, parent_key),),
        schema=table.schema,
        comment=comment,
        origin=_child_origin(table, level.name),
        source=table.source,
        sampled=_sampled(connection, table, relation),
        split=_split_of(splitting, level, documents),
    )


def _sampled(
    connection: duckdb.DuckDBPyConnection, table: Table, relation: str
) -> SampledRows | None:
    """Return the part of a child that was read, where only a part of its documents was."""
    if table.sampled is None:
        return None
    row = connection.execute(f"SELECT count(*) FROM {relation}").fetchone()
    return SampledRows(int(row[0])) if row else None


def _child_origin(table: Table, name: str) -> Origin | None:
    """Return the origin of a child: its parent's, by the name that it would have in a database."""
    if not isinstance(table.origin, InDatabase):
        return table.origin
    own = name[len(table.name.removesuffix('"')) :].removesuffix('"')
    return InDatabase(table.origin.schema, f"{table.origin.table}{own}")


def _comments(table: Table) -> dict[str, str | None]:
    return {column.alias: column.comment for column in table.columns}


def _columns(
    connection: duckdb.DuckDBPyConnection, level: Level, relation: str, splitting: Splitting
) -> tuple[Column, ...]:
    """Return the columns of a level's relation, those that were columns before as they were."""
    described = connection.execute(f"DESCRIBE FROM {relation}").fetchall()
    types = {name: type_ for name, type_, *_ in described}
    plain = {column.alias: column for column in splitting.table.columns}
    comments = _comments(splitting.table) if level.parent is None else {}
    json = [name for name, type_ in types.items() if type_ == "JSON"]
    mixed = _with_values(connection, relation, json)
    keys = {key.name for key in level.key}
    fields = {key.name: key.fields for key in level.key} | {
        value.name: level.fields_of(value.node) for value in level.columns if not value.states
    }
    by_name: dict[str, ValueColumn] = {column.name: column for column in level.columns}
    columns = []
    for name, type_ in types.items():
        value = by_name.get(name)
        path = value.node.path if value is not None and not value.states else ()
        if level.parent is None and len(path) == 1 and path[0] in plain:
            column = plain[path[0]]
        else:
            is_required = name in keys or (value is not None and value.states)
            full = fields.get(name, ())
            is_value = value is not None and bool(full) and full[0] in plain
            column = Column(
                name,
                type_,
                nullable=not is_required,
                comment=comments.get(path[0]) if path else None,
                notes=plain[full[0]].notes if is_value else (),
                path=full,
            )
        columns.append(_noted(column, name in mixed))
    return tuple(columns)


def _noted(column: Column, is_mixed: bool) -> Column:
    return replace(column, notes=(*column.notes, _STAYS_JSON)) if is_mixed else column


def _with_values(
    connection: duckdb.DuckDBPyConnection, relation: str, columns: Sequence[str]
) -> set[str]:
    """Return those of some columns that have a value."""
    if not columns:
        return set()
    counts = ", ".join(f"count({quote(column)})" for column in columns)
    row = connection.execute(f"SELECT {counts} FROM {relation}").fetchone()
    assert row is not None, "an aggregate without groups always gives a row"
    return {column for column, count in zip(columns, row, strict=True) if count}
