"""What the next load costs where one row changed, one is new and one is gone.

    python bench/loads.py --rows 10000000
    python bench/loads.py safeguards --repeats 5    # what the guard and the quarantine cost

Two tables of so many rows are made, accounts and their payments, and modelled as a Data Vault and
as a star. Each relation is loaded by the plan's own SQL, without dbt, then a row of each table
changes, one is added and one deleted, and each is loaded again. A load is given in seconds of
processor time, and next to the floor: one scan of the source table that hashes each row whole.
``written`` are the rows that the load inserts, updates and deletes. With ``--loads`` there are so
many loads before that, each with a hundredth of the accounts changed.

``safeguards``: the same tables are loaded in two databases, one with the quarantine of rows that
break a key and the comparison of each delivery with what the warehouse holds, the other without
both. Then they get the same changes and are loaded again, in turn, so that what else the machine
does hits both. Each relation counts with the least seconds of its repeats, and each that takes
longer with them is named. The ratio must not be above 1.05.
"""

import argparse
import resource
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import duckdb
from jinja2 import Environment

from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.techniques import build_model
from fluid_build.observations.observe import observe
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.sources.base import OpenSource, Source, Table
from fluid_build.sources.sql import literal, quote
from fluid_build.transform.dbt.dialects import dialect_of
from fluid_build.transform.dbt.guard_macros import MACROS, check_of
from fluid_build.transform.plan.elements import Build, TransformPlan
from fluid_build.transform.plan.execution import FIRST_LOAD, show_sources, statement
from fluid_build.transform.plan.techniques import transform_plan

PROFILED = 2_000
"""Rows that the model is made of: the plan is the same for any number."""

ROWS = {
    "region": "SELECT i AS id, 'Region ' || i AS name FROM range(1, 101) r(i)",
    "account": """SELECT i AS id, 'Account ' || i AS name, 'Street ' || i % 9973 AS street,
        ['new', 'active', 'paused', 'gone'][1 + i % 4] AS status, 1 + i * 7 % 100 AS region_id,
        DATE '2015-01-01' + (i % 3000)::INTEGER AS opened,
        (i * 37 % 100000 / 100)::DECIMAL(12, 2) AS balance FROM range(1, {rows} + 1) r(i)""",
    "payment": """SELECT i AS id, 1 + i * 17 % {rows} AS account_id,
        DATE '2023-01-01' + (i % 365)::INTEGER AS paid_on, ['card', 'cash'][1 + i % 2] AS method,
        (i * 41 % 50000 / 100)::DECIMAL(10, 2) AS amount FROM range(1, {rows} + 1) r(i)""",
}
CHANGES = (
    "UPDATE shop.account SET name = 'Somebody', balance = balance + 1, region_id = 1 WHERE id = 7",
    "INSERT INTO shop.account SELECT * REPLACE (id + 1 AS id, 'New' AS name) FROM shop.account"
    " WHERE id = (SELECT max(id) FROM shop.account)",
    "DELETE FROM shop.account WHERE id = (SELECT min(id) FROM shop.account WHERE id > 10)",
    "UPDATE shop.payment SET amount = amount + 1 WHERE id = 7",
    "INSERT INTO shop.payment SELECT * REPLACE (id + 1 AS id) FROM shop.payment"
    " WHERE id = (SELECT max(id) FROM shop.payment)",
    "DELETE FROM shop.payment WHERE id = (SELECT min(id) FROM shop.payment WHERE id > 11)",
)
VAULT = (
    "hub_account",
    "lnk_account_region",
    "sat_account",
    "eff_sat_account_region",
    "tl_payment",
    "sat_payment",
)
STAR = ("dim_account_history", "fct_account_snapshot", "fct_payment")
MEASURED = {"data_vault_2": VAULT, "dimensional": STAR}

MOST_OF_SAFEGUARDS = 1.05
"""What keeps bad rows out runs every night, and there are none in most of them."""
_PLANS = "fluid_build.transform.plan"
_RELYING_ON_KEYS = ("techniques", "data_vault.vault_plan", "dimensional.mart_plan")
"""The modules that ask which keys the rows of each table keep."""
_NOTABLE = 0.005
"""Seconds: less is within what two runs of one query differ by."""


