"""Queries that anyone can run on the source to check a claim; each returns the rows that break it.

They are plain SQL that DuckDB, SQLite and PostgreSQL all read. A table is given as it stands in a
query, quoted (``TableProfile.sql``).
"""

from typing import Literal

from fluid_build.sources.sql import literal, quote, quote_all


def null_rows(table: str, columns: tuple[str, ...]) -> str:
    """Rows with a null in any of the columns."""
    condition = " OR ".join(f"{quote(column)} IS NULL" for column in columns)
    return f"SELECT * FROM {table} WHERE {condition}"


def repeated_values(table: str, columns: tuple[str, ...]) -> str:
    """Values of the columns, taken together, that more than one row holds."""
    names = quote_all(columns)
    filled = " AND ".join(f"{quote(column)} IS NOT NULL" for column in columns)
    return (
        f"SELECT {names}, COUNT(*) AS row_count FROM {table} "
        f"WHERE {filled} GROUP BY {names} HAVING COUNT(*) > 1"
    )


def other_values(table: str, column: str, accepted: tuple[str, ...]) -> str:
    """Rows whose value is none of the accepted ones, compared as text; nulls are not meant."""
    values = ", ".join(literal(value) for value in accepted)
    return f"SELECT * FROM {table} WHERE CAST({quote(column)} AS VARCHAR) NOT IN ({values})"


Form = Literal["plain", "number", "letters"]
"""How a column is compared: as it is, as the whole number that its text holds, or as small letters
(which is what two spellings of one UUID have in common)."""

_FORMS: dict[Form, str] = {
    "plain": "{}",
    "number": "CAST({} AS BIGINT)",
    "letters": "LOWER(CAST({} AS VARCHAR))",
}


def orphans(
    table: str,
    columns: tuple[str, ...],
    parent: str,
    parent_columns: tuple[str, ...],
    forms: tuple[tuple[Form, Form], ...] = (),
) -> str:
    """Child rows without a parent; a row with a null in any of the columns refers to nothing.

    ``forms`` says of each pair of columns how the child's and how the parent's is compared, where
    not all are as they are: PostgreSQL compares no text with a number. A join, since SQLite looks a
    correlated NOT EXISTS up row by row, without an index.
    """
    filled = " AND ".join(f"c.{quote(column)} IS NOT NULL" for column in columns)
    matches = " AND ".join(
        f"{_FORMS[theirs_as].format('p.' + quote(theirs))}"
        f" = {_FORMS[ours_as].format('c.' + quote(ours))}"
        for ours, theirs, (ours_as, theirs_as) in zip(
            columns, parent_columns, forms or (("plain", "plain"),) * len(columns), strict=True
        )
    )
    return (
        f"SELECT c.* FROM {table} AS c LEFT JOIN {parent} AS p ON {matches} "
        f"WHERE {filled} AND p.{quote(parent_columns[0])} IS NULL"
    )


def all_rows(table: str) -> str:
    """A first look at a table."""
    return f"SELECT * FROM {table} LIMIT 20"


def count_rows(table: str) -> str:
    """How many rows there are, without showing one."""
    return f"SELECT COUNT(*) AS row_count FROM {table}"


def filled_counts(table: str, columns: tuple[str, ...]) -> str:
    """In how many rows each of the columns has a value, without showing one."""
    counts = ", ".join(f"COUNT({quote(column)}) AS {quote(column)}" for column in columns)
    return f"SELECT COUNT(*) AS row_count, {counts} FROM {table}"


def distinct_rows(table: str) -> str:
    """How many rows there are, and how many would be left without the repeated ones."""
    return (
        f"SELECT (SELECT COUNT(*) FROM {table}) AS row_count, "
        f"(SELECT COUNT(*) FROM (SELECT DISTINCT * FROM {table}) AS d) AS distinct_rows"
    )


def first_values(table: str, columns: tuple[str, ...]) -> str:
    """A few values of some columns."""
    filled = " OR ".join(f"{quote(column)} IS NOT NULL" for column in columns)
    return f"SELECT {quote_all(columns)} FROM {table} WHERE {filled} LIMIT 20"


def filled_rows(table: str, columns: tuple[str, ...]) -> str:
    """Rows with a value in any of the columns."""
    condition = " OR ".join(f"{quote(column)} IS NOT NULL" for column in columns)
    return f"SELECT * FROM {table} WHERE {condition}"
