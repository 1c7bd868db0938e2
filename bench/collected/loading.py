"""Loads a source: its tables as SELECTs that DuckDB runs, and its declared keys."""

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from xml.etree import ElementTree

import duckdb

from bench.collected.clones import Clone, decode
from bench.collected.declared import (
    Declared,
    Reference,
    csvw_keys,
    mariadb_keys,
    postgres_keys,
    sqlite_keys,
    stated_reference,
)
from bench.collected.listing import Source
from bench.collected.servers import Servers, mariadb_databases
from fluid_build.sources.sql import literal, quote


@dataclass(frozen=True)
class Loaded:
    """A database that is loaded: how DuckDB reads each table, and the declared keys.

    ``failed`` is how many statements of its scripts failed.
    """

    tables: dict[str, str]
    declared: Declared
    failed: int = 0


@dataclass(frozen=True)
class Place:
    """Where a source is loaded: its clone, a scratch folder, the servers, a DuckDB."""

    clone: Clone
    scratch: Path
    servers: Servers
    engine: duckdb.DuckDBPyConnection


def load(source: Source, place: Place) -> Loaded:
    """Load a source; references of the list come on top of those that its files declare."""
    loaded = LOADERS[source.format](source, place)
    loaded.declared.references.extend(map(stated_reference, source.references))
    return loaded


def script(source: Source, clone: Clone) -> str:
    """Return the text of all files, one after the other, without those that the clone lacks."""
    texts = [
        decode(clone.read(name))
        for each in source.files
        for name in clone.names(each)
        if clone.holds(name)
    ]
    text = "\n".join(texts)
    for old, new in source.replace:
        text = re.sub(old, new, text)
    return text


def load_mariadb(source: Source, place: Place) -> Loaded:
    # Collations of MySQL 8 that MariaDB doesn't have.
    text = re.sub(r"utf8mb4_(\w+_)?0900_\w+", "utf8mb4_unicode_ci", script(source, place.clone))
    is_windows = source.options.get("names") == "small"
    server = place.servers.mariadb_of_windows if is_windows else place.servers.mariadb
    failed = place.servers.run_mariadb(server, text)
    counts = server.run(
        "SELECT table_schema, count(*) FROM information_schema.tables"
        " WHERE table_type = 'BASE TABLE' GROUP BY 1 ORDER BY 2 DESC"
    )
    ours = mariadb_databases(server)
    database = next((str(name) for name, _ in counts if name in ours), ours[0])
    engine = place.engine
    engine.execute("SET GLOBAL mysql_tinyint1_as_boolean = false")
    engine.execute(
        f"ATTACH 'host=127.0.0.1 port={server.port} user=root database={database}'"
        " AS origin (TYPE mysql, READ_ONLY)"
    )
    names = server.run(
        "SELECT table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE'"
        f" AND table_schema = '{database}'"
    )
    tables = {
        str(name): f"SELECT * FROM origin.{quote(database)}.{quote(str(name))}" for (name,) in names
    }
    return Loaded(tables, mariadb_keys(server.run, database), failed)


def load_postgres(source: Source, place: Place) -> Loaded:
    settings = source.options.get("settings", "")
    failed = place.servers.run_postgres(script(source, place.clone), settings)
    return read_postgres(place, failed)


def read_postgres(place: Place, failed: int) -> Loaded:
    """Read the database with most tables; a table's name is without its schema if that is clear."""
    server = place.servers.postgres
    listed = """
        SELECT n.nspname, t.relname FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
        WHERE t.relkind IN ('r', 'p') AND NOT t.relispartition
        AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_%'
    """
    database = max(server.databases(), key=lambda name: len(server.query(listed, name)))
    found = server.query(listed, database)
    bare = [name for _, name in found]
    names = {
        f"{schema}.{name}": name if bare.count(name) == 1 else f"{schema}_{name}"
        for schema, name in found
    }
    place.engine.execute(
        f"ATTACH {literal(server.uri(database))} AS origin (TYPE postgres, READ_ONLY)"
    )
    tables = {
        names[f"{schema}.{name}"]: f"SELECT * FROM origin.{quote(schema)}.{quote(name)}"
        for schema, name in found
    }
    keys = postgres_keys(lambda sql: server.query(sql, database))
    declared = Declared(
        {names[table]: key for table, key in keys.primary.items() if table in names},
        [
            Reference(names[each.child], each.columns, names[each.parent], each.parent_columns)
            for each in keys.references
            if each.child in names and each.parent in names
        ],
    )
    return Loaded(tables, declared, failed)


