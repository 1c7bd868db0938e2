"""A folder, file or glob of delimited text, JSON and Parquet files and workbooks as one source."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

import duckdb

from fluid_build import limits
from fluid_build.errors import (
    EmptySourceError,
    SourceError,
    SourceNotFoundError,
    SourceUnreadableError,
    UnknownSourceError,
)
from fluid_build.progress import OnProgress, Progress
from fluid_build.sources.addresses.endings import BY_EXTENSION, FORMATS, Format
from fluid_build.sources.addresses.periods import PeriodColumn, date_in_period, period_of
from fluid_build.sources.addresses.unread_formats import in_words, left_aside, unread_format
from fluid_build.sources.base import Column, OpenSource, Skipped, Table
from fluid_build.sources.declarations.catalog_files import catalog_name
from fluid_build.sources.declarations.source_names import name_of_path
from fluid_build.sources.declared import unique_names
from fluid_build.sources.engine.connection import (
    DUCKDB_ERRORS,
    SCRATCH,
    STAGE,
    Engine,
    reason,
    starting,
)
from fluid_build.sources.engine.extensions import EXCEL
from fluid_build.sources.engine.query_progress import following
from fluid_build.sources.files import json_files, parquet_files
from fluid_build.sources.files.delimited import files as csv_files
from fluid_build.sources.files.hive_keys import notes_on_lacking
from fluid_build.sources.files.lakes import tables as lake_tables
from fluid_build.sources.files.layout import Layout, TableFiles, is_compressed, layout_of, stem
from fluid_build.sources.files.regrouped import regrouped
from fluid_build.sources.files.storage import FileStorage, LocalFiles
from fluid_build.sources.files.workbooks.layout import with_sheets
from fluid_build.sources.files.workbooks.staging import stage_sheet
from fluid_build.sources.grouping import Grouping
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.origin import InFiles
from fluid_build.sources.selection import selected_tables
from fluid_build.sources.sql import quote
from fluid_build.sources.staged_views import COPIED, stage_view
from fluid_build.sources.table_choice import TableName
from fluid_build.sources.text_values.conventions import NO_ANSWERS, Conventions
from fluid_build.sources.text_values.encodings import codec_of
from fluid_build.sources.text_values.personal_text import holds_personal, without_values
from fluid_build.sources.uri import is_glob, matches

# Tables of several files, each for a period: whether their rows say the period themselves.
# Where they don't, the period in the file's name is a column. Without it nobody could say which
# file a row is from, and of monthly copies of a whole table every row would be there twelve
# times.


def joined_note(files: TableFiles, column: str) -> str:
    """Return the note on files that are one table, and on the column that says which is which."""
    names = [path.name for path in files.paths]
    parts = f"({names[0]} to {names[-1]})"
    if files.are_one:
        says = f"Column `{column}` says which one a row is from."
        return f"{len(names):,} files {parts} are one table by a decision. {says}"
    return (
        f"{len(names):,} files whose names differ only in a period {parts} are"
        f" one table. Column `{column}` says which period a row is from. To read each file as a"
        " table, pass a glob, such as 'folder/*'."
    )


def date_of_period(
    connection: duckdb.DuckDBPyConnection, files: TableFiles, table: Table, column: PeriodColumn
) -> Column | None:
    """Return the first date column whose value is in the file's period, in every row.

    Where there is one, the rows say themselves which file they are from. Raises duckdb.Error where
    the files can't be read.
    """
    periods = {column.text(path): period_of(stem(path)) for path in files.paths}
    known = {text: period for text, period in periods.items() if period is not None}
    by_alias = {each.alias: each for each in table.columns}
    types = {alias: each.type for alias, each in by_alias.items()}
    date = date_in_period(connection, table.relation, types, column.name, known)
    return None if date is None else by_alias[date]


_FILE_ERRORS = (*DUCKDB_ERRORS, *csv_files.READ_ERRORS, ValueError)
_VARYING = re.compile(
    r"\d+|(?<![a-z])(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*(?![a-z])"
)
"""What tells the parts of a table apart in their names: numbers, dates, months."""
_PACKED = 5


@dataclass(frozen=True, slots=True)
class _Opening:
    """What tables are opened with: where their files are, and the user's answers on text."""

    engine: Engine
    storage: FileStorage
    answers: Conventions
    encoding: str | None


