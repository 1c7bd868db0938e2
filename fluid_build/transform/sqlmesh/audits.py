"""A plan's tests as audits: sqlmesh's own where it has one, else one in SQL by the test's name.

An audit runs right after its model, so one that leads to another model belongs to the later of the
two, which then depends on the other. A test that only warns doesn't block.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fluid_build.modeling.sql_names import free_identifier
from fluid_build.sources.sql import literal, quote, quote_all
from fluid_build.transform.dbt.data_tests import is_of_source
from fluid_build.transform.plan.elements import EVERY_ROW, Build, BuildTest, TransformPlan
from fluid_build.transform.plan.scoped_rows import rows_in


@dataclass(frozen=True, slots=True)
class Audit:
    """An audit of a model in SQL, which selects what breaks it, in the plan's names."""

    name: str
    sql: str
    blocks: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Audits:
    """The audits by the name of the build that they belong to.

    ``calls`` are how its model names them, and ``written`` those that the project has itself.
    ``depends_on`` are the builds that its audits read and its query doesn't.
    """

    calls: dict[str, list[str]] = field(default_factory=dict)
    written: dict[str, list[Audit]] = field(default_factory=dict)
    depends_on: dict[str, list[str]] = field(default_factory=dict)


def plan_audits(plan: TransformPlan) -> Audits:
    """Return the audits of a plan; tests of severity info are figures, which none can express."""
    audits = Audits()
    builds = {build.name: build for build in plan.builds}
    order = {name: number for number, name in enumerate(builds)}
    used: set[str] = set()
    for build in plan.builds:
        tests = [test for test in build.tests if test.severity != "info"]
        for test in tests:
            if test.to_model is not None and test.to_model not in builds:
                continue
            own = _call_of_own(build, test)
            if own:
                audits.calls.setdefault(build.name, []).append(own)
                continue
            name = free_identifier(test.name, used)
            used.add(name)
            parent = builds.get(test.to_model or "")
            later = max(build, parent or build, key=lambda each: order[each.name])
            audits.calls.setdefault(later.name, []).append(name)
            sql = _limited(test, _broken(build, test, parent))
            audit = Audit(name, sql, _blocks(test), test.reason)
            audits.written.setdefault(later.name, []).append(audit)
            for other in {build.name, *([parent.name] if parent else [])} - {later.name}:
                if other not in (*later.ref_models, *audits.depends_on.get(later.name, ())):
                    audits.depends_on.setdefault(later.name, []).append(other)
    return audits


def _blocks(test: BuildTest) -> bool:
    """Whether a broken test stops what reads the model: one that's known to be broken warns.

    So does a reference of the source, which may arrive a load before what it refers to.
    """
    return test.severity == "error" and not test.allowed and not is_of_source(test)


def _call_of_own(build: Build, test: BuildTest) -> str:
    """Return the call of sqlmesh's own audit that says the same; "" where there's none.

    Its audits of uniqueness take two nulls for the same value.
    """
    if test.scope != EVERY_ROW or test.allowed:
        return ""
    ending = "" if _blocks(test) else "_non_blocking"
    columns = f"({', '.join(test.columns)})"
    if test.kind == "not_null":
        return f"not_null{ending}(columns := {columns})"
    is_filled = all(build.column(name).required for name in test.columns)
    if test.kind == "unique" and is_filled:
        name = "unique_values" if len(test.columns) == 1 else "unique_combination_of_columns"
        return f"{name}{ending}(columns := {columns})"
    return ""


def _broken(build: Build, test: BuildTest, parent: Build | None) -> str:
    """Return a select of what breaks a test; ``broken`` counts the rows that do."""
    rows = rows_in(f"model.{build.name}", test.scope)
    columns = quote_all(test.columns)
    filled = " AND ".join(f"{quote(name)} IS NOT NULL" for name in test.columns)
    if test.kind == "not_null":
        return f"SELECT *, 1 AS broken\nFROM {rows}\nWHERE NOT ({filled})"
    if test.kind == "unique":
        return (
            f"SELECT {columns}, COUNT(*) - 1 AS broken\nFROM {rows}\nWHERE {filled}\n"
            f"GROUP BY {columns}\nHAVING COUNT(*) > 1"
        )
    if parent is not None:
        return _orphans(build, test, parent, rows)
    values = ", ".join(map(literal, test.values))
    return f"SELECT *, 1 AS broken\nFROM {rows}\nWHERE CAST({columns} AS VARCHAR) NOT IN ({values})"


def _orphans(build: Build, test: BuildTest, parent: Build, rows: str) -> str:
    pairs = list(zip(test.columns, test.to_columns, strict=True))
    matches = (
        f"{_as_comparable('child', build, ours, parent, theirs)}"
        f" = {_as_comparable('parent', parent, theirs, build, ours)}"
        for ours, theirs in pairs
    )
    filled = " AND ".join(f"child.{quote(ours)} IS NOT NULL" for ours, _ in pairs)
    return (
        f"SELECT child.*, 1 AS broken\nFROM (SELECT * FROM {rows}) AS child\n"
        f"LEFT JOIN model.{parent.name} AS parent ON {' AND '.join(matches)}\n"
        f"WHERE {filled} AND parent.{quote(test.to_columns[0])} IS NULL"
    )


def _as_comparable(rows: str, build: Build, column: str, other: Build, others: str) -> str:
    """Return a column as text where the other one is text and it isn't."""
    type_, other_type = build.column(column).type, other.column(others).type
    name = f"{rows}.{quote(column)}"
    return name if type_ == other_type or other_type != "VARCHAR" else f"CAST({name} AS VARCHAR)"


def _limited(test: BuildTest, broken: str) -> str:
    """Return what breaks a test, or how much does where some is known to."""
    if not test.allowed:
        return broken
    return (
        f"SELECT SUM(broken) AS broken\nFROM (\n{broken}\n) AS counted\n"
        f"HAVING SUM(broken) > {test.allowed}"
    )


def audit_files(
    written: Mapping[str, Sequence[Audit]], translated: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the files of audits by path; ``translated`` has the SQL of each as the project's."""
    for relation, audits in written.items():
        yield f"audits/{relation}.sql", "\n".join(_text(each, translated) for each in audits)


def _text(audit: Audit, translated: Mapping[str, str]) -> str:
    blocking = "" if audit.blocks else ",\n  blocking false"
    remark = f"/* {audit.reason.replace('*/', '* /')} */\n" if audit.reason else ""
    end = "" if translated[audit.name].endswith(";") else ";"
    return f"AUDIT (\n  name {audit.name}{blocking}\n);\n\n{remark}{translated[audit.name]}{end}\n"
