"""A warehouse compared with the source that it was loaded from; it's only read.

A DuckDB file is attached in place. From PostgreSQL the relations are first copied into a private
DuckDB file, in the types that the plan promises, so that both are compared in the same way.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, time
from pathlib import Path

import duckdb

from fluid_build.errors import BuildFailedError, SourceUnreadableError, UsageError
from fluid_build.modeling.dimensional.facts.snapshots import SNAPSHOT_DATE
from fluid_build.modeling.logical import LogicalModel
from fluid_build.progress import OnProgress, ignore
from fluid_build.sources import open_source
from fluid_build.sources.addresses.kinds import DUCKDB, POSTGRES
from fluid_build.sources.base import Source, Table
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, reason
from fluid_build.sources.options import ReadOptions
from fluid_build.sources.origin import InDatabase
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.uri import Address, locate
from fluid_build.temporary import owned_folder
from fluid_build.transform.dbt.built_database import built_by_dbt
from fluid_build.transform.dbt.profiles_yml import DUCKDB_SCHEMA
from fluid_build.transform.dbt.time_spine import spine_name
from fluid_build.transform.plan.elements import Build, TransformPlan
from fluid_build.transform.plan.execution import FIRST_LOAD, Built, built
from fluid_build.transform.plan.validity import APPLIED
from fluid_build.transform.proof.derived_columns import (
    Contradiction,
    contradicted_rows,
    expected_record_sources,
)
from fluid_build.transform.proof.hash_columns import hash_columns
from fluid_build.transform.proof.next_load import changes_by_a_load, changes_without_hashes
from fluid_build.transform.proof.proof import (
    Proof,
    limited_to_samples,
    prove_stored,
    with_reading,
)

_EXPECTED = "expected"
_COPIED = "copied"
_OF_THE_LOAD = frozenset({"valid_from", "valid_to", "is_current"})
"""Columns that depend on the moment when a relation was loaded, so another load has others: these,
the load date and whether a row is deleted."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """A relation without some rows that a load on the day of its last one gives it."""

    relation: str
    rows: int


@dataclass(frozen=True, slots=True)
class WarehouseProof:
    """What a warehouse has of a source.

    ``faults`` are sentences about relations that are missing or have other columns than the model;
    if there is one, nothing was compared and ``proof`` is None. ``lacking`` are the relations that
    rows are missing from, ``contradictions`` rows whose derived columns are none that a load makes.
    ``unchecked`` are sentences on what a verdict says nothing of.
    """

    schema: str
    proof: Proof | None
    faults: tuple[str, ...] = ()
    lacking: tuple[Lacking, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    unchecked: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether all of the source is in the warehouse, as it was loaded, and nothing else."""
        return self.proof is not None and self.proof.holds and not self.contradictions

    def holds_but_for(self, tables: Collection[str]) -> bool:
        """Return whether that holds of all tables but those named, which may have other rows."""
        if not tables or self.proof is None or self.contradictions:
            return self.holds
        return not {*self.proof.unproven} - {*tables}


def prove_warehouse(
    source: Source,
    plan: TransformPlan,
    model: LogicalModel,
    place: str,
    *,
    schema: str | None = None,
    exact: bool = False,
    on_progress: OnProgress = ignore,
) -> WarehouseProof:
    """Compare the warehouse at a URI or path with its source.

    ``schema`` is where the model's relations are, by default where the dbt project builds them.
    ``exact`` compares large tables row by row as well.
    Raises SourceNotFoundError where there's no such file, and UsageError for anything but a DuckDB
    file or a PostgreSQL database.
    """
    address = _address(place)
    chosen = schema or (DUCKDB_SCHEMA if address.kind is DUCKDB else f"{plan.name}_model")
    with owned_folder() as folder:
        if address.kind is DUCKDB:
            file, within = Path(address.place), chosen
            faults = _faults(file, within, plan)
        else:
            file, within = folder.path / "warehouse.duckdb", "main"
            faults = _copied(address.place, chosen, plan, file, on_progress)
        if faults:
            return WarehouseProof(chosen, None, faults)
        former = _former_record_sources(file, within, plan)
        with built_by_dbt(source, plan, file, schema=within) as warehouse:
            proof = prove_stored(warehouse, model, exact=exact, on_progress=on_progress)
            load_date = _last_load(warehouse, model)
            connection, stored = warehouse.connection, _stored(plan)
            names = plan.column_names
            sources = expected_record_sources(model, stored, former)
            # Another engine writes some values otherwise, so its hashes can't be made again here.
            if address.kind is DUCKDB:
                rules = contradicted_rows(connection, stored, hash_columns(model), sources, names)
                changes = changes_by_a_load(connection, plan, warehouse.plan, load_date)
            else:
                rules = contradicted_rows(connection, stored, (), sources, names)
                changes = changes_without_hashes(connection, stored, names)
            # Where rows are lost, it's the load that lacks: _lacking says where.
            found = _found(rules, () if proof.verdict == "lost" else changes)
        proof = limited_to_samples(source, plan, with_reading(source, plan, proof))
        lacking: tuple[Lacking, ...] = ()
        if proof.verdict == "lost":
            lacking = _lacking(source, plan, file, within, load_date, on_progress)
    unchecked = tuple(_unchecked(plan, model, address))
    return WarehouseProof(chosen, proof, lacking=lacking, contradictions=found, unchecked=unchecked)