@dataclass(frozen=True, slots=True)
class _Opened:
    table: Table | None
    skipped: tuple[Skipped, ...]


def open_files(place: str, options: OpenOptions) -> OpenSource:
    """Open the data files at a path or glob; ``conventions`` answer what text leaves open.

    Raises SourceNotFoundError where nothing is there, UnknownSourceError for a single file of no
    known format, EmptySourceError where there is no data file, and SourceUnreadableError where
    not one of them can be read.
    """
    _check(place)
    with starting(options.memory_limit) as engine:
        return read_files(engine, place, options, LocalFiles())


def read_files(
    engine: Engine, place: str, options: OpenOptions, storage: FileStorage
) -> OpenSource:
    """Open the data files at a path or glob through a storage; errors as in ``open_files``."""
    layout, answers = _layout(place, engine, storage, options.grouping)
    layout = with_sheets(layout, storage, engine.folder)
    if not layout.tables:
        raise _nothing(place, layout)
    if any(table.sheet for table in layout.tables):
        # The dbt project reads sheets in place where DuckDB finds the same in them.
        engine.load(EXCEL)
    files = selected_tables(layout.tables, lambda file: TableName(file.name), options)
    layout = replace(layout, tables=tuple(files))
    options.on_tables([TableName(file.name) for file in files])
    staged = [
        path
        for file in layout.tables
        if file.format != "parquet" or storage.remote
        for path in file.paths
    ]
    engine.stage(sum(_size(path) for path in staged))
    encoding = None if options.encoding is None else codec_of(options.encoding)
    opening = _Opening(engine, storage, options.conventions, encoding)
    opened = _open_all(opening, layout.tables, options.on_progress)
    tables = [file.table for file in opened if file.table is not None]
    skipped = tuple(entry for file in opened for entry in file.skipped) + tuple(
        Skipped(name, why) for name, why in layout.left_out
    )
    if not tables:
        raise SourceUnreadableError(
            f"{Path(place).name} could not be read. {skipped[0].reason}"
            if len(skipped) == 1
            else f"None of the {len(skipped)} tables of {Path(place).name} could be read."
            f" The first, {skipped[0].name}: {skipped[0].reason}",
            hint="Check for incomplete files and for wrong file extensions.",
        )
    return OpenSource(
        kind="files",
        name=_name(place),
        connection=engine.connection,
        tables=tuple(tables),
        skipped=skipped,
        notes=_notes(layout, tables),
        cleanup=[engine],
        regrouped=answers,
    )


def _check(place: str) -> None:
    path = Path(place)
    if is_glob(place) and not path.exists():
        if not matches(place):
            raise SourceNotFoundError(
                f"No file matches {place!r}.", hint="Check the pattern, and quote it in a shell."
            )
        return
    try:
        if path.is_dir():
            next(path.iterdir(), None)
        else:
            path.open("rb").close()
    except FileNotFoundError:
        raise SourceNotFoundError(f"{place!r} doesn't exist.", hint="Check the path.") from None
    except OSError as error:
        raise SourceUnreadableError(
            f"{place} can't be read: {error.strerror}.", hint="Check its permissions."
        ) from None


def _layout(
    place: str, engine: Engine, storage: FileStorage, grouping: Grouping
) -> tuple[Layout, dict[str, str]]:
    """Return the tables at a path or glob, and what became of decisions that regroup them."""
    connection = engine.connection

    def columns(path: Path, kind: Format) -> tuple[str, ...] | None:
        try:
            if kind == "excel":
                return None
            if kind == "parquet":
                return parquet_files.column_names(connection, storage.place(path))
            storage.fetch([path])
            if kind == "avro":
                return lake_tables.column_names(engine, path)
            if kind == "csv":
                return csv_files.column_names(connection, path)
            return json_files.column_names(connection, path)
        except (SourceError, *_FILE_ERRORS):
            # Why it can't be read is told when the file's table is opened.
            return None

    return regrouped(layout_of(place, columns), place, grouping, columns)


