"""A plan's tests as dbt's: the built-in ones where they say it, a query of our own where not.

dbt counts what a test's query returns; ``fail_calc`` makes that the rows which break the claim,
as ``BuildTest.allowed`` counts them. So many are known: a test warns only where there are more.
Built-in tests: https://docs.getdbt.com/reference/resource-properties/data-tests.
"""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from fluid_build.modeling.sql_names import free_name
from fluid_build.sources.sql import literal
from fluid_build.transform.plan import Build, BuildTest, TransformPlan

# dbt puts an accepted value between quotes as it stands, after Jinja took it for an expression.
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9 _.,:/+&-]+")
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,17})")
_INTEGER_TYPES = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT"}
_ROWS_REPEATED = "coalesce(sum(n_records - 1), 0)"
_ROWS_COUNTED = "coalesce(sum(n_records), 0)"

Entry = dict[str, object]
Translate = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class SingularTest:
    """A test that is a query of our own: it selects what breaks the claim."""

    name: str
    sql: str
    description: str


@dataclass(slots=True)
class DataTests:
    """The tests of a project: ``entries`` by build and column, ``singular`` ones as queries."""

    entries: dict[tuple[str, str], list[Entry]] = field(default_factory=dict)
    singular: list[SingularTest] = field(default_factory=list)


def data_tests(plan: TransformPlan, translate: Translate) -> DataTests:
    """The tests of a plan; those of severity ``info`` are figures, and dbt has no word for them.

    ``translate`` turns a query in DuckDB's dialect into the text of a file of the project.
    """
    tests = DataTests()
    taken = {build.name for build in plan.builds}
    for build in plan.builds:
        for test in build.tests:
            if test.severity != "info":
                for name, single in _named(test, taken):
                    _add(tests, build, name, single, translate)
    return tests


def _named(test: BuildTest, taken: set[str]) -> Iterator[tuple[str, BuildTest]]:
    """The test under a name of its own; one for each column where they are separate claims."""
    apart = test.kind == "not_null"
    claims: list[tuple[str, ...]] = (
        [(column,) for column in test.columns] if apart else [test.columns]
    )
    for claim in claims:
        name = free_name(test.name, taken)
        taken.add(name)
        yield name, test.model_copy(update={"columns": claim})


def _add(tests: DataTests, build: Build, name: str, test: BuildTest, translate: Translate) -> None:
    arguments = _arguments(build, test)
    if arguments is None:
        sql = f"{_config(test)}\n\n{translate(_query(build, test))}\n"
        tests.singular.append(SingularTest(name, sql, test.reason))
        return
    entry: Entry = {"name": name}
    if test.reason:
        entry["description"] = test.reason
    if arguments:
        entry["arguments"] = arguments
    config = _settings(test)
    if test.allowed and test.kind in {"unique", "accepted_values"}:
        config["fail_calc"] = _ROWS_REPEATED if test.kind == "unique" else _ROWS_COUNTED
    if config:
        entry["config"] = config
    tests.entries.setdefault((build.name, test.columns[0]), []).append({test.kind: entry})


def _arguments(build: Build, test: BuildTest) -> Entry | None:
    """What the built-in test is told; None where it cannot make the claim."""
    if len(test.columns) != 1:
        return None
    if test.kind == "relationships":
        return {"to": f"ref('{test.to_model}')", "field": test.to_columns[0]}
    if test.kind == "accepted_values":
        return _accepted(build.column(test.columns[0]).type, test.values)
    return {}


def _accepted(type_: str, values: Collection[str]) -> Entry | None:
    if type_ == "VARCHAR" and all(map(_PLAIN_VALUE.fullmatch, values)):
        return {"values": list(values)}
    if type_ in _INTEGER_TYPES and all(map(_INTEGER.fullmatch, values)):
        return {"values": [int(value) for value in values], "quote": False}
    return None


def _settings(test: BuildTest) -> Entry:
    if test.allowed:
        return {"severity": "warn", "warn_if": f">{test.allowed}"}
    return {"severity": "warn"} if test.severity == "warn" else {}


def _config(test: BuildTest) -> str:
    settings = {"severity": "error"} | _settings(test)
    if test.kind == "unique" and test.allowed:
        settings["fail_calc"] = _ROWS_REPEATED
    written = ", ".join(f"{key}='{value}'" for key, value in settings.items())
    return f"{{{{ config({written}) }}}}"


def _query(build: Build, test: BuildTest) -> str:
    if test.kind == "unique":
        return _repeated(build.name, test.columns)
    if test.kind == "relationships":
        return _orphans(build.name, test)
    return _other_values(build.name, test.columns[0], test.values)


def _repeated(name: str, columns: Collection[str]) -> str:
    listed = ",\n    ".join(columns)
    filled = "\n    AND ".join(f"{column} IS NOT NULL" for column in columns)
    return (
        f"SELECT\n    {listed},\n    COUNT(*) AS n_records\nFROM model.{name}\n"
        f"WHERE\n    {filled}\nGROUP BY\n    {listed}\nHAVING COUNT(*) > 1"
    )


def _orphans(name: str, test: BuildTest) -> str:
    listed = ",\n    ".join(f"child.{column}" for column in test.columns)
    filled = "\n    AND ".join(f"child.{column} IS NOT NULL" for column in test.columns)
    pairs = "\n    AND ".join(
        f"parent.{theirs} = child.{ours}"
        for ours, theirs in zip(test.columns, test.to_columns, strict=True)
    )
    return (
        f"SELECT\n    {listed}\nFROM model.{name} AS child\n"
        f"LEFT JOIN model.{test.to_model} AS parent\n    ON {pairs}\n"
        f"WHERE\n    {filled}\n    AND parent.{test.to_columns[0]} IS NULL"
    )


def _other_values(name: str, column: str, values: Collection[str]) -> str:
    listed = ",\n        ".join(map(literal, values))
    return (
        f"SELECT {column}\nFROM model.{name}\nWHERE\n    CAST({column} AS VARCHAR) NOT IN (\n"
        f"        {listed}\n    )"
    )
