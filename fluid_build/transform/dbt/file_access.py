"""How the dbt project reads data files: in place, or from a copy where there's no other way.

Each way is tried on the files themselves while the project is written.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

import duckdb

from fluid_build.sources.addresses.endings import LAKES
from fluid_build.sources.addresses.periods import period_of
from fluid_build.sources.base import Source, Table
from fluid_build.sources.engine.connection import DUCKDB_ERRORS
from fluid_build.sources.engine.extensions import Extension
from fluid_build.sources.files.lakes.tables import EXTENSIONS
from fluid_build.sources.files.layout import is_compressed, stem
from fluid_build.sources.origin import InFiles
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.uri import as_pattern
from fluid_build.text import free_name
from fluid_build.transform.dbt.file_sql import Pieces, candidates
from fluid_build.transform.dbt.jinja import Jinja
from fluid_build.transform.dbt.portable_paths import Base, common_folder
from fluid_build.transform.dbt.profiles_yml import DUCKDB_SCHEMA
from fluid_build.transform.dbt.readings import Reading
from fluid_build.transform.dbt.source_entries import (
    SourceEntry,
    TableCopy,
    external,
    is_template,
)
from fluid_build.transform.dbt.table_copies import copied_entry, copy_path, note_on_copy
from fluid_build.transform.plan.elements import PlanSource, TransformPlan

# Whether another way of reading a table gives the same rows, once its columns are cast.
# Two sets of rows count as the same if their number and the sum of the 64-bit hashes of all rows
# agree: that takes one pass over each, and no memory.

WHOLE_UP_TO = 200 * 1024 * 1024
"""Bytes of data files, uncompressed, that are read a second time to be compared. More would
make the forge of large files noticeably slower."""

_HEAD = 10_000
"""Rows of a larger table that are compared: enough to show another type or another null."""


Verdict: TypeAlias = Literal["same", "same at its start", "different"]


@dataclass
class ReadingCheck:
    """A table to compare other readings with; ``columns`` are names and types.

    With ``numbered``, rows are the same only in the same order.
    """

    connection: duckdb.DuckDBPyConnection
    table: Table
    columns: Sequence[tuple[str, str]]
    numbered: bool = False
    _figures: tuple[int, int] | None = field(default=None, init=False)

    def with_reading(self, relation: str, *, whole: bool) -> Verdict:
        """Compare with SQL that may follow FROM; where not ``whole``, its count and first rows.

        A reading that fails, or reads text as another type, is different: the staging expects
        text.
        """
        try:
            if not self._keeps_text(relation):
                return "different"
            if whole:
                return "same" if self._read(relation) == self._own() else "different"
            return "same at its start" if self._begins_alike(relation) else "different"
        except duckdb.InterruptException:
            raise
        except DUCKDB_ERRORS:
            return "different"

    def _keeps_text(self, relation: str) -> bool:
        rows = self.connection.execute(f"DESCRIBE FROM {relation}").fetchall()
        types = {row[0]: row[1] for row in rows}
        return all(
            name in types and (type_ != "VARCHAR" or types[name] == "VARCHAR")
            for name, type_ in self.columns
        )

    def _own(self) -> tuple[int, int]:
        if self._figures is None:
            self._figures = self._read(self.table.relation)
        return self._figures

    def _read(self, relation: str) -> tuple[int, int]:
        row = self.connection.execute(
            f"SELECT count(*), coalesce(sum(CAST(hash({self._cast()}) AS HUGEINT)), 0)"
            f" FROM {self._rows(relation)}"
        ).fetchone()
        return row or (0, 0)

    def _rows(self, relation: str) -> str:
        if not self.numbered:
            return relation
        return f"(SELECT *, row_number() OVER () AS {quote(self._number)} FROM {relation})"

    @property
    def _number(self) -> str:
        return free_name("number", {name.lower() for name, _ in self.columns})

    def _begins_alike(self, relation: str) -> bool:
        row = self.connection.execute(
            f"WITH head AS (SELECT DISTINCT hash({self._cast()}) AS h FROM"
            f" (SELECT * FROM {self._rows(relation)} LIMIT {_HEAD}))"
            f" SELECT (SELECT count(*) FROM {relation}) = (SELECT count(*) FROM"
            f" {self.table.relation}) AND (SELECT count(*) FROM head) = (SELECT count(DISTINCT h)"
            f" FROM (SELECT hash({self._cast()}) AS h FROM {self._rows(self.table.relation)})"
            " WHERE h IN (SELECT h FROM head))"
        ).fetchone()
        return bool(row and row[0])

    def _cast(self) -> str:
        columns = (f"CAST({quote(name)} AS {type_})" for name, type_ in self.columns)
        return ", ".join((*columns, *([quote(self._number)] * self.numbered)))


_PACKED = 5
"""How many times larger text is once it's decompressed: a usual ratio of gzip and zstd."""