@dataclass(frozen=True)
class Load:
    """What a load of a relation cost, and the rows that it wrote."""

    seconds: float
    written: int


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def timed(connection: duckdb.DuckDBPyConnection, sql: str) -> Load:
    start = processor_seconds()
    row = connection.execute(sql).fetchone()
    return Load(processor_seconds() - start, int(row[0]) if row and isinstance(row[0], int) else 0)


def load(
    connection: duckdb.DuckDBPyConnection, plan: TransformPlan, day: int, *, again: bool
) -> dict[str, Load]:
    """Load every relation on a day; what each cost."""
    moment = (FIRST_LOAD + timedelta(days=day)).isoformat(" ")
    connection.execute(f"SET VARIABLE load_date = TIMESTAMP {literal(moment)}")
    return {build.name: _loaded(connection, build, again=again) for build in plan.builds}


def _loaded(connection: duckdb.DuckDBPyConnection, build: Build, *, again: bool) -> Load:
    done = timed(connection, statement(build, again=again))
    connection.execute("CHECKPOINT")
    return done


def floor(connection: duckdb.DuckDBPyConnection, table: Table) -> float:
    """The processor time of one scan that hashes each row, the least of three."""
    columns = ", ".join(quote(column.name) for column in table.columns)
    sql = f"SELECT max(md5(concat_ws('|', {columns}))) FROM {table.relation}"
    return min(timed(connection, sql).seconds for _ in range(3))


def fill(connection: duckdb.DuckDBPyConnection, rows: int, schema: str = "main") -> None:
    for name, sql in ROWS.items():
        key = "PRIMARY KEY" if rows == PROFILED else ""
        connection.execute(f"CREATE OR REPLACE TABLE {schema}.{name} AS {sql.format(rows=rows)}")
        if key:
            connection.execute(f"ALTER TABLE {schema}.{name} ADD PRIMARY KEY (id)")


def modelled(file: Path, technique: str) -> tuple[LogicalModel, tuple[Table, ...]]:
    """The model of a few rows, and the tables."""
    with duckdb.connect(str(file)) as connection:
        fill(connection, PROFILED)
    with open_source(file) as source:
        profile = profile_source(source)
        observations = observe(source, profile)
        return build_model(profile, technique, observations=observations), source.tables


@contextmanager
def source_of(
    file: Path, tables: Sequence[Table], plans: Mapping[str, TransformPlan], rows: int
) -> Iterator[Source]:
    """The tables with all of their rows, and for each plan an empty database on disk."""
    file.unlink(missing_ok=True)
    connection = duckdb.connect()
    connection.execute(f"ATTACH {literal(str(file))} AS shop")
    fill(connection, rows, "shop.main")
    moved = tuple(replace(table, relation=f"shop.main.{quote(table.name)}") for table in tables)
    with OpenSource("duckdb", "shop", connection, moved) as source:
        for name, plan in plans.items():
            built = file.with_name(f"{name}.duckdb")
            built.unlink(missing_ok=True)
            connection.execute(f"ATTACH {literal(str(built))} AS {name}")
            connection.execute(f"USE {name}")
            show_sources(connection, source, plan)
            connection.execute("CREATE SCHEMA model")
        yield source


def measure(folder: Path, technique: str, rows: int, loads: int) -> None:
    """Load a model again and again, and print what each of its measured relations cost."""
    file = folder / "shop.duckdb"
    model, tables = modelled(file, technique)
    plan = transform_plan(model)
    with source_of(file, tables, {"forged": plan}, rows) as source:
        connection = source.connection
        first = load(connection, plan, 0, again=False)
        for day in range(1, loads):
            part = f"id % 100 = {day % 100}"
            connection.execute(f"UPDATE shop.account SET status = 'day {day}' WHERE {part}")
            load(connection, plan, day, again=True)
        for change in CHANGES:
            connection.execute(change)
        floors = {table.name: floor(connection, table) for table in source.tables}
        after = load(connection, plan, loads, again=True)
        for name in MEASURED[technique]:
            build = plan.build(name)
            (table, *_) = build.mapped_source_tables
            least = floors[table]
            print(
                f"{name:26}{first[name].seconds:>9.2f}{after[name].seconds:>9.2f}"
                f"{after[name].written:>12,}{least:>9.2f}{after[name].seconds / least:>8.2f}"
            )


