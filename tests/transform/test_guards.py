"""What the staging of each table is compared with, so that a delivery in part isn't loaded."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import duckdb
import jinja2
import pytest
import sqlglot

from fluid_build.transform.dbt.dialects import dialect_of
from fluid_build.transform.dbt.guard_macros import MACROS, SHARE, check_of
from fluid_build.transform.plan.database_words import duckdb_words
from fluid_build.transform.plan.elements import Guard, RowScope
from fluid_build.transform.plan.macro_calls import MACROS as PLAN_MACROS
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.databases import database, modelled

_TABLES = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR, city VARCHAR)",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (id),"
    " ordered DATE, paid DECIMAL(8,2))",
    "CREATE TABLE note (said VARCHAR, at_hour INTEGER)",
    "INSERT INTO customer SELECT i, 'n' || i, 'c' || i % 4 FROM range(1, 31) r(i)",
    "INSERT INTO orders SELECT i, 1 + i % 30, DATE '2024-01-01' + i::INTEGER % 28, i + 0.5"
    " FROM range(1, 60) r(i)",
    "INSERT INTO note SELECT 'same', i % 3 FROM range(40) r(i)",
)


def _guards(place: Path, technique: str) -> dict[str, Guard]:
    with modelled(database(place / "shop.duckdb", *_TABLES), technique) as shop:
        builds = transform_plan(shop.model).builds
    return {build.guard.table: build.guard for build in builds if build.guard is not None}


@pytest.mark.parametrize(
    ("technique", "held"),
    [
        ("flat", {"customer": "customer", "orders": "orders"}),
        ("data_vault_2", {"customer": "sat_customer", "orders": "sat_orders"}),
        ("dimensional", {"customer": "dim_customer", "orders": "fct_orders"}),
    ],
)
def test_each_table_is_compared_by_its_key(
    tmp_path: Path, technique: str, held: dict[str, str]
) -> None:
    guards = _guards(tmp_path, technique)
    assert {table: guards[table].relation for table in held} == held
    assert all(guards[table].exact and guards[table].keys for table in held)


@pytest.mark.parametrize("technique", ["flat", "data_vault_2", "dimensional"])
def test_rows_without_a_key_are_only_counted(tmp_path: Path, technique: str) -> None:
    assert not _guards(tmp_path, technique)["note"].exact


@pytest.mark.parametrize("technique", ["flat", "dimensional"])
def test_a_staging_without_quarantined_rows_says_where_they_are(
    tmp_path: Path, technique: str
) -> None:
    guard = _guards(tmp_path, technique)["orders"]
    assert (guard.quarantine, guard.types) == ("quarantine_orders", {"id": "INTEGER"})


def test_a_staging_of_a_vault_has_quarantined_rows_itself(tmp_path: Path) -> None:
    assert not _guards(tmp_path, "data_vault_2")["orders"].quarantine


class _StoppedError(Exception):
    """The macro stopped the table."""


class _Refusals:
    def raise_compiler_error(self, sentence: str) -> None:
        raise _StoppedError(sentence)


def _checked(
    run_query: Callable[[str], object], guard: Guard, *, largest_loss: float = 0.2
) -> None:
    """Call the macro as dbt does, on the relation ``held`` and the staging ``arrived``."""
    macros = MACROS + PLAN_MACROS["quarantine"]
    jinja2.Environment().from_string(macros + check_of(guard, dialect_of("duckdb"))).render(
        {
            **duckdb_words(),
            "load_moment": lambda: "DATE '2024-01-02'",
            "this": "arrived",
            "execute": True,
            "var": lambda name, default: largest_loss if name == SHARE else default,
            "model": SimpleNamespace(package_name="shop"),
            "graph": SimpleNamespace(
                nodes={
                    f"model.shop.{name}": SimpleNamespace(alias=name)
                    for name in ("held", "quarantine_orders")
                }
            ),
            "adapter": SimpleNamespace(get_relation=lambda identifier, **_: identifier),
            "exceptions": _Refusals(),
            "run_query": run_query,
            "return": str,
        }
    )


def _guard(keys: Sequence[str], *, is_history: bool, exact: bool = True) -> Guard:
    return Guard(
        table="orders",
        relation="held",
        scope=RowScope(latest_of=("k",) if is_history else ()),
        keys=tuple((key, f"own_{key}") for key in keys),
        exact=exact,
    )


@pytest.mark.parametrize(
    ("keys", "is_history", "exact", "said"),
    [
        # Of 50 keys, one is deleted; 40 and a new one arrive, the one of them twice.
        (["k"], True, True, "lacks 9 of the 49 keys"),
        (["k"], True, False, "lacks 8 of the 49 rows"),
        (["k"], False, True, "lacks 11 of the 51 keys"),
        ([], False, False, "lacks 9 of the 51 rows"),
    ],
)
def test_what_is_missing_is_counted(
    keys: list[str], is_history: bool, exact: bool, said: str
) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE held AS SELECT i AS k, DATE '2024-01-01' AS load_date,"
            " FALSE AS is_deleted FROM range(1, 51) r(i)"
            " UNION ALL SELECT 50, DATE '2024-01-02', TRUE"
        )
        connection.execute(
            "CREATE TABLE arrived AS SELECT i AS own_k FROM range(1, 41) r(i)"
            " UNION ALL SELECT unnest([1, 99])"
        )

        def run_query(sql: str) -> SimpleNamespace:
            return SimpleNamespace(rows=connection.execute(sql).fetchall())

        guard = _guard(keys, is_history=is_history, exact=exact)
        with pytest.raises(_StoppedError, match=said):
            _checked(run_query, guard, largest_loss=0.1)
        _checked(run_query, guard, largest_loss=0.3)


@pytest.mark.parametrize("keys", [["k"], []])
def test_what_this_load_set_apart_has_arrived(keys: list[str]) -> None:
    """Of 40 keys, 10 are missing, and 9 of these are in quarantine; others aren't of this load."""
    guard = _guard(keys, is_history=False).model_copy(
        update={
            "quarantine": "quarantine_orders",
            "types": {f"own_{key}": "INTEGER" for key in keys},
        }
    )
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE held AS SELECT i AS k FROM range(1, 41) r(i)")
        connection.execute("CREATE TABLE arrived AS SELECT i AS own_k FROM range(11, 41) r(i)")
        connection.execute(
            "CREATE TABLE quarantine_orders AS SELECT DATE '2024-01-02' AS load_date,"
            " 'repeated k' AS broken_rule, '{\"own_k\":' || i || '}' AS key_values"
            " FROM range(1, 10) r(i)"
            " UNION ALL SELECT DATE '2024-01-01', 'repeated k', '{\"own_k\":10}'"
            " UNION ALL SELECT DATE '2024-01-02', 'the same row again', '{\"own_k\":11}'"
        )

        def run_query(sql: str) -> SimpleNamespace:
            return SimpleNamespace(rows=connection.execute(sql).fetchall())

        _checked(run_query, guard, largest_loss=0.05)
        with pytest.raises(_StoppedError, match="lacks 1 of the 40"):
            _checked(run_query, guard, largest_loss=0.02)


def test_rows_are_read_once_where_nothing_is_missing() -> None:
    asked: list[str] = []

    def run_query(sql: str) -> SimpleNamespace:
        asked.append(sql)
        return SimpleNamespace(rows=[(0,)])

    _checked(run_query, _guard(["k"], is_history=True))
    assert len(asked) == 1


@pytest.mark.parametrize("dialect", ["postgres", "snowflake", "bigquery", "databricks"])
def test_every_target_can_be_asked(dialect: str) -> None:
    asked: list[str] = []

    def run_query(sql: str) -> SimpleNamespace:
        asked.append(sql)
        return SimpleNamespace(rows=[(1_000,)])

    with pytest.raises(_StoppedError):
        _checked(run_query, _guard(["a", "b"], is_history=True))
    missing, there = (sqlglot.parse_one(sql, dialect=dialect) for sql in asked)
    assert missing.find(sqlglot.exp.Having)
    assert there.find(sqlglot.exp.Having)
