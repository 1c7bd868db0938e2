"""What has changed in a source since a model was made of it, as far as the model cares.

Another number of rows is no such change; another table, column, type, or a value that is no
longer of the type that all values of its column had, is.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from fluid_build.errors import SourceChangedError
from fluid_build.modeling.conceptual import Attribute, Conversion, Entity
from fluid_build.modeling.logical import LogicalModel
from fluid_build.sources.base import Source, Table
from fluid_build.sources.sql import quote
from fluid_build.sources.text_values.canonical_text import comes_back
from fluid_build.sources.text_values.personal_text import quotable
from fluid_build.text import counted
from fluid_build.transform.plan.elements import Build, BuildTest, PlanSource, TransformPlan
from fluid_build.transform.plan.present_source import PresentSource, present_source
from fluid_build.transform.plan.staging import by_value, read_text, spelled_again

_MOST_NAMED = 5
"""Changes named in the error, which is one sentence; the others are counted."""


@dataclass(frozen=True, slots=True)
class SourceChange:
    """A change of a table, as a sentence that starts with its name."""

    table: str
    what: str

    def __str__(self) -> str:
        return f"{self.table} {self.what}"


def check_unchanged(source: Source, model: LogicalModel, plan: TransformPlan) -> None:
    """Raise SourceChangedError, saying which table and how, where the model no longer fits."""
    changes = tuple(structural_changes(source, plan, model.conceptual.left_out))
    if not changes:
        changes = tuple(value_changes(source, model, plan))
    if not changes:
        return
    named = "; ".join(map(str, changes[:_MOST_NAMED]))
    unnamed = len(changes) - _MOST_NAMED
    more = f"; and {unnamed} more" if unnamed > 0 else ""
    raise SourceChangedError(
        f"The source has changed since the model was generated: {named}{more}.",
        hint="Run `fluid forge` again to update the model.",
    )


def structural_changes(
    source: Source, plan: TransformPlan, left_out: Sequence[str]
) -> Iterator[SourceChange]:
    """Return tables and columns that are gone, new, or of another type.

    Tables that were ``left_out`` of the model aren't new.
    """
    tables = {table.name: table for table in source.tables}
    unreadable = {skipped.name: skipped.reason for skipped in source.skipped}
    for planned in plan.sources:
        name = planned.at_source
        table = tables.get(name)
        if table is not None:
            yield from _column_changes(table, planned)
        elif name in unreadable:
            reason = unreadable[name].rstrip(".")
            yield SourceChange(_table(name), f"can no longer be read ({reason})")
        else:
            yield SourceChange(_table(name), "is gone")
    planned_names = {*(planned.at_source for planned in plan.sources), *left_out}
    for name in tables:
        if name not in planned_names:
            yield SourceChange(_table(name), "is new")


def _column_changes(table: Table, plan_source: PlanSource) -> Iterator[SourceChange]:
    types = {column.alias: column.type for column in table.columns}
    planned = dict(plan_source.columns)
    for name, type_ in planned.items():
        if name not in types:
            yield SourceChange(_table(table.name), f"no longer has the column {name!r}")
        elif types[name] != type_:
            yield SourceChange(
                _table(table.name), f"has {name!r} as {types[name]}, which was {type_}"
            )
    for name in types:
        if name not in planned:
            yield SourceChange(_table(table.name), f"has a new column {name!r}")


def value_changes(
    source: Source, model: LogicalModel, plan: TransformPlan
) -> Iterator[SourceChange]:
    """Return text columns with a value that no longer converts to their type and back."""
    tables = {table.name: table for table in source.tables}
    converted = _converted(model, plan)
    present = present_source(model)
    for entity in model.conceptual.entities:
        columns = [
            (alias, attribute, attribute.conversion)
            for alias, attribute in present.columns(entity)
            if attribute.conversion is not None and (entity.name, attribute.name) in converted
        ]
        if columns:
            table = present.new_name(entity.name) or entity.name
            yield from _misfits(source, tables[table], entity, columns)


def _converted(model: LogicalModel, plan: TransformPlan) -> set[tuple[str, str]]:
    """Return source columns that the staging gives another type than they're read with."""
    return {
        (build.title, attribute.name)
        for build in plan.builds
        if build.layer == "staging"
        # The columns of a table come first, before the hashes of them.
        for attribute, column in zip(
            model.conceptual.entity(build.title).attributes, build.columns, strict=False
        )
        if column.type != attribute.source_type
    }