def _nothing(
    place: str, layout: Layout
) -> EmptySourceError | UnknownSourceError | SourceUnreadableError:
    path = Path(place)
    endings = ", ".join(FORMATS)
    if path.is_file():
        if layout.left_out:
            reasons = " ".join(dict.fromkeys(why for _, why in layout.left_out))
            return SourceUnreadableError(
                f"{path.name} could not be read. {reasons}",
                hint="Check that the workbook opens, and has a sheet with rows.",
            )
        known = unread_format(path)
        if known is not None:
            return UnknownSourceError(
                f"{path.name} is {known.singular}; Fluid Forge doesn't read this format yet.",
                hint=known.advice,
            )
        return UnknownSourceError(
            f"{path.name} doesn't have a supported file extension.",
            hint=f"Supported: {endings} (also with .gz or .zst), databases and .sql.",
        )
    if layout.left_out:
        return EmptySourceError(f"{place} has no readable data file.", hint=layout.left_out[0][1])
    found_there, advice = in_words(layout.ignored) if layout.ignored else ("", "")
    return EmptySourceError(
        f"{place} has no data files{f', but {found_there}' if found_there else ''}.",
        hint=advice or f"Supported file extensions: {endings}, also with .gz or .zst.",
    )


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    size = path.stat().st_size
    return _PACKED * size if is_compressed(path) else size


def _name(place: str) -> str:
    path = Path(place)
    if path.is_file():
        return name_of_path(path, stem(path))
    if not path.is_dir():
        path = Path(*(part for part in path.resolve().parts if not is_glob(part)))
    folder = path.resolve()
    return catalog_name(folder) or name_of_path(folder, folder.name) or "files"


def _notes(layout: Layout, tables: Sequence[Table]) -> tuple[str, ...]:
    return (*_on_alike(layout, tables), *layout.notes, *left_aside(layout.ignored))


def _on_alike(layout: Layout, tables: Sequence[Table]) -> Iterator[str]:
    """Write notes on files that look like parts of one table, such as one for each month.

    Numbers and months in their names are all that differs; of files with the same columns alone
    many are no parts, such as lookup tables.
    """
    columns = {table.name: tuple(column.name for column in table.columns) for table in tables}
    alike: dict[tuple[object, ...], list[str]] = {}
    for files in layout.tables:
        if len(files.paths) == 1 and files.name in columns:
            path = files.paths[0]
            pattern = _VARYING.sub("#", stem(path).lower())
            if pattern != stem(path).lower():
                key = (path.parent, files.format, pattern, columns[files.name])
                alike.setdefault(key, []).append(path.name)
    for names in alike.values():
        if len(names) > 1:
            yield (
                f"{len(names):,} files have the same columns ({names[0]} to {names[-1]}), and each"
                " is a table of its own. To read them as one table, move them to a subfolder and"
                " pass its parent folder as the source."
            )


def _open_all(
    opening: _Opening, tables: Sequence[TableFiles], on_progress: OnProgress
) -> list[_Opened]:
    opened = []
    aliases = unique_names(table.name for table in tables)
    for position, (table, alias) in enumerate(zip(tables, aliases, strict=True)):
        relation = f"{quote(STAGE)}.main.{quote(alias)}"
        report = Progress("reading", position, len(tables), table.name)
        with following(opening.engine.connection, on_progress, report):
            opened.append(_open_table(opening, table, relation))
    on_progress(Progress("reading", len(tables), len(tables)))
    return opened


def _open_table(opening: _Opening, files: TableFiles, relation: str) -> _Opened:
    """Open a table; where a part of it is broken, the others without it."""
    try:
        return _Opened(_table(opening, files, relation), ())
    except duckdb.InterruptException:
        raise
    except SourceError as error:
        # An extension is missing, which the other tables don't need.
        return _Opened(None, (Skipped(files.name, _in_full(error)),))
    except _FILE_ERRORS as error:
        why = _why(error, files.paths)
    if len(files.paths) == 1:
        return _Opened(None, (Skipped(files.name, why),))
    troubles = {path: _trouble(opening, files, path) for path in files.paths}
    broken = {path: trouble for path, trouble in troubles.items() if trouble}
    skipped = tuple(
        Skipped(_path_below(path, files.root.parent), trouble) for path, trouble in broken.items()
    )
    readable = tuple(path for path in files.paths if path not in broken)
    if not broken or not readable:
        return _Opened(None, (Skipped(files.name, why),))
    try:
        table = _table(opening, replace(files, paths=readable), relation)
    except duckdb.InterruptException:
        raise
    except _FILE_ERRORS as error:
        return _Opened(None, (Skipped(files.name, _why(error, readable)), *skipped))
    note = f"{len(broken)} of its {len(files.paths)} files could not be read."
    return _Opened(replace(table, notes=(*table.notes, note)), skipped)


