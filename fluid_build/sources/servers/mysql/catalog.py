"""What a MySQL or MariaDB database declares, read from its information_schema."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from fluid_build.sources.servers.catalog_rows import (
    ForeignKey,
    Key,
    Place,
    Query,
    declared_keys,
    declared_references,
)
from fluid_build.sources.servers.mysql.rows import MOST_AT_ONCE
from fluid_build.sources.servers.staging import ServerColumn, ServerTable

SYSTEM_SCHEMAS = ("information_schema", "mysql", "performance_schema", "sys")
_TABLE_TYPES = ("BASE TABLE", "SYSTEM VERSIONED")
_VERSIONED = "It's system-versioned: only the current version of each row was read."
_VIEW = "It's a view, which declares no keys."
_PARTLY = "This user may SELECT some of its columns only; the others weren't read."
_LARGE = (
    "It's large, so it was read by a connection of its own: its rows may be newer than those of"
    " other tables."
)
_SNAPSHOT_ENGINES = ("InnoDB", "RocksDB", "TokuDB", "ndbcluster", "SEQUENCE")


@dataclass(frozen=True, slots=True)
class CatalogColumn(ServerColumn):
    """A column as MySQL declares it.

    ``base`` is the name of its type, ``json`` where MariaDB checks that its text is JSON.
    ``is_binary_text`` says that its text is compared byte by byte, and ``is_key`` that it's in a
    key or refers to one.
    """

    base: str
    precision: int
    scale: int
    collation: str
    is_key: bool = False

    @property
    def is_unsigned(self) -> bool:
        """Whether it's a number that's never negative."""
        return "unsigned" in self.declared_type

    @property
    def is_binary_text(self) -> bool:
        """Whether its text is compared byte by byte."""
        return self.collation.endswith("_bin")

    @property
    def is_loosely_compared(self) -> bool:
        """Whether the server takes different texts for equal: in case, accents or last spaces."""
        return bool(self.collation) and not self.collation.endswith(("_0900_bin", "_nopad_bin"))


CatalogTable: TypeAlias = ServerTable[CatalogColumn]


@dataclass(frozen=True, slots=True)
class Overview:
    """A server as this user sees it.

    ``database`` is the one that the connection chose, "" if none. ``schemas`` are the databases
    that aren't the server's own, and ``isolation`` is what a transaction sees of others.
    """

    database: str
    is_mariadb: bool
    isolation: str
    schemas: tuple[str, ...]


def overview(query: Query) -> Overview:
    """Return what the server and the login say of themselves."""
    database, version = query("SELECT DATABASE(), VERSION()")[0]
    is_mariadb = "mariadb" in _text(version).lower()
    # MariaDB knows the other name since 11.1 only; MySQL dropped this one in 8.0.
    isolation = "@@tx_isolation" if is_mariadb else "@@transaction_isolation"
    return Overview(
        database=_text(database),
        is_mariadb=is_mariadb,
        isolation=_text(query(f"SELECT {isolation}")[0][0]),
        schemas=tuple(
            _text(name)
            for (name,) in query("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA ORDER BY 1")
            if _text(name).lower() not in SYSTEM_SCHEMAS
        ),
    )


def database_comment(query: Query, server: Overview, schema: str) -> str:
    """Return what its owner says of a database, "" if nothing; MySQL has no such comments."""
    if not server.is_mariadb:
        return ""
    rows = query(
        "SELECT SCHEMA_COMMENT FROM information_schema.SCHEMATA"
        f" WHERE SCHEMA_NAME IN {_texts([schema])}"
    )
    return _text(rows[0][0]) if rows else ""


def count_left_out(query: Query, schemas: Sequence[str]) -> dict[str, int]:
    """Count the relations of databases that are no tables, by what they are."""
    types = {"VIEW": "views", "SEQUENCE": "sequences"}
    rows = query(
        "SELECT TABLE_TYPE, COUNT(*) FROM information_schema.TABLES"
        f" WHERE TABLE_SCHEMA IN {_texts(schemas)} GROUP BY 1 ORDER BY 1"
    )
    return {types[_text(type_)]: _number(count) for type_, count in rows if _text(type_) in types}


def read_tables(
    query: Query, server: Overview, schemas: Sequence[str], *, views: bool
) -> list[CatalogTable]:
    """Return the tables of the databases, in order, with columns, keys and comments."""
    if not schemas:
        return []
    primary, unique = _keys(query, schemas)
    foreign = _foreign_keys(query, schemas)
    key_columns = _key_columns(primary, foreign)
    columns = _columns(query, server, schemas)
    partly = _partly_readable(query)
    types = (*_TABLE_TYPES, *(("VIEW",) if views else ()))
    rows = query(
        "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, TABLE_COMMENT, DATA_LENGTH, ENGINE,"
        " TABLE_ROWS FROM information_schema.TABLES"
        f" WHERE TABLE_SCHEMA IN {_texts(schemas)} AND TABLE_TYPE IN {_texts(types)}"
    )
    tables = []
    for schema, name, type_, comment, size, engine, number in rows:
        place = _text(schema), _text(name)
        # The server compares the names of databases without case.
        if place[0] not in schemas:
            continue
        is_view = _text(type_) == "VIEW"
        readable, hidden = columns.get(place, ((), 0))
        is_partly_readable = place in partly or bool(readable and hidden)
        notes = [*_table_notes(_text(type_), _text(engine))]
        if is_partly_readable:
            notes.append(_PARTLY)
        if _number(size) > MOST_AT_ONCE:
            notes.append(_LARGE)
        tables.append(
            ServerTable(
                schema=place[0],
                name=place[1],
                bytes=_number(size),
                readable=bool(readable) or not hidden,
                # The comment on a view is the word VIEW.
                comment=None if is_view else _text(comment) or None,
                columns=_with_keys(readable, key_columns.get(place, ())),
                primary_key=_within(readable, primary.get(place, ())),
                unique_keys=tuple(
                    key for key in unique.get(place, ()) if _within(readable, key) == key
                ),
                foreign_keys=tuple(
                    key for key in foreign.get(place, ()) if _within(readable, key[0]) == key[0]
                ),
                notes=tuple(notes),
                rows=None if is_view or number is None else _number(number),
                is_estimate=True,
                is_view=is_view,
            )
        )
    # The server sorts by its own collation, and each server by another one.
    return sorted(tables, key=lambda table: (table.schema, table.name.lower(), table.name))


def _table_notes(type_: str, engine: str) -> Iterator[str]:
    if type_ == "VIEW":
        yield _VIEW
    elif type_ == "SYSTEM VERSIONED":
        yield _VERSIONED
    elif engine and engine not in _SNAPSHOT_ENGINES:
        yield (
            f"Its storage engine, {engine}, has no transactions: it was read as it was at that"
            " moment, which may be later than for other tables."
        )


def _partly_readable(query: Query) -> set[Place]:
    """Return the tables of which this user may read some columns: others aren't even listed."""
    rows = query(
        "SELECT DISTINCT TABLE_SCHEMA, TABLE_NAME FROM information_schema.COLUMN_PRIVILEGES"
        " WHERE PRIVILEGE_TYPE = 'SELECT'"
    )
    partly = {(_text(schema), _text(table)) for schema, table in rows}
    if not partly:
        return set()
    for columns, source in (
        ("TABLE_SCHEMA, TABLE_NAME", "TABLE_PRIVILEGES"),
        ("TABLE_SCHEMA, '%'", "SCHEMA_PRIVILEGES"),
        ("'%', '%' AS t", "USER_PRIVILEGES"),
    ):
        for schema, table in query(
            f"SELECT {columns} FROM information_schema.{source} WHERE PRIVILEGE_TYPE = 'SELECT'"
        ):
            partly -= {
                place
                for place in partly
                if _text(schema) in ("%", place[0]) and _text(table) in ("%", place[1])
            }
    return partly


