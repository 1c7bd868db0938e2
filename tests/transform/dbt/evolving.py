"""A warehouse that lives through changes of its source: made, changed, migrated and loaded."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import psycopg

from fluid_build.modeling.element import SourceColumn
from fluid_build.modeling.evolution import Evolution
from fluid_build.modeling.logical import LogicalModel
from fluid_build.transform.dbt.migrations import FOLDER as MIGRATIONS
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.running import DbtResult, run_dbt
from fluid_build.transform.dbt.targets import Target
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.techniques import transform_plan
from tests.postgres import PostgresDatabase
from tests.transform.databases import database, modelled
from tests.transform.dbt.projects import schema_access, written

Rows = Counter[tuple[Any, ...]]


@dataclass
class Warehouse:
    """A database of one of two kinds, with the source in the schema ``raw``."""

    target: Target
    output: Mapping[str, object]
    execute: Callable[[str], list[tuple[Any, ...]]]

    def run(self, *statements: str) -> None:
        """Run statements, of which the tables are in the schema ``raw``."""
        for statement in statements:
            self.execute(statement)

    def rows(self, relation: str, columns: Sequence[str], where: str = "TRUE") -> Rows:
        """The rows of a relation in some of its columns, as text."""
        selected = ", ".join(f"CAST({name} AS VARCHAR)" for name in columns)
        return Counter(self.execute(f"SELECT {selected} FROM main.{relation} WHERE {where}"))


def duckdb_warehouse(folder: Path) -> Warehouse:
    """A file of its own."""
    path = folder / "warehouse.duckdb"

    def execute(sql: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(path)) as connection:
            return connection.execute(sql).fetchall()

    output = {"type": "duckdb", "path": str(path), "threads": 1}
    return Warehouse("duckdb", output, execute)


def postgres_warehouse(postgres: PostgresDatabase) -> Warehouse:
    """A database of a real server."""

    def execute(sql: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(postgres.uri) as server:
            cursor = server.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []

    output = {
        "type": "postgres",
        "host": str(postgres.folder),
        "port": 5432,
        "user": "postgres",
        "password": "",
        "dbname": postgres.name,
        "schema": "main",
        "threads": 1,
    }
    return Warehouse("postgres", output, execute)


WIDER = frozenset({"score", "price", "fresh"})
"""Columns whose text is another one after a change, or which weren't there."""


@dataclass(frozen=True)
class Known:
    """Rows of a relation in some of its columns."""

    columns: tuple[str, ...]
    rows: Rows


@dataclass
class Life:
    """A project in front of a warehouse, through its days in January."""

    warehouse: Warehouse
    project: Path
    _plans: list[TransformPlan] = field(default_factory=list)

    @property
    def plan(self) -> TransformPlan:
        """The plan of the project as it is now."""
        return self._plans[-1]

    def become(self, model: LogicalModel) -> None:
        """Write the project of a model over the one that is there, with its migrations."""
        self._plans.append(transform_plan(model))
        access = schema_access(self.plan, "raw", self.warehouse.output)
        target = self.warehouse.target
        earlier = {
            f"{MIGRATIONS}/{path.name}": path.read_text("utf-8")
            for path in sorted((self.project / MIGRATIONS).glob("*.sql"))
        }
        files = dbt_project(self.plan, model, target=target, access=access, migrations=earlier)
        # A table that is gone has no quarantine any more, and a forge takes its file out.
        for model in (self.project / "models").rglob("quarantine_*.sql"):
            model.unlink()
        written(files, self.project)

    def change(self, *statements: str) -> None:
        """Change the source; PostgreSQL changes no table that a view reads."""
        for build in self.plan.builds:
            if build.materialization == "view":
                self.warehouse.run(f"DROP VIEW IF EXISTS main.{build.name}")
        self.warehouse.run(*statements)

    def dbt(self, *arguments: str) -> str:
        """What a command of dbt says."""
        done = subprocess.run(
            [*(sys.executable, "-m", "dbt.cli.main", "--no-use-colors"), *arguments],
            cwd=self.project,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout

    def refusal(self) -> str:
        """The one sentence with which a build ends before it builds anything."""
        said = self.dbt("build")
        assert "of " not in said.partition("Concurrency")[2].partition("Completed")[0].replace(
            "of hook", ""
        ), said
        sentences = {line.strip() for line in said.splitlines() if "dbt run-operation" in line}
        assert len(sentences) == 1, said
        (sentence,) = sentences
        return sentence

    def migrate(self) -> None:
        """Run the migrations, and once more: that does nothing."""
        for _ in range(2):
            assert "rror" not in (said := self.dbt("run-operation", "migrate")), said

    def build(self, day: int) -> DbtResult:
        """Load a day of January."""
        result = run_dbt(self.project, variables={"load_date": f"2024-01-{day:02} 00:00:00"})
        assert result.ok and not result.warned, [
            f"{node.name}: {node.message}" for node in (*result.failed, *result.warned)
        ]
        return result

    def known(
        self, earlier: Mapping[str, Known] | None = None, before: int = 32
    ) -> dict[str, Known]:
        """The rows of each relation that only gets rows added, of loads before a day.

        Of ``earlier`` ones the same columns, or else those whose text stays.
        """
        found = {}
        for build in self.plan.published:
            if build.materialization != "incremental" or (earlier and build.name not in earlier):
                continue
            names = [column.name for column in build.columns]
            shown = earlier[build.name].columns if earlier else [n for n in names if n not in WIDER]
            dates = [name for name in ("load_date", "snapshot_date") if name in names]
            where = [f"{name} < TIMESTAMP '2024-01-{before:02}'" for name in dates if earlier]
            rows = self.warehouse.rows(build.name, shown, "".join(where) or "TRUE")
            found[build.name] = Known(tuple(shown), rows)
        return found

    def added(self, day: int) -> dict[str, int]:
        """How many rows each relation got on a day, of those that say it."""
        moment = f"load_date = TIMESTAMP '2024-01-{day:02} 00:00:00'"
        sizes = {
            build.name: self.warehouse.rows(build.name, ["load_date"], moment).total()
            for build in self.plan.published
            if any(column.name == "load_date" for column in build.columns)
        }
        return {name: size for name, size in sizes.items() if size}


def model_of(
    folder: Path, statements: Sequence[str], technique: str, evolution: Evolution | None = None
) -> LogicalModel:
    """The model of a source that has everything, of which it may have lost some since then."""
    folder.mkdir()
    with modelled(database(folder / "shop.duckdb", *statements), technique) as made:
        return made.model.model_copy(update={"evolution": evolution})


def columns(table: str, *names: str) -> tuple[SourceColumn, ...]:
    """Columns of a table."""
    return tuple(SourceColumn(table=table, column=name) for name in names)


def in_raw(statement: str) -> str:
    """A statement about the source, without the constraints that DuckDB alters no table with."""
    plain = re.sub(r" PRIMARY KEY| REFERENCES \w+ \(\w+\)", "", statement)
    return re.sub(r"(TABLE|INTO) ", r"\1 raw.", plain)
