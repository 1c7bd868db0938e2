"""How the dbt project reads data files: where they lie, or from a copy where there is no other way.

Which way it is was tried on the files themselves when the project is written.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fluid_build.sources.base import Source, Table
from fluid_build.sources.file_layout import is_compressed
from fluid_build.sources.origin import InFiles
from fluid_build.sources.sql import literal
from fluid_build.sources.uri import as_pattern
from fluid_build.transform.dbt.file_sql import Pieces, candidates
from fluid_build.transform.dbt.jinja import Jinja
from fluid_build.transform.dbt.portable_paths import Base, common_folder
from fluid_build.transform.dbt.profiles_yml import DUCKDB_SCHEMA, duckdb_profile
from fluid_build.transform.dbt.project_names import duckdb_database, project_name
from fluid_build.transform.dbt.reading_check import WHOLE_UP_TO, ReadingCheck
from fluid_build.transform.dbt.source_entries import (
    SourceAccess,
    SourceEntry,
    TableCopy,
    external,
    is_template,
)
from fluid_build.transform.dbt.table_copies import copy_meta, copy_path
from fluid_build.transform.plan.elements import PlanSource, TransformPlan

_PACKED = 5


def file_access(
    source: Source,
    plan: TransformPlan,
    pairs: Sequence[tuple[PlanSource, Table]],
    base: Base,
) -> SourceAccess:
    """How a project reads tables that were read from files at or below ``base``."""
    database = duckdb_database(plan)
    reader = _FileReader(source, plan, base)
    entries = tuple(reader.entry(one, table) for one, table in pairs)
    live = len(reader.copies) < len(entries)
    return SourceAccess(
        name=plan.name,
        entries=entries,
        profiles_yml=duckdb_profile(project_name(plan), database, None).text,
        copies=tuple(reader.copies),
        notes=tuple(reader.notes),
        database=database,
        schema=DUCKDB_SCHEMA,
        variables=base.variables if live else {},
    )


@dataclass
class _FileReader:
    """Finds for one table after another how dbt reads its files."""

    source: Source
    plan: TransformPlan
    base: Base
    copies: list[TableCopy] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    compared: int = 0

    def entry(self, one: PlanSource, table: Table) -> SourceEntry:
        """The entry of a table; a copy is asked for where no reading gives its rows."""
        origin = table.origin
        if not isinstance(origin, InFiles):
            raise TypeError(f"{table.name} was not read from files")
        found = self._reading(one, table, origin)
        if found is not None:
            return self._plain(one, external(self._written(found, origin)))
        self.copies.append(TableCopy(one.id, copy_path(one.id), table, reason := _why(origin)))
        self.notes.append(self._note_on_copy(one, reason))
        note = f"A copy of the forge's: {reason}."
        return self._plain(one, copy_meta(one.id), note)

    def _plain(self, one: PlanSource, meta: Mapping[str, str], note: str = "") -> SourceEntry:
        return SourceEntry(one.id, one.table, one.table, DUCKDB_SCHEMA, None, meta, note)

    def _reading(self, one: PlanSource, table: Table, origin: InFiles) -> Pieces | None:
        size = sum(_size(path) for part in origin.parts for path in part.paths)
        # What was mended is compared as a whole, however large: the copy would cost more.
        whole = (
            origin.mended or origin.copied or origin.trimmed or self.compared + size <= WHOLE_UP_TO
        )
        comparison = ReadingCheck(self.source.connection, table, one.columns)
        for candidate in candidates(origin, one.columns):
            if candidate.certain:
                return candidate.pieces
            self.compared += size if whole else 0
            verdict = comparison.with_reading(self._here(candidate.pieces), whole=whole)
            if verdict == "same at its start":
                self.notes.append(
                    f"{one.table} is large: that DuckDB reads it as the forge did was checked by"
                    " its count and its first rows."
                )
            if verdict != "different":
                return candidate.pieces
        return None

    def _here(self, pieces: Pieces) -> str:
        """The reading with the files of this machine."""
        return "".join(
            piece if isinstance(piece, str) else _listed(literal(as_pattern(str(p))) for p in piece)
            for piece in pieces
        )

    def _written(self, pieces: Pieces, origin: InFiles) -> list[str]:
        """The reading as the project has it."""
        root = origin.root.absolute() if origin.partitioned else None
        template = is_template("".join(p for p in pieces if isinstance(p, str)))
        return [
            piece if isinstance(piece, str) else self._paths(piece, root, template=template)
            for piece in pieces
        ]

    def _paths(self, paths: Sequence[Path], root: Path | None, *, template: bool) -> Jinja:
        """The files as one pattern where one names just them, so that new ones are read too."""
        if len(paths) > 1:
            folder = root or common_folder(paths)
            for pattern in _patterns(paths, folder):
                if self._matches(folder, pattern) == {str(path.absolute()) for path in paths}:
                    return self.base.sql(folder, pattern=pattern, template=template)
        return Jinja(_listed(self.base.sql(path, template=template) for path in paths))

    def _matches(self, folder: Path, pattern: str) -> set[str]:
        found = self.source.connection.execute(
            "SELECT file FROM glob(?)", [as_pattern(str(folder)) + pattern]
        ).fetchall()
        return {str(Path(file).absolute()) for (file,) in found}

    def _note_on_copy(self, one: PlanSource, reason: str) -> str:
        personal = [
            column.name
            for build in self.plan.builds
            if build.layer == "staging" and one.id in build.ref_sources
            for column in build.columns
            if column.pii
        ]
        held = f" It holds personal data ({', '.join(personal)})." if personal else ""
        return (
            f"{one.table} is read from {copy_path(one.id)}, a copy of its rows: {reason}."
            f" Forge again to refresh it.{held}"
        )


def _why(origin: InFiles) -> str:
    if not origin.in_place:
        return "DuckDB can't run every query on its files where they lie"
    if origin.trimmed:
        return "its files end in totals or notes, which DuckDB by itself reads as rows"
    if origin.mended:
        return "lines of its files had to be mended or left out, which DuckDB by itself does not do"
    if origin.copied:
        return "the text of its files is encoded or parted into lines as DuckDB does not read it"
    return "DuckDB by itself reads other values from its files"


def _patterns(paths: Sequence[Path], folder: Path) -> Iterator[str]:
    """Globs below a folder that may name just these files."""
    endings = {"".join(path.suffixes[-2:]) for path in paths} | {path.suffix for path in paths}
    depths = {len(path.absolute().relative_to(folder).parts) for path in paths}
    for ending in sorted(endings, key=lambda text: (-len(text), text)):
        if depths == {1}:
            yield f"/*{as_pattern(ending)}"
        else:
            yield f"/**/*{as_pattern(ending)}"


def _listed(places: Iterator[str]) -> str:
    found = list(places)
    return found[0] if len(found) == 1 else f"[{', '.join(found)}]"


def _size(path: Path) -> int:
    size = path.stat().st_size
    return _PACKED * size if is_compressed(path) else size
