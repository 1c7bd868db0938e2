"""Warehouses whose source gets other types and columns: each night is told as it was.

A source, and what was loaded of it, live through three nights. On the second one, a column is of
another type, or a table has one more.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from fluid_build.forging.stages import Designed
from fluid_build.sources import open_source
from fluid_build.sources.base import OpenSource
from fluid_build.sources.sql import quote
from fluid_build.transform.dbt.project import hash_strategy
from fluid_build.transform.plan.execution import (
    FIRST_LOAD,
    Built,
    set_load_date,
    show_sources,
    statement,
)
from fluid_build.transform.plan.stateful import StoredColumn, stored_columns
from fluid_build.transform.plan.techniques import rebuilds
from fluid_build.transform.proof.proof import prove
from tests.modeling.evolved import designed, run
from tests.transform.databases import loaded

_SHOP = (
    "CREATE TABLE customer (id INTEGER, name VARCHAR, score INTEGER, balance DECIMAL(8,2),"
    " born DATE)",
    "INSERT INTO customer SELECT i, 'n' || i, i * 7 % 11, i + 0.25, DATE '1990-01-01' + i::INTEGER"
    " FROM range(1, 41) r(i)",
    "CREATE TABLE phone (customer_id INTEGER, kind VARCHAR, number VARCHAR, height DECIMAL(8,2),"
    " width INTEGER, PRIMARY KEY (customer_id, kind))",
    "INSERT INTO phone SELECT 1 + i // 2, ['home', 'work'][1 + i % 2], 'd' || i % 9, i + 0.5,"
    " i * 7 % 13 FROM range(80) r(i)",
    "CREATE TABLE sale (id INTEGER, customer_id INTEGER, sold_on DATE, total DECIMAL(8,2))",
    "INSERT INTO sale SELECT i, 1 + i * 11 % 40, DATE '2024-01-01' + i::INTEGER, i * 1.75"
    " FROM range(1, 121) r(i)",
)
_TABLES = ("customer", "phone", "sale")
_ROWS = (
    "UPDATE customer SET name = 'other {night}' WHERE CAST(id AS DOUBLE) % 10 = 3",
    "UPDATE phone SET number = '{night}' WHERE customer_id = 4 AND kind = 'home'",
    "DELETE FROM phone WHERE customer_id = 4 + {night} AND kind = 'home'",
    "INSERT INTO phone BY NAME SELECT 4 + {night} AS customer_id, 'car' AS kind, '5' AS number,"
    " 1 AS height, 1 AS width",
)
"""What becomes of rows on each night."""
_VERSIONS = {
    "data_vault_2": {"sat_customer": 4, "msat_phone": 3},
    "dimensional": {"dim_customer_history": 4},
}
"""The versions that it makes of them, whatever changes beside."""
_RETYPED = (
    ("score BIGINT", "balance DECIMAL(12,4)", "born TIMESTAMP", "width VARCHAR"),
    ("score DECIMAL(12,2)", "height DECIMAL(12,4)"),
    ("score DOUBLE", "balance DOUBLE", "height DOUBLE"),
)
"""The columns that get other types on each night."""


def _retyped(table: str, column: str, type_: str) -> str:
    return (
        f"CREATE OR REPLACE TABLE {table} AS"
        f" SELECT * REPLACE (CAST({column} AS {type_}) AS {column}) FROM {table}"
    )


@dataclass
class _Life:
    """A warehouse, its source in the database ``shop`` beside it, and ``kept`` of each night."""

    file: Path
    technique: str
    model: Designed
    built: Built
    night: int = 0

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        return self.built.connection

    def live(self, *changes: str) -> dict[str, int]:
        """Let a night's changes happen, and load; how many rows each history that was has more."""
        self.night += 1
        changes = (*changes, *(each.format(night=self.night) for each in _ROWS))
        run(self.file, changes)
        self.connection.execute("USE shop")
        for change in changes:
            self.connection.execute(change)
        self.connection.execute("USE forged")
        self.model = designed(self.file, self.technique, self.model.basis)
        self.built = replace(self.built, plan=self.model.plan)
        self.keep()
        self._show_source()
        before = self._migrate()
        set_load_date(self.connection, self.moment)
        for build in self.model.plan.builds:
            self.connection.execute(statement(build, again=build.name in before))
        return {
            name: more
            for name in self._stored
            if ("sat_" in name or "history" in name)
            and name in before
            and (more := self.built.rows(f"model.{name}") - before[name])
        }

    @property
    def _stored(self) -> dict[str, tuple[StoredColumn, ...]]:
        """What remembers, with its columns."""
        return stored_columns(self.model.plan, hash_strategy(self.model.model))

    def keep(self) -> None:
        """Keep what the source has on a night."""
        for table in _TABLES:
            self.connection.execute(f"CREATE TABLE kept.{table}_{self.night} AS FROM shop.{table}")

    @property
    def moment(self) -> datetime:
        """When this night is loaded."""
        return FIRST_LOAD + timedelta(days=self.night)

    def _show_source(self) -> None:
        self.connection.execute("DROP SCHEMA source CASCADE")
        with open_source(str(self.file)) as there:
            tables = (replace(t, relation=f"shop.{quote(t.name)}") for t in there.tables)
            source = OpenSource("duckdb", "shop", self.connection, tuple(tables))
        show_sources(self.connection, source, self.model.plan)

    def _migrate(self) -> dict[str, int]:
        """Give what remembers its columns and types; how many rows it has."""
        there: dict[str, dict[str, str]] = {}
        for relation, column, type_ in self.connection.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns()"
            " WHERE schema_name = 'model' AND database_name = 'forged'"
        ).fetchall():
            there.setdefault(relation, {})[column] = type_
        for relation in self._stored.keys() & there.keys():
            for column in self._stored[relation]:
                if there[relation][column.name] != column.type:
                    self.connection.execute(
                        f"ALTER TABLE model.{relation} ALTER {column.name} TYPE {column.type}"
                    )
        return {relation: self.built.rows(f"model.{relation}") for relation in there}

    def wrong(self) -> Iterator[str]:
        """Where the warehouse isn't as its source is, or says of a night what wasn't so."""
        proof = prove(self.built, self.model.model)
        if proof.verdict != "proven":
            yield f"night {self.night}: {proof.reason}"
        of_night = self._of_vault if self.technique == "data_vault_2" else self._of_star
        for night in range(self.night + 1):
            for table, said in of_night(night):
                rows = self.connection.sql(said)
                types = dict(zip(rows.columns, rows.types, strict=True))
                meant = f"kept.{table}_{night}"
                there = self.connection.table(meant).columns
                columns = [name for name in rows.columns if name in there]
                compared = ", ".join(columns)
                typed = ", ".join(f"CAST({name} AS {types[name]})" for name in columns)
                one, other = f"SELECT {compared} FROM ({said})", f"SELECT {typed} FROM {meant}"
                for first, second in ((one, other), (other, one)):
                    query = f"SELECT COUNT(*) FROM ({first} EXCEPT ALL {second})"
                    ((count,),) = self.connection.execute(query).fetchall()
                    if count:
                        yield f"{table} as of night {night}: {count} rows differ"

    def _of_vault(self, night: int) -> Iterator[tuple[str, str]]:
        """The way back from what was loaded until a night."""
        self.connection.execute("CREATE SCHEMA IF NOT EXISTS past.model")
        until = FIRST_LOAD + timedelta(days=night)
        for build in self.model.plan.builds:
            if build.layer == "raw_vault":
                self.connection.execute(
                    f"CREATE OR REPLACE VIEW past.model.{build.name} AS FROM"
                    f" forged.model.{build.name} WHERE load_date <= TIMESTAMP '{until}'"
                )
        for rebuild in rebuilds(self.model.model):
            yield rebuild.table, rebuild.sql.replace("model.", "past.model.")

    def _of_star(self, night: int) -> Iterator[tuple[str, str]]:
        """The versions of members that were valid on a night."""
        moment = FIRST_LOAD + timedelta(days=night)
        versioned = "id, name, score"
        yield (
            "customer",
            f"SELECT {versioned} FROM model.dim_customer WHERE id IS NOT NULL"
            f" AND valid_from <= TIMESTAMP '{moment}' AND valid_to > TIMESTAMP '{moment}'",
        )