def plans_of(model: LogicalModel) -> dict[str, TransformPlan]:
    """The plan of a model, and the one that it would have if it relied on no key."""
    with ExitStack() as patches:
        for module in _RELYING_ON_KEYS:
            patches.enter_context(mock.patch(f"{_PLANS}.{module}.keys_by_table", lambda *_: {}))
        without = transform_plan(model)
    builds = tuple(build.model_copy(update={"guard": None}) for build in without.builds)
    return {
        "without": without.model_copy(update={"builds": builds}),
        "with_them": transform_plan(model),
    }


def check(connection: duckdb.DuckDBPyConnection, build: Build) -> float:
    """Compare what a staging delivers with what is held, as its dbt model does; what that cost."""
    if build.guard is None:
        return 0.0

    def run_query(sql: str) -> SimpleNamespace:
        return SimpleNamespace(rows=connection.execute(sql).fetchall())

    nodes = {
        f"model.shop.{build.guard.relation}": SimpleNamespace(database="", schema="", alias="")
    }
    template = Environment().from_string(MACROS + check_of(build.guard, dialect_of("duckdb")))
    relation = f"model.{build.guard.relation}"
    start = processor_seconds()
    template.render(
        execute=True,
        this=f"model.{build.name}",
        var=lambda _, default: default,
        model=SimpleNamespace(package_name="shop"),
        graph=SimpleNamespace(nodes=nodes),
        adapter=SimpleNamespace(get_relation=lambda **_: relation),
        run_query=run_query,
        **{"return": str},
    )
    return processor_seconds() - start


def loaded_with_checks(
    connection: duckdb.DuckDBPyConnection, plan: TransformPlan, day: int
) -> dict[str, float]:
    """Load again on a day; what each relation cost, and all comparisons of deliveries."""
    moment = (FIRST_LOAD + timedelta(days=day)).isoformat(" ")
    connection.execute(f"SET VARIABLE load_date = TIMESTAMP {literal(moment)}")
    seconds = {"check_delivery": 0.0}
    for build in plan.builds:
        seconds[build.name] = _loaded(connection, build, again=True).seconds
        seconds["check_delivery"] += check(connection, build)
    return seconds


def measure_safeguards(folder: Path, technique: str, rows: int, repeats: int) -> float:
    """Load a model with and without what keeps bad rows out, and return what that costs."""
    file = folder / "shop.duckdb"
    model, tables = modelled(file, technique)
    plans = plans_of(model)
    spent: dict[str, list[dict[str, float]]] = {name: [] for name in plans}
    with source_of(file, tables, plans, rows) as source:
        connection = source.connection
        # With several, what a core waits for the other one would count as its time.
        connection.execute("SET threads = 1")
        for name, plan in plans.items():
            connection.execute(f"USE {name}")
            load(connection, plan, 0, again=False)
        for day in range(1, repeats + 1):
            for change in CHANGES:
                connection.execute(change)
            for name in sorted(plans, reverse=day % 2 == 0):
                connection.execute(f"USE {name}")
                spent[name].append(loaded_with_checks(connection, plans[name], day))
    least = {
        name: {relation: min(each[relation] for each in loads) for relation in loads[0]}
        for name, loads in spent.items()
    }
    lacking, having = (sum(least[name].values()) for name in ("without", "with_them"))
    print(
        f"{technique}, {rows:,} rows: a load with them costs {having / lacking:.3f} times one"
        f" without ({having:.2f} and {lacking:.2f} seconds, n={repeats})"
    )
    for relation, seconds in least["with_them"].items():
        before = least["without"].get(relation, 0.0)
        if seconds - before > _NOTABLE:
            print(f"    {relation:26}{before:>9.3f}{seconds:>9.3f}")
    return having / lacking


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["next", "safeguards"], default="next", nargs="?")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument(
        "--loads", type=int, default=1, help="loads before the one that is measured"
    )
    parser.add_argument("--technique", choices=MEASURED, action="append")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    techniques = options.technique or [*MEASURED]
    if options.what == "safeguards":
        with tempfile.TemporaryDirectory() as folder:
            ratios = [
                measure_safeguards(Path(folder), technique, options.rows, options.repeats)
                for technique in techniques
            ]
        return 1 if max(ratios) > MOST_OF_SAFEGUARDS else 0
    heads = f"{'first':>9}{'next':>9}{'written':>12}{'floor':>9}{'ratio':>8}"
    print(f"{f'{options.rows:,} rows':26}{heads}")
    with tempfile.TemporaryDirectory() as folder:
        for technique in techniques:
            measure(Path(folder), technique, options.rows, options.loads)
    return 0


if __name__ == "__main__":
    sys.exit(main())
