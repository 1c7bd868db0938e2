"""What a PostgreSQL database declares, read from pg_catalog (versions 13 and later)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fluid_build.sources.servers.catalog_rows import (
    ForeignKey,
    Key,
    Query,
    declared_keys,
    grouped,
)
from fluid_build.sources.servers.staging import ServerColumn, ServerTable
from fluid_build.text import counted


@dataclass(frozen=True, slots=True)
class CatalogColumn(ServerColumn):
    """A column as PostgreSQL declares it.

    ``base`` is its type's own name with domains seen through, ``modifier`` its raw ``atttypmod``
    (the domain's where it has one). ``collation`` is the name of one that may take different texts
    for equal, else "".
    """

    base: str
    category: str
    modifier: int
    collation: str = ""


_ROW_SECURITY = "Row-level security is on: only the rows visible to this user were read."

CatalogTable: TypeAlias = ServerTable[CatalogColumn]


@dataclass(frozen=True, slots=True)
class Overview:
    """A server's schemas with tables, and what is left out of them, counted by kind.

    ``comment`` is what its owner says of the database, "" if nothing.
    """

    name: str
    comment: str
    schemas: tuple[str, ...]
    left_out: tuple[tuple[str, int], ...]


_TABLE_KINDS = "'r', 'p'"
_VIEW_KINDS = "'v', 'm', 'f'"
_KIND_NOTES = {
    "v": "It's a view, which declares no keys.",
    "m": "It's a materialized view: its rows are those of its last refresh.",
    "f": "It's a foreign table: its rows are on another server, which may see them later.",
}


def _relations(kinds: str) -> str:
    """Return the relations of those kinds that are no partition, not temporary, no extension's."""
    return f"""
        FROM pg_catalog.pg_class c
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ({kinds}) AND NOT c.relispartition AND c.relpersistence <> 't'
          AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
          AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend e WHERE e.objid = c.oid
                          AND e.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
                          AND e.deptype = 'e')
    """


def _read_kinds(*, views: bool) -> str:
    return f"{_TABLE_KINDS}, {_VIEW_KINDS}" if views else _TABLE_KINDS


def overview(query: Query, *, views: bool) -> Overview:
    """Return the database's name, its users' schemas, and how many relations aren't read.

    ``views`` says whether views are read as well.
    """
    name, comment = query("""
        SELECT d.datname::text AS name,
               coalesce(pg_catalog.shobj_description(d.oid, 'pg_database'), '')::text AS comment
        FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()""")[0]
    schemas = query(
        f"SELECT DISTINCT n.nspname::text AS schema {_relations(_read_kinds(views=views))}"
        " ORDER BY 1"
    )
    left_out = query(f"""
        SELECT CASE c.relkind WHEN 'v' THEN 'views' WHEN 'm' THEN 'materialized views'
                    ELSE 'foreign tables' END AS kind, count(*)::bigint AS number
        {_relations(_VIEW_KINDS)} GROUP BY 1 ORDER BY 1""")
    return Overview(
        name=str(name),
        comment=str(comment),
        schemas=tuple(str(row[0]) for row in schemas),
        left_out=tuple((str(kind), int(str(number))) for kind, number in left_out),
    )


def existing_schemas(query: Query) -> list[str]:
    """Return every schema of the users', with or without tables."""
    rows = query("""
        SELECT nspname::text AS schema FROM pg_catalog.pg_namespace
        WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema' ORDER BY 1""")
    return [str(row[0]) for row in rows]


def read_tables(query: Query, schemas: Sequence[str], *, views: bool) -> list[CatalogTable]:
    """Return every table of the schemas, by schema and name, with columns and keys."""
    relations = _relations(_read_kinds(views=views))
    columns = _columns(query, relations)
    primary, unique = _keys(query, relations)
    foreign = _foreign_keys(query, relations)
    rows = query(f"""
        SELECT c.oid::bigint AS oid, n.nspname::text AS schema, c.relname::text AS name,
               (SELECT coalesce(sum(pg_catalog.pg_table_size(t.relid)), 0)
                FROM pg_catalog.pg_partition_tree(c.oid) t)::bigint
               + pg_catalog.pg_table_size(c.oid)::bigint AS bytes,
               pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
               AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AS readable,
               c.relrowsecurity AS row_security, c.relkind::text AS kind,
               (SELECT sum(greatest(p.reltuples, 0)) FROM pg_catalog.pg_partition_tree(c.oid) t
                JOIN pg_catalog.pg_class p ON p.oid = t.relid AND t.isleaf)::bigint AS partitioned,
               c.reltuples::bigint AS tuples,
               pg_catalog.obj_description(c.oid, 'pg_class')::text AS comment
        {relations} ORDER BY 2, lower(c.relname), 3""")
    inheritance = _inheritance(query)
    # A unique index has no rows of the tables that inherit from its own.
    for whole in inheritance.wholes:
        primary.pop(whole, None)
        unique.pop(whole, None)
    tables = []
    for oid, schema, name, size, readable, row_security, kind, partitioned, tuples, comment in rows:
        if schema not in schemas or oid in inheritance.partitions:
            continue
        readable_columns, hidden = columns.get(oid, ((), ()))
        names = {column.name for column in readable_columns}
        tables.append(
            CatalogTable(
                schema=str(schema),
                name=str(name),
                bytes=int(str(size)),
                readable=bool(readable),
                comment=None if comment is None else str(comment),
                columns=readable_columns,
                primary_key=key if names.issuperset(key := primary.get(oid, ())) else (),
                unique_keys=tuple(key for key in unique.get(oid, ()) if names.issuperset(key)),
                foreign_keys=tuple(
                    key
                    for key in foreign.get(oid, ())
                    if names.issuperset(key[0])
                    and inheritance.binds_all(int(str(oid)), key, foreign)
                ),
                notes=(
                    *_notes(str(kind), row_security=bool(row_security)),
                    *inheritance.notes(int(str(oid))),
                    *_note_on_hidden(hidden if readable else ()),
                ),
                rows=_row_estimate(partitioned, tuples),
                is_estimate=True,
                is_view=kind == "v",
                rows_of_children=oid not in inheritance.parents,
                hidden=hidden,
            )
        )
    return tables


@dataclass(frozen=True, slots=True)
class _Inheritance:
    """Tables that inherit from others, by their oids: what partitions were before version 10.

    ``partitions`` have the columns of the one table that they inherit from, so that its rows are
    theirs as well; ``wholes`` are such tables, with their partitions. ``parents`` are read without
    the rows of their children, which have columns of their own.
    """

    partitions: frozenset[int]
    wholes: Mapping[int, frozenset[int]]
    parents: frozenset[int]

    def binds_all(
        self, oid: int, key: ForeignKey, declared: Mapping[object, tuple[ForeignKey, ...]]
    ) -> bool:
        """Return whether a reference binds all rows of a table: those of its partitions as well."""
        return all(key in declared.get(part, ()) for part in self.wholes.get(oid, ()))

    def notes(self, oid: int) -> Iterator[str]:
        """Yield what a user must know of a table's rows."""
        if oid in self.wholes:
            children = counted(len(self.wholes[oid]), "table")
            yield f"The rows of {children} that inherit from it are among its own."
        if oid in self.parents:
            yield (
                "Tables with columns of their own inherit from it: their rows are in these tables,"
                " and not in this one."
            )


def _inheritance(query: Query) -> _Inheritance:
    rows = query("""
        SELECT i.inhparent::bigint AS parent, i.inhrelid::bigint AS child,
               (SELECT count(*) FROM pg_catalog.pg_attribute a WHERE a.attrelid = i.inhparent
                AND a.attnum > 0 AND NOT a.attisdropped)
               = (SELECT count(*) FROM pg_catalog.pg_attribute a WHERE a.attrelid = i.inhrelid
                  AND a.attnum > 0 AND NOT a.attisdropped) AS same
        FROM pg_catalog.pg_inherits i
        JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
        WHERE NOT c.relispartition AND c.relkind IN ('r', 'f')""")
    children: dict[int, set[int]] = {}
    parents_of: Counter[int] = Counter()
    same_columns = set()
    for row in rows:
        parent, child = (int(str(oid)) for oid in row[:2])
        children.setdefault(parent, set()).add(child)
        parents_of[child] += 1
        if row[2]:
            same_columns.add(child)
    parts = {child for child in same_columns if parents_of[child] == 1}

    def below(oid: int) -> set[int]:
        own = children.get(oid, set())
        return own.union(*map(below, own))

    descendants = {top: below(top) for top in children.keys() - parents_of.keys()}
    wholes = {top: frozenset(found) for top, found in descendants.items() if found <= parts}
    partitions = frozenset().union(*wholes.values())
    return _Inheritance(
        partitions,
        wholes,
        frozenset(children.keys() - wholes.keys() - partitions),
    )


def _notes(kind: str, *, row_security: bool) -> Iterator[str]:
    if row_security:
        yield _ROW_SECURITY
    if kind in _KIND_NOTES:
        yield _KIND_NOTES[kind]


def _note_on_hidden(hidden: Sequence[str]) -> Iterator[str]:
    if hidden:
        yield f"This user may not SELECT its columns {', '.join(hidden)}, which weren't read."


def _row_estimate(*estimates: object) -> int | None:
    """Return how many rows a table had when it was analyzed last; None where it never was."""
    counts = (int(str(estimate)) for estimate in estimates if estimate is not None)
    return next((count for count in counts if count > 0), None)


def _columns(
    query: Query, relations: str
) -> dict[object, tuple[tuple[CatalogColumn, ...], tuple[str, ...]]]:
    """Return the columns that this user may read of each table, and the names of the others."""
    rows = query(f"""
        WITH RECURSIVE base AS (
            SELECT t.oid AS root, t.oid, t.typtype, t.typbasetype, t.typtypmod, t.typname,
                   t.typcategory, -1 AS modifier, t.typnotnull AS not_null
            FROM pg_catalog.pg_type t
            UNION ALL
            SELECT b.root, t.oid, t.typtype, t.typbasetype, t.typtypmod, t.typname, t.typcategory,
                   CASE WHEN b.typtypmod <> -1 THEN b.typtypmod ELSE b.modifier END,
                   b.not_null OR t.typnotnull
            FROM base b JOIN pg_catalog.pg_type t ON t.oid = b.typbasetype WHERE b.typtype = 'd'
        )
        SELECT a.attrelid::bigint AS oid,
               pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') AS readable,
               a.attname::text AS name,
               pg_catalog.format_type(a.atttypid, a.atttypmod)::text AS declared,
               CASE b.typtype WHEN 'b' THEN b.typname WHEN 'e' THEN 'enum' ELSE 'other' END::text
               AS base,
               b.typcategory::text AS category,
               greatest(a.atttypmod, b.modifier)::int AS modifier,
               NOT (a.attnotnull OR b.not_null) AS nullable,
               a.attgenerated <> '' AS generated,
               pg_catalog.col_description(a.attrelid, a.attnum)::text AS comment,
               (SELECT l.collname FROM pg_catalog.pg_collation l
                WHERE l.oid = a.attcollation AND NOT l.collisdeterministic)::text AS collation
        FROM pg_catalog.pg_attribute a JOIN base b ON b.root = a.atttypid AND b.typtype <> 'd'
        WHERE a.attnum > 0 AND NOT a.attisdropped
          AND a.attrelid IN (SELECT c.oid {relations})
        ORDER BY a.attrelid, a.attnum""")
    result: dict[object, tuple[tuple[CatalogColumn, ...], tuple[str, ...]]] = {}
    for oid, readable, *fields in rows:
        columns, hidden = result.get(oid, ((), ()))
        column = _column(fields)
        result[oid] = (
            ((*columns, column), hidden) if readable else (columns, (*hidden, column.name))
        )
    return result


def _column(fields: Sequence[object]) -> CatalogColumn:
    name, declared, base, category, modifier, nullable, generated, comment, collation = fields
    return CatalogColumn(
        name=str(name),
        declared_type=str(declared),
        base=str(base),
        category=str(category),
        modifier=int(str(modifier)),
        nullable=bool(nullable),
        generated=bool(generated),
        comment=None if comment is None else str(comment),
        collation="" if collation is None else str(collation),
    )


def _keys(query: Query, relations: str) -> tuple[dict[object, Key], dict[object, tuple[Key, ...]]]:
    """Primary keys, and unique keys: constraints as well as whole-table unique indexes."""
    rows = query(f"""
        SELECT i.indrelid::bigint AS oid, i.indisprimary AS is_primary,
               array_agg(a.attname::text ORDER BY k.position) AS columns
        FROM pg_catalog.pg_index i
        CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, position)
        JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
        WHERE i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indislive
          AND k.position <= i.indnkeyatts AND i.indrelid IN (SELECT c.oid {relations})
        GROUP BY i.indexrelid, i.indrelid, i.indisprimary ORDER BY 1, 2 DESC, 3""")
    return declared_keys(
        (oid, position, is_primary, name)
        for position, (oid, is_primary, names) in enumerate(rows)
        for name in names
    )


def _foreign_keys(query: Query, relations: str) -> dict[object, tuple[ForeignKey, ...]]:
    rows = query(f"""
        SELECT k.conrelid::bigint AS oid, n.nspname::text AS schema, p.relname::text AS name,
               array_agg(a.attname::text ORDER BY pair.position) AS columns,
               array_agg(b.attname::text ORDER BY pair.position) AS to_columns
        FROM pg_catalog.pg_constraint k
        CROSS JOIN LATERAL unnest(k.conkey, k.confkey) WITH ORDINALITY
            AS pair(own, their, position)
        JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = pair.own
        JOIN pg_catalog.pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = pair.their
        JOIN pg_catalog.pg_class p ON p.oid = k.confrelid
        JOIN pg_catalog.pg_namespace n ON n.oid = p.relnamespace
        WHERE k.contype = 'f' AND k.conparentid = 0 AND k.conrelid IN (SELECT c.oid {relations})
        GROUP BY k.oid, k.conrelid, k.conname, n.nspname, p.relname ORDER BY 1, k.conname""")
    return grouped(
        (oid, (tuple(own), schema, name, tuple(parents)))
        for oid, schema, name, own, parents in rows
    )