def load_translated(source: Source, place: Place) -> Loaded:
    """Run a script of SQL Server or Oracle on PostgreSQL, each statement translated."""
    import sqlglot
    from sqlglot import expressions
    from sqlglot.errors import SqlglotError

    dialect = source.options["dialect"]
    spelt: dict[str, str] = {}

    def spell(node: expressions.Expression) -> expressions.Expression:
        # There, case doesn't matter; here, each name is quoted as it was written first.
        if isinstance(node, expressions.Identifier):
            name = spelt.setdefault(node.name.lower(), node.name)
            return expressions.to_identifier(name, quoted=True)
        return node

    statements, failed = [], 0
    for statement in _STARTS[dialect](script(source, place.clone)):
        if not _CHANGES.match(statement):
            continue
        try:
            parsed = sqlglot.parse(statement, read=dialect)
        except SqlglotError:
            failed += 1
            continue
        translated = (each.transform(spell).sql("postgres") for each in parsed if each)
        # It says where NULLs sort in a key, too, where PostgreSQL has no such words.
        statements += [re.sub(r" NULLS (FIRST|LAST)", "", each) + ";" for each in translated]
    failed += place.servers.run_postgres("\n".join(statements), source.options.get("settings", ""))
    return read_postgres(place, failed)


_CHANGES = re.compile(r"\s*(CREATE\s+TABLE|INSERT|ALTER\s+TABLE)\b", re.IGNORECASE)


def statements_by_line(text: str) -> Iterator[str]:
    """Yield the statements of a script that needn't end them: each starts a line."""
    yield from re.split(
        r"(?im)^(?=[ \t]*(?:create|insert|alter|drop|set|go|use|print|exec|if|declare)\b)", text
    )


def load_sqlite_file(source: Source, place: Place) -> Loaded:
    (name,) = place.clone.names(source.files[0])
    path = place.scratch / "file.sqlite"
    path.write_bytes(place.clone.read(name))
    return read_sqlite(path, place)


def load_sqlite_script(source: Source, place: Place) -> Loaded:
    path = place.scratch / "script.sqlite"
    failed = 0
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        for statement in statements_of(script(source, place.clone)):
            if re.match(r"\s*(BEGIN|COMMIT|END|PRAGMA|ROLLBACK)\b", statement, re.IGNORECASE):
                continue
            try:
                connection.execute(statement)
            except (sqlite3.Error, sqlite3.Warning):
                failed += 1
        connection.execute("COMMIT")
    return read_sqlite(path, place, failed)


def statements_of(text: str) -> Iterator[str]:
    """Yield the statements of a script."""
    pending = ""
    for line in text.splitlines(keepends=True):
        pending += line
        if line.rstrip().endswith(";") and sqlite3.complete_statement(pending):
            yield re.sub(r"\A(\s*--[^\n]*\n)+", "", pending)
            pending = ""
    if pending.strip():
        yield pending


