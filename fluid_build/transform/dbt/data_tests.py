"""A plan's tests as dbt's: for each relation one test that fails, and one that only warns.

The references of a staging relation have a test of their own.

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
    """Return the tests of each build by its name.

    Those of severity ``info`` are figures, which dbt can't express.
    """
    builds = {build.name: build for build in plan.builds}
    used_names = set(builds)
    entries: dict[str, list[Entry]] = {}
    for build in plan.builds:
        for group, weight in _GROUPS.items():
            promises = [
                _promise(build, test, builds.get(test.to_model or ""), dialect)
                for test in _claims(build)
                if _group(build, test) == group
            ]
            if promises:
                name = free_identifier(f"{build.name}_{group}", used_names)
                used_names.add(name)
                entries.setdefault(build.name, []).append(_entry(name, weight, build, promises))
    return entries


_GROUPS: dict[str, Weight] = {"promises": "error", "references": "error", "expectations": "warn"}


def _group(build: Build, test: BuildTest) -> str:
    """Return which test of a relation a claim belongs to.

    dbt skips what reads the relations of a failed test. A broken key of a staging must skip all of
    its readers, so references, which read a second relation, have their own test.
    """
    if _weight(test) == "warn":
        return "expectations"
    return "references" if build.layer == "staging" and test.to_model else "promises"


def _claims(build: Build) -> Iterator[BuildTest]:
    """Return the tests of a build; a claim about several columns becomes one for each."""
    for test in build.tests:
        if test.severity == "info":
            continue
        if test.kind != "not_null":
            yield test
            continue
        for column in test.columns:
            yield test.model_copy(update={"columns": (column,)})


def _weight(test: BuildTest) -> Weight:
    """Return the severity: a claim that's known to be broken only warns."""
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
    entry: Entry = {"name": test.name}
    if test.reason:
        entry["reason"] = test.reason
    if test.scope.latest_of:
        entry["latest"] = True
    where = _where(test.scope)
    if test.kind == "unique":
        entry["unique"] = list(test.columns)
    elif test.kind == "relationships":
        entry |= _reference(build, test, parent)
    else:
        broken = _broken(build, test)
        # Names and keywords are the same everywhere; a text may need another spelling.
        entry["broken"] = dialect.query(broken) if "'" in broken else broken
    if where:
        entry["where"] = dialect.query(where) if "'" in where else where
    if test.allowed:
        entry["allowed"] = test.allowed
    return entry


def _where(scope: RowScope) -> str:
    conditions = [f"{column} IS NOT NULL" for column in scope.filled]
    conditions += [f"{column} <> {literal(value)}" for column, value in scope.other_than]
    if scope.current:
        conditions.append(scope.current)
    if scope.gone:
        conditions.append(f"NOT {scope.gone}")
    return " AND ".join(conditions)


def _broken(build: Build, test: BuildTest) -> str:
    """Return the condition that a row breaks the promise."""
    (column,) = test.columns
    if test.kind == "not_null":
        return f"{column} IS NULL"
    type_ = build.column(column).type
    if type_ in _INTEGER_TYPES and all(map(_INTEGER.fullmatch, test.values)):
        return f"{column} NOT IN ({', '.join(test.values)})"
    values = ", ".join(map(literal, test.values))
    value = column if type_ == "VARCHAR" else f"CAST({column} AS VARCHAR)"
    return f"{value} NOT IN ({values})"


def _reference(build: Build, test: BuildTest, parent: Build | None) -> Entry:
    entry: Entry = {
        "columns": list(test.columns),
        "to": f"ref('{test.to_model}')",
        "to_columns": list(test.to_columns),
    }
    if parent is not None and _compares_text(build, test, parent):
        entry["as_text"] = True
    return entry


def _compares_text(build: Build, test: BuildTest, parent: Build) -> bool:
    """Whether a reference pairs text with another type, which not every database compares."""
    child_types = [build.column(column).type for column in test.columns]
    parent_types = [parent.column(column).type for column in test.to_columns]
    pairs = zip(child_types, parent_types, strict=True)
    return any(
        child != parent_type and "VARCHAR" in (child, parent_type) for child, parent_type in pairs
    )
