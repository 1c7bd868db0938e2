"""Views of a DuckDB file, which may read anything that DuckDB can, and so are checked first."""

import json
from collections.abc import Iterator, Mapping

import duckdb

VIEW_NOTE = "It's a view, which declares no keys."

_INSIDE = frozenset(
    (
        "SEQ_SCAN",
        "TABLE_SCAN",
        "INDEX_SCAN",
        "COLUMN_DATA_SCAN",
        "CHUNK_SCAN",
        "DELIM_SCAN",
        "CTE_SCAN",
        "REC_CTE_SCAN",
        "RECURSIVE_CTE_SCAN",
        "DUMMY_SCAN",
        "EMPTY_RESULT",
        "RANGE",
        "GENERATE_SERIES",
        "UNNEST",
        "JSON_EACH",
        "JSON_TREE",
    )
)
"""Where the rows of a plan may come from: tables of the file, and functions of values."""


class UnreadableViewError(Exception):
    """A view that isn't run. Its text is the reason."""


def check_view(connection: duckdb.DuckDBPyConnection, place: str) -> None:
    """Raise UnreadableViewError for a view that reads more than tables of its own database.

    A stranger's file mustn't decide which files of this machine are read.
    """
    rows = connection.execute(f"EXPLAIN (FORMAT json) FROM {place}").fetchall()
    plans = json.loads(rows[-1][1])
    outside = sorted({name for plan in plans for name in _leaves(plan)} - _INSIDE)
    if outside:
        raise UnreadableViewError(
            f"It's a view that reads more than tables of this database ({', '.join(outside)})."
            " Pass the files that it reads as the source."
        )


def _leaves(plan: Mapping[str, object]) -> Iterator[str]:
    children = plan.get("children")
    if isinstance(children, list) and children:
        for child in children:
            yield from _leaves(child)
    else:
        yield str(plan.get("name", "")).strip().upper()