def _within(columns: Sequence[CatalogColumn], key: Sequence[str]) -> tuple[str, ...]:
    """Return a key, or () where one of its columns isn't among those that can be read."""
    names = {column.name for column in columns}
    return tuple(key) if names.issuperset(key) else ()


def _with_keys(
    columns: Sequence[CatalogColumn], names: Collection[str]
) -> tuple[CatalogColumn, ...]:
    """Return the columns, with those of the names marked as parts of keys or references."""
    return tuple(
        replace(column, is_key=True) if column.name in names else column for column in columns
    )


def _key_columns(
    primary: Mapping[Place, Key], foreign: Mapping[Place, tuple[ForeignKey, ...]]
) -> dict[Place, set[str]]:
    """Return the columns of each table that are in its primary key or either end of a reference."""
    names = {place: set(key) for place, key in primary.items()}
    for place, keys in foreign.items():
        for own, to_schema, to_table, theirs in keys:
            names.setdefault(place, set()).update(own)
            names.setdefault((to_schema, to_table), set()).update(theirs)
    return names


def _columns(
    query: Query, server: Overview, schemas: Sequence[str]
) -> dict[Place, tuple[tuple[CatalogColumn, ...], int]]:
    """Return the columns of each table that this user may read, and how many it may not."""
    rows = query(
        "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, NUMERIC_PRECISION,"
        " NUMERIC_SCALE, IS_NULLABLE, EXTRA, COLUMN_COMMENT, COLLATION_NAME, PRIVILEGES"
        f" FROM information_schema.COLUMNS WHERE TABLE_SCHEMA IN {_texts(schemas)}"
        " ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION"
    )
    json_columns = _checked_json(query, schemas) if server.is_mariadb else set()
    # A role's rights are missing on some servers: then the SELECT itself has to show them.
    are_listed = any("select" in _text(row[-1]).lower() for row in rows)
    readable: dict[Place, list[CatalogColumn]] = {}
    hidden: dict[Place, int] = {}
    for schema, table, *fields in rows:
        place = _text(schema), _text(table)
        if are_listed and "select" not in _text(fields[-1]).lower():
            hidden[place] = hidden.get(place, 0) + 1
            continue
        readable.setdefault(place, []).append(
            _column(fields, is_json=(*place, _text(fields[0])) in json_columns)
        )
    return {
        place: (tuple(readable.get(place, ())), hidden.get(place, 0))
        for place in {**readable, **hidden}
    }


