"""What must hold of the columns that a load adds, in each row of a warehouse and of any day.

A load made now says nothing of what former ones left: of versions that were replaced, of members
that the source has deleted, and of when and from where a row came.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from fluid_build.decisions.conventions import DEFAULT_CONVENTIONS, ColumnNames
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import sql_names
from fluid_build.sources.sql import literal
from fluid_build.text import listed
from fluid_build.transform.plan.data_vault.sources import vault_sources
from fluid_build.transform.plan.elements import (
    BEFORE_ANY_LOAD,
    EVERY_ROW,
    GHOST,
    Build,
    BuildTest,
    PlanColumn,
)
from fluid_build.transform.plan.present_source import present_source
from fluid_build.transform.plan.sql_layout import exists, query
from fluid_build.transform.plan.staging import by_spelling, staging_builds
from fluid_build.transform.proof.hash_columns import HashColumn

_DERIVED = frozenset({"technical", "hash-key", "foreign-key"})
"""Tags of columns that a load adds. What the source has is compared with the source."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Rows of a relation as no load leaves them; ``what`` follows their number in a sentence."""

    relation: str
    rows: int
    what: str


def is_derived(column: PlanColumn) -> bool:
    """Whether a load adds a column."""
    return not _DERIVED.isdisjoint(column.tags)


def contradicted_rows(
    connection: duckdb.DuckDBPyConnection,
    builds: Sequence[Build],
    hashes: Sequence[HashColumn],
    record_sources: Mapping[str, Collection[str]],
    names: ColumnNames = DEFAULT_CONVENTIONS.columns,
) -> Iterator[Contradiction]:
    """Yield what doesn't hold of the rows of relations, each in ``model``.

    ``record_sources`` are those that a relation may have, ``names`` what added columns are called.
    """
    relations = {build.name: build for build in builds}
    for build in builds:
        rules = dict(_rules(build, hashes, record_sources.get(build.name, ()), names))
        counts = [f"COUNT(*) FILTER (WHERE {condition})" for condition in rules.values()]
        if counts:
            yield from _broken(connection, build, rules, query(counts, f"model.{build.name}"))
        for test in build.tests:
            if _is_by_construction(build, test):
                for what, sql in _tested(build, test, relations, names.load_date):
                    yield from _broken(connection, build, [what], sql)


def expected_record_sources(
    model: LogicalModel, builds: Sequence[Build], former: Collection[str]
) -> dict[str, Collection[str]]:
    """Return the record sources that each relation may have; ``former`` are of other models."""
    if model.dv2 is None:
        return {}
    names = sql_names(model.conceptual)
    present = present_source(model)
    staging = staging_builds(model.conceptual, names, by_spelling, present)
    sources = vault_sources(model, names, staging, present)
    # A hub has a key from where it first arrived, be it a table that no model has any more.
    hubs = {
        hub: {GHOST, *former, *(sources.record_source(table) for table, _ in feeds)}
        for hub, feeds in sources.feeds.items()
    }
    return {
        build.name: hubs[build.name]
        if build.name in hubs
        else {GHOST, *map(sources.record_source, build.mapped_source_tables)}
        for build in builds
    }


def _rules(
    build: Build,
    hashes: Sequence[HashColumn],
    record_sources: Collection[str],
    names: ColumnNames,
) -> Iterator[tuple[str, str]]:
    """Yield what rows may not be, each with the condition that they are."""
    for column in filter(is_derived, build.columns):
        if column.required:
            yield f"without {column.name}", f"{column.name} IS NULL"
        if column.name == names.record_source and record_sources:
            known = ", ".join(map(literal, sorted(record_sources)))
            yield f"with another {column.name} than the model's", f"{column.name} NOT IN ({known})"
    for each in hashes:
        if each.relation == build.name:
            yield f"whose {each.name} isn't the hash of their columns", each.contradicted


def _is_by_construction(build: Build, test: BuildTest) -> bool:
    """Whether a test is about what a load adds, and not about what the source may break."""
    return (
        test.evidence is None
        and not test.promise
        and test.severity == "error"
        and not test.allowed
        and test.scope == EVERY_ROW
        and any(is_derived(build.column(name)) for name in test.columns)
    )


def _tested(
    build: Build, test: BuildTest, relations: Mapping[str, Build], load_date: str
) -> Iterator[tuple[str, str]]:
    """Yield what a test says that rows may not be, with the query that counts them."""
    columns = listed(test.columns)
    if test.kind == "unique":
        groups = ", ".join(test.columns)
        repeated = f"FROM model.{build.name} GROUP BY {groups} HAVING COUNT(*) > 1"
        sql = f"SELECT COALESCE(SUM(times), 0) FROM (SELECT COUNT(*) AS times {repeated})"
        yield f"with the same {columns} as another", sql
    elif (
        # What is rebuilt by each load refers to whatever the source does, orphans too.
        build.materialization == "incremental"
        and test.kind == "relationships"
        and test.to_model is not None
        and test.to_model in relations
    ):
        pairs = list(zip(test.columns, test.to_columns, strict=True))
        found = exists(
            f"model.{test.to_model} AS other", [f"own.{a} = other.{b}" for a, b in pairs]
        )
        filled = [f"own.{name} IS NOT NULL" for name in test.columns]
        sql = query(["COUNT(*)"], f"model.{build.name} AS own", where=[*filled, f"NOT {found}"])
        yield f"whose {columns} {test.to_model} doesn't have", sql
        target = relations[test.to_model]
        if all(_has_column(each, load_date) for each in (build, target)):
            # A load adds what is referred to with what refers to it, or had it before.
            own_date, other_date = f"own.{load_date}", f"other.{load_date}"
            is_older = [*(f"own.{a} = other.{b}" for a, b in pairs)]
            is_older.append(f"{BEFORE_ANY_LOAD} < {own_date} AND {own_date} < {other_date}")
            joined = f"model.{build.name} AS own, model.{test.to_model} AS other"
            yield (
                f"loaded before what {columns} leads to",
                query(["COUNT(*)"], joined, where=is_older),
            )


def _has_column(build: Build, name: str) -> bool:
    return any(column.name == name for column in build.columns)


def _broken(
    connection: duckdb.DuckDBPyConnection, build: Build, rules: Collection[str], sql: str
) -> Iterator[Contradiction]:
    counts = connection.execute(sql).fetchone()
    assert counts is not None, "a count without groups always gives a row"
    for what, rows in zip(rules, counts, strict=True):
        if rows:
            yield Contradiction(build.name, int(rows), what)
