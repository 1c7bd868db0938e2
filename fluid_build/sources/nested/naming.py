"""Names of the tables and columns that nested values become."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fluid_build.sources.base import Table
from fluid_build.sources.declared import unique_names
from fluid_build.sources.nested.levels import ValueColumn
from fluid_build.sources.nested.nodes import Path, column_name
from fluid_build.sources.origin import InDatabase

_LONGEST = 120
"""Characters of a child table's name: a path of fields may be of any length."""


def bare_name(table: Table) -> str:
    """Return what a table is called within its schema."""
    return table.origin.table if isinstance(table.origin, InDatabase) else table.own_name


def child_name(parent: str, path: Path, used: Iterable[str]) -> str:
    """Return the name of the table of a list: the parent's name and the path of the list."""
    end = '"' if parent.endswith('"') else ""
    stem = parent.removesuffix(end)
    suffix = f"__{column_name(path)}"
    longest = max(_LONGEST - len(stem), len(suffix) // 2, 1)
    name = f"{stem}{suffix[:longest]}"
    others = [other.removesuffix('"') for other in used]
    return f"{unique_names((*others, name))[-1]}{end}"


def with_unique_names(
    columns: Sequence[ValueColumn], reserved: Iterable[str] = ()
) -> list[ValueColumn]:
    """Return columns by names that differ; those ``reserved`` belong to plain columns."""
    plain = list(reserved)
    own = iter(
        unique_names((*plain, *(c.name for c in columns if not _is_plain(c, plain))))[len(plain) :]
    )
    return [
        column if _is_plain(column, plain) else replace(column, name=next(own))
        for column in columns
    ]


def _is_plain(column: ValueColumn, names: Sequence[str]) -> bool:
    return not column.states and len(column.node.path) == 1 and column.node.path[0] in names