def _path_below(path: Path, folder: Path) -> str:
    """Return a path without what a person could be reached by, which a key in it may be."""
    parts = [(part, unquote(part)) for part in path.relative_to(folder).parts]
    return "/".join(without_values(text) if holds_personal(text) else part for part, text in parts)


def _trouble(opening: _Opening, files: TableFiles, path: Path) -> str:
    """Say why one part of a table can't be read; empty if it can."""
    relation = f"{SCRATCH}.part"
    try:
        unanswered = replace(opening, answers=NO_ANSWERS)
        table = _table(unanswered, replace(files, paths=(path,)), relation)
        opening.engine.connection.execute(f"DROP {_relation_kind(table)} {relation}")
    except duckdb.InterruptException:
        raise
    except _FILE_ERRORS as error:
        return _why(error, (path,))
    return ""


def _in_full(error: SourceError) -> str:
    return " ".join(filter(None, (error.message, error.hint, error.command)))


def _why(error: Exception, paths: Sequence[Path]) -> str:
    if isinstance(error, EOFError):
        return "Its compressed data ends too early."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}."
    return reason(error, *paths)


def _table(opening: _Opening, files: TableFiles, relation: str) -> Table:
    """Open a table; a period in its files' names is a column where no date in the rows says it."""
    table = _read_table(opening, files, relation)
    if files.period is None:
        return table
    connection = opening.engine.connection
    date = date_of_period(connection, files, table, files.period)
    if date is None:
        return replace(table, notes=(*table.notes, joined_note(files, files.period.name)))
    if _relation_kind(table) == "VIEW":
        connection.execute(f"DROP VIEW {relation}")
        plain = _read_table(opening, replace(files, period=None), relation)
    else:
        plain = _without_period(connection, table, files.period)
    return replace(plain, notes=(*plain.notes, joined_note(files, date.name)))


def _relation_kind(table: Table) -> Literal["TABLE", "VIEW"]:
    origin = table.origin
    is_view = isinstance(origin, InFiles) and origin.format == "parquet" and not origin.remote
    return "VIEW" if is_view else "TABLE"


def _without_period(
    connection: duckdb.DuckDBPyConnection, table: Table, period: PeriodColumn
) -> Table:
    connection.execute(f"ALTER TABLE {table.relation} DROP COLUMN {quote(period.name)}")
    columns = tuple(column for column in table.columns if column.name != period.name)
    origin = table.origin
    if isinstance(origin, InFiles):
        origin = replace(origin, period=None)
    return replace(table, columns=columns, origin=origin)


def _read_table(opening: _Opening, files: TableFiles, relation: str) -> Table:
    engine, storage = opening.engine, opening.storage
    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()
    origin: InFiles
    if files.format == "parquet":
        columns, origin = parquet_files.read_parquet(
            engine.connection, files, relation, storage, engine.folder
        )
        if not origin.in_place and not storage.remote:
            stage_view(engine.connection, relation)
            notes = (COPIED,)
    elif files.format == "csv":
        storage.fetch(files.paths)
        columns, notes, origin = csv_files.stage_csv(
            engine.connection,
            files,
            relation,
            engine.folder,
            opening.answers,
            encoding=opening.encoding,
        )
        notes += tuple(notes_on_lacking(files))
    elif files.format in BY_EXTENSION:
        table = lake_tables.stage_table(engine, files, relation, storage)
        limits.check_columns([column.name for column in table.columns])
        return table
    elif files.sheet is not None:
        columns, notes, origin = stage_sheet(
            engine.connection, files.paths[0], files.sheet, relation, opening.answers
        )
    else:
        storage.fetch(files.paths)
        columns, notes, origin = json_files.stage_json(
            engine.connection, files, relation, engine.folder, opening.encoding
        )
    limits.check_columns([column.name for column in columns])
    origin = replace(origin, remote=storage.remote)
    return Table(name=files.name, columns=columns, relation=relation, notes=notes, origin=origin)
