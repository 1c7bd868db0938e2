"""The sqlmesh projects of the demo, planned and run by a real sqlmesh, next to dbt's.

The shop of the demo is forged in each technique, for dbt and for sqlmesh. Both load it on four
days: as it is; with rows that are new, changed and gone; with some of those back and others gone;
and as it was the day before. After each day, every relation must have the same rows in both, with
the load dates, which are the same moments. Then sqlmesh audits what it has built.

sqlmesh needs an environment of its own: it asks for one minor version of sqlglot.

Usage: python bench/sqlmesh_runs.py COMMAND [--technique NAME]
"""

import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import duckdb
from duckdb_extension_sqlite_scanner import __file__ as scanner

from fluid_build.demo import build_shop
from fluid_build.forging import forge
from fluid_build.sources import open_source
from fluid_build.sources.sql import literal
from fluid_build.temporary import owned_folder
from fluid_build.transform.plan.elements import TransformPlan

TECHNIQUES = ("flat", "dimensional", "dv2")
DAYS: Mapping[str, Sequence[str]] = {
    "2026-03-02 06:00:00": (),
    "2026-03-03 06:00:00": (
        "INSERT INTO customers SELECT customer_id + 900000, first_name, last_name, 'new' || email,"
        " phone, birth_date, newsletter, registered FROM customers LIMIT 20",
        "UPDATE customers SET email = 'moved' || email WHERE customer_id % 97 = 0",
        "UPDATE customers SET newsletter = NOT newsletter WHERE customer_id % 101 = 0",
        "UPDATE employees SET job = 'Lead' WHERE emp_id % 9 = 0",
        "UPDATE products SET list_price = list_price + 1 WHERE product_id % 50 = 0",
        "UPDATE stores SET city = city || ' Nord' WHERE store_id % 4 = 0",
        "CREATE TABLE kept_lines AS SELECT * FROM order_lines WHERE order_id % 500 = 0",
        "DELETE FROM order_lines WHERE order_id % 500 = 0",
        "CREATE TABLE kept_vouchers AS SELECT * FROM vouchers LIMIT 5",
        "UPDATE orders SET voucher_code = NULL"
        " WHERE voucher_code IN (SELECT voucher_code FROM kept_vouchers)",
        "DELETE FROM vouchers WHERE voucher_code IN (SELECT voucher_code FROM kept_vouchers)",
        "CREATE TABLE kept_reviews AS SELECT * FROM reviews WHERE review_id % 40 = 0",
        "DELETE FROM reviews WHERE review_id % 40 = 0",
        "CREATE TABLE kept_employees AS SELECT * FROM employees WHERE emp_id % 60 = 0",
        "UPDATE orders SET sales_emp = NULL WHERE sales_emp % 60 = 0",
        "DELETE FROM employees WHERE emp_id % 60 = 0",
    ),
    "2026-03-04 06:00:00": (
        "INSERT INTO vouchers SELECT * FROM kept_vouchers LIMIT 3",
        "INSERT INTO order_lines SELECT * FROM kept_lines WHERE order_id % 1000 = 0",
        "INSERT INTO employees SELECT * FROM kept_employees",
        "UPDATE employees SET salary = salary + 100 WHERE emp_id % 7 = 0",
        "UPDATE customers SET email = replace(email, 'moved', '') WHERE customer_id % 194 = 0",
        "UPDATE customers SET newsletter = NOT newsletter WHERE customer_id % 202 = 0",
        "DELETE FROM reviews WHERE review_id % 41 = 0",
        "UPDATE orders SET voucher_code = NULL WHERE order_id % 301 = 0",
    ),
    "2026-03-05 06:00:00": (),
}
"""What happens to the shop before each load."""


def main() -> int:
    """Run the bench; the exit code is 1 where a relation differs or a run fails."""
    options = _arguments()
    differing = 0
    for technique in options.technique or TECHNIQUES:
        with owned_folder() as work:
            for line in _differences(technique, work.path, options.command):
                print(f"{technique}: {line}")
                differing += 1
        sys.stdout.flush()
    print(f"{differing} relations differ")
    return 1 if differing else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", type=Path, help="the sqlmesh command")
    parser.add_argument("--technique", action="append", choices=TECHNIQUES)
    return parser.parse_args()