def _unchecked(plan: TransformPlan, model: LogicalModel, address: Address) -> Iterator[str]:
    columns = {column.name for build in _stored(plan) for column in build.columns}
    load_date = plan.column_names.load_date
    if load_date in columns:
        yield (
            f"Which load a row came with: nothing but its {load_date} says it. It was only checked"
            " that no row is older than one that it refers to."
        )
    if address.kind is not DUCKDB and hash_columns(model):
        yield "Whether hashes are those of their columns, which PostgreSQL may write otherwise."
    spine = spine_name({build.name for build in plan.builds})
    yield f"The days of {spine}, which dbt builds beside the model for its metrics."


def _found(
    rules: Iterable[Contradiction], changes: Iterable[Contradiction]
) -> tuple[Contradiction, ...]:
    """Return what contradicts a load; where rows are wrong by themselves, nothing else of them."""
    try:
        broken = list(rules)
        known = {each.relation for each in broken}
        return (*broken, *(each for each in changes if each.relation not in known))
    except duckdb.InterruptException:
        raise
    except duckdb.Error as error:
        raise BuildFailedError(
            f"What a load derives can't be compared: {str(error).splitlines()[0]}",
            hint="If the warehouse is as dbt built it, please report this.",
        ) from error


def _address(place: str) -> Address:
    address = locate(place)
    if address.kind not in (DUCKDB, POSTGRES):
        raise UsageError(
            f"A warehouse is a DuckDB file or a PostgreSQL database, and {place} is"
            f" {address.kind.phrase}.",
            hint="Pass the database that dbt builds in.",
        )
    return address


def _stored(plan: TransformPlan) -> list[Build]:
    return [build for build in plan.lasting if build.materialization != "view"]


def _faults(file: Path, schema: str, plan: TransformPlan) -> tuple[str, ...]:
    with duckdb.connect() as connection:
        try:
            connection.execute(f"ATTACH {literal(str(file))} AS {_COPIED} (READ_ONLY)")
        except DUCKDB_ERRORS as error:
            raise SourceUnreadableError(
                f"The warehouse {file.name} can't be opened: {reason(error, file)}",
                hint="Close other programs that have it open, or pass a copy.",
            ) from None
        rows = connection.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns()"
            f" WHERE database_name = '{_COPIED}' AND schema_name = ? ORDER BY column_index",
            [schema],
        ).fetchall()
    types: dict[str, dict[str, str]] = {}
    for table, column, type_ in rows:
        types.setdefault(table, {})[column] = type_
    return tuple(_differences(plan, types, schema, lambda ours, theirs: ours == theirs))


def _former_record_sources(file: Path, schema: str, plan: TransformPlan) -> frozenset[str]:
    """Return the record sources of the relations of a schema that aren't in the plan any more."""
    planned = {build.name for build in plan.builds}
    record_source = plan.column_names.record_source
    found: set[str] = set()
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {literal(str(file))} AS {_COPIED} (READ_ONLY)")
        rows = connection.execute(
            "SELECT DISTINCT table_name FROM duckdb_columns() WHERE data_type = 'VARCHAR' AND"
            f" database_name = '{_COPIED}' AND schema_name = ? AND column_name = ?",
            [schema, record_source],
        ).fetchall()
        for (table,) in rows:
            if table not in planned:
                relation = f"{_COPIED}.{quote(schema)}.{quote(table)}"
                texts = connection.execute(f"SELECT DISTINCT {record_source} FROM {relation}")
                found |= {text for (text,) in texts.fetchall() if text is not None}
    return frozenset(found)


def _differences(
    plan: TransformPlan,
    types: Mapping[str, Mapping[str, str]],
    schema: str,
    is_same: Callable[[str, str], bool],
) -> Iterator[str]:
    """Return how the relations of a schema differ from the plan's, each as a sentence."""
    for build in _stored(plan):
        columns = types.get(build.name)
        if columns is None:
            yield f"{build.name} is missing in the schema {schema}."
            continue
        for column in build.columns:
            type_ = columns.get(column.name)
            if type_ is None:
                yield f"{build.name} has no column {column.name}."
            elif not is_same(column.type, type_):
                yield f"{build.name}.{column.name} is {type_}, but the model has {column.type}."


