"""Which files of a folder make which tables."""

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from fluid_build.sources.addresses.endings import COMPRESSIONS, FORMATS, Format, uncompressed
from fluid_build.sources.addresses.periods import (
    PeriodColumn,
    by_period,
    columns_in_common,
    names_of_periods,
)
from fluid_build.sources.addresses.unread_formats import lake_format, unread_lake
from fluid_build.sources.declarations.catalog_files import is_catalog
from fluid_build.sources.files.sheet_tables import SheetTable
from fluid_build.sources.uri import matches

_PARTITION = re.compile(r"([^=]+)=(.*)")
_PART_NAME = re.compile(r"(part|chunk|shard|split|data|file|output)?[-_.]?\d+([-_.].*)?", re.I)

Columns: TypeAlias = Callable[[Path, Format], tuple[str, ...] | None]
"""The column names of a data file; None where they can't be read or it is no table at all."""


@dataclass(frozen=True, slots=True)
class TableFiles:
    """The files of one table, all of one format; ``root`` is where their partitions start.

    ``period`` is the column for the period in their names, where that is all they differ in; or for
    whatever they differ in, where a person decided that they ``are_one``. ``sheet`` is the table of
    a workbook, once that is opened.
    """

    name: str
    format: Format
    paths: tuple[Path, ...]
    root: Path
    period: PeriodColumn | None = None
    sheet: SheetTable | None = None
    are_one: bool = False

    def values_of_path(self, path: Path) -> dict[str, str]:
        """Return the columns that a file has by its path, with their text."""
        period = {self.period.name: self.period.text(path)} if self.period else {}
        return partitions(path, self.root) | period


@dataclass(frozen=True, slots=True)
class Layout:
    """Tables found, files ignored (by their path below the place), folders left out and why.

    ``notes`` are sentences on what of a file holds no table, such as an empty sheet.
    """

    tables: tuple[TableFiles, ...]
    ignored: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def format_of(path: Path) -> Format | None:
    """Return the format that a file's ending names, seen through a compression's."""
    return FORMATS.get(uncompressed(path).suffix.lower())


def is_compressed(path: Path) -> bool:
    """Return whether the file's ending names a compression."""
    return path.suffix.lower() in COMPRESSIONS


def stem(path: Path) -> str:
    """Return a file's name without the endings of format and compression."""
    return uncompressed(path).stem


def partitions(path: Path, root: Path) -> dict[str, str]:
    """Return the ``key=value`` folders between a root and a file, in order."""
    return dict(keys_in(path, root))


def keys_in(path: Path, root: Path) -> list[tuple[str, str]]:
    """Return the ``key=value`` folders between a root and a file, though a key has several."""
    matches = (_PARTITION.fullmatch(part) for part in path.relative_to(root).parts[:-1])
    return [(match.group(1), match.group(2)) for match in matches if match]


def layout_of(place: str, columns: Columns) -> Layout:
    """Return tables at a path or glob. An unknown format of a single file makes an empty layout."""
    path = Path(place)
    if path.is_file():
        kind = format_of(path)
        table = (TableFiles(stem(path), kind, (path,), path.parent),) if kind else ()
        return Layout(table, () if kind else (path.name,))
    if path.is_dir():
        return _folder(path, columns)
    return _separate(matches(place), columns)


def _separate(paths: Sequence[Path], columns: Columns) -> Layout:
    files = [path for path in paths if path.is_file()]
    data_files, ignored = _data_files(files, columns)
    base = Path(os.path.commonpath([path.parent for path in files])) if files else Path()
    names = distinct_names(data_files)
    tables = [
        TableFiles(name, kind, (path,), path.parent)
        for name, path in zip(names, data_files, strict=True)
        if (kind := format_of(path))
    ]
    return Layout(tuple(tables), tuple(str(path.relative_to(base)) for path in ignored))


