"""Both kinds of warehouses answer alike: relations, transactions, and a lock that dies."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fluid_build.errors import WarehouseBusyError, WarehouseError
from fluid_build.evolution.locations import locked, opened
from fluid_build.evolution.warehouse import Location, is_plain_type
from tests.evolution.warehouses import run

_HOLDER = """
import sys, time
from fluid_build.evolution.locations import locked
from fluid_build.evolution.warehouse import Location, is_plain_type
with locked(Location(*sys.argv[1:])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_relations_have_their_columns_in_order_with_the_engines_types(location: Location) -> None:
    run(
        location,
        f"CREATE SCHEMA IF NOT EXISTS {location.schema}",
        f'CREATE TABLE {location.schema}.hub ("Key" INTEGER, b VARCHAR)',
        f"CREATE VIEW {location.schema}.seen AS SELECT 1 AS one",
    )
    with opened(location) as warehouse:
        found = warehouse.relations()
    text = {"duckdb": "VARCHAR", "postgres": "character varying"}[location.engine]
    assert [*found["hub"].columns] == ["Key", "b"]
    assert found["hub"].columns["b"] == text
    assert (found["hub"].is_view, found["seen"].is_view) == (False, True)


def test_an_empty_warehouse_has_no_relations(location: Location) -> None:
    with opened(location) as warehouse:
        assert warehouse.relations() == {}


def test_values_are_no_part_of_the_statement(location: Location) -> None:
    hostile = "'; DROP TABLE x; --"
    with opened(location) as warehouse:
        assert warehouse.query("SELECT CAST($1 AS TEXT), $2 + 1", [hostile, 1]) == [(hostile, 2)]


def test_a_transaction_that_fails_changes_nothing(location: Location) -> None:
    name = f"{location.schema}.kept"
    run(location, f"CREATE SCHEMA IF NOT EXISTS {location.schema}", f"CREATE TABLE {name} (a INT)")
    with opened(location) as warehouse:
        with pytest.raises(WarehouseError), warehouse.transaction():
            warehouse.query(f"INSERT INTO {name} VALUES (1)")
            warehouse.query(f"ALTER TABLE {name} ADD COLUMN b INT")
            warehouse.query("SELECT * FROM nothing_of_that_name")
        assert warehouse.query(f"SELECT count(*) FROM {name}") == [(0,)]
        assert [*warehouse.relations()["kept"].columns] == ["a"]
        with warehouse.transaction():
            warehouse.query(f"INSERT INTO {name} VALUES (2)")
    with opened(location) as warehouse:
        assert warehouse.query(f"SELECT a FROM {name}") == [(2,)]


def test_a_lock_is_held_once(location: Location) -> None:
    with locked(location) as lock, opened(location) as warehouse:
        lock.check()
        warehouse.query("SELECT 1")
        with pytest.raises(WarehouseBusyError, match="at work"), locked(location):
            pass
    with locked(location):
        pass


def test_a_lock_dies_with_its_owner(location: Location) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, location.engine, location.place, location.schema],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(WarehouseBusyError), locked(location):
        pass
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    assert _is_free_soon(location)


def _is_free_soon(location: Location) -> bool:
    """A server notices within moments that a session's owner has ended."""
    for _ in range(100):
        try:
            with locked(location):
                return True
        except WarehouseBusyError:
            time.sleep(0.05)
    return False


def test_an_unreachable_server_is_named_without_its_password() -> None:
    place = "postgresql://loader:xyzzy-1234@127.0.0.1:1/shop?connect_timeout=2"
    with (
        pytest.raises(WarehouseError, match="can't be reached") as refused,
        opened(Location("postgres", place, "shop_model")),
    ):
        pass
    assert "xyzzy" not in f"{refused.value.message} {refused.value.hint}"


def test_a_file_that_is_no_database_is_an_error_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "x.duckdb").write_text("not a database, but long enough to be read as one" * 99)
    with (
        pytest.raises(WarehouseError, match="can't be opened") as refused,
        opened(Location("duckdb", str(tmp_path / "x.duckdb"), "main")),
    ):
        pass
    assert refused.value.hint


@pytest.mark.parametrize(
    ("type_", "is_plain"),
    [
        ("INTEGER", True),
        ("DECIMAL(12,2)", True),
        ("character varying(20)", True),
        ("timestamp(6) without time zone", True),
        ("BIGINT[]", True),
        ("INTEGER); DROP TABLE hub; --", False),
        ("ENUM('a', 'b')", False),
        ('"x"', False),
        ("", False),
    ],
)
def test_only_a_plain_type_may_stand_in_a_statement(type_: str, is_plain: bool) -> None:
    assert is_plain_type(type_) == is_plain