def _copied(
    dsn: str, schema: str, plan: TransformPlan, file: Path, on_progress: OnProgress
) -> tuple[str, ...]:
    """Copy the relations of a PostgreSQL schema into a DuckDB file; what keeps them from it."""
    as_built = ReadOptions(schemas=[schema], nested="keep", periods="keep")
    with open_source(dsn, on_progress=on_progress, **as_built.as_settings()) as warehouse:
        tables = {_name(table): table for table in warehouse.tables}
        types = {
            name: {column.name: column.type for column in table.columns}
            for name, table in tables.items()
        }
        faults = list(_differences(plan, types, schema, lambda _ours, _theirs: True))
        faults += [f"{table.name} can't be read: {table.reason}" for table in warehouse.skipped]
        if faults:
            return tuple(faults)
        connection = warehouse.connection
        connection.execute(f"ATTACH {literal(str(file))} AS {_COPIED}")
        try:
            return tuple(_copies(connection, plan, tables))
        finally:
            connection.execute(f"DETACH {_COPIED}")


def _copies(
    connection: duckdb.DuckDBPyConnection, plan: TransformPlan, tables: Mapping[str, Table]
) -> Iterator[str]:
    for build in _stored(plan):
        table = tables[build.name]
        spelled = {column.name: column.alias for column in table.columns}
        columns = ", ".join(
            f"CAST({quote(spelled[column.name])} AS {column.type}) AS {column.name}"
            for column in build.columns
        )
        rows = f"SELECT {columns} FROM {table.relation}"
        try:
            connection.execute(f"CREATE TABLE {_COPIED}.main.{build.name} AS {rows}")
        except duckdb.ConversionException:
            yield f"{build.name} has a value that isn't of the model's type."


def _name(table: Table) -> str:
    return table.origin.table if isinstance(table.origin, InDatabase) else table.name


def _last_load(warehouse: Built, model: LogicalModel) -> datetime:
    """Return the last day that a warehouse has snapshots of; without any, every day is as good."""
    facts = model.dimensional.facts if model.dimensional is not None else ()
    days = [FIRST_LOAD.date()]
    for fact in facts:
        if fact.snapshot_of:
            # Python has no other years. A day outside of them is a fault that the proof reports.
            rows = warehouse.connection.execute(
                f"SELECT max({SNAPSHOT_DATE}) FROM model.{fact.name}"
                f" WHERE year({SNAPSHOT_DATE}) BETWEEN 1 AND 9999"
            ).fetchall()
            days += [day for (day,) in rows if day is not None]
    return datetime.combine(max(days), time())


def _lacking(
    source: Source,
    plan: TransformPlan,
    file: Path,
    schema: str,
    load_date: datetime,
    on_progress: OnProgress,
) -> tuple[Lacking, ...]:
    """Return the relations that lack rows that a load on that day has.

    Columns that depend on the moment of the load aren't compared. A warehouse may have more rows:
    the history of what changed.
    """
    # The rows of a business vault are of earlier loads, and follow from the raw vault.
    loaded = [
        build for build in _stored(plan) if build.layer not in ("business_vault", "quarantine")
    ]
    connection = source.connection
    connection.execute(f"ATTACH ':memory:' AS {_EXPECTED}")
    try:
        with built(source, plan, load_date=load_date, on_progress=on_progress):
            for build in loaded:
                connection.execute(
                    f"CREATE TABLE {_EXPECTED}.main.{build.name} AS {_comparable(build, plan)}"
                )
        with built_by_dbt(source, plan, file, schema=schema):
            counted = [(build.name, _missing(connection, build, plan)) for build in loaded]
    finally:
        connection.execute(f"DETACH {_EXPECTED}")
    return tuple(Lacking(name, rows) for name, rows in counted if rows)


def _missing(connection: duckdb.DuckDBPyConnection, build: Build, plan: TransformPlan) -> int:
    row = connection.execute(
        f"SELECT count(*) FROM (FROM {_EXPECTED}.main.{build.name}"
        f" EXCEPT {_comparable(build, plan)})"
    ).fetchone()
    assert row is not None, "a count without groups always gives a row"
    return int(row[0])


def _comparable(build: Build, plan: TransformPlan) -> str:
    """Return the rows of a relation by the columns that are the same in every load, as text."""
    versions = {other.name for other in plan.builds if _has_versions(other)}
    of_version = {
        column for test in build.tests if test.to_model in versions for column in test.columns
    }
    if _has_versions(build):
        of_version |= set(build.key)
    added = plan.column_names
    columns = ", ".join(
        f"CAST({column.name} AS VARCHAR) AS {column.name}"
        for column in build.columns
        if column.name not in {*_OF_THE_LOAD, added.load_date, added.is_deleted, *of_version}
        and APPLIED not in column.tags
    )
    # A bridge may have nothing but keys of versions: then its rows are counted.
    return f"SELECT {columns or 'row_number() OVER () AS number'} FROM model.{build.name}"


def _has_versions(build: Build) -> bool:
    return any(column.name == "valid_from" for column in build.columns)