def distinct_names(paths: Sequence[Path]) -> list[str]:
    """Return a name for each file: its stem, or more of its path where two stems are the same.

    No more than what is below the folder that all of them are in, which may be anywhere.
    """
    base = Path(os.path.commonpath([path.parent for path in paths])) if paths else Path()
    below = [path.relative_to(base) for path in paths]
    spellings = (
        [stem(path) for path in paths],
        [f"{path.parent.name}.{stem(path)}" for path in paths],
        [path.name for path in paths],
        [".".join((*path.parent.parts, stem(path))) for path in below],
        [path.as_posix() for path in below],
    )
    counts = [Counter(name.lower() for name in names) for names in spellings]
    # Those that differ in case alone are told apart as tables of a server are: by their case.
    exact = Counter(path.name for path in below)
    return [
        next(
            (
                names[i]
                for names, count in zip(spellings, counts, strict=True)
                if count[names[i].lower()] == 1
            ),
            path.name if exact[path.name] == 1 else path.as_posix(),
        )
        for i, path in enumerate(below)
    ]


def _data_files(paths: Sequence[Path], columns: Columns) -> tuple[list[Path], list[Path]]:
    """Return files that hold a table, and the others.

    A .txt file does if it has columns. A catalog's description of the data does not.
    """
    data_files: list[Path] = []
    ignored: list[Path] = []
    for path in paths:
        kind = format_of(path)
        is_prose = (
            uncompressed(path).suffix.lower() == ".txt" and len(columns(path, "csv") or ()) < 2
        )
        is_other = kind is None or is_prose or is_catalog(path)
        (ignored if is_other else data_files).append(path)
    return data_files, ignored


def _folder(folder: Path, columns: Columns) -> Layout:
    entries = sorted(entry for entry in folder.iterdir() if not _is_hidden(entry.name))
    lake = _lake(folder, folder.name)
    if lake:
        return lake
    files, ignored = _data_files([entry for entry in entries if entry.is_file()], columns)
    folders = [entry for entry in entries if entry.is_dir()]
    if folders and all(_PARTITION.fullmatch(entry.name) for entry in folders):
        below = next(_walk(folders[0], ()), None)
        if not files or (below and _have_columns_of(below, files, columns)):
            return _one_folder(folder, columns)
    if len(files) > 1 and all(_PART_NAME.fullmatch(stem(entry)) for entry in files):
        parts = _as_one_table(folder, files, columns)
        if parts:
            return _joined(
                [Layout((parts,)), *_folders(folder, folders, columns)],
                ignored,
                folder,
            )
    periodic = _by_period(folder, files, columns)
    in_groups = {path for table in periodic for path in table.paths}
    own = _separate([path for path in files if path not in in_groups], columns)
    return _joined(
        [Layout(tuple(periodic)), own, *_folders(folder, folders, columns)],
        ignored,
        folder,
    )


def _folders(folder: Path, below: Sequence[Path], columns: Columns) -> Iterator[Layout]:
    """Yield the tables of the folders in a folder; those of its partitions are one."""
    parts = [path for path in below if _PARTITION.fullmatch(path.name) and not _is_lake(path)]
    yield from (_one_folder(path, columns) for path in below if path not in parts)
    if parts:
        files, ignored = _data_files([file for path in parts for file in _walk(path, ())], columns)
        beside = tuple(str(path.relative_to(folder)) for path in ignored)
        yield replace(_of_partitions(folder, files), ignored=beside)
        yield from (lake for path in parts for lake in _lakes(path))


def _of_partitions(folder: Path, files: Sequence[Path]) -> Layout:
    """Return the one table of the files in a folder's partitions; none where formats differ."""
    kinds = sorted({kind for path in files if (kind := format_of(path))})
    if len(kinds) > 1:
        why = f"Its partitions have files of several formats: {', '.join(kinds)}. Write all in one."
        return Layout((), (), ((folder.name, why),))
    if kinds == ["excel"]:
        keys = dict.fromkeys(key for path in files for key in partitions(path, folder))
        note = (
            f"The keys of the folders in {folder.name}, {', '.join(keys)}, are no columns of the"
            " tables in their workbooks."
        )
        return Layout(tuple(_each_a_table(folder, files)), notes=(note,))
    return Layout(tuple(TableFiles(folder.name, kind, tuple(files), folder) for kind in kinds))