def reading_of_files(
    source: Source,
    plan: TransformPlan,
    pairs: Sequence[tuple[PlanSource, Table]],
    base: Base,
) -> Reading:
    """Return how a project reads tables that were read from files at or below ``base``."""
    reader = _FileReader(source, plan, base)
    entries = tuple(reader.entry(plan_source, table) for plan_source, table in pairs)
    live = len(reader.copies) < len(entries)
    return Reading(
        entries=entries,
        extensions=tuple(dict.fromkeys(reader.extensions)),
        copies=tuple(reader.copies),
        notes=tuple(reader.notes),
        variables=base.variables if live else {},
    )


@dataclass
class _FileReader:
    """Decides for one table after another how dbt reads its files."""

    source: Source
    plan: TransformPlan
    base: Base
    copies: list[TableCopy] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    extensions: list[Extension] = field(default_factory=list)
    compared: int = 0
    readings: dict[str, Pieces | None] = field(default_factory=dict)

    def entry(self, source: PlanSource, table: Table) -> SourceEntry:
        """Return the entry of a table; it's to be copied where no other reading gives its rows."""
        in_files = table.split.documents.table if table.split else table
        origin = in_files.origin
        if not isinstance(origin, InFiles):
            raise TypeError(f"{table.name} was not read from files")
        numbered = table.split is not None and table.split.documents.is_numbered
        # The tables that one was split into have its reading in common.
        if in_files.relation not in self.readings:
            columns = [(column.alias, column.type) for column in in_files.columns]
            read = source.columns if table.split is None else columns
            comparison = ReadingCheck(self.source.connection, in_files, read, numbered)
            self.readings[in_files.relation] = self._reading(comparison, origin)
        reading = self.readings[in_files.relation]
        if reading is not None:
            self.extensions += EXTENSIONS.get(origin.format, ())
            split = table.split
            pieces = reading if split is None else (split.before, *reading, split.after)
            meta = external(self._written(pieces, origin, in_order=numbered))
            return SourceEntry(source.id, source.table, source.table, DUCKDB_SCHEMA, meta=meta)
        self.copies.append(
            TableCopy(source.id, copy_path(source.id), table, reason := _why(origin))
        )
        self.notes.append(note_on_copy(self.plan, source, reason))
        return copied_entry(source, reason)

    def _reading(self, comparison: ReadingCheck, origin: InFiles) -> Pieces | None:
        size = sum(_size(path) for part in origin.parts for path in part.paths)
        # A repaired table is compared whole, however large it is: a copy would cost more.
        whole = (
            origin.mended or origin.copied or origin.trimmed or self.compared + size <= WHOLE_UP_TO
        )
        for candidate in candidates(origin, comparison.columns):
            if candidate.certain:
                return candidate.pieces
            self.compared += size if whole else 0
            verdict = comparison.with_reading(self._here(candidate.pieces, origin), whole=whole)
            if verdict == "same at its start":
                self.notes.append(
                    f"{comparison.table.name} is large: only its row count and first rows were"
                    " compared with what DuckDB reads by itself."
                )
            if verdict != "different":
                return candidate.pieces
        return None

    def _here(self, pieces: Pieces, origin: InFiles) -> str:
        """Return the reading with the files as this process reads them."""
        remote = origin.remote if origin.format in LAKES else None
        place = str if remote is None else remote.place
        return "".join(
            piece
            if isinstance(piece, str)
            else _listed(literal(as_pattern(place(path))) for path in piece)
            for piece in pieces
        )

    def _written(self, pieces: Pieces, origin: InFiles, *, in_order: bool) -> list[str]:
        """Return the reading as the project has it; ``in_order`` keeps the order of the files."""
        root = origin.root.absolute() if origin.partitioned else None
        template = is_template("".join(p for p in pieces if isinstance(p, str)))
        return [
            piece
            if isinstance(piece, str)
            else self._paths(piece, root, template=template, in_order=in_order)
            for piece in pieces
        ]

    def _paths(
        self, paths: Sequence[Path], root: Path | None, *, template: bool, in_order: bool
    ) -> Jinja:
        """Return the files as one pattern if there is one, so that new files are read too."""
        if len(paths) > 1 and not in_order:
            folder = root or common_folder(paths)
            for pattern in _patterns(paths, folder):
                if self._matches(folder, pattern) == {str(path.absolute()) for path in paths}:
                    return self.base.sql(folder, pattern=pattern, template=template)
            if all(period_of(stem(path)) for path in paths):
                self.notes.append(
                    f"{paths[0].name} to {paths[-1].name}: the project reads the files that"
                    " are there now. Run `fluid forge` again when there's another."
                )
        return Jinja(_listed(self.base.sql(path, template=template) for path in paths))

    def _matches(self, folder: Path, pattern: str) -> set[str]:
        files = self.source.connection.execute(
            "SELECT file FROM glob(?)", [as_pattern(str(folder)) + pattern]
        ).fetchall()
        return {str(Path(file).absolute()) for (file,) in files}


