"""Vaults for tests: made of a DuckDB file that can be changed between two loads."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import duckdb

from fluid_build.modeling.data_vault.builder import data_vault
from fluid_build.modeling.data_vault.elements import DataVaultModel, HashKeyStrategy
from fluid_build.modeling.dimensional.judging.entity_roles import judged_events
from fluid_build.modeling.dimensional.judging.reference_graph import reference_graph
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import ForeignKey, Profile
from fluid_build.sources import open_source
from fluid_build.sources.base import Table
from fluid_build.transform.plan.elements import Build, TransformPlan
from fluid_build.transform.plan.execution import FIRST_LOAD, Built
from fluid_build.transform.plan.techniques import rebuilds, transform_plan
from tests.transform.databases import database, loaded, violations


@dataclass
class Vault:
    """A vault that was loaded once, and its source, open for changes as ``shop``."""

    model: LogicalModel
    plan: TransformPlan
    built: Built
    day: datetime = FIRST_LOAD

    @property
    def dv2(self) -> DataVaultModel:
        """The vault of the model."""
        assert self.model.dv2 is not None
        return self.model.dv2

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """Where source and vault are."""
        return self.built.connection

    def change(self, *statements: str) -> None:
        """Change the source; its tables are in the database ``shop``."""
        for statement in statements:
            self.connection.execute(statement)

    def load(self) -> dict[str, int]:
        """Load once more, a day later; how many rows each relation of the vault has got more."""
        before = self.sizes()
        self.day += timedelta(days=1)
        self.built.load(self.day)
        after = self.sizes()
        return {name: after[name] - before[name] for name in after if after[name] != before[name]}

    def sizes(self) -> dict[str, int]:
        """How many rows each relation of the vault has."""
        return {b.name: self.built.rows(f"model.{b.name}") for b in self.plan.published}

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        """The rows of a query."""
        return self.connection.execute(sql).fetchall()

    def lost(self) -> dict[str, tuple[int, int]]:
        """For each source table that is not given back: rows missing, rows too many."""
        found = {}
        for rebuild in rebuilds(self.model):
            missing = _differing(self.connection, rebuild.original, rebuild.sql)
            added = _differing(self.connection, rebuild.sql, rebuild.original)
            there = self.connection.sql(rebuild.original)
            again = self.connection.sql(rebuild.sql)
            assert (again.columns, again.types) == (there.columns, there.types)
            if missing or added:
                found[rebuild.table] = (missing, added)
        return found

    def broken(self) -> dict[str, int]:
        """The tests of the plan that do not hold, with the rows that break them."""
        return broken_tests(self.built)


def _differing(connection: duckdb.DuckDBPyConnection, one: str, other: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM ({one} EXCEPT ALL ({other}))").fetchone()
    assert row is not None
    return int(row[0])


def broken_tests(result: Built) -> dict[str, int]:
    """The tests of published builds that do not hold, with the rows that break them."""
    return _broken(result, result.plan.published)


def broken_keys(result: Built) -> dict[str, int]:
    """The tests of the staging that do not hold, with the rows that break them."""
    staging = [build_ for build_ in result.plan.builds if build_.layer == "staging"]
    return _broken(result, staging)


def _broken(result: Built, builds: Iterable[Build]) -> dict[str, int]:
    found = {}
    for build_ in builds:
        for test in build_.tests:
            # A source that breaks its own promises is loaded all the same, and the test tells.
            if test.promise and test.key_kind != "primary":
                continue
            row = result.connection.execute(violations(build_.name, test)).fetchone()
            assert row is not None
            if row[0]:
                found[test.name] = int(row[0])
    return found


@contextmanager
def vault(
    path: Path,
    statements: Sequence[str],
    references: Sequence[ForeignKey] | None = None,
    keys: Mapping[str, tuple[str, ...]] | None = None,
    strategy: HashKeyStrategy | None = None,
    *,
    business_vault: bool = False,
) -> Iterator[Vault]:
    """The vault of the database that statements make, loaded once.

    ``references``, and the primary ``keys`` of tables, are taken for what was found in it, where
    they are given.
    """
    file = database(path / "shop.duckdb", *statements)
    profile, tables = _read(file, tuple(statements))
    if references is not None:
        profile = profile.model_copy(update={"foreign_keys": tuple(references)})
    profile = with_keys(profile, keys or {})
    model = build_model(profile, "data_vault_2", business_vault=business_vault)
    if strategy is not None:
        events = judged_events(reference_graph(profile, model.conceptual))
        layer = data_vault(profile, model.conceptual, strategy=strategy, events=events)
        model = model.model_copy(update={"dv2": layer})
    plan = transform_plan(model)
    with loaded(file, tables, plan) as result:
        yield Vault(model, plan, result)


def with_keys(profile: Profile, keys: Mapping[str, tuple[str, ...]]) -> Profile:
    """The profile with other primary keys, by their table, as if they had been chosen."""
    tables = tuple(
        table.model_copy(update={"primary_key": keys[table.name]}) if table.name in keys else table
        for table in profile.tables
    )
    return profile.model_copy(update={"tables": tables})


_known: dict[tuple[str, ...], tuple[Profile, tuple[Table, ...]]] = {}


def _read(file: Path, statements: tuple[str, ...]) -> tuple[Profile, tuple[Table, ...]]:
    """The profile and the tables of a database, measured once for the same statements."""
    if statements not in _known:
        with open_source(file, nested="keep") as source:
            _known[statements] = (profile_source(source), source.tables)
    return _known[statements]