def read_sqlite(path: Path, place: Place, failed: int = 0) -> Loaded:
    """Read a file; a column that holds what its type can't hold is read as text."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        names = [row[0] for row in rows]
        declared = sqlite_keys(lambda sql: connection.execute(sql).fetchall(), names)
    place.engine.execute("SET GLOBAL sqlite_all_varchar = true")
    place.engine.execute(f"ATTACH {literal(str(path))} AS origin (TYPE sqlite, READ_ONLY)")
    tables = {}
    for name in names:
        # A virtual table of an extension that isn't here has no columns.
        if not place.engine.execute(f"DESCRIBE FROM origin.main.{quote(name)}").fetchall():
            continue
        place.engine.execute(f"CREATE TABLE {quote(name)} AS FROM origin.main.{quote(name)}")
        tables[name] = typed(place.engine, name)
    return Loaded(tables, declared, failed)


def typed(engine: duckdb.DuckDBPyConnection, table: str) -> str:
    """Return a SELECT of a table of texts with each column as the first type that holds all."""
    columns = []
    for name, *_ in engine.execute(f"DESCRIBE FROM {quote(table)}").fetchall():
        column, chosen = quote(name), quote(name)
        for kind in ("BIGINT", "DOUBLE", "DATE", "TIMESTAMP"):
            # Digits with a leading zero are a code, and a number would lose it.
            lost = f"OR {column} LIKE '0_%' AND {column} NOT LIKE '0.%'" if kind != "DATE" else ""
            lost = "" if kind == "TIMESTAMP" else lost
            wrong = engine.execute(
                f"SELECT count({column}) = 0 OR bool_or({column} IS NOT NULL AND"
                f" (try_cast({column} AS {kind}) IS NULL {lost})) FROM {quote(table)}"
            ).fetchone()
            if wrong is not None and not wrong[0]:
                chosen = f"CAST({column} AS {kind}) AS {column}"
                break
        columns.append(chosen)
    return f"SELECT {', '.join(columns)} FROM {quote(table)}"


def load_csv_by_script(source: Source, place: Place) -> Loaded:
    """Load text files; a script of the repository declares the keys, read as by its format.

    A file belongs to the table of its name, without a schema's in front of it. Where it has no
    header, its columns are those of the script (``header = "no"``).
    """
    schema = LOADERS[source.options["schema"]](source, place)
    lowered = {name.lower(): name for name in schema.tables}
    files = {}
    for name in place.clone.names(f"{source.options.get('folder', '')}*"):
        stem = PurePosixPath(name).stem.rpartition(".")[2].lower()
        if name.lower().endswith((".csv", ".txt", ".tsv", ".dat")) and stem in lowered:
            files[lowered[stem]] = name
    columns: dict[str, list[str]] = {}
    if source.options.get("header") == "no":
        for table in files:
            described = place.engine.execute(f"DESCRIBE {schema.tables[table]}").fetchall()
            columns[table] = [row[0] for row in described]
    tables = read_files(source, place, files, columns)
    return Loaded(tables, schema.declared, schema.failed)


def load_csvw(source: Source, place: Place) -> Loaded:
    """Load text files beside a description of CSV on the Web."""
    (document,) = place.clone.names(source.files[0])
    files, declared = csvw_keys(decode(place.clone.read(document)))
    folder = PurePosixPath(document).parent
    paths = {name: str(folder / file) for name, file in files.items()}
    return Loaded(read_files(source, place, paths), declared)


def read_files(
    source: Source,
    place: Place,
    files: dict[str, str],
    columns: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> dict[str, str]:
    """Return how DuckDB reads text files of a clone, by their table's name."""
    tables = {}
    for table, name in files.items():
        path = place.scratch / f"{len(tables)}.csv"
        if not place.clone.holds(name):
            continue
        path.write_text(decode(place.clone.read(name)), encoding="utf-8")
        options = source.options.get("csv", "header = true, sample_size = -1")
        if table not in columns:
            tables[table] = f"SELECT * FROM read_csv({literal(str(path))}, {options})"
            continue
        kinds = ", ".join(f"{literal(column)}: 'VARCHAR'" for column in columns[table])
        place.engine.execute(
            f"CREATE TABLE {quote(table)} AS FROM read_csv({literal(str(path))}, {options},"
            f" header = false, auto_detect = false, columns = {{{kinds}}})"
        )
        tables[table] = typed(place.engine, table)
    return tables


def load_openbravo(source: Source, place: Place) -> Loaded:
    """Load the XML of Openbravo and its kin: the tables' descriptions and files of their rows."""
    import pyarrow

    declared = Declared()
    rows: dict[str, list[dict[str, str | None]]] = {}
    for pattern in source.files:
        for name in filter(place.clone.holds, place.clone.names(pattern)):
            root = ElementTree.fromstring(place.clone.read(name))
            for table in root.iter("table"):
                _declare(table, declared)
            if root.tag == "data":
                for row in root:
                    rows.setdefault(row.tag, []).append({cell.tag: cell.text for cell in row})
    tables = {}
    for table, each in rows.items():
        columns = dict.fromkeys(column for row in each for column in row)
        schema = pyarrow.schema([(column, pyarrow.string()) for column in columns])
        held = pyarrow.Table.from_pylist(each, schema=schema)
        place.engine.register("held", held)
        place.engine.execute(f"CREATE TABLE {quote(table)} AS FROM held")
        place.engine.unregister("held")
        tables[table] = typed(place.engine, table)
    return Loaded(tables, declared)


def _declare(table: ElementTree.Element, declared: Declared) -> None:
    name = table.attrib["name"]
    key = [each.attrib["name"] for each in table.iter("column") if each.get("primaryKey") == "true"]
    if key:
        declared.primary[name] = tuple(key)
    for foreign in table.iter("foreign-key"):
        pairs = list(foreign.iter("reference"))
        own = tuple(each.attrib["local"] for each in pairs)
        others = tuple(each.attrib["foreign"] for each in pairs)
        declared.references.append(Reference(name, own, foreign.attrib["foreignTable"], others))


_STARTS = {"oracle": statements_of, "tsql": statements_by_line}
LOADERS: dict[str, Callable[[Source, Place], Loaded]] = {
    "mariadb": load_mariadb,
    "postgres": load_postgres,
    "translated": load_translated,
    "sqlite-file": load_sqlite_file,
    "sqlite-script": load_sqlite_script,
    "csv-by-script": load_csv_by_script,
    "csvw": load_csvw,
    "openbravo": load_openbravo,
}
