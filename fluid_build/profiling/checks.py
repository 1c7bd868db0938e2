"""Queries that anyone can run on the source to check a claim; each returns the rows that break it.

They are plain SQL that DuckDB, SQLite and PostgreSQL all read. ``table`` is always the table's
name as it appears in a query, quoted (``TableProfile.sql`` or ``qualified_name``).
"""

from dataclasses import replace
from typing import Literal

from fluid_build.sources.base import Table
from fluid_build.sources.sql import literal, quote, quote_all

DEFAULT_SCHEMAS = frozenset({"", "main", "public", "dbo"})
"""The schemas that DuckDB and SQLite, PostgreSQL and SQL Server search without being told."""

Form = Literal["plain", "number", "letters", "text"]
"""How a column is compared: as it is, as the whole number in its text, in lower case (which two
spellings of one UUID have in common), or as the text of its number."""

_FORMS: dict[Form, str] = {
    "plain": "{}",
    "number": "CAST({} AS BIGINT)",
    "letters": "LOWER(CAST({} AS VARCHAR))",
    "text": "CAST({} AS VARCHAR)",
}


def qualified_name(table: Table) -> str:
    """Return a table's quoted name at its source, with its schema unless that is the default.

    Where several sources are combined, the source's name comes first.
    """
    if table.source:
        own = replace(table, name=table.own_name, source="")
        return f"{quote(table.source)}.{qualified_name(own)}"
    for prefix, end in ((f'"{table.schema}"."', -1), (f"{table.schema}.", None)):
        if table.schema and table.name.startswith(prefix):
            return f"{quote(table.schema)}.{quote(table.name[len(prefix) : end])}"
    name = quote(table.name)
    return name if table.schema in DEFAULT_SCHEMAS else f"{quote(table.schema)}.{name}"


def null_rows(table: str, columns: tuple[str, ...]) -> str:
    """Return a query for the rows with a null in any of the columns."""
    condition = " OR ".join(f"{quote(column)} IS NULL" for column in columns)
    return f"SELECT * FROM {table} WHERE {condition}"


def repeated_values(table: str, columns: tuple[str, ...]) -> str:
    """Return a query for the combined values of the columns that more than one row has."""
    names = quote_all(columns)
    not_null = " AND ".join(f"{quote(column)} IS NOT NULL" for column in columns)
    return (
        f"SELECT {names}, COUNT(*) AS row_count FROM {table} "
        f"WHERE {not_null} GROUP BY {names} HAVING COUNT(*) > 1"
    )


def repeated_values_and_nulls(table: str, columns: tuple[str, ...]) -> str:
    """Return a query for the combined values that more than one row has, nulls among them."""
    names = quote_all(columns)
    return (
        f"SELECT {names}, COUNT(*) AS row_count FROM {table} GROUP BY {names} HAVING COUNT(*) > 1"
    )


def repeated_or_null_values(table: str, columns: tuple[str, ...]) -> str:
    """Return a query for the combined values that more than one row has or that have a null."""
    names = quote_all(columns)
    has_null = " OR ".join(f"{quote(column)} IS NULL" for column in columns)
    return (
        f"SELECT {names}, COUNT(*) AS row_count FROM {table} "
        f"GROUP BY {names} HAVING COUNT(*) > 1 OR {has_null}"
    )


def several_combinations(table: str, columns: tuple[str, ...], attributes: tuple[str, ...]) -> str:
    """Return a query for the values of columns that have several combinations of attributes."""
    names = quote_all(columns)
    not_null = " AND ".join(f"{quote(column)} IS NOT NULL" for column in columns)
    return (
        f"SELECT {names}, COUNT(*) AS combinations FROM "
        f"(SELECT DISTINCT {quote_all((*columns, *attributes))} FROM {table} WHERE {not_null}) "
        f"AS d GROUP BY {names} HAVING COUNT(*) > 1"
    )


def other_values(table: str, column: str, accepted: tuple[str, ...]) -> str:
    """Return a query for the rows whose value isn't accepted, compared as text; nulls pass."""
    values = ", ".join(literal(value) for value in accepted)
    return f"SELECT * FROM {table} WHERE CAST({quote(column)} AS VARCHAR) NOT IN ({values})"


def orphans(
    table: str,
    columns: tuple[str, ...],
    parent: str,
    parent_columns: tuple[str, ...],
    forms: tuple[tuple[Form, Form], ...] = (),
) -> str:
    """Return a query for child rows without a parent; a row with a null refers to nothing.

    ``forms`` says for each pair of columns how the child's and how the parent's is compared, unless
    all are compared as they are: PostgreSQL compares no text with a number. It's a join because
    SQLite runs a correlated NOT EXISTS row by row, without an index.
    """
    not_null = " AND ".join(f"c.{quote(column)} IS NOT NULL" for column in columns)
    matches = " AND ".join(
        f"{_FORMS[parent_form].format('p.' + quote(key))}"
        f" = {_FORMS[child_form].format('c.' + quote(column))}"
        for column, key, (child_form, parent_form) in zip(
            columns, parent_columns, forms or (("plain", "plain"),) * len(columns), strict=True
        )
    )
    return (
        f"SELECT c.* FROM {table} AS c LEFT JOIN {parent} AS p ON {matches} "
        f"WHERE {not_null} AND p.{quote(parent_columns[0])} IS NULL"
    )


def disagreeing_rows(
    tables: tuple[str, str], keys: tuple[tuple[str, ...], tuple[str, ...]], columns: tuple[str, ...]
) -> str:
    """Return a query for the rows of one table that another row of the same key contradicts.

    ``columns`` are compared, which both tables have by name.
    """
    matches = " AND ".join(
        f"c.{quote(ours)} = p.{quote(theirs)}" for ours, theirs in zip(*keys, strict=True)
    )
    differs = " OR ".join(f"c.{quote(column)} <> p.{quote(column)}" for column in columns)
    child, parent = tables
    return f"SELECT c.* FROM {child} AS c JOIN {parent} AS p ON {matches} WHERE {differs}"


def all_rows(table: str) -> str:
    """Return a query for a first look at a table."""
    return f"SELECT * FROM {table} LIMIT 20"


def count_rows(table: str) -> str:
    """Return a query that counts the rows without showing one."""
    return f"SELECT COUNT(*) AS row_count FROM {table}"


def filled_counts(table: str, columns: tuple[str, ...]) -> str:
    """Return a query that counts the values of each column without showing one."""
    counts = ", ".join(f"COUNT({quote(column)}) AS {quote(column)}" for column in columns)
    return f"SELECT COUNT(*) AS row_count, {counts} FROM {table}"


def distinct_rows(table: str) -> str:
    """Return a query that counts the rows, and how many remain without duplicates."""
    return (
        f"SELECT (SELECT COUNT(*) FROM {table}) AS row_count, "
        f"(SELECT COUNT(*) FROM (SELECT DISTINCT * FROM {table}) AS d) AS distinct_rows"
    )


def first_values(table: str, columns: tuple[str, ...]) -> str:
    """Return a query for a few values of some columns."""
    return _filled(quote_all(columns), table, columns) + " LIMIT 20"


def filled_rows(table: str, columns: tuple[str, ...]) -> str:
    """Return a query for the rows with a value in any of the columns."""
    return _filled("*", table, columns)


def _filled(selected: str, table: str, columns: tuple[str, ...]) -> str:
    any_filled = " OR ".join(f"{quote(column)} IS NOT NULL" for column in columns)
    return f"SELECT {selected} FROM {table} WHERE {any_filled}"
