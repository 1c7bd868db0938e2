"""The tables of files as a person regroups them: several that are one, or one that is several."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fluid_build.sources.addresses.periods import PartNames, part_names
from fluid_build.sources.files.layout import (
    Columns,
    Layout,
    TableFiles,
    distinct_names,
    format_of,
    partitions,
    stem,
)
from fluid_build.sources.grouping import Grouping, OneTable
from fluid_build.sources.selection import matching_positions
from fluid_build.text import listed


class _ApartError(Exception):
    """Tables can't be regrouped, and the message says why."""


def regrouped(
    layout: Layout, place: str, grouping: Grouping, columns: Columns
) -> tuple[Layout, dict[str, str]]:
    """Return the tables at a path or glob as decisions regroup them.

    With it goes each table that they name, with the reason why that can't be, or "" where it can.
    """
    tables, answers = list(layout.tables), {}
    for table in layout.tables:
        name = grouping.separates(table.name)
        if name is not None and len(table.paths) > 1:
            answers[name] = _why_not_apart(table)
            if not answers[name]:
                at = tables.index(table)
                tables[at : at + 1] = _apart(table, place, {each.name for each in tables})
    for one in grouping.one_table:
        try:
            united, members = _united(tables, one, columns)
        except _ApartError as error:
            answers[one.name] = str(error)
        else:
            tables = [united, *(table for table in tables if table not in members)]
            answers[one.name] = ""
    in_order = sorted(tables, key=lambda table: (table.name.lower(), table.name))
    return replace(layout, tables=tuple(in_order)), answers


def _why_not_apart(table: TableFiles) -> str:
    if any(partitions(path, table.root) for path in table.paths):
        return f"The folders of {table.name} have columns of it in their names."
    return ""


def _apart(table: TableFiles, place: str, taken: set[str]) -> Iterator[TableFiles]:
    """Yield a table for each file, named as the layout names what it doesn't put together."""
    below = "" if table.root == Path(place) else f"{table.root.name}."
    for name, path in zip(distinct_names(table.paths), table.paths, strict=True):
        whole = f"{below}{name}"
        whole = f"{below}{path.name}" if whole in taken - {table.name} else whole
        yield TableFiles(whole, table.format, (path,), path.parent)


def _united(
    tables: Sequence[TableFiles], one: OneTable, columns: Columns
) -> tuple[TableFiles, list[TableFiles]]:
    """Return the table of files that a decision means, and what it's made of."""
    spellings = [{table.name} for table in tables]
    found = (matching_positions(part, spellings, folds_case=True) for part in one.parts)
    members = [tables[position] for position in sorted(set().union(*found))]
    if len(members) < 2:
        raise _ApartError(f"No two tables are called {listed(one.parts, 'or')}.")
    if one.name.lower() in {table.name.lower() for table in tables if table not in members}:
        raise _ApartError(f"Another table is called {one.name}.")
    kinds = sorted({table.format for table in members})
    if len(kinds) > 1:
        raise _ApartError(f"Their files are of several formats: {listed(kinds)}.")
    paths = tuple(path for table in members for path in table.paths)
    is_plain = all(format_of(path) and path.is_file() for path in paths)
    if not is_plain or kinds == ["excel"]:
        raise _ApartError("Only plain data files can be one table: sheets and lakes can't.")
    for table in members:
        why = _why_not_apart(table)
        if why:
            raise _ApartError(why)
    shapes = (columns(path, kinds[0]) or () for path in paths)
    used = tuple(dict.fromkeys(name for shape in shapes for name in shape))
    root = Path(os.path.commonpath([path.parent for path in paths]))
    period = _names(paths).column(used)
    return TableFiles(one.name, kinds[0], paths, root, period, are_one=True), members


def _names(paths: Sequence[Path]) -> PartNames:
    """Return what tells files apart by name. Raises _ApartError where that's their folder alone."""
    names = [stem(path) for path in paths]
    if len({name.lower() for name in names}) < len(names):
        raise _ApartError("Two of their files have the same name, so nothing tells them apart.")
    return part_names(names)
