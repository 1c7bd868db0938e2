"""Which rows of a source no longer fit the model that was made of it, and how many.

A source's profile doesn't know what a model relies on: which text it converts, and by which columns
it loads rows. What both know is told once, with the figures from here.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from fluid_build.changes import ChangeEvidence, ChangeKind, Effect, SourceChange
from fluid_build.changes.keys import broken_key
from fluid_build.modeling.conceptual import Attribute, Conversion, Entity
from fluid_build.modeling.logical import LogicalModel
from fluid_build.profiling import checks
from fluid_build.sources.base import Source, Table
from fluid_build.sources.sql import quote
from fluid_build.sources.text_values.canonical_text import comes_back
from fluid_build.sources.text_values.personal_text import quotable
from fluid_build.text import counted
from fluid_build.transform.plan.elements import Build, BuildTest, TransformPlan
from fluid_build.transform.plan.present_source import PresentSource, present_source
from fluid_build.transform.plan.staging import by_value, read_text, spelled_again


def fits_model(source: Source, model: LogicalModel) -> bool:
    """Return whether a source has just the tables, columns and types that a model knows of it.

    Tables that were left out of the model aren't new.
    """
    tables = {table.name: table for table in source.tables}
    present = present_source(model)
    known = {
        present.new_name(entity.name) or entity.name: {
            alias: present.source_type(entity.name, attribute)
            for alias, attribute in present.columns(entity)
        }
        for entity in model.conceptual.entities
        if present.has_table(entity.name)
    }
    return tables.keys() <= {*known, *model.conceptual.left_out} and all(
        name in tables and {column.alias: column.type for column in tables[name].columns} == columns
        for name, columns in known.items()
    )


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
    for position, (_, attribute, conversion) in enumerate(columns):
        count, example = row[2 * position], row[2 * position + 1]
        if count:
            quoted = quotable(str(example), is_personal=attribute.pii)
            shown = f" ({quoted!r})" if quoted else ""
            values = "a value" if count == 1 else counted(count, "value")
            yield SourceChange(
                kind=ChangeKind.VALUES_MISFIT,
                table=entity.name,
                columns=(attribute.name,),
                before=conversion.to_type,
                effect=Effect.BREAKS,
                sentence=f"{entity.name}.{attribute.name} has {values} that can't be converted to"
                f" {conversion.to_type}{shown}",
                evidence=ChangeEvidence(violations=count),
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
    columns, so that nothing has to be built. Rows that break another one are in quarantine.
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
        "SELECT coalesce(sum(rows_), 0), coalesce(sum(rows_ - 1) FILTER (NOT is_null_), 0),"
        " coalesce(sum(rows_) FILTER (is_null_), 0) FROM"
        f" (SELECT count(*) AS rows_, bool_or({' OR '.join(is_null) or 'FALSE'}) AS is_null_"
        f" FROM {table.relation}{where} GROUP BY {', '.join(columns)})"
    ).fetchone()
    assert row is not None, "an aggregate without groups always gives a row"
    rows, repeats, nulls = map(int, row)
    if repeats or nulls:
        query = checks.repeated_values_and_nulls if key.hashed else checks.repeated_or_null_values
        evidence = ChangeEvidence(
            rows=rows, nulls=nulls, violations=repeats, sql=query(entity.sql, key.columns)
        )
        yield broken_key(entity.name, key.columns, evidence)
