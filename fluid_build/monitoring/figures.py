"""The figures of a source that are kept each night: counts and bounds, and no value of a row.

Of columns with personal data the bounds aren't kept, since a profile has none of them.
"""

import math
from collections.abc import Mapping
from datetime import UTC, datetime, time

from pydantic import BaseModel, ConfigDict

from fluid_build.profiling.profile import ColumnProfile, ForeignKey, Profile, TableProfile

_MOST_IN_FUTURE = 86_400
"""Seconds. A newest date further ahead is a date that is planned, and says nothing of freshness."""


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class ColumnFigures(_Kept):
    """How many rows of a column are null, how many values differ, and the bounds of numbers."""

    nulls: int
    distinct: int
    low: float | None = None
    high: float | None = None


class TableFigures(_Kept):
    """The figures of a table.

    ``newest`` is the latest of its dates that isn't in the future. ``orphans`` are the rows that
    refer to no row, by reference: ``orders(customer_id) to customers``, without the table.
    """

    rows: int
    newest: datetime | None = None
    columns: Mapping[str, ColumnFigures] = {}
    orphans: Mapping[str, int] = {}


class SourceFigures(_Kept):
    """The figures of a source's tables."""

    tables: Mapping[str, TableFigures] = {}

    @property
    def rows(self) -> int:
        """The rows of all tables together."""
        return sum(table.rows for table in self.tables.values())


def figures_of(profile: Profile, moment: datetime) -> SourceFigures:
    """Return the figures of a profile that was measured at ``moment``, which is in UTC.

    Tables of which only a part was read are left out: their figures are those of the part.
    """
    references: dict[str, list[ForeignKey]] = {}
    for key in profile.foreign_keys:
        references.setdefault(key.from_table, []).append(key)
    return SourceFigures(
        tables={
            table.name: _table(table, references.get(table.name, []), moment)
            for table in profile.tables
            if table.sample is None and profile.has_data
        }
    )


def _table(table: TableProfile, references: list[ForeignKey], moment: datetime) -> TableFigures:
    dates = (date for column in table.columns if (date := _newest(column, moment)) is not None)
    return TableFigures(
        rows=table.rows,
        newest=max(dates, default=None),
        columns={column.name: _column(column) for column in table.columns},
        orphans={
            f"{', '.join(key.from_columns)} to {key.to_table}": key.evidence.broken
            for key in references
            if key.evidence.is_measured and not key.implied
        },
    )


def _column(column: ColumnProfile) -> ColumnFigures:
    return ColumnFigures(
        nulls=column.nulls,
        distinct=column.distinct,
        low=_number(column.min),
        high=_number(column.max),
    )


def _number(text: str | None) -> float | None:
    """Return a bound as a number; None for one of text, dates, infinity and NaN."""
    try:
        number = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _newest(column: ColumnProfile, moment: datetime) -> datetime | None:
    """Return the latest date of a column, unless it's text, personal or in the future."""
    is_dated = (column.measured_type or column.type).startswith(("DATE", "TIMESTAMP"))
    if not is_dated or column.pii or column.max is None:
        return None
    try:
        newest = datetime.fromisoformat(column.max)
    except ValueError:
        return None
    if newest.tzinfo is not None:
        newest = newest.astimezone(UTC).replace(tzinfo=None)
    # A date stands for its whole day.
    ahead = newest - datetime.combine(moment.date(), time.max)
    return newest if ahead.total_seconds() < _MOST_IN_FUTURE else None
