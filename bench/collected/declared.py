"""Keys as a database declares them, read from the catalogs of servers and from documents."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

Rows = Sequence[Sequence[Any]]
Query = Callable[[str], Rows]


@dataclass(frozen=True)
class Reference:
    """A foreign key, declared by a schema or stated in prose (``documented``)."""

    child: str
    columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...]
    kind: str = "declared"


@dataclass
class Declared:
    """The declared keys of a database."""

    primary: dict[str, tuple[str, ...]] = field(default_factory=dict)
    references: list[Reference] = field(default_factory=list)


def from_key_rows(primary: Iterable[Sequence[str]], foreign: Iterable[Sequence[str]]) -> Declared:
    """Return keys of rows that have a column each, in the key's order.

    A row of a primary key has its table and column; one of a foreign key its constraint, table,
    column, parent and parent's column.
    """
    declared = Declared()
    for table, column in primary:
        declared.primary[table] = (*declared.primary.get(table, ()), column)
    pairs: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for constraint, table, column, parent, parent_column in foreign:
        pairs.setdefault((constraint, table, parent), []).append((column, parent_column))
    for (_, table, parent), columns in pairs.items():
        own, others = zip(*columns, strict=True)
        declared.references.append(Reference(table, own, parent, others))
    return declared


def mariadb_keys(query: Query, database: str) -> Declared:
    place = "WHERE k.table_schema = '{}'".format(database.replace("'", "''"))
    names = "k.table_name, k.column_name"
    return from_key_rows(
        query(
            f"SELECT {names} FROM information_schema.key_column_usage k {place}"
            " AND k.constraint_name = 'PRIMARY' ORDER BY k.table_name, k.ordinal_position"
        ),
        query(
            f"SELECT k.constraint_name, {names}, k.referenced_table_name, k.referenced_column_name"
            f" FROM information_schema.key_column_usage k {place}"
            " AND k.referenced_table_name IS NOT NULL"
            " ORDER BY k.table_name, k.constraint_name, k.ordinal_position"
        ),
    )


def postgres_keys(query: Query) -> Declared:
    """Return the keys with names of tables as ``schema.table``."""
    unnested = """
        SELECT c.oid::text, n.nspname || '.' || t.relname, a.attname,
            pn.nspname || '.' || p.relname, pa.attname
        FROM pg_constraint c
        JOIN pg_class t ON t.oid = c.conrelid JOIN pg_namespace n ON n.oid = t.relnamespace
        CROSS JOIN LATERAL unnest(c.conkey, c.confkey) WITH ORDINALITY u(own, other, place)
        JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = u.own
        LEFT JOIN pg_class p ON p.oid = c.confrelid
        LEFT JOIN pg_namespace pn ON pn.oid = p.relnamespace
        LEFT JOIN pg_attribute pa ON pa.attrelid = p.oid AND pa.attnum = u.other
        WHERE c.contype = '{}' ORDER BY c.oid, u.place
    """
    primary = query(unnested.format("p"))
    return from_key_rows((row[1:3] for row in primary), query(unnested.format("f")))


def sqlite_keys(query: Query, tables: Iterable[str]) -> Declared:
    declared = Declared()
    for table in tables:
        name = '"' + table.replace('"', '""') + '"'
        places = [(row[5], row[1]) for row in query(f"PRAGMA table_info({name})") if row[5]]
        if places:
            declared.primary[table] = tuple(column for _, column in sorted(places))
        foreign: dict[int, list[Sequence[Any]]] = {}
        for row in query(f"PRAGMA foreign_key_list({name})"):
            foreign.setdefault(row[0], []).append(row)
        for rows in foreign.values():
            rows.sort(key=lambda row: row[1])
            own = tuple(row[3] for row in rows)
            # Without columns it means the parent's primary key.
            others = tuple(row[4] or "" for row in rows)
            declared.references.append(Reference(table, own, rows[0][2], others))
    return declared


def csvw_keys(document: str) -> tuple[dict[str, str], Declared]:
    """Return the files of a CSV on the Web description by their table's name, and its keys."""
    declared, files = Declared(), {}
    for table in json.loads(document)["tables"]:
        name, schema = table["url"].rpartition(".")[0], table["tableSchema"]
        files[name] = table["url"]
        lists = {column["name"] for column in schema["columns"] if column.get("separator")}
        declared.primary[name] = _names(schema.get("primaryKey", ()))
        for key in schema.get("foreignKeys", ()):
            own = _names(key["columnReference"])
            parent = key["reference"]["resource"].rpartition(".")[0]
            if not lists & set(own):
                others = _names(key["reference"]["columnReference"])
                declared.references.append(Reference(name, own, parent, others))
    return files, declared


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def stated_reference(text: str) -> Reference:
    """Return a reference of the list, ``child(a, b) -> parent(c, d)``."""
    child, parent = text.split("->")
    return Reference(*_place(child), *_place(parent), "documented")


def _place(text: str) -> tuple[str, tuple[str, ...]]:
    table, _, columns = text.strip().rstrip(")").partition("(")
    return table.strip(), tuple(column.strip() for column in columns.split(","))
