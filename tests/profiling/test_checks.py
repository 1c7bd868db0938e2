"""The queries in the evidence return the rows that break a claim."""

import duckdb
import pytest

from fluid_build.profiling import checks
from fluid_build.sources.base import Table


def test_the_query_for_orphans_returns_them() -> None:
    """The query returns the whole rows without a parent, except those with a null."""
    with duckdb.connect() as connection:
        connection.execute('CREATE TABLE "the child" (id INTEGER, "a ""b" INTEGER)')
        connection.execute('INSERT INTO "the child" VALUES (1, 5), (2, NULL), (3, 6)')
        connection.execute('CREATE TABLE "select" ("from" INTEGER)')
        connection.execute('INSERT INTO "select" VALUES (5)')
        sql = checks.orphans('"the child"', ('a "b',), '"select"', ("from",))
        assert connection.execute(sql).fetchall() == [(3, 6)]


def test_the_query_for_repeats_returns_them() -> None:
    """The query in a key's evidence returns the values that repeat, and how often."""
    with duckdb.connect() as connection:
        connection.execute('CREATE TABLE "the t" (a INTEGER, "b c" INTEGER)')
        connection.execute('INSERT INTO "the t" VALUES (1, 1), (1, 2), (1, 2)')
        sql = checks.repeated_values('"the t"', ("a", "b c"))
        assert connection.execute(sql).fetchall() == [(1, 2, 2)]


@pytest.mark.parametrize("name", ["the.line", "the sales.the.line", '"the sales"."the.line"'])
def test_a_table_in_a_schema_is_named_in_two_parts(name: str) -> None:
    """A query names a schema's table so that it runs at the source, however we call the table."""
    with duckdb.connect() as connection:
        connection.execute('CREATE SCHEMA "the sales"')
        connection.execute('CREATE TABLE "the sales"."the.line" (n INTEGER)')
        connection.execute('INSERT INTO "the sales"."the.line" VALUES (1), (1)')
        table = checks.qualified_name(Table(name, (), "", schema="the sales"))
        sql = checks.repeated_values(table, ("n",))
        assert connection.execute(sql).fetchall() == [(1, 2)]
