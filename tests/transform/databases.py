"""DuckDB databases for the tests of building: opened, profiled, modelled."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import Profile
from fluid_build.sources import open_source
from fluid_build.sources.base import OpenSource, Source, Table
from fluid_build.sources.sql import literal, quote
from fluid_build.transform.plan.elements import BuildTest, TransformPlan
from fluid_build.transform.plan.execution import Built, built
from fluid_build.transform.plan.scoped_rows import rows_in


@dataclass(frozen=True)
class Modelled:
    """A source that is open, with its profile and model."""

    source: Source
    profile: Profile
    model: LogicalModel


@contextmanager
def modelled(
    place: str | Path, technique: str = "flat", *, business_vault: bool = False
) -> Iterator[Modelled]:
    """Open a source with its nested columns as they are, profile it, model it."""
    with open_source(place, nested="keep") as source:
        profile = profile_source(source)
        model = build_model(profile, technique, business_vault=business_vault)
        yield Modelled(source, profile, model)


def database(path: Path, *statements: str) -> Path:
    """A DuckDB file made of statements."""
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


@contextmanager
def loaded(file: Path, tables: Sequence[Table], plan: TransformPlan) -> Iterator[Built]:
    """What a plan builds of a DuckDB file, which is attached as ``shop`` and open for changes."""
    # Small queries are quicker without a second thread to wait for.
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(f"ATTACH '{file}' AS shop")
    connection.execute("SET TimeZone = 'UTC'")
    moved = tuple(replace(table, relation=f"shop.main.{quote(table.name)}") for table in tables)
    with OpenSource("duckdb", "shop", connection, moved) as source, built(source, plan) as result:
        yield result


def violations(relation: str, test: BuildTest) -> str:
    """A query for the number of rows that break a test of a built relation."""
    columns = ", ".join(test.columns)
    rows = rows_in(f"model.{relation}", test.scope)
    filled = " AND ".join(f"{column} IS NOT NULL" for column in test.columns)
    if test.kind == "unique":
        some = f"SELECT * FROM {rows}"
        # A promise of the source is about whole keys, a key that we make is always whole.
        where = f" WHERE {filled}" if test.promise else ""
        grouped = f"SELECT {columns} FROM ({some}){where} GROUP BY {columns} HAVING count(*) > 1"
        return f"SELECT count(*) FROM ({grouped})"
    if test.kind == "not_null":
        return f"SELECT count(*) FROM (SELECT * FROM {rows}) WHERE {columns} IS NULL"
    if test.kind == "accepted_values":
        listed = ", ".join(map(literal, test.values))
        text = f"CAST({columns} AS VARCHAR)"
        return f"SELECT count(*) FROM (SELECT * FROM {rows}) WHERE {text} NOT IN ({listed})"
    pairs = list(zip(test.columns, test.to_columns, strict=True))
    same = " AND ".join(f"parent.{key} = child.{column}" for column, key in pairs)
    referring = " AND ".join(f"child.{column} IS NOT NULL" for column in test.columns)
    return (
        f"SELECT count(*) FROM (SELECT * FROM {rows}) AS child WHERE {referring}"
        f" AND NOT EXISTS (SELECT 1 FROM model.{test.to_model} AS parent WHERE {same})"
    )


EVERY_TYPE = """
CREATE TABLE "All ""Types" AS SELECT
    i AS "Id", TRUE AS b, 1::TINYINT AS t1, 1::SMALLINT AS t2, 1::HUGEINT AS t3,
    1::UBIGINT AS t4, 1::UTINYINT AS t5, 1.5::FLOAT AS f, 'nan'::DOUBLE AS nan, -0.0::DOUBLE AS z,
    1.5::DECIMAL(38, 2) AS "decimal", 'x' AS v, 'abc'::BLOB AS bl, '101'::BIT AS bits,
    uuid() AS u, '{"a": 1}'::JSON AS j, DATE '2020-01-01' AS "date", TIME '10:00' AS tm,
    '10:00:00+02'::TIMETZ AS tz, TIMESTAMP '2020-01-01 10:00:00.123456' AS ts,
    '2020-01-01 10:00:00'::TIMESTAMP_S AS tss, '2020-01-01 10:00:00'::TIMESTAMP_MS AS tms,
    '2020-01-01 10:00:00.123456789'::TIMESTAMP_NS AS tns,
    '2020-01-01 10:00:00+02'::TIMESTAMPTZ AS tstz, INTERVAL 3 MONTH AS iv, [1, 2] AS li,
    [[1.5::DECIMAL(5, 1)]] AS lli, {'a b': 1, 'c': 'x'} AS st, MAP {'a': 1} AS mp,
    'a'::ENUM('a', 'b') AS en, union_value(num := 1) AS un, [1, 2]::INTEGER[2] AS arr,
    1::BIGNUM AS bn, '1.50' AS price, '01.02.2020' AS day, ' 5 ' AS padded,
    '2020-01-0' || (1 + i % 9) AS iso, NULL::VARCHAR AS nothing
FROM range(30) AS r(i)
"""
"""A table with a column of every type, and text that holds numbers and dates."""