def _differences(technique: str, work: Path, command: Path) -> Iterator[str]:
    """Load the shop on each day with both, and yield the relations that differ after one."""
    shop = work / "shop.db"
    build_shop(shop)
    plans = {}
    for project in ("dbt", "sqlmesh"):
        with open_source(str(shop)) as source:
            forged = forge(source, out=work / project, technique=technique, project=project)
            plans[project] = forged.plan
    for day, statements in DAYS.items():
        with closing(sqlite3.connect(shop)) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.commit()
        started = time.perf_counter()
        run_dbt(work / "dbt" / "dbt", day)
        between = time.perf_counter()
        run_sqlmesh(command, work / "sqlmesh" / "sqlmesh", day, home=work)
        ended = time.perf_counter()
        print(f"{technique} {day[:10]}: dbt {between - started:.0f} s", end=", ")
        print(f"sqlmesh {ended - between:.0f} s")
        yield from differing_relations(
            plans["dbt"], work / "dbt/dbt/shop.duckdb", work / "sqlmesh/sqlmesh/shop.duckdb"
        )


def run_dbt(project: Path, day: str) -> None:
    """Load with dbt as on that day."""
    command = shutil.which("dbt") or "dbt"
    environment = {**os.environ, "FLUID_LOAD_DATE": day}
    _run([command, "build", "--quiet"], project, environment)


def run_sqlmesh(command: Path, project: Path, day: str, *, home: Path) -> None:
    """Load with sqlmesh as on that day, and audit what is there.

    ``home`` is where DuckDB finds the extension for SQLite, which it would download.
    """
    extension = Path(scanner).parent / f"extensions/v{duckdb.__version__}"
    extension /= "sqlite_scanner.duckdb_extension"
    with duckdb.connect(config={"extension_directory": str(home / "extensions")}) as connection:
        connection.execute(f"INSTALL {literal(str(extension))}")
    environment = {
        **os.environ,
        "SQLMESH__GATEWAYS__DUCKDB__CONNECTION__CONNECTOR_CONFIG__EXTENSION_DIRECTORY": str(
            home / "extensions"
        ),
        # A first plan loads the days since then; by default, those since yesterday.
        "SQLMESH__MODEL_DEFAULTS__START": "2026-03-01",
        "SQLMESH__DISABLE_ANONYMIZED_ANALYTICS": "true",
    }
    is_first = not (project / ".cache").exists()
    arguments = ["plan", "--auto-apply", "--no-prompts", "--execution-time", day]
    _run([str(command), *arguments, *([] if is_first else ["--run"])], project, environment)
    _run([str(command), "audit", "--execution-time", day], project, environment)


def _run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
    done = subprocess.run(
        command, cwd=folder, env=dict(environment), capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed in {folder}:\n{done.stdout[-4000:]}{done.stderr}")


def differing_relations(plan: TransformPlan, dbt: Path, sqlmesh: Path) -> Iterator[str]:
    """Yield the relations of a plan that don't have the same rows in both databases."""
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {literal(str(dbt))} AS of_dbt (READ_ONLY)")
        connection.execute(f"ATTACH {literal(str(sqlmesh))} AS {plan.name} (READ_ONLY)")
        for build in plan.builds:
            if build.materialization == "view":
                continue
            columns = ", ".join(column.name for column in build.columns)
            ours, theirs = (
                f"SELECT {columns} FROM {database}.main.{build.name}"
                for database in ("of_dbt", plan.name)
            )
            lost, added = (
                connection.execute(f"SELECT count(*) FROM ({one} EXCEPT ALL {other})").fetchall()[
                    0
                ][0]
                for one, other in ((ours, theirs), (theirs, ours))
            )
            if lost or added:
                yield f"{build.name} lacks {lost} rows of dbt's, and has {added} others"


if __name__ == "__main__":
    sys.exit(main())
