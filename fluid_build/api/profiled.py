"""Profiling from Python: what is true in the data of a source."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from io import StringIO
from typing import Any, Unpack

from fluid_build.api.arguments import OpenSettings, SourceLike, opening, reporting
from fluid_build.api.html import profile_html
from fluid_build.api.named_items import NamedItems
from fluid_build.extras import needs_extra
from fluid_build.forging.stages import measure
from fluid_build.profiling.profile import (
    Candidate,
    ColumnProfile,
    Evidence,
    ForeignKey,
    Origin,
    Profile,
    SkippedTable,
    TableProfile,
)
from fluid_build.progress import OnProgress
from fluid_build.report.profile_json import profile_json
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.source_screen import source_screen
from fluid_build.report.view import source_view
from fluid_build.text import counted


def profile(
    source: SourceLike, *, on_progress: OnProgress | None = None, **options: Unpack[OpenSettings]
) -> "ProfileResult":
    """Measure a source: columns, keys, relationships and what breaks them.

    ``source`` is a URI, a path, an open source, a pandas or polars data frame, an Arrow table, a
    DuckDB relation, a dict of such tables by name, or a list of sources. Nothing is written, and
    nothing leaves this machine. Raises SourceError where the source can't be read or has no
    readable table, and UsageError for an option that it has no use for.
    """
    with reporting(on_progress) as report, opening(source, options).session(report) as opened:
        return ProfileResult(measure(opened, report))


@dataclass(frozen=True)
class ProfiledTable:
    """A table as measured: its columns by name, its keys, and its relationships.

    ``primary_key`` is the declared one or else the one chosen among ``candidate_keys``, and None
    if no columns identify a row. ``primary_key_evidence`` has the figures, and the query that
    checks it. ``foreign_keys`` lead to other tables, ``referenced_by`` lead here.
    """

    name: str
    rows: int
    columns: NamedItems[ColumnProfile]
    primary_key: tuple[str, ...] | None
    primary_key_origin: Origin | None
    primary_key_reason: str
    primary_key_evidence: Evidence | None
    candidate_keys: tuple[tuple[str, ...], ...]
    foreign_keys: tuple[ForeignKey, ...]
    referenced_by: tuple[ForeignKey, ...]
    comment: str | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        key = ", ".join(self.primary_key) if self.primary_key else "none"
        figures = f"{counted(self.rows, 'row')}, {counted(len(self.columns), 'column')}"
        return f"<{self.name}: {figures}, key: {key}>"


@dataclass(frozen=True)
class ProfileResult:
    """What is true in the data of a source, each claim with its evidence.

    ``tables`` are by name. ``foreign_keys`` are the relationships, and ``candidates`` those that
    were judged and aren't believed. ``skipped`` tables couldn't be read.
    """

    _profile: Profile = field(repr=False)

    @property
    def source_name(self) -> str:
        """Return what the source is called."""
        return self._profile.source_name

    @property
    def source_kind(self) -> str:
        """Return the kind of source: ``sqlite``, ``files``, ``in_memory`` and so on."""
        return self._profile.source_kind

    @property
    def rows(self) -> int:
        """Return the number of rows in all tables."""
        return sum(table.rows for table in self._profile.tables)

    @cached_property
    def tables(self) -> NamedItems[ProfiledTable]:
        """Return the tables by name, in the order of the source."""
        tables = {table.name: self._table(table) for table in self._profile.tables}
        return NamedItems("table", tables)

    @property
    def foreign_keys(self) -> tuple[ForeignKey, ...]:
        """Return the relationships that were declared or found."""
        return self._profile.foreign_keys

    @property
    def broken(self) -> tuple[ForeignKey, ...]:
        """Return the relationships with rows that refer to nothing."""
        return tuple(key for key in self.foreign_keys if key.evidence.orphans)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """Return the possible relationships that aren't believed, most credible first."""
        return self._profile.candidates

    @property
    def skipped(self) -> tuple[SkippedTable, ...]:
        """Return the tables that couldn't be read, each with the reason."""
        return self._profile.skipped

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what to know about how the source was read, in sentences."""
        return self._profile.notes

    def to_dict(self) -> dict[str, Any]:
        """Return the document that ``fluid profile --json`` prints."""
        return dict(profile_json(self._profile))

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return the same document as text."""
        return json.dumps(self.to_dict(), indent=indent)

    def to_pandas(self) -> Any:
        """Return a data frame with a row for each column of the source.

        Raises MissingExtraError without pandas.
        """
        with needs_extra("pandas", "A data frame of a profile"):
            pandas = import_module("pandas")
        return pandas.DataFrame([*self._column_rows()])

    def _table(self, table: TableProfile) -> ProfiledTable:
        keys = self.foreign_keys
        return ProfiledTable(
            name=table.name,
            rows=table.rows,
            columns=NamedItems("column", {column.name: column for column in table.columns}),
            primary_key=table.primary_key,
            primary_key_origin=table.primary_key_origin,
            primary_key_reason=table.primary_key_reason,
            primary_key_evidence=table.primary_key_evidence,
            candidate_keys=table.candidate_keys,
            foreign_keys=tuple(key for key in keys if key.from_table == table.name),
            referenced_by=tuple(key for key in keys if key.to_table == table.name),
            comment=table.comment,
            notes=table.notes,
        )

    def _column_rows(self) -> Iterator[Mapping[str, object]]:
        references = {
            (key.from_table, column): f"{key.to_table}.{key.to_columns[position]}"
            for key in reversed(self.foreign_keys)
            for position, column in enumerate(key.from_columns)
        }
        for table in self._profile.tables:
            for column in table.columns:
                yield {
                    "table": table.name,
                    "column": column.name,
                    "type": column.type,
                    "measured_type": column.measured_type,
                    "rows": column.rows,
                    "nulls": column.nulls,
                    "distinct": column.distinct,
                    "in_primary_key": column.name in (table.primary_key or ()),
                    "references": references.get((table.name, column.name)),
                    "semantic_type": column.semantic_type,
                    "pii": column.pii,
                    "min": column.min,
                    "max": column.max,
                    "mean": column.mean,
                    "comment": column.comment,
                }

    def __repr__(self) -> str:
        tables = counted(len(self._profile.tables), "table")
        keys = counted(len(self.foreign_keys), "relationship")
        broken = f" ({len(self.broken)} with orphans)" if self.broken else ""
        rows = counted(self.rows, "row")
        return f"<Profile of {self.source_name}: {tables}, {rows}, {keys}{broken}>"

    def __str__(self) -> str:
        """Return what ``fluid profile`` shows, as text."""
        text = StringIO()
        show(source_screen(source_view(self._profile)), text)
        return text.getvalue()

    def _repr_html_(self) -> str:
        return profile_html(self._profile)
