"""A plan's tests as dbt's: for each relation one test of all that must hold, one of all that warns.

Of a staging relation, the references that must hold stand apart.

A dbt node costs far more than its query, so the promises of a relation share one test. It's the
project's own generic test (``promise_macros.py``): for each promise that more rows break than are
known to, it returns a row with the promise's name and the number of rows.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from fluid_build.modeling.sql_names import free_identifier
from fluid_build.sources.sql import literal
from fluid_build.transform.dbt.dialects import TargetDialect
from fluid_build.transform.dbt.promise_macros import GENERIC_TEST
from fluid_build.transform.plan.elements import Build, BuildTest, RowScope, TransformPlan

_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,17})")
_INTEGER_TYPES = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT"}

Entry = dict[str, object]
Weight = Literal["error", "warn"]


def data_tests(plan: TransformPlan, dialect: TargetDialect) -> dict[str, list[Entry]]:
    """The tests of each build by its name.

    Those of severity ``info`` are figures, and dbt has no word for them.
    """
    builds = {build.name: build for build in plan.builds}
    taken = set(builds)
    found: dict[str, list[Entry]] = {}
    for build in plan.builds:
        for group, weight in _GROUPS.items():
            promises = [
                _promise(build, test, builds.get(test.to_model or ""), dialect)
                for test in _claims(build)
                if _group(build, test) == group
            ]
            if promises:
                name = free_identifier(f"{build.name}_{group}", taken)
                taken.add(name)
                found.setdefault(build.name, []).append(_entry(name, weight, build, promises))
    return found


_GROUPS: dict[str, Weight] = {"promises": "error", "references": "error", "expectations": "warn"}


def _group(build: Build, test: BuildTest) -> str:
    """Which test of a relation a claim belongs to.

    A failed test holds back what reads every relation that it reads. The keys of a staging must
    hold back all that reads it, so references, which read another one too, have their own test.
    """
    if _weight(test) == "warn":
        return "expectations"
    return "references" if build.layer == "staging" and test.to_model else "promises"


def _claims(build: Build) -> Iterator[BuildTest]:
    """The tests of a build, one for each column where several columns are separate claims."""
    for test in build.tests:
        if test.severity == "info":
            continue
        if test.kind != "not_null":
            yield test
            continue
        for column in test.columns:
            yield test.model_copy(update={"columns": (column,)})


def _weight(test: BuildTest) -> Weight:
    """What is known to be broken can only be warned of."""
    return "warn" if test.allowed or test.severity == "warn" else "error"


def _entry(name: str, weight: Weight, build: Build, promises: Sequence[Entry]) -> Entry:
    arguments: Entry = {"promises": list(promises)}
    histories = {test.scope.latest_of for test in build.tests if test.scope.latest_of}
    if any(promise.get("latest") for promise in promises):
        (latest_of,) = histories
        arguments["latest_of"] = list(latest_of)
    entry: Entry = {"name": name, "arguments": arguments}
    if weight == "warn":
        entry["config"] = {"severity": "warn"}
    return {GENERIC_TEST: entry}


def _promise(build: Build, test: BuildTest, parent: Build | None, dialect: TargetDialect) -> Entry:
    found: Entry = {"name": test.name}
    if test.reason:
        found["reason"] = test.reason
    if test.scope.latest_of:
        found["latest"] = True
    where = _where(test.scope)
    if test.kind == "unique":
        found["unique"] = list(test.columns)
    elif test.kind == "relationships":
        found |= _reference(build, test, parent)
    else:
        broken = _broken(build, test)
        # Names and keywords are the same everywhere; a text may need another spelling.
        found["broken"] = dialect.query(broken) if "'" in broken else broken
    if where:
        found["where"] = dialect.query(where) if "'" in where else where
    if test.allowed:
        found["allowed"] = test.allowed
    return found


def _where(scope: RowScope) -> str:
    conditions = [f"{column} IS NOT NULL" for column in scope.filled]
    conditions += [f"{column} <> {literal(value)}" for column, value in scope.other_than]
    if scope.current:
        conditions.append(scope.current)
    if scope.gone:
        conditions.append(f"NOT {scope.gone}")
    return " AND ".join(conditions)


def _broken(build: Build, test: BuildTest) -> str:
    """The condition that a row breaks the promise."""
    (column,) = test.columns
    if test.kind == "not_null":
        return f"{column} IS NULL"
    type_ = build.column(column).type
    if type_ in _INTEGER_TYPES and all(map(_INTEGER.fullmatch, test.values)):
        return f"{column} NOT IN ({', '.join(test.values)})"
    listed = ", ".join(map(literal, test.values))
    text = column if type_ == "VARCHAR" else f"CAST({column} AS VARCHAR)"
    return f"{text} NOT IN ({listed})"


def _reference(build: Build, test: BuildTest, parent: Build | None) -> Entry:
    found: Entry = {
        "columns": list(test.columns),
        "to": f"ref('{test.to_model}')",
        "to_columns": list(test.to_columns),
    }
    if parent is not None and _compares_text(build, test, parent):
        found["as_text"] = True
    return found


def _compares_text(build: Build, test: BuildTest, parent: Build) -> bool:
    """Whether a reference pairs text with another type, which not every database compares."""
    ours = [build.column(column).type for column in test.columns]
    theirs = [parent.column(column).type for column in test.to_columns]
    pairs = zip(ours, theirs, strict=True)
    return any(one != other and "VARCHAR" in (one, other) for one, other in pairs)
