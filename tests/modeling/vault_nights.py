"""A vault that is loaded night after night, as the model of each night says, and proven."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import duckdb

from fluid_build.forging.stages import Designed
from fluid_build.modeling.data_vault.elements import DataVaultModel
from fluid_build.sources import open_source
from fluid_build.sources.base import OpenSource, Table
from fluid_build.sources.sql import literal, quote
from fluid_build.transform.plan.execution import (
    FIRST_LOAD,
    Built,
    set_load_date,
    show_sources,
    statement,
)
from fluid_build.transform.proof.proof import Proof, prove
from tests.modeling.evolved import designed, run
from tests.transform.data_vault.vaults import broken_tests


@dataclass
class VaultNights:
    """A source in a folder, and the vault that it's loaded into, one night after another."""

    folder: Path
    nights: list[Designed] = field(default_factory=list)

    @property
    def vault(self) -> DataVaultModel:
        """The vault as it's designed now."""
        vault = self.nights[-1].model.dv2
        assert vault is not None
        return vault

    def spend(self, *changes: str) -> Proof:
        """Change the source, design the next model, load it, and compare."""
        source = self.folder / "source.duckdb"
        run(source, changes)
        earlier = self.nights[-1].basis if self.nights else None
        now = designed(source, "data_vault_2", earlier)
        self.nights.append(now)
        with self._built(now) as built:
            set_load_date(built.connection, FIRST_LOAD + timedelta(days=len(self.nights)))
            for sql in self._statements(built):
                built.connection.execute(sql)
            assert not (broken := broken_tests(built)), broken
            return prove(built, now.model)

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        """The rows of a query on the vault, whose relations are in the schema ``model``."""
        with duckdb.connect(str(self.folder / "vault.duckdb")) as connection:
            return connection.execute(sql).fetchall()

    def sizes(self) -> dict[str, int]:
        """How many rows each relation of the vault has."""
        names = [build.name for build in self.nights[-1].plan.published]
        return {
            name: int(str(self.rows(f"SELECT count(*) FROM model.{name}")[0][0])) for name in names
        }

    @contextmanager
    def _built(self, now: Designed) -> Iterator[Built]:
        source = self.folder / "source.duckdb"
        with open_source(str(source)) as opened:
            tables: tuple[Table, ...] = tuple(
                replace(table, relation=f"shop.main.{quote(table.name)}") for table in opened.tables
            )
        connection = duckdb.connect(str(self.folder / "vault.duckdb"), config={"threads": 1})
        with OpenSource("duckdb", "shop", connection, tables) as opened_again:
            connection.execute(f"ATTACH {literal(str(source))} AS shop (READ_ONLY)")
            connection.execute("SET TimeZone = 'UTC'")
            connection.execute("CREATE SCHEMA IF NOT EXISTS model")
            connection.execute("DROP SCHEMA IF EXISTS source CASCADE")
            show_sources(connection, opened_again, now.plan)
            yield Built(connection, now.plan)

    def _statements(self, built: Built) -> Iterator[str]:
        there: dict[str, set[str]] = {}
        for table, column in built.connection.execute(
            "SELECT table_name, column_name FROM duckdb_columns() WHERE schema_name = 'model'"
        ).fetchall():
            there.setdefault(table, set()).add(column)
        for build in built.plan.builds:
            known = there.get(build.name)
            if known is not None and build.materialization == "incremental":
                for column in build.columns:
                    if column.name not in known:
                        added = f"ADD COLUMN {column.name} {column.type}"
                        yield f"ALTER TABLE model.{build.name} {added}"
            yield statement(build, again=known is not None)
