"""dbt's unit tests of how models are loaded: one model for each pattern, with rows made up here.

What they expect is what the plan's own SQL makes of the rows in DuckDB, hashes included. So they
fail where a macro was changed in the project, or where another database loads differently.

dbt needs the relations of a test to exist, because it takes the types of their columns from them,
so the tests are only there where a variable asks for them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TypeAlias

import duckdb

from fluid_build.sources.sql import quote
from fluid_build.transform.dbt.jinja import Jinja
from fluid_build.transform.dbt.model_files import FOLDERS, STAYS
from fluid_build.transform.dbt.properties_yml import yaml_file
from fluid_build.transform.dbt.unit_test_rows import (
    MEMBERS,
    Given,
    Relations,
    Row,
    dimension_loads,
    fact_loads,
    history_loads,
    hub_loads,
    junk_loads,
    link_loads,
    versioned_loads,
)
from fluid_build.transform.plan.elements import Build, TransformPlan
from fluid_build.transform.plan.execution import FIRST_LOAD, set_load_date, statement
from fluid_build.transform.plan.hashing import BINARY

UNIT_TESTS = "_unit_tests.yml"
VARIABLE = "unit_tests"
"""The dbt variable that asks for the tests."""
_Loads: TypeAlias = Callable[[Build, Relations], Sequence[Given] | None]
_PATTERNS: Mapping[str, _Loads] = {
    "vault_hub": hub_loads,
    "vault_link": link_loads,
    "vault_satellite": history_loads,
    "vault_reference_table": history_loads,
    "dimension_versions": history_loads,
    "dimension": dimension_loads,
    "versioned_dimension": versioned_loads,
    "junk_dimension": junk_loads,
    "fact": fact_loads,
    "periodic_snapshot": fact_loads,
    "bridge": fact_loads,
}
"""The rows of each load of a model by its macro. The calendar isn't among them: a year of it would
be 366 rows of expectations."""

_VARIANTS = ("columns", "multi_active", "as_of")
"""Arguments without which a macro loads in another way."""
_NEXT_LOAD = "does at a next load with what is " + ", ".join(
    f"{word} ({number})" for word, number in MEMBERS.items()
)


@dataclass(frozen=True, slots=True)
class _UnitTest:
    """What a load of ``build`` adds or makes, where it holds ``before`` already."""

    build: Build
    load_date: datetime
    given: Given
    before: Sequence[Row]
    expected: Sequence[Row]
    is_first: bool


def unit_test_files(plan: TransformPlan) -> dict[str, str]:
    """Return the files of the unit tests by their paths, one for each folder of models."""
    by_folder: dict[str, list[dict[str, object]]] = {}
    relations = Relations(plan)
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("CREATE SCHEMA model")
        for build, loads in _representatives(plan, relations):
            folder = by_folder.setdefault(FOLDERS[build.layer], [])
            folder += [_entry(test) for test in _tests(connection, build, loads, relations)]
    return {
        f"models/{folder}/{UNIT_TESTS}": yaml_file({"unit_tests": tests})
        for folder, tests in by_folder.items()
    }


def _representatives(
    plan: TransformPlan, relations: Relations
) -> Iterator[tuple[Build, Sequence[Given]]]:
    """Yield a model of each pattern with its loads: the first of those that read the least."""
    found: set[tuple[object, ...]] = set()
    for build in sorted(plan.builds, key=lambda build: len(build.ref_models)):
        is_tested = build.call is not None and not build.is_retired and not _is_binary(build)
        if build.call is None or not is_tested or build.call.macro not in _PATTERNS:
            continue
        arguments = build.call.arguments
        pattern = (build.call.macro, *(name in arguments for name in _VARIANTS))
        loads = _PATTERNS[build.call.macro](build, relations) if pattern not in found else None
        if loads is not None:
            found.add(pattern)
            yield build, loads


def _is_binary(build: Build) -> bool:
    """Whether a model has hashes as bytes, which databases write differently."""
    return any(column.type == BINARY for column in build.columns)


def _tests(
    connection: duckdb.DuckDBPyConnection,
    build: Build,
    loads: Sequence[Given],
    relations: Relations,
) -> Iterator[_UnitTest]:
    """Yield the test of the first load and of the last one, as the plan loads the rows."""
    for number, given in enumerate(loads):
        load_date = FIRST_LOAD + timedelta(days=number)
        set_load_date(connection, load_date)
        for name in build.ref_models:
            _fill(connection, name, given.get(name, ()), relations)
        if number in {0, len(loads) - 1}:
            before = _rows(connection, f"FROM model.{build.name}") if number else []
            expected = _rows(connection, build.next_sql if number else build.sql)
            inputs = {name: given.get(name, ()) for name in build.ref_models}
            yield _UnitTest(build, load_date, inputs, before, expected, number == 0)
        connection.execute(statement(build, again=number > 0))


def _fill(
    connection: duckdb.DuckDBPyConnection, name: str, rows: Sequence[Row], relations: Relations
) -> None:
    columns = relations.types(name)
    named = ", ".join(f"{quote(column)} {type_}" for column, type_ in columns.items())
    connection.execute(f"CREATE OR REPLACE TABLE model.{name} ({named})")
    for row in rows:
        into = ", ".join(map(quote, row))
        values = ", ".join("?" * len(row))
        connection.execute(f"INSERT INTO model.{name} ({into}) VALUES ({values})", [*row.values()])


def _rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[Row]:
    """Return the rows of a query in a stable order, without the columns that have no value."""
    relation = connection.sql(query)
    rows = sorted(relation.fetchall(), key=repr)
    filled = [
        place
        for place, _ in enumerate(relation.columns)
        if any(row[place] is not None for row in rows)
    ]
    return [{relation.columns[place]: _plain(row[place]) for place in filled} for row in rows]


def _plain(value: object) -> object:
    """Return a value as YAML has it and as every database casts it."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return value.isoformat() if isinstance(value, date) else str(value)


def _entry(test: _UnitTest) -> dict[str, object]:
    build = test.build
    assert build.call is not None, "only models that call a macro are tested"
    given: list[dict[str, object]] = [
        {"input": f"ref('{name}')", "rows": list(rows)} for name, rows in test.given.items()
    ]
    if not test.is_first and build.next_load is not None:
        given.append({"input": "this", "rows": list(test.before)})
    again = STAYS if build.materialization == "table" else "is_incremental"
    macros = {again: not test.is_first} if build.next_load is not None else {}
    which, what = ("first", "makes at first") if test.is_first else ("next", _NEXT_LOAD)
    return {
        "name": f"{build.name}_{which}_load",
        "description": f"What {build.call.macro} {what}.",
        "model": build.name,
        "config": {"enabled": Jinja(f"{{{{ var('{VARIABLE}', false) }}}}")},
        "overrides": {
            **({"macros": macros} if macros else {}),
            "vars": {"load_date": test.load_date.isoformat(" ")},
        },
        "given": given,
        "expect": {"rows": list(test.expected)},
    }