def _each_a_table(folder: Path, files: Sequence[Path]) -> Iterator[TableFiles]:
    for name, path in zip(distinct_names(files), files, strict=True):
        if kind := format_of(path):
            yield TableFiles(f"{folder.name}.{name}", kind, (path,), path.parent)


def _have_columns_of(part: Path, files: Sequence[Path], columns: Columns) -> bool:
    """Return whether files beside folders of partitions are parts of the same table."""
    kind = format_of(part)
    shape = columns(part, kind) if kind else None
    return bool(shape) and all(
        format_of(path) == kind and set(columns(path, kind) or ()) == set(shape or ())
        for path in files
        if kind
    )


def _is_hidden(name: str) -> bool:
    """Return whether a name is one of a program's own files; Excel locks a file with ~$.

    A key may begin with an underscore.
    """
    if name.startswith("_"):
        return name != "_delta_log" and not _PARTITION.fullmatch(name)
    return name.startswith((".", "~$"))


def _walk(folder: Path, apart: Collection[Path]) -> Iterator[Path]:
    """Yield the files below a folder, without those of folders that are tables of their own."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not _is_hidden(name)
            and not _is_lake(path := Path(parent, name))
            and path not in apart
        )
        yield from (Path(parent, name) for name in sorted(files) if not _is_hidden(name))


def _one_folder(folder: Path, columns: Columns) -> Layout:
    """Return a folder of parts as one table; or, where its files differ, each as its own."""
    lake = _lake(folder, folder.name)
    if lake:
        return lake
    partitioned = list(_partitioned_below(folder))
    files, ignored = _data_files(list(_walk(folder, partitioned)), columns)
    beside = tuple(str(path.relative_to(folder.parent)) for path in ignored)
    lakes = [*_lakes(folder), *(_below(folder, path, columns) for path in partitioned)]
    further = [table for lake in lakes for table in lake.tables]
    beside += tuple(name for lake in lakes for name in lake.ignored)
    left_out = tuple(entry for lake in lakes for entry in lake.left_out)
    whole = _as_one_table(folder, files, columns)
    if whole:
        return Layout((whole, *further), beside, left_out)
    inside = _of_partitions(folder, [path for path in files if partitions(path, folder)])
    files = [path for path in files if not partitions(path, folder)]
    periodic = _by_period(folder, files, columns)
    in_groups = {path for table in periodic for path in table.paths}
    tables = [*_each_a_table(folder, [path for path in files if path not in in_groups])]
    tables += [replace(table, name=f"{folder.name}.{table.name}") for table in periodic]
    tables += [*inside.tables, *further]
    return Layout(tuple(tables), beside, left_out + inside.left_out, inside.notes)


def _partitioned_below(folder: Path) -> Iterator[Path]:
    """Yield the topmost folders below a folder in which there is nothing but partitions.

    One that is a partition itself has rows of the table above it.
    """
    if _holds_partitions(folder):
        return
    for parent, folders, _ in os.walk(folder):
        below = [Path(parent, name) for name in sorted(folders) if not _is_hidden(name)]
        partitioned = [
            path
            for path in below
            if not _PARTITION.fullmatch(path.name) and _holds_partitions(path)
        ]
        folders[:] = [path.name for path in below if path not in partitioned and not _is_lake(path)]
        yield from partitioned


def _holds_partitions(folder: Path) -> bool:
    names = [entry.name for entry in folder.iterdir() if not _is_hidden(entry.name)]
    return bool(names) and all(map(_PARTITION.fullmatch, names))


def _below(folder: Path, path: Path, columns: Columns) -> Layout:
    """Return the tables of a folder further down, named by the way to it."""
    layout = _one_folder(path, columns)
    name = ".".join(path.relative_to(folder.parent).parts)
    tables = (replace(each, name=name + each.name[len(path.name) :]) for each in layout.tables)
    return replace(layout, tables=tuple(tables))


def _is_lake(folder: Path) -> bool:
    return lake_format(folder) is not None or unread_lake(folder) is not None


def _lake(folder: Path, name: str) -> Layout | None:
    """Return the one table of a folder whose log says which of its files are current."""
    lake = lake_format(folder)
    if lake is not None:
        return Layout((TableFiles(name, lake, (folder,), folder),))
    why = unread_lake(folder)
    return Layout((), (), ((name, why),)) if why else None


def _lakes(folder: Path) -> Iterator[Layout]:
    """Yield the tables below a folder that have a log, and those of them that can't be read."""
    for parent, folders, _ in os.walk(folder):
        below = {name: Path(parent, name) for name in sorted(folders)}
        lakes = {
            name: _lake(path, ".".join(path.relative_to(folder.parent).parts))
            for name, path in below.items()
        }
        folders[:] = [name for name in below if not _is_hidden(name) and not lakes[name]]
        yield from (lake for lake in lakes.values() if lake)