def _why(origin: InFiles) -> str:
    if not origin.parts:
        return "it has no file today"
    if origin.format == "excel":
        return "DuckDB would read other rows or values from the workbook"
    if not origin.in_place:
        return "DuckDB can't run every query on its files in place"
    if origin.trimmed:
        return "its files have totals or notes, which DuckDB would read as rows"
    if origin.mended:
        return "lines of its files had to be repaired or left out, which DuckDB doesn't do"
    if origin.copied:
        return "its files have an encoding or line breaks that DuckDB doesn't read"
    return "DuckDB would read other values from its files"


def _patterns(paths: Sequence[Path], folder: Path) -> Iterator[str]:
    """Return globs below a folder that may match just these files."""
    yield from _patterns_of_period(paths, folder)
    endings = {"".join(path.suffixes[-2:]) for path in paths} | {path.suffix for path in paths}
    depths = {len(path.absolute().relative_to(folder).parts) for path in paths}
    for ending in sorted(endings, key=lambda text: (-len(text), text)):
        if depths == {1}:
            yield f"/*{as_pattern(ending)}"
        else:
            yield f"/**/*{as_pattern(ending)}"


def _patterns_of_period(paths: Sequence[Path], folder: Path) -> Iterator[str]:
    """Return globs that match the next period's file too, and no file of another table."""
    periods = [period_of(stem(path)) for path in paths]
    around = {(period.before, period.after) for period in periods if period is not None}
    endings = {path.name.removeprefix(stem(path)) for path in paths}
    flat = all(path.absolute().parent == folder for path in paths)
    if None in periods or not flat or len(around) != 1 or len(endings) != 1:
        return
    (before, after), ending = next(iter(around)), as_pattern(next(iter(endings)))
    for gap in ("[-_. ][0-9]", "[0-9]", ""):
        yield f"/{as_pattern(before)}{gap}*{as_pattern(after)}{ending}"


def _listed(places: Iterator[str]) -> str:
    files = list(places)
    return files[0] if len(files) == 1 else f"[{', '.join(files)}]"


def _size(path: Path) -> int:
    size = path.stat().st_size
    return _PACKED * size if is_compressed(path) else size
