"""Columns of files that have the name of a key in the path: ``day`` below ``day=2024-01-01``.

A table has one column of a name, so that one of the two values is lost where they differ.
"""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from urllib.parse import unquote

import duckdb

from fluid_build.sources.files.layout import TableFiles, partitions
from fluid_build.sources.sql import literal, quote

_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
"""What Hive and Spark call the folder of rows whose key is null."""


def key_sql(value: str) -> str:
    """Return the text of a key in a path as SQL."""
    return "NULL" if value == _HIVE_NULL else literal(unquote(value))


def shadowed_columns(
    connection: duckdb.DuckDBPyConnection,
    files: TableFiles,
    columns: Collection[str],
    read: Callable[[str, Sequence[Path]], str],
) -> set[str]:
    """Return which of the files' own ``columns`` keys of their paths take the place of.

    ``read`` returns SQL for a relation that has such a column as some of the files have it, without
    keys. Raises ValueError where a value is another than the key.
    """
    own = {column.lower(): column for column in columns}
    alike: dict[tuple[str, str, str], list[Path]] = {}
    for path in files.paths:
        for key, value in partitions(path, files.root).items():
            if key.lower() in own:
                alike.setdefault((own[key.lower()], key, value), []).append(path)
    for (column, key, value), paths in alike.items():
        refuse_other_values(connection, read(column, paths), column, key, value)
    return {column for column, _, _ in alike}


def refuse_other_values(
    connection: duckdb.DuckDBPyConnection, relation: str, column: str, key: str, value: str
) -> None:
    """Raise ValueError where a column has a value that isn't the key's, as text or as its type.

    A column without any value has nothing to lose.
    """
    name, text = quote(column), key_sql(value)
    # 1 below month=01 is the same number; 007 below id=7 isn't the same text.
    numbers = f"TRY_CAST(CAST({name} AS VARCHAR) AS BIGINT) = TRY_CAST({text} AS BIGINT)"
    is_key = (
        f"CAST({name} AS VARCHAR) IS NOT DISTINCT FROM {text}"
        f" OR typeof({name}) <> 'VARCHAR' AND coalesce({numbers}, false)"
    )
    row = connection.execute(
        f"SELECT count({name}) > 0 AND NOT bool_and({is_key}) FROM {relation}"
    ).fetchone()
    if row and row[0]:
        raise ValueError(
            f"Its files have a column {column} of their own, with other values than {key}={value}"
            " in their path. Rename one of the two."
        )