def _by_period(folder: Path, files: Sequence[Path], columns: Columns) -> list[TableFiles]:
    """Return the tables of files whose names differ only in a period, and whose columns fit."""
    named = [((path.parent, kind), stem(path), path) for path in files if (kind := format_of(path))]
    tables = []
    for paths, periods in by_period(named):
        kind = format_of(paths[0])
        # A broken part says nothing; it is reported when it is read.
        shapes = [shape for path in paths if kind and (shape := columns(path, kind))]
        names = columns_in_common(shapes)
        if kind and names:
            column = names_of_periods(periods).column(names)
            name = periods[0].table or paths[0].parent.name
            tables.append(TableFiles(name, kind, paths, folder, column))
    return tables


def _as_one_table(folder: Path, files: Sequence[Path], columns: Columns) -> TableFiles | None:
    kinds = {format_of(path) for path in files}
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    if kind is None or kind == "excel":
        return None
    table = TableFiles(folder.name, kind, tuple(files), folder)
    if len(files) == 1 or any(partitions(path, folder) for path in files):
        return table
    # A broken part says nothing; it is reported when it is read.
    shapes = [shape for path in files if (shape := columns(path, kind))]
    if not shapes or not all(_alike(shapes[0], shape, kind) for shape in shapes):
        return None
    periodic = _by_period(folder, files, columns)
    if len(periodic) == 1 and len(periodic[0].paths) == len(files):
        return replace(table, period=periodic[0].period)
    return table


def _alike(columns: tuple[str, ...], other: tuple[str, ...], kind: Format) -> bool:
    if kind in ("csv", "parquet"):
        return set(columns) == set(other)
    # JSON leaves out what is missing, so that parts may differ in their fields.
    return 2 * len(set(columns) & set(other)) >= len(set(columns) | set(other))


def _distinct_name(table: TableFiles) -> str:
    """Return the name of a table whose own another has, such as ``sales.csv`` next to months."""
    return f"{table.name}.{'period' if table.period else table.format}"


def _joined(layouts: Sequence[Layout], ignored: Sequence[Path], folder: Path) -> Layout:
    all_tables = [table for layout in layouts for table in layout.tables]
    exact = Counter(table.name for table in all_tables)
    lower = Counter(table.name.lower() for table in all_tables)
    distinct = Counter(_distinct_name(table).lower() for table in all_tables)
    tables = [
        table
        if lower[table.name.lower()] == 1
        # Names that differ in case alone still would.
        or (exact[table.name] == 1 and distinct[_distinct_name(table).lower()] > 1)
        else replace(table, name=_distinct_name(table))
        for table in all_tables
    ]
    names = [str(path.relative_to(folder)) for path in ignored]
    names += [name for layout in layouts for name in layout.ignored]
    return Layout(
        tuple(sorted(tables, key=lambda table: (table.name.lower(), table.name))),
        tuple(sorted(names)),
        tuple(entry for layout in layouts for entry in layout.left_out),
        tuple(note for layout in layouts for note in layout.notes),
    )