def _column(fields: Sequence[object], *, is_json: bool) -> CatalogColumn:
    name, type_, declared, precision, scale, nullable, extra, comment, collation, _ = fields
    return CatalogColumn(
        name=_text(name),
        declared_type=_text(declared),
        nullable=_text(nullable) == "YES",
        # DEFAULT_GENERATED is only a default that is an expression.
        generated=any(
            mark in _text(extra).upper()
            for mark in ("VIRTUAL GENERATED", "STORED GENERATED", "PERSISTENT")
        ),
        comment=_text(comment) or None,
        base="json" if is_json else _text(type_).lower(),
        precision=_number(precision),
        scale=_number(scale),
        collation=_text(collation),
    )


def _checked_json(query: Query, schemas: Sequence[str]) -> set[tuple[str, str, str]]:
    """Return the columns that MariaDB keeps as text with a check that it's JSON."""
    rows = query(
        "SELECT CONSTRAINT_SCHEMA, TABLE_NAME, CHECK_CLAUSE FROM information_schema"
        f".CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA IN {_texts(schemas)}"
        " AND CHECK_CLAUSE LIKE 'json\\_valid(`%`)'"
    )
    return {
        (
            _text(schema),
            _text(table),
            _text(clause).removeprefix("json_valid(`").removesuffix("`)").replace("``", "`"),
        )
        for schema, table, clause in rows
    }


def _keys(
    query: Query, schemas: Sequence[str]
) -> tuple[dict[Place, Key], dict[Place, tuple[Key, ...]]]:
    """Return primary keys and unique keys; an index over an expression is neither.

    A key over the first characters of a column is a key over the column, too.
    """
    rows = query(
        "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, COLUMN_NAME"
        f" FROM information_schema.STATISTICS WHERE TABLE_SCHEMA IN {_texts(schemas)}"
        " AND NON_UNIQUE = 0 ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX"
    )
    texts = (map(_text, row) for row in rows)
    return declared_keys(
        ((schema, table), index, index == "PRIMARY", column)
        for schema, table, index, column in texts
    )


def _foreign_keys(query: Query, schemas: Sequence[str]) -> dict[Place, tuple[ForeignKey, ...]]:
    rows = query(
        "SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, REFERENCED_TABLE_SCHEMA,"
        " REFERENCED_TABLE_NAME, COLUMN_NAME, REFERENCED_COLUMN_NAME"
        f" FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA IN {_texts(schemas)}"
        " AND REFERENCED_TABLE_NAME IS NOT NULL"
        " ORDER BY TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION"
    )
    texts = (map(_text, row) for row in rows)
    return declared_references(
        ((schema, table), key, to_schema, to_table, own, parent)
        for schema, table, key, to_schema, to_table, own, parent in texts
    )


def _texts(values: Sequence[str]) -> str:
    """Return strings as a list in SQL; the hexadecimal form holds in every mode of the server."""
    return (
        "("
        + ", ".join(f"CONVERT(x'{value.encode().hex()}' USING utf8mb4)" for value in values)
        + ")"
    )


def _text(value: object) -> str:
    """Return text of the catalog, which some servers send as bytes; "" for NULL."""
    if isinstance(value, bytes):
        return value.decode()
    return "" if value is None else str(value)


def _number(value: object) -> int:
    return int(_text(value) or 0)
