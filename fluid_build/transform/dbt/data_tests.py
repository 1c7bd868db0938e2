"""A plan's tests as dbt's: keys and references one by one, all else together.

A key or a reference is a generic test of dbt, so one that fails is named in dbt's own words; of
several columns it's a test of the project's own (``promise_macros.py``). What dbt has no test for,
and what is only a property of a row, would be hundreds of nodes, and a node costs far more than its
query. So a relation has one test for all of these that fail, and one for those that only warn: for
each promise that more rows break than are known to, it returns a row with the promise's name and
the number of rows.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fluid_build.modeling.sql_names import free_identifier
from fluid_build.sources.sql import literal
from fluid_build.transform.dbt.constraints import primary_key
from fluid_build.transform.dbt.dialects import TargetDialect
from fluid_build.transform.dbt.promise_macros import (
    COMBINATION_TEST,
    GENERIC_TEST,
    QUARANTINE_TEST,
)
from fluid_build.transform.plan.elements import EVERY_ROW, Build, BuildTest, RowScope, TransformPlan

_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,17})")
_INTEGER_TYPES = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT"}

_COMPUTED_KEYS = {"hash-key", "foreign-key", "technical"}
"""The tags of hashes and surrogate keys: a row without a member has the key of the unknown one."""

Entry = dict[str, object]
Weight = Literal["error", "warn"]


@dataclass(frozen=True, slots=True)
class RelationTests:
    """The tests of a relation: those of a single column by its name, and the others.

    ``never_null`` are columns that the database itself is told to keep free of nulls.
    """

    of_relation: list[dict[str, Entry]] = field(default_factory=list)
    of_columns: dict[str, list[dict[str, Entry]]] = field(default_factory=dict)
    never_null: set[str] = field(default_factory=set)

    def failing_keys(self) -> list[str]:
        """Return the names of dbt's own tests that fail."""
        tests = [test for tests in self.of_columns.values() for test in tests]
        entries = [entry for test in tests for entry in test.values()]
        return [str(entry["name"]) for entry in entries if "config" not in entry]


def data_tests(plan: TransformPlan, dialect: TargetDialect) -> dict[str, RelationTests]:
    """Return the tests of each build by its name.

    Those of severity ``info`` are figures, which dbt can't express.
    """
    builds = {build.name: build for build in plan.builds}
    used_names = set(builds)
    tests: dict[str, RelationTests] = {}
    for build in plan.builds:
        found = RelationTests()
        grouped: dict[str, list[Entry]] = {}
        for test in _claims(build):
            if _is_computed_key(build, test):
                found.never_null.update(test.columns)
            elif _is_native(build, test, builds):
                _add_native(found, _unused(test.name, used_names), test)
            else:
                promise = _promise(build, test, builds.get(test.to_model or ""), dialect)
                group = "promises" if _weight(test) == "error" else "expectations"
                grouped.setdefault(group, []).append(promise)
        found.never_null.update(primary_key(build, dialect.target))
        for group, weight in _GROUPS.items():
            if group in grouped:
                name = _unused(f"{build.name}_{group}", used_names)
                found.of_relation.append(_entry(name, weight, build, grouped[group]))
        if build == plan.quarantine:
            found.of_relation.append(_of_quarantine(_unused(f"{build.name}_is_empty", used_names)))
        if found != RelationTests():
            tests[build.name] = found
    return tests


_GROUPS: dict[str, Weight] = {"promises": "error", "expectations": "warn"}


def _unused(name: str, used_names: set[str]) -> str:
    """Return a name that no other test or model has, which from now on is used."""
    unused = free_identifier(name, used_names)
    used_names.add(unused)
    return unused


def _of_quarantine(name: str) -> dict[str, Entry]:
    """Return the test that says which rows of a load are in quarantine; it stops nothing."""
    description = "Each table and rule with rows that this load has set apart."
    config = {"severity": "warn", "fail_calc": "coalesce(sum(failures), 0)"}
    return {QUARANTINE_TEST: {"name": name, "description": description, "config": config}}


def _is_computed_key(build: Build, test: BuildTest) -> bool:
    """Whether a claim is that a key which the load computes is never null.

    No row can break it, so it's a constraint of the table, which costs no node.
    """
    is_table = build.layer != "staging" and build.materialization != "view"
    is_claim = test.kind == "not_null" and test.evidence is None and test.scope == EVERY_ROW
    if not is_table or not is_claim or _weight(test) == "warn":
        return False
    return not _COMPUTED_KEYS.isdisjoint(build.column(test.columns[0]).tags)


def _is_native(build: Build, test: BuildTest, builds: Mapping[str, Build]) -> bool:
    """Whether a claim about a key or a reference is one that dbt has a test for.

    Of some of the rows it has none, and it counts the keys that repeat and not their rows, so keys
    with known exceptions aren't among them either.
    """
    if test.scope != EVERY_ROW:
        return False
    if test.kind == "relationships":
        parent = builds.get(test.to_model or "")
        is_to_key = parent is not None and test.to_columns == parent.key and len(parent.key) == 1
        return parent is not None and is_to_key and not _compares_text(build, test, parent)
    if test.kind == "unique":
        return not test.allowed
    return test.kind == "not_null" and _is_in_a_key(build, test.columns[0])


def _is_in_a_key(build: Build, column: str) -> bool:
    """Whether a column is part of a key: of a relation, or that a model relies on in a staging."""
    relied_on = build.layer == "staging" and any(
        test.kind == "unique" and column in test.columns for test in build.tests
    )
    return relied_on or column in build.key or "business-key" in build.column(column).tags


def _add_native(found: RelationTests, name: str, test: BuildTest) -> None:
    arguments: Entry = {}
    if test.kind == "relationships":
        arguments = {"to": f"ref('{test.to_model}')", "field": test.to_columns[0]}
    elif len(test.columns) > 1:
        arguments = {"combination_of_columns": list(test.columns)}
    entry: Entry = {"name": name}
    if test.reason:
        entry["description"] = test.reason
    if arguments:
        entry["arguments"] = arguments
    if _weight(test) == "warn":
        entry["config"] = {"severity": "warn"}
        if test.allowed:
            entry["config"] = {"severity": "warn", "warn_if": f">{test.allowed}"}
    if len(test.columns) > 1:
        found.of_relation.append({COMBINATION_TEST: entry})
    else:
        found.of_columns.setdefault(test.columns[0], []).append({test.kind: entry})


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
    """Return the severity: a claim that's known to be broken only warns.

    So does a reference of the source: what refers may arrive a load before what it refers to.
    """
    is_known = test.allowed or test.severity == "warn"
    return "warn" if is_known or is_of_source(test) else "error"


def is_of_source(test: BuildTest) -> bool:
    """Whether a test is of a reference that the source has, and not one that a load makes."""
    return test.kind == "relationships" and test.evidence is not None


def _entry(name: str, weight: Weight, build: Build, promises: Sequence[Entry]) -> dict[str, Entry]:
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
        (entry["column"],) = test.columns
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
    if scope.blank:
        conditions.append(f"{scope.blank} IS NULL")
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
