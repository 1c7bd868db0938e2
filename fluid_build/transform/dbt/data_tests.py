"""A plan's tests as dbt's: the built-in ones where they say it, a query of our own where not.

dbt counts what a test's query returns; ``fail_calc`` makes that the rows which break the claim,
as ``BuildTest.allowed`` counts them. So many are known: a test warns only where there are more.
Built-in tests: https://docs.getdbt.com/reference/resource-properties/data-tests.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from fluid_build.modeling.sql_names import free_name
from fluid_build.sources.sql import literal
from fluid_build.transform.dbt.references import with_references
from fluid_build.transform.dbt.targets import Dialect
from fluid_build.transform.plan import Build, BuildTest, TransformPlan

# dbt puts an accepted value between quotes as it stands, after Jinja took it for an expression.
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9 _.,:/+&-]+")
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,17})")
_INTEGER_TYPES = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT"}
_ROWS_REPEATED = "coalesce(sum(n_records - 1), 0)"
_ROWS_COUNTED = "coalesce(sum(n_records), 0)"

Entry = dict[str, object]


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


def data_tests(plan: TransformPlan, dialect: Dialect) -> DataTests:
    """The tests of a plan; those of severity ``info`` are figures, and dbt has no word for them."""
    tests = DataTests()
    builds = {build.name: build for build in plan.builds}
    taken = set(builds)
    for build in plan.builds:
        for test in build.tests:
            if test.severity != "info":
                parent = builds.get(test.to_model or "")
                for name, claim in _named(test, taken):
                    _add(tests, name, _Claim(build, claim, parent), dialect)
    return tests


@dataclass(frozen=True, slots=True)
class _Claim:
    """A test of a build, and the build that it refers to, if it does."""

    build: Build
    test: BuildTest
    parent: Build | None

    @property
    def compares_text(self) -> bool:
        """Whether a reference pairs text with another type, which not every database compares."""
        if self.parent is None:
            return False
        ours = [self.build.column(column).type for column in self.test.columns]
        theirs = [self.parent.column(column).type for column in self.test.to_columns]
        pairs = zip(ours, theirs, strict=True)
        return any(one != other and "VARCHAR" in (one, other) for one, other in pairs)


def _named(test: BuildTest, taken: set[str]) -> Iterator[tuple[str, BuildTest]]:
    """The test under a name of its own; one for each column where they are separate claims."""
    claims = [test.columns]
    if test.kind == "not_null":
        claims = [(column,) for column in test.columns]
    for claim in claims:
        name = free_name(test.name, taken)
        taken.add(name)
        yield name, test.model_copy(update={"columns": claim})


def _add(tests: DataTests, name: str, claim: _Claim, dialect: Dialect) -> None:
    test = claim.test
    arguments = _arguments(claim)
    if arguments is None:
        sql = f"{_config(test)}\n\n{_text(claim, dialect)}\n"
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
    place = (claim.build.name, test.columns[0])
    tests.entries.setdefault(place, []).append({test.kind: entry})


def _arguments(claim: _Claim) -> Entry | None:
    """What the built-in test is told; None where it cannot make the claim."""
    test = claim.test
    if len(test.columns) != 1 or claim.compares_text:
        return None
    if test.kind == "relationships":
        return {"to": f"ref('{test.to_model}')", "field": test.to_columns[0]}
    if test.kind == "accepted_values":
        return _accepted(claim.build.column(test.columns[0]).type, test.values)
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


def _text(claim: _Claim, dialect: Dialect) -> str:
    """The query of a test in the words of its target, and of dbt."""
    test, name = claim.test, claim.build.name
    if test.kind == "unique":
        sql = _repeated(name, test.columns)
    elif test.kind == "relationships":
        sql = _orphans(name, test, "CAST({} AS VARCHAR)" if claim.compares_text else "{}")
    else:
        sql = _other_values(name, test.columns[0], test.values)
    if "CAST(" in sql:
        # The others are of names and keywords alone, which are the same everywhere.
        sql = dialect.query(sql)
    return with_references(sql, own="", source="", backslashes=dialect.backslashes)


def _repeated(name: str, columns: Collection[str]) -> str:
    listed = ",\n    ".join(columns)
    filled = "\n    AND ".join(f"{column} IS NOT NULL" for column in columns)
    return (
        f"SELECT\n    {listed},\n    COUNT(*) AS n_records\nFROM model.{name}\n"
        f"WHERE\n    {filled}\nGROUP BY\n    {listed}\nHAVING COUNT(*) > 1"
    )


def _orphans(name: str, test: BuildTest, compared: str) -> str:
    listed = ",\n    ".join(f"child.{column}" for column in test.columns)
    filled = "\n    AND ".join(f"child.{column} IS NOT NULL" for column in test.columns)
    pairs = "\n    AND ".join(
        f"{compared.format(f'parent.{theirs}')} = {compared.format(f'child.{ours}')}"
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