@contextmanager
def _life(folder: Path, technique: str) -> Iterator[_Life]:
    """A warehouse after its first night."""
    for name in ("shop", "beside"):
        run(folder / f"{name}.duckdb", _SHOP)
    file = folder / "shop.duckdb"
    model = designed(file, technique)
    with open_source(str(file)) as source:
        tables = source.tables
    with loaded(folder / "beside.duckdb", tables, model.plan) as built:
        built.connection.execute("ATTACH ':memory:' AS kept")
        built.connection.execute("ATTACH ':memory:' AS past")
        life = _Life(file, technique, model, built)
        life.keep()
        yield life


@pytest.mark.parametrize("technique", _VERSIONS)
def test_a_retyped_column_makes_no_version_and_each_night_is_told(
    tmp_path: Path, technique: str
) -> None:
    """Of members, of several rows of one, and of what happened."""
    with _life(tmp_path, technique) as life:
        for night in _RETYPED:
            of_phones = ("width", "height")
            changes = [
                _retyped("phone" if column in of_phones else "customer", column, type_)
                for column, _, type_ in (each.partition(" ") for each in night)
            ]
            assert life.live(*changes) == _VERSIONS[technique]
        assert [*life.wrong()] == []


def test_columns_that_join_leave_each_row_once(tmp_path: Path) -> None:
    """Also where several rows of a key have satellites beside each other."""
    with _life(tmp_path, "data_vault_2") as life:
        life.live(*(f"ALTER TABLE {table} ADD COLUMN since DATE" for table in _TABLES))
        assert [each for each in life.wrong() if f"night {life.night}" in each] == []
        assert life.live() == {**_VERSIONS["data_vault_2"], "msat_phone_2": 2}


@pytest.mark.parametrize("type_", ["DECIMAL(12,2)", "DOUBLE", "VARCHAR"])
def test_a_retyped_key_finds_what_was_loaded_by_it(tmp_path: Path, type_: str) -> None:
    """Where one table has another type, and where all that refer to it have."""
    with _life(tmp_path, "data_vault_2") as life:
        assert life.live(_retyped("customer", "id", type_)) == _VERSIONS["data_vault_2"]
        others = [("phone", "customer_id"), ("sale", "customer_id"), ("sale", "id")]
        changes = [_retyped(*column, type_) for column in others]
        assert life.live(*changes) == _VERSIONS["data_vault_2"]
        assert [*life.wrong()] == []
        hub, links = (life.built.rows(f"model.{name}") for name in ("hub_customer", "tl_sale"))
        assert (hub, links) == (40, 120)