def _misfits(
    source: Source,
    table: Table,
    entity: Entity,
    columns: list[tuple[str, Attribute, Conversion]],
) -> Iterator[SourceChange]:
    misfits = [_misfit(quote(alias), attribute, as_) for alias, attribute, as_ in columns]
    figures = ", ".join(
        f"count(*) FILTER (WHERE {part}), min({quote(alias)}) FILTER (WHERE {part})"
        for part, (alias, _, _) in zip(misfits, columns, strict=True)
    )
    row = source.connection.execute(f"SELECT {figures} FROM {table.relation}").fetchone()
    assert row is not None, "an aggregate without groups always gives a row"
    for position, (alias, attribute, conversion) in enumerate(columns):
        count, example = row[2 * position], row[2 * position + 1]
        if count:
            quoted = quotable(str(example), is_personal=attribute.pii)
            shown = f" ({quoted!r})" if quoted else ""
            values = "a value" if count == 1 else counted(count, "value")
            yield SourceChange(
                _table(entity.name),
                f"has {values} in {alias!r} that can't be converted to {conversion.to_type}{shown}",
            )


def _misfit(column: str, attribute: Attribute, conversion: Conversion) -> str:
    if conversion.format:
        text = read_text(column, attribute, conversion, "try_strptime")
        value = f"TRY_CAST({text} AS {conversion.to_type})"
    else:
        value = f"TRY_CAST(trim({column}) AS {conversion.to_type})"
    if not conversion.reversible:
        text = f"CAST({column} AS VARCHAR)"
        said = comes_back(conversion.to_type, conversion.format, text, value)
        return f"{column} IS NOT NULL AND NOT ({said})"
    return f"{spelled_again(attribute, by_value, value)} IS DISTINCT FROM {column}"


def key_changes(source: Source, model: LogicalModel, plan: TransformPlan) -> Iterator[SourceChange]:
    """Return the keys that the model relies on and that no longer hold.

    They're the keys that the staging tests with severity ``error``, checked on the source's own
    columns, so that nothing has to be built.
    """
    tables = {table.name: table for table in source.tables}
    present = present_source(model)
    for build in plan.builds:
        if build.layer != "staging" or not present.has_table(build.title):
            continue
        entity = model.conceptual.entity(build.title)
        name = present.new_name(entity.name) or entity.name
        complete = {
            column
            for test in build.tests
            if test.kind == "not_null"
            for column in _source_columns(build, test)
        }
        for test in build.tests:
            if test.kind == "unique" and test.severity == "error":
                yield from _broken_key(
                    source, tables[name], entity, _key(build, test, complete), present
                )


@dataclass(frozen=True, slots=True)
class _Key:
    """Source columns that identify a row; those that are ``complete`` may not be null.

    If the key is ``hashed``, null is a value like any other; if not, rows with a null don't count.
    """

    columns: tuple[str, ...]
    complete: tuple[str, ...]
    hashed: bool


def _key(build: Build, test: BuildTest, complete: Collection[str]) -> _Key:
    columns = _source_columns(build, test)
    return _Key(
        columns=columns,
        complete=tuple(column for column in columns if column in complete),
        hashed=any("hash-key" in build.column(column).tags for column in test.columns),
    )


def _source_columns(build: Build, test: BuildTest) -> tuple[str, ...]:
    """Return the columns of its own table that a test of a staging is about."""
    origins = (origin for column in test.columns for origin in build.column(column).source_columns)
    return tuple(dict.fromkeys(origin.column for origin in origins if origin.table == build.title))


def _broken_key(
    source: Source, table: Table, entity: Entity, key: _Key, present: PresentSource
) -> Iterator[SourceChange]:
    by_name = {attribute.name: alias for alias, attribute in present.columns(entity)}
    columns = [quote(by_name[name]) for name in key.columns]
    is_null = [f"{quote(by_name[name])} IS NULL" for name in key.complete]
    is_filled = [
        f"{quote(by_name[name])} IS NOT NULL" for name in key.columns if name not in key.complete
    ]
    where = f" WHERE {' AND '.join(is_filled)}" if is_filled and not key.hashed else ""
    row = source.connection.execute(
        "SELECT coalesce(sum(rows_), 0) FROM"
        f" (SELECT count(*) AS rows_ FROM {table.relation}{where} GROUP BY {', '.join(columns)}"
        f" HAVING count(*) > 1 OR bool_or({' OR '.join(is_null) or 'FALSE'}))"
    ).fetchone()
    assert row is not None, "an aggregate without groups always gives a row"
    if row[0]:
        rows = "a row" if row[0] == 1 else f"{int(row[0]):,} rows"
        names = ", ".join(key.columns)
        yield SourceChange(
            _table(entity.name),
            f"has {rows} whose key ({names}) is null or no longer unique",
        )


def _table(name: str) -> str:
    return f"the table {name!r}"
