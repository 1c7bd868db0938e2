"""A forged contract on every kind of source: what was measured there holds there."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.live import LiveResult, check_live
from fluid_build.contract.write.from_model import contract_from_model
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.transform.plan.execution import built
from fluid_build.transform.plan.techniques import transform_plan
from tests.contract.live.promises import NOW, check
from tests.postgres import PostgresDatabase

STATEMENTS = (
    'CREATE TABLE "Customer" ("Id" INTEGER, "eMail" VARCHAR(40), "Joined" DATE,'
    ' "State" VARCHAR(2))',
    'CREATE TABLE "Order Line" ("order" INTEGER, "line no" INTEGER, "CustomerId" INTEGER,'
    ' "Total" DECIMAL(8,2), "Paid On" VARCHAR(10))',
    *(
        f"INSERT INTO \"Customer\" VALUES ({n}, 'someone{n}@example.org',"
        f" '20{10 + n % 9}-03-0{n % 9 + 1}', '{'AB'[n % 2]}')"
        for n in range(1, 121)
    ),
    *(
        f'INSERT INTO "Order Line" VALUES ({n // 3}, {n % 3}, {n % 120 + 1}, {n}.25,'
        f" '{n % 27 + 1:02}.{n % 12 + 1:02}.2023')"
        for n in range(300)
    ),
)
ORPHAN = "INSERT INTO \"Order Line\" VALUES (900, 0, 5000, 1.5, '01.01.2023')"


def in_sqlite(folder: Path, *more: str) -> str:
    path = folder / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in more if path.stat().st_size else (*STATEMENTS, *more):
            connection.execute(statement)
    return f"sqlite:///{path}"


def in_duckdb(folder: Path, *more: str) -> str:
    path = folder / "shop.duckdb"
    statements = more if path.exists() else (*STATEMENTS, *more)
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return f"duckdb:///{path}"


def in_files(kind: str) -> Callable[..., str]:
    def write(folder: Path, *more: str) -> str:
        target = folder / kind
        target.mkdir(exist_ok=True)
        with duckdb.connect() as connection:
            for statement in (*STATEMENTS, *more):
                connection.execute(statement)
            for table in ("Customer", "Order Line"):
                connection.execute(f"COPY \"{table}\" TO '{target / table}.{kind}' (FORMAT {kind})")
        return str(target)

    return write


def forged(place: str) -> FluidContract:
    with open_source(place) as source:
        profile = profile_source(source)
    model = build_model(profile)
    return contract_from_model(profile, model, transform_plan(model))


def held_on(contract: FluidContract, place: str) -> LiveResult:
    with open_source(place) as source:
        return check_live(contract, source, now=NOW)


def said(result: LiveResult) -> list[tuple[str, str, str]]:
    return [
        (found.id, found.observed, found.reason)
        for found in result.checks
        if found.status != "passed"
    ]


@pytest.mark.parametrize(
    "made",
    [in_sqlite, in_duckdb, in_files("csv"), in_files("parquet")],
    ids=["sqlite", "duckdb", "csv", "parquet"],
)
def test_a_source_keeps_the_contract_that_was_forged_of_it(
    tmp_path: Path, made: Callable[..., str]
) -> None:
    """Everything holds, and one row without its parent is found."""
    place = made(tmp_path)
    contract = forged(place)
    assert said(held_on(contract, place)) == []
    made(tmp_path, ORPHAN)
    result = held_on(contract, place)
    broken = [found for found in result.checks if found.status == "failed"]
    assert [(found.type, found.violations) for found in broken] == [("accuracy", 1)]
    assert not result.passed


def test_a_server_keeps_the_contract_that_was_forged_of_it(postgres: PostgresDatabase) -> None:
    """The same on PostgreSQL, whose types have lengths and digits of their own."""
    postgres.run(";".join(STATEMENTS))
    contract = forged(postgres.uri)
    assert said(held_on(contract, postgres.uri)) == []
    postgres.run(ORPHAN)
    postgres.run('ALTER TABLE "Customer" ALTER COLUMN "State" TYPE varchar(9)')
    postgres.run('UPDATE "Customer" SET "State" = \'Bremen\' WHERE "Id" = 1')
    result = held_on(contract, postgres.uri)
    assert check(result, "customer.state.type").status == "failed"
    assert sum(found.type == "accuracy" and found.fails for found in result.checks) == 1


def test_names_that_differ_only_in_case_are_kept_apart(postgres: PostgresDatabase) -> None:
    """Each column of the contract is tested on its own live column."""
    postgres.run('CREATE TABLE "T" ("a" INTEGER, "A" INTEGER)')
    postgres.run(
        'INSERT INTO "T" SELECT n, CASE WHEN n > 9 THEN n END FROM generate_series(1, 99) n'
    )
    contract = forged(postgres.uri)
    assert said(held_on(contract, postgres.uri)) == []
    postgres.run('UPDATE "T" SET "a" = NULL WHERE "a" = 50')
    result = held_on(contract, postgres.uri)
    assert [found.violations for found in result.checks if found.type == "completeness"] == [1]


def test_what_is_built_keeps_the_contract(tmp_path: Path) -> None:
    """The relations of the plan, written to a database, are what the contract describes."""
    place = in_duckdb(tmp_path)
    warehouse = tmp_path / "warehouse.duckdb"
    with open_source(place) as source:
        profile = profile_source(source)
        model = build_model(profile)
        plan = transform_plan(model)
        with built(source, plan) as database:
            database.connection.execute(f"ATTACH '{warehouse}' AS warehouse")
            for build in plan.published:
                database.connection.execute(
                    f"CREATE TABLE warehouse.{build.name} AS FROM model.{build.name}"
                )
            database.connection.execute("DETACH warehouse")
    contract = contract_from_model(profile, model, plan)
    result = held_on(contract, str(warehouse))
    assert said(result) == []
    assert [expose.table for expose in result.exposes] == [build.name for build in plan.published]
